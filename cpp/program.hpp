// A compiled rule set: which URL a URL becomes, which key it has, and by which rules.
//
//   n(u)   the normal form; its site chooses the rules: those of the site, then those of "*"
//   f(u)   the first rule in order that makes another URL of the site; a keep that matches stops;
//          masks and rules for comparing only are passed over
//   c(u)   n(u), f(n(u)), … until a URL repeats: the smallest of the repeating part
//   g(u)   f(u) with the rules for comparing only
//   k(u)   c(u), g(c(u)), … likewise; c(u) if no URL repeats
//   key(u) k(u), then each matching mask once, in order
//
// A program is never written to after construction, so threads share it; each brings a
// Scratch, whose buffers are used again from URL to URL.
//
// Bounds, for a URL of n bytes (n <= 64 KiB, longer ones are only normalized): 256 steps of
// at most the rules of one site, each in time O(n × its pieces), and 256 URLs of 64 KiB held;
// twice that for a key with rules for comparing only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program_lane.hpp"
#include "program_match.hpp"
#include "program_write.hpp"
#include "suffixes.hpp"

namespace undust {

inline constexpr std::size_t kLongestUrl = 65536;
inline constexpr std::size_t kMostSteps = 256;
inline constexpr std::uint32_t kNoRule = 0xFFFFFFFF;

struct RuleSource {
  std::string_view site;  // a registered domain, or "*"
  RuleText text;
  std::vector<std::string_view> except_sites;
  bool is_active = true;
  bool is_fetched = true;  // false: for comparing only
};

// The first rule of a list that is wrong, by number.
class ProgramProblem : public RuleProblem {
 public:
  ProgramProblem(std::size_t rule, const RuleProblem& problem) : RuleProblem(problem), rule(rule) {}
  std::size_t rule;
};

// Why bytes are not the image of a program.
class ImageProblem : public std::runtime_error {
 public:
  enum class Kind { kNotAnImage, kOtherVersion, kDamaged };
  ImageProblem(Kind kind, const char* message) : std::runtime_error(message), kind(kind) {}
  Kind kind;
};

// The first bytes of every image.
inline constexpr std::string_view kImageMark("UNDUSTRP", 8);

// Throws RuleProblem if the rule could not be part of a program.
void check_source(const RuleSource& rule);

struct Result {
  Outcome outcome;
  std::string_view url;  // lives in the scratch, or is the text that was asked for
};

// One rule at work, and where the URL after it stands in the orbit.
struct AppliedStep {
  std::uint32_t rule;
  std::size_t text;
};

// The first text is somebody else's; the others stay where they are while more are added, in
// memory that is used again.
class Texts {
 public:
  [[nodiscard]] const std::string& operator[](std::size_t place) const { return place ? *all_[place - 1] : *first_; }
  [[nodiscard]] std::size_t size() const { return used_ + 1; }
  [[nodiscard]] std::string& add() {
    if (used_ == all_.size()) all_.push_back(std::make_unique<std::string>());
    return *all_[used_++];
  }
  void drop_last() { --used_; }
  // What a hostile URL left behind is given back.
  void start_with(const std::string& first) {
    constexpr std::size_t kKept = 16;
    if (all_.size() > kKept) all_.resize(kKept);
    used_ = 0;
    first_ = &first;
  }

 private:
  const std::string* first_ = nullptr;
  std::vector<std::unique_ptr<std::string>> all_;
  std::size_t used_ = 0;
};

// The way of a URL: x, f(x), f(f(x)), …
struct Orbit {
  Texts texts;
  std::vector<std::uint64_t> hashes;  // of the texts, as far as somebody asked
  // Every step, the one that closes a cycle and the keep that ended it included; the first `result`
  // of them lead from the first text to the chosen one.
  std::vector<AppliedStep> steps;
  std::size_t result = 0;
  bool is_settled = false;  // the walk ended where no rule changed the chosen text
  bool is_in_view = false;  // the view holds the chosen text, as it does then

  void start(const std::string& first);
  // Where the text of a step stood before; the step itself if it is new.
  [[nodiscard]] std::size_t find_earlier(std::size_t step);
  [[nodiscard]] const std::string& chosen() const { return texts[result]; }
};

struct Scratch {
  Lane lane;   // of a URL that is asked for alone
  HostMemo memo;  // of the hosts of such URLs
  Lane apart;  // of the same URL on its way under one rule
  Match match, condition;
  bool has_missed = false;  // the rule that was tried last did not match, or a `when` of it did not
  bool has_kept_authority = false;  // its result has the authority of the URL
  WriteScratch write;
  std::string written, first;
  // Of the last call: from n(u) to c(u), then from c(u) to k(u), then the masks, whose texts stand
  // behind those of `compared`.
  Orbit fetched, compared;
  std::vector<AppliedStep> masks;

  void start(const Lane& of);
};

class Program {
 public:
  // Throws ProgramProblem. `suffixes` must outlive the program.
  Program(std::span<const RuleSource> rules, const SuffixList& suffixes);
  // The program that image() wrote. Throws ImageProblem. `image` must outlive the program, unless it does not
  // begin on a line of the cache and is copied.
  Program(std::span<const std::byte> image, const SuffixList& suffixes);

