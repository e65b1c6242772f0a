// What edits do to the keys of a site under the fuzzer: any rules on any URLs keep every promise.
//
// The input is lines: those that are rules of site example.com are candidates, one each; the others are URLs.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "key_meetings.hpp"
#include "pattern_rule.hpp"
#include "program.hpp"
#include "promise.hpp"
#include "suffixes.hpp"

namespace {

using namespace undust;

constexpr std::string_view kSuffixes = "com\norg\n";
constexpr std::size_t kMostRules = 6, kMostUrls = 24;

bool read_rule(std::string_view line, CanonicalRule& rule) {
  try {
    rule = canonical_rule(split_rule_line(line));
    return true;
  } catch (const RuleProblem&) {
    return false;
  }
}

RuleSource source_of(const CanonicalRule& rule) {
  RuleText text{rule.kind, rule.from, {}, {}, {}};
  if (rule.to) text.to = *rule.to;
  text.when.assign(rule.when.begin(), rule.when.end());
  text.unless.assign(rule.unless.begin(), rule.unless.end());
  return {"example.com", text, {}, true, true};
}

// A site whose images are their own keys, and whose pages are shown by two keys each.
struct Site {
  explicit Site(const std::vector<std::string>& urls) : texts(urls) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto number = static_cast<std::int64_t>(i);
      same.push_back(number);
      starts.push_back(number);
      ones.push_back(1);
      pages.push_back(number / 2);
    }
    starts.push_back(static_cast<std::int64_t>(texts.size()));
  }

  KeyColumns columns() const {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return {views, views, {"http://www.example.com/gone"}, same, same, starts, ones, pages};
  }

  std::vector<std::string> texts;
  std::vector<std::int64_t> same, starts, ones, pages;
};

void check(const KeyMoves& moves, std::size_t candidates, std::size_t images) {
  promise(moves.offsets.size() == candidates + 1 && moves.vote_offsets.size() == candidates + 1, "each candidate is judged");
  promise(moves.offsets.back() == static_cast<std::int64_t>(moves.image.size()), "offsets end behind the last move");
  promise(moves.vote_offsets.back() == static_cast<std::int64_t>(moves.left.size()), "offsets end behind the last vote");
  promise(moves.target.size() == moves.image.size() && moves.is_gone.size() == moves.image.size(), "moves are columns");
  promise(moves.right.size() == moves.left.size() && moves.group.size() == moves.left.size(), "votes are columns");
  promise(moves.saved.size() == candidates, "what each candidate saves is counted");
  for (const std::int64_t image : moves.image) {
    promise(0 <= image && image < static_cast<std::int64_t>(images), "what moves is an image");
  }
  for (const std::int64_t target : moves.target) promise(0 <= target, "what moves goes somewhere");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SuffixList suffixes(kSuffixes);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<CanonicalRule> texts_of_rules;  // what the sources below are views of
  std::map<std::string, bool> urls{{"http://www.example.com/a?sid=1", true}, {"http://www.example.com/a", true}};
  Scratch scratch;
  const Program nothing(std::span<const RuleSource>{}, suffixes);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    CanonicalRule rule;
    if (read_rule(line, rule)) {
      if (texts_of_rules.size() < kMostRules) texts_of_rules.push_back(std::move(rule));
    } else if (urls.size() < kMostUrls) {
      const Result key = nothing.key(line, scratch);
      if (key.outcome != Outcome::kNotUrl) urls.emplace(std::string(key.url), true);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<std::string> texts;
  for (const auto& [url, known] : urls) texts.push_back(url);
  const Site site(texts);
  const KeyIndex index(site.columns());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    promise(index.find(texts[i]) == static_cast<std::int64_t>(i), "a key is found under its number");
  }
  promise(index.find("http://www.example.com/never") < 0, "what is not there is not found");
  std::vector<RuleSource> rules;
  for (const CanonicalRule& rule : texts_of_rules) rules.push_back(source_of(rule));
  const Program touching(rules, suffixes);
  std::vector<std::int64_t> owner;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<const Program*> candidates;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    owner.push_back(static_cast<std::int64_t>(i));
    programs.push_back(std::make_unique<Program>(std::span<const RuleSource>(&rules[i], 1), suffixes));
    candidates.push_back(programs.back().get());
  }
  check(index.moves(touching, owner, candidates, site.same), candidates.size(), texts.size());
  check(index.moves(touching, owner, candidates, {}), candidates.size(), texts.size());
  return 0;
}
