#include "pattern_rule.hpp"

#include <algorithm>

namespace undust {
namespace {

constexpr std::string_view kArrow = "\xE2\x86\x92", kAsciiArrow = "->";

RuleKind kind_of(std::string_view kind) {
  if (kind == "replace") return RuleKind::kReplace;
  if (kind == "rewrite") return RuleKind::kRewrite;
  if (kind == "keep") return RuleKind::kKeep;
  throw RuleProblem("kind", 0, joined({"the kind '", kind, "' is not known; write replace, rewrite or keep"}));
}

// Runs `read` and says which field a problem is in.
template <typename Read>
auto in_field(const char* field, Read&& read) {
  try {
    return read();
  } catch (const PatternProblem& problem) {
    throw RuleProblem(field, problem.column, problem.what());
  }
}

std::string numbered(const char* list, std::size_t number) {
  return joined({list, "[", std::to_string(number), "]"});
}

void check_replace(const ParsedRule& rule, std::string_view to) {
  if (rule.find.size == 0 && !rule.find.starts && !rule.find.ends) {
    throw RuleProblem("from", 0, "the text to replace is empty; write one, or ^ or $ for an end of the URL");
  }
  if (rule.put.starts && !rule.find.starts) {
    throw RuleProblem("to", 0, "the anchor '^' stands on the right side only; write it on the left too, or %5E");
  }
  if (rule.put.ends && !rule.find.ends) {
    throw RuleProblem("to", to.size() - 1, "the anchor '$' stands on the right side only; write it on the left too, or %24");
  }
}

bool has_form(const Pattern& pattern, const Pieces& pieces, bool (*is_wanted)(Form)) {
  if (is_wanted(pattern.scheme_form)) return true;
  const auto first = pieces.all.begin() + pattern.first;
  const auto end = first + pattern.host_pieces + pattern.path_pieces + pattern.query_pieces;
  return std::any_of(first, end, [is_wanted](const Piece& piece) {
    return (piece.kind == PieceKind::kRun || piece.kind == PieceKind::kRest) && is_wanted(piece.form);
  });
}

// A mask differs from its left side by :any alone. (What is forgotten cannot stand on the right.)
void check_mask(const ParsedRule& rule, const Captures& captures, const Pieces& pieces) {
  std::string left, right;
  print_pattern(rule.from, Side::kLeft, captures, pieces, Detail::kNamesOnly, left);
  print_pattern(rule.to, Side::kRight, captures, pieces, Detail::kNamesOnly, right);
  const auto is_other = [](Form form) { return form != Form::kNone && form != Form::kMask; };
  if (left != right || has_form(rule.to, pieces, is_other)) {
    throw RuleProblem("to", 0, "a mask repeats its left side but for :any; name every capture and change nothing else");
  }
}

struct Sides {
  ParsedRule rule;
  Captures captures;
};

Sides parse_sides(const RuleText& text, Pieces& pieces) {
  Sides sides;
  ParsedRule& rule = sides.rule;
  rule.kind = kind_of(text.kind);
  if (rule.kind == RuleKind::kKeep && text.to) {
    throw RuleProblem("to", 0, "a keep rule has no right side; leave it out");
  }
  if (rule.kind != RuleKind::kKeep && !text.to) {
    throw RuleProblem("to", 0, "the right side is missing; write → and the URL to rewrite to");
  }
  if (rule.kind == RuleKind::kReplace) {
    rule.find = in_field("from", [&] { return parse_replace(text.from, pieces); });
    rule.put = in_field("to", [&] { return parse_replace(*text.to, pieces); });
    check_replace(rule, *text.to);
    return sides;
  }
  rule.from = in_field("from", [&] { return parse_pattern(text.from, Side::kLeft, sides.captures, pieces); });
  if (rule.kind == RuleKind::kKeep) return sides;
  rule.to = in_field("to", [&] { return parse_pattern(*text.to, Side::kRight, sides.captures, pieces); });
  rule.is_mask = has_form(rule.to, pieces, [](Form form) { return form == Form::kMask; });
  if (rule.is_mask) check_mask(rule, sides.captures, pieces);
  return sides;
}

// Reads the conditions of one list; use(pattern, captures) gets each.
template <typename Use>
void parse_conditions(const char* list, const std::vector<std::string_view>& texts, Pieces& pieces, Use&& use) {
  if (texts.size() > kMostPieces) throw RuleProblem(list, 0, "a rule has at most 65535 conditions; write fewer");
  for (std::size_t number = 0; number < texts.size(); ++number) {
    Captures captures;
    try {
      use(parse_pattern(texts[number], Side::kCondition, captures, pieces), captures);
    } catch (const PatternProblem& problem) {
      throw RuleProblem(numbered(list, number), problem.column, problem.what());
    }
  }
}

// A line cut at white space, except inside quotes.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line), rest_(line) { skip_white(); }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t column() const { return line_.size() - rest_.size(); }
  [[nodiscard]] std::string_view peek() const { return rest_.substr(0, rest_.find_first_of(kWhite)); }

