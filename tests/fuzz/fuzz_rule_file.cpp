// The reader of rule files under the fuzzer: any bytes are read as they stand, or left to the caller.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program.hpp"
#include "promise.hpp"
#include "rule_file.hpp"
#include "suffixes.hpp"

namespace {

using namespace undust;

constexpr std::string_view kSuffixes = "com\norg\nco.uk\n";
constexpr std::string_view kUrl = "http://www.example.com/a/index.php?b=1&sid=2";
constexpr std::size_t kMostRules = 12;

bool is_within(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

bool are_within(const std::vector<std::string_view>& parts, std::string_view whole) {
  for (const std::string_view part : parts) {
    if (!is_within(part, whole)) return false;
  }
  return true;
}

bool is_equal(const RuleSource& left, const RuleSource& right) {
  return left.site == right.site && left.text.kind == right.text.kind && left.text.from == right.text.from &&
         left.text.to == right.text.to && left.text.when == right.text.when &&
         left.text.unless == right.text.unless && left.except_sites == right.except_sites &&
         left.is_active == right.is_active && left.is_fetched == right.is_fetched;
}

void check_texts(const RuleSource& rule, std::string_view text) {
  promise(is_within(rule.site, text) && is_within(rule.text.kind, text) && is_within(rule.text.from, text),
          "a rule says what the file says");
  promise(!rule.text.to || is_within(*rule.text.to, text), "its right side is in the file");
  promise(are_within(rule.text.when, text) && are_within(rule.text.unless, text) &&
              are_within(rule.except_sites, text),
          "its lists are in the file");
}

// The list alone, in a file of its own, holds the same rules; cut short it is no file.
void check_list(const PlainRuleFile& file, std::string_view text) {
  promise(file.list_start < file.list_end && file.list_end <= text.size(), "the list is in the file");
  const std::string_view list = text.substr(file.list_start, file.list_end - file.list_start);
  promise(list.front() == '[' && list.back() == ']', "the list has its brackets");
  const std::string alone = "{\"rules\":" + std::string(list) + "}";
  const std::optional<PlainRuleFile> again = plain_rule_file(alone, kMostRules);
  promise(again && again->rules.size() == file.rules.size(), "the list alone has as many rules");
  promise(again->is_limited == file.is_limited, "and as few limits");
  for (std::size_t i = 0; i < file.rules.size(); ++i) {
    promise(is_equal(again->rules[i], file.rules[i]), "and the same rules");
  }
  promise(!plain_rule_file(std::string_view(alone).substr(0, alone.size() - 1), kMostRules), "a part is no file");
  promise(!plain_rule_file(alone + "]", kMostRules), "nothing stands behind the end");
  promise(file.rules.empty() || !plain_rule_file(text, file.rules.size() - 1), "more rules than asked for are refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SuffixList suffixes(kSuffixes);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<PlainRuleFile> file = plain_rule_file(text, kMostRules);
  if (!file) return 0;
  promise(file->rules.size() <= kMostRules, "there are as many rules as asked for at most");
  for (const RuleSource& rule : file->rules) check_texts(rule, text);
  check_list(*file, text);
  try {
    const Program program(file->rules, suffixes);
    Scratch scratch;
    const std::string once(program.canonical(kUrl, scratch).url);
    promise(program.canonical(once, scratch).url == once, "a canonical form is its own");
  } catch (const RuleProblem& problem) {
    promise(problem.what()[0] != '\0', "a refused rule has a reason");
  }
  return 0;
}
