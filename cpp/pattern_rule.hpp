// One rule: its sides and conditions read and checked against each other, and its one line of text.
//
//   KIND FROM [→ TO] [when P, P] [unless P, P]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pattern.hpp"

namespace undust {

enum class RuleKind : std::uint8_t { kReplace, kRewrite, kKeep };

// A rule as it stands in a file.
struct RuleText {
  std::string_view kind, from;
  std::optional<std::string_view> to;
  std::vector<std::string_view> when, unless;
};

struct ParsedRule {
  RuleKind kind = RuleKind::kKeep;
  bool is_mask = false;  // its right side says :any, so it makes keys only
  std::uint16_t when_count = 0, unless_count = 0;
  std::uint16_t piece_count = 0;  // of its sides and conditions
  Pattern from, to;       // of rewrite and keep
  ReplaceText find, put;  // of replace
};

// What is wrong with a rule: the field ("from", "to", "when[0]" …), the byte in it, and the mend.
class RuleProblem : public std::runtime_error {
 public:
  RuleProblem(std::string field, std::size_t column, const std::string& message)
      : std::runtime_error(message), field(std::move(field)), column(column) {}
  std::string field;
  std::size_t column;
};

// Reads a rule; `pieces` and `conditions` (all of when, then of unless) become those of it
// alone. Throws RuleProblem.
[[nodiscard]] ParsedRule parse_rule(const RuleText& text, Pieces& pieces, std::vector<Pattern>& conditions);

// Cuts one line of text into the parts of a rule; a replace loses its quotes. Throws
// RuleProblem with the field "text".
[[nodiscard]] RuleText split_rule_line(std::string_view line);

struct CanonicalRule {
  std::string kind, from;
  std::optional<std::string> to;
  std::vector<std::string> when, unless;
};

// The one way to write a rule. Throws RuleProblem.
[[nodiscard]] CanonicalRule canonical_rule(const RuleText& text);

}  // namespace undust