  std::string_view take() {
    const std::string_view word = peek();
    rest_.remove_prefix(word.size());
    skip_white();
    return word;
  }

  std::string_view take_quoted() {
    const auto end = rest_.find('"', 1);
    if (!rest_.starts_with('"') || end == std::string_view::npos) {
      throw RuleProblem("text", column(), "the text to replace stands in quotes; write \"…\"");
    }
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (!rest_.empty() && peek().size() > 0) {
      throw RuleProblem("text", column(), "text follows the closing quote; write %22 for a quote inside");
    }
    skip_white();
    return inside;
  }

 private:
  static constexpr std::string_view kWhite = " \t\r\n";
  void skip_white() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kWhite), rest_.size())); }

  std::string_view line_, rest_;
};

// Patterns up to the next keyword. A comma at the end of one separates it from the next;
// where no other follows, it is part of the pattern.
std::vector<std::string_view> take_conditions(Words& words) {
  std::vector<std::string_view> patterns;
  for (bool more = true; more;) {
    if (words.at_end() || words.peek() == "unless") {
      throw RuleProblem("text", words.column(), "a condition of when or unless is missing; write one, for instance ?lang={*}");
    }
    std::string_view pattern = words.take();
    more = pattern.size() > 1 && pattern.ends_with(',') && !words.at_end() && words.peek() != "unless";
    if (more) pattern.remove_suffix(1);
    patterns.push_back(pattern);
  }
  return patterns;
}

}  // namespace

ParsedRule parse_rule(const RuleText& text, Pieces& pieces, std::vector<Pattern>& conditions) {
  pieces.all.clear();
  pieces.text.clear();
  conditions.clear();
  ParsedRule rule = parse_sides(text, pieces).rule;
  rule.when_count = static_cast<std::uint16_t>(text.when.size());
  rule.unless_count = static_cast<std::uint16_t>(text.unless.size());
  const auto add = [&](const Pattern& condition, const Captures&) { conditions.push_back(condition); };
  parse_conditions("when", text.when, pieces, add);
  parse_conditions("unless", text.unless, pieces, add);
  rule.piece_count = static_cast<std::uint16_t>(pieces.all.size());
  return rule;
}

RuleText split_rule_line(std::string_view line) {
  RuleText text;
  Words words(line);
  text.kind = words.take();
  const bool is_replace = kind_of(text.kind) == RuleKind::kReplace;
  const auto take_side = [&] {
    if (words.at_end()) throw RuleProblem("text", words.column(), "a side of the rule is missing; write KIND FROM → TO");
    return is_replace ? words.take_quoted() : words.take();
  };
  text.from = take_side();
  if (words.peek() == kArrow || words.peek() == kAsciiArrow) {
    words.take();
    text.to = take_side();
  }
  if (words.peek() == "when") {
    words.take();
    text.when = take_conditions(words);
  }
  if (words.peek() == "unless") {
    words.take();
    text.unless = take_conditions(words);
  }
  if (!words.at_end()) {
    throw RuleProblem("text", words.column(),
                      joined({"'", words.peek(), "' is not understood here; write →, when or unless, and %20 for a space"}));
  }
  return text;
}

CanonicalRule canonical_rule(const RuleText& text) {
  Pieces pieces;
  const auto [rule, captures] = parse_sides(text, pieces);
  CanonicalRule result{std::string(text.kind), {}, {}, {}, {}};
  if (text.to) result.to.emplace();
  if (rule.kind == RuleKind::kReplace) {
    print_replace(rule.find, pieces, result.from);
    print_replace(rule.put, pieces, *result.to);
  } else {
    print_pattern(rule.from, Side::kLeft, captures, pieces, Detail::kAll, result.from);
    if (result.to) print_pattern(rule.to, Side::kRight, captures, pieces, Detail::kAll, *result.to);
  }
  const auto add_to = [&pieces](std::vector<std::string>& list) {
    return [&pieces, &list](const Pattern& condition, const Captures& names) {
      print_pattern(condition, Side::kCondition, names, pieces, Detail::kAll, list.emplace_back());
    };
  };
  parse_conditions("when", text.when, pieces, add_to(result.when));
  parse_conditions("unless", text.unless, pieces, add_to(result.unless));
  return result;
}

}  // namespace undust
