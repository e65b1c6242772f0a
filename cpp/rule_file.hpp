// The text of a rule file, read without making objects of it: most programs run rules and never look at them.
//
// Only plain files are read, as undust writes them. Any other, and any that is wrong, is for the caller, who can do
// what takes longer and can say what is wrong.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace undust {

struct PlainRuleFile {
  std::vector<RuleSource> rules;       // whose texts are those of the file
  std::size_t list_start, list_end;    // the list of the rules, brackets included
  bool is_limited = false;             // a rule is for comparing only, is proposed, or needs others
};

// Plain: an object of valid JSON with one list "rules" of at most `most` objects. What these say is as it should be
// and has no escapes; no rule needs others; no two are equal; numbers have few digits, and nothing is nested deeply.
// That the text is UTF-8 is not looked at.
[[nodiscard]] std::optional<PlainRuleFile> plain_rule_file(std::string_view text, std::size_t most);

}  // namespace undust
