// The rule engine under the fuzzer: rules of any text, on URLs of any bytes, keep every promise.
//
// The input is lines: those before the last are rules of site example.com (a line that is no rule is
// refused with a reason and left out), the last is a URL.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pattern_rule.hpp"
#include "program.hpp"
#include "promise.hpp"
#include "suffixes.hpp"
#include "url.hpp"

namespace {

using namespace undust;

constexpr std::string_view kSuffixes = "com\norg\nco.uk\ngithub.io\n*.ck\n!www.ck\n";
constexpr std::size_t kMostRules = 12;

RuleText text_of(const CanonicalRule& rule) {
  RuleText text{rule.kind, rule.from, {}, {}, {}};
  if (rule.to) text.to = *rule.to;
  text.when.assign(rule.when.begin(), rule.when.end());
  text.unless.assign(rule.unless.begin(), rule.unless.end());
  return text;
}

bool is_equal(const CanonicalRule& left, const CanonicalRule& right) {
  return left.kind == right.kind && left.from == right.from && left.to == right.to && left.when == right.when &&
         left.unless == right.unless;
}

// The rule that a line holds, as it is written; false for a line that holds none.
bool read_rule(std::string_view line, CanonicalRule& rule) {
  try {
    rule = canonical_rule(split_rule_line(line));
  } catch (const RuleProblem& problem) {
    promise(problem.what()[0] != '\0', "a refused rule has a reason");
    return false;
  }
  promise(is_equal(canonical_rule(text_of(rule)), rule), "a rule is written in one way");
  return true;
}

std::string site_of(std::string_view url, const SuffixList& suffixes) {
  std::string normal;
  if (!normalize_url(url, kAllSteps, normal)) return {};
  return std::string(suffixes.site_of_host(split_normal(normal).host));
}

void check(const Program& program, std::string_view url, const SuffixList& suffixes, bool has_compared) {
  Scratch scratch, other;
  const Result result = program.canonical(url, scratch);
  const std::string once(result.url);
  const std::string key(program.key(url, scratch).url);
  promise(program.canonical(once, scratch).url == once, "a canonical form is its own");
  std::string after;
  const bool is_end = program.step(once, other, after) == kNoRule || after == once;
  promise(is_end || has_compared || result.outcome != Outcome::kResolved, "no rule is left to act");
  promise(program.key(once, scratch).url == key, "the key of a canonical form is the key");
  promise(program.canonical(url, other).url == once, "what was asked before changes nothing");
  promise(site_of(once, suffixes) == site_of(url, suffixes), "no rule leaves the site");
  std::vector<std::uint32_t> touching;
  program.touching(url, scratch, touching);
  std::string normal;
  const bool is_url = normalize_url(url, kAllSteps, normal);
  promise(!is_url || !touching.empty() || program.key(url, other).url == normal, "what no rule touches stays");
}

// Side by side the URLs get what each gets alone, whatever the lanes were used for before.
void check_batch(const Program& program, std::string_view url) {
  static Lanes lanes;
  Scratch scratch, alone;
  const std::string other = std::string(url.substr(0, url.size() / 2)) + "/x?sid=1";
  std::vector<std::string_view> urls;
  for (std::size_t i = 0; i < Lanes::kCount + 3; ++i) urls.push_back(i % 3 == 0 ? std::string_view(other) : url);
  Course course(program, urls, lanes);
  for (const std::string_view each : urls) {
    promise(program.key(course.next(), scratch).url == program.key(each, alone).url, "a batch gives what one URL gives");
  }
}

// What went through its bytes answers the same; a byte that changed is found.
void check_image(const Program& program, std::string_view url, const SuffixList& suffixes) {
  Scratch scratch, other;
  std::string image = program.image(url);
  const Program again(std::as_bytes(std::span(image)), suffixes);
  promise(again.key(url, other).url == program.key(url, scratch).url, "an image answers what its program answers");
  promise(again.image(url) == image, "an image is written in one way");
  image[url.size() * 31 % image.size()] ^= 1;
  try {
    const Program damaged(std::as_bytes(std::span(image)), suffixes);
    promise(false, "damage is found");
  } catch (const ImageProblem& problem) {
    promise(problem.what()[0] != '\0', "a refused image has a reason");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SuffixList suffixes(kSuffixes);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<CanonicalRule> rules;
  for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    CanonicalRule rule;
    if (read_rule(rest.substr(0, end), rule) && rules.size() < kMostRules) rules.push_back(std::move(rule));
    rest.remove_prefix(end + 1);
  }
  // Some rules for all sites, and, where more is known of what follows a rule, none.
  for (const std::size_t each : {std::size_t{4}, kMostRules + 1}) {
    for (const bool has_compared : {false, true}) {
      std::vector<RuleSource> sources;
      for (const CanonicalRule& rule : rules) {
        const bool is_shared = sources.size() % each == each - 1;
        const bool is_fetched = !has_compared || rule.kind == "keep" || sources.size() % 3 == 0;
        sources.push_back({is_shared ? "*" : "example.com", text_of(rule), {}, true, is_fetched});
      }
      const Program program(sources, suffixes);
      check(program, rest, suffixes, has_compared);
      check_batch(program, rest);
      if (has_compared) check_image(program, rest, suffixes);
      check(program, "http://www.example.com/a/b/index.html?sid=1&x=2;y&utm_a=b&&x", suffixes, has_compared);
    }
  }
  return 0;
}