  // The program as bytes of a file, the same for the same rules, with texts that it does not read itself.
  [[nodiscard]] std::string image(std::string_view texts) const;
  // Where these texts are in the image of a program that was made of one.
  [[nodiscard]] std::pair<std::size_t, std::size_t> texts() const { return texts_; }

  [[nodiscard]] Result canonical(std::string_view url, Scratch& scratch) const;
  [[nodiscard]] Result key(std::string_view url, Scratch& scratch) const;

  // The same for a lane that comes from a Course.
  [[nodiscard]] Result canonical(Lane& lane, Scratch& scratch) const;
  [[nodiscard]] Result key(Lane& lane, Scratch& scratch) const;

  // f alone: the number of the rule that changes (or keeps) the normal form of `url`, or kNoRule.
  [[nodiscard]] std::uint32_t step(std::string_view url, Scratch& scratch, std::string& out) const;

  // Every rule of the site that matches the normal form, whatever stands before it, with what
  // it makes of it: a keep and a rule that changes nothing give the URL itself.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::string>> matches(std::string_view url, Scratch& scratch) const;

  // Adds the numbers of the rules that, each alone, would make something else of the normal form.
  void touching(std::string_view url, Scratch& scratch, std::vector<std::uint32_t>& found) const;

  // For each rule that is asked for (by number) and alone would make something else of the normal
  // form: use(its number, c(u) as this rule makes it together with the keeps that nobody asked for).
  using Use = std::function<void(std::uint32_t rule, const Result& result)>;
  void apart(std::string_view url, const std::vector<bool>& asked, Scratch& scratch, const Use& use) const;

  [[nodiscard]] std::size_t size() const { return rule_count_; }

 private:
  friend class Course;
  enum class Effect { kNone, kKept, kChanged, kFinished };  // finished: changed, and no rule sees the result

  struct Change {
    std::uint32_t rule = kNoRule;
    Effect effect = Effect::kNone;
  };

  // The stages before the first rule is tried; see program_stages.cpp.
  void begin(std::span<const std::string_view> urls, Lanes& lanes) const;
  void begin(std::string_view url, Scratch& scratch) const;
  void name_site(std::string_view host, Lane& lane) const;
  void locate(Lane& lane, const HostMemo& memo) const;
  void fetch(Lane& lane) const;
  void read(Lane& lane, HostMemo& memo) const;
  [[nodiscard]] bool read_any(Lane& lane) const;
  void gather(Lane& lane) const;

  [[nodiscard]] StoredRule rule_at(const Block& block, std::uint32_t place) const {
    return {block.address(place), shapes_};
  }
  static void sign(Lane& lane);
  void prepare_next(const RuleHead& head, Lane& lane) const;
  void read_next(std::string_view next, Lane& lane) const;
  enum class For { kFetching, kComparing, kComparingSettled };
  [[nodiscard]] Change change(For use, Lane& lane, Scratch& scratch, std::string& out) const;
  [[nodiscard]] Effect changed_by(const StoredRule& rule, const Lane& lane) const;
  [[nodiscard]] Effect apply(const StoredRule& rule, const Lane& lane, Scratch& scratch, std::string& out) const;
  [[nodiscard]] Effect apply_replace(const StoredRule& rule, const Lane& lane, Scratch& scratch, std::string& out) const;
  [[nodiscard]] bool settle(const Lane& lane, Scratch& scratch, std::string& out) const;
  template <typename Step>
  [[nodiscard]] Outcome walk_by(Lane& lane, Orbit& orbit, Step&& next_change) const;
  [[nodiscard]] Outcome walk(For use, Lane& lane, Scratch& scratch, Orbit& orbit) const;
  [[nodiscard]] Outcome walk_apart(const StoredRule& rule, Effect effect, const std::vector<bool>& asked, Scratch& scratch) const;
  [[nodiscard]] bool is_kept(std::uint32_t before, const std::vector<bool>& asked, Lane& lane, Scratch& scratch) const;
  [[nodiscard]] std::size_t mask(Lane& lane, Scratch& scratch) const;
  void resume(const Orbit& orbit, Lane& lane) const;

  const SuffixList& suffixes_;
  std::size_t rule_count_ = 0;
  bool has_keeps_ = false;
  std::uint64_t identity_;  // no other program of this process has it
  ShapeTable shapes_;
  SiteTable sites_;
  std::vector<std::vector<std::string>> except_sites_;
  Block shared_;
  FarMemory copy_;  // of an image, if it had to be copied
  std::pair<std::size_t, std::size_t> texts_{0, 0};
};

// Many URLs through one program, in order; each lane is asked for its result before the next one.
class Course {
 public:
  Course(const Program& program, std::span<const std::string_view> urls, Lanes& lanes);
  [[nodiscard]] Lane& next();

 private:
  const Program& program_;
  std::span<const std::string_view> urls_;
  Lanes& lanes_;
  std::size_t done_ = 0;
};

}  // namespace undust
