// Which rules of a file are in effect: some are safe only while others are, which they name by id.
//
// `_without_unmet` in undust/rules/compiled.py says the same of objects, and is what this is tested against.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace undust {

struct RuleNeeds {
  std::size_t rule;
  std::vector<std::string_view> ids;  // in hexadecimal digits
};

// Switches off each rule that needs one that is not there, is off, or is not there on all of its sites; and then each
// that needs one of those. No text of a rule has an escape of JSON. False if one that matters is not UTF-8.
[[nodiscard]] bool switch_off_unmet(std::vector<RuleSource>& rules, std::span<const RuleNeeds> needs);

}  // namespace undust
