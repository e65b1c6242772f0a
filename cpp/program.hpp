// A compiled rule set: which URL a URL becomes, which key it has, and by which rules.
//
//   n(u)   the normal form; its site chooses the rules: those of the site, then those of "*"
//   f(u)   the first rule in order that makes another URL of the site; a keep that matches stops
//   c(u)   n(u), f(n(u)), … until a URL repeats: the smallest of the repeating part
//   key(u) c(u), then each matching mask once, in order
//
// A program is never written to after construction, so threads share it; each brings a
// Scratch, whose buffers are used again from URL to URL.
//
// Bounds, for a URL of n bytes (n <= 64 KiB, longer ones are only normalized): 256 steps of
// at most the rules of one site, each in time O(n × its pieces), and 256 URLs of 64 KiB held.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pattern_rule.hpp"
#include "program_index.hpp"
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
};

// The first rule of a list that is wrong, by number.
class ProgramProblem : public RuleProblem {
 public:
  ProgramProblem(std::size_t rule, const RuleProblem& problem) : RuleProblem(problem), rule(rule) {}
  std::size_t rule;
};

// Throws RuleProblem if the rule could not be part of a program.
void check_source(const RuleSource& rule);

enum class Outcome : std::uint8_t {
  kResolved,
  kCycle,       // a URL came back: the smallest of the cycle
  kNotUrl,      // the text itself
  kSkipped,     // user name, or too long: the normal form
  kUnresolved,  // no URL repeated within the bounds: the normal form
};

struct Result {
  Outcome outcome;
  std::string_view url;  // lives in the scratch, or is the text that was asked for
};

// One rule at work, and where the URL after it stands in the orbit.
struct AppliedStep {
  std::uint32_t rule;
  std::size_t text;
};

struct Scratch {
  UrlView view;
  Match match, condition;
  WriteScratch write;
  std::string written;
  std::deque<std::string> orbit;  // n(u), f(n(u)), …, then the masked texts; only the first `used` count
  std::size_t used = 0;
  std::vector<std::uint64_t> hashes;
  // Of the last call: every step of the orbit, the one that closes a cycle and the keep that
  // ended it included; the first `result` of them lead from n(u) to c(u). Then the masks.
  std::vector<AppliedStep> steps, masks;
  std::size_t result = 0;
  std::vector<std::uint32_t> candidates;

  [[nodiscard]] std::string& next_text() {
    if (used == orbit.size()) orbit.emplace_back();
    return orbit[used++];
  }
};

class Program {
 public:
  // Throws ProgramProblem. `suffixes` must outlive the program.
  Program(std::span<const RuleSource> rules, const SuffixList& suffixes);

  [[nodiscard]] Result canonical(std::string_view url, Scratch& scratch) const;
  [[nodiscard]] Result key(std::string_view url, Scratch& scratch) const;

  // f alone: the number of the rule that changes (or keeps) the normal form of `url`, or kNoRule.
  [[nodiscard]] std::uint32_t step(std::string_view url, Scratch& scratch, std::string& out) const;

  // Every rule of the site that matches the normal form, whatever stands before it, with what
  // it makes of it: a keep and a rule that changes nothing give the URL itself.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::string>> matches(std::string_view url, Scratch& scratch) const;

  [[nodiscard]] std::size_t size() const { return rule_count_; }

 private:
  struct CompiledRule {
    ParsedRule parsed;
    std::uint32_t number = 0;
    std::uint32_t exceptions = kNoRule;  // which list of except_sites_
    bool keeps_normal = false;           // with the same authority its result is in normal form
  };
  struct Group {
    std::uint32_t site_at = 0, site_size = 0;  // in pieces_.text
    std::uint32_t first = 0, count = 0;        // its rules
    bool has_masks = false;
    SiteIndex index;
  };
  struct Slot {
    std::uint32_t tag = 0, group = 0;  // group + 1; 0 is an empty slot
  };
  // The rules that may see a URL.
  struct Rules {
    std::string_view site;
    const Group* own = nullptr;
    const Group* shared = nullptr;
  };
  enum class Effect { kNone, kKept, kChanged };

  void compile(std::span<const RuleSource> rules);
  void add_group(std::string_view site, std::span<const RuleSource> rules, std::span<const std::uint32_t> numbers);
  void add_rule(const RuleSource& rule, std::uint32_t number);
  [[nodiscard]] const Group* find_group(std::string_view site) const;
  [[nodiscard]] Rules rules_of(std::string_view host) const;

  [[nodiscard]] Outcome normalize(std::string_view url, Scratch& scratch) const;
  [[nodiscard]] std::uint32_t change(const Rules& rules, Scratch& scratch, std::string& out) const;
  [[nodiscard]] Effect apply(const CompiledRule& rule, const Rules& rules, Scratch& scratch, std::string& out) const;
  [[nodiscard]] Effect apply_replace(const CompiledRule& rule, const Rules& rules, Scratch& scratch, std::string& out) const;
  [[nodiscard]] bool allows(const CompiledRule& rule, Scratch& scratch) const;
  [[nodiscard]] bool settle(const Rules& rules, Scratch& scratch, std::string& out) const;
  [[nodiscard]] Outcome walk(const Rules& rules, Scratch& scratch) const;
  [[nodiscard]] std::size_t mask(const Rules& rules, Scratch& scratch) const;

  const SuffixList& suffixes_;
  std::size_t rule_count_ = 0;
  Pieces pieces_;
  std::vector<Pattern> conditions_;
  std::vector<CompiledRule> rules_;
  RuleIndex index_;
  std::vector<Group> groups_;
  std::vector<Slot> slots_;
  std::vector<std::vector<std::string>> except_sites_;
  const Group* shared_ = nullptr;
};

}  // namespace undust
