#include "program_quiet.hpp"

#include <algorithm>

namespace undust {
namespace {

constexpr std::size_t kMostNames = 8;  // patterns with more are not looked at

bool are_different(std::span<const std::string_view> names) {
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      return false;
    }
  }
  return true;
}

// Whether fewer parameters never make the query match that more did not.
bool asks_for_more(const Pattern& pattern, const PieceView& pieces) {
  if (!pattern.open_query) return false;
  const Piece* piece = pieces.all + pattern.first + pattern.host_pieces + pattern.path_pieces;
  const Piece* end = piece + pattern.query_pieces;
  std::string_view names[kMostNames];
  std::size_t name_count = 0, list_count = 0;
  for (; piece != end; ++piece) {
    if (piece->kind == PieceKind::kList) ++list_count;
    if (piece->kind != PieceKind::kParameter) continue;
    if (name_count == kMostNames) return false;
    names[name_count++] = pieces.text_of(*piece);
  }
  return list_count == 0 ? are_different({names, name_count}) : list_count == 1 && name_count == 0;
}

// Whether a pattern takes any scheme, host and path.
bool takes_any_front(const Pattern& pattern, const PieceView& pieces) {
  const Piece* first = pieces.all + pattern.first;
  const bool any_scheme = pattern.scheme == SchemeShape::kUnwritten || pattern.scheme == SchemeShape::kCapture;
  const bool any_host =
      pattern.host == HostShape::kUnwritten ||
      (pattern.host == HostShape::kWithPort && pattern.host_pieces == 1 && first->run_class == RunClass::kAny);
  const bool any_path = !pattern.has_path || (pattern.path_pieces == 1 && first[pattern.host_pieces].kind == PieceKind::kMany);
  return any_scheme && any_host && any_path;
}

}  // namespace

bool drops_only(const ParsedRule& rule, const PieceView& pieces) {
  if (rule.kind != RuleKind::kRewrite || rule.is_mask || rule.to.query_pieces > 1) return false;
  if (rule.to.query_pieces == 0) return true;
  const Piece& written = pieces.all[rule.to.first + rule.to.host_pieces + rule.to.path_pieces];
  if (written.kind != PieceKind::kRest) return false;
  switch (written.form) {
    case Form::kNone:
    case Form::kSorted:
    case Form::kUnique:
    case Form::kFirst:
    case Form::kLast: return true;
    default: return false;
  }
}

bool stays_quiet(const ParsedRule& rule, std::span<const Pattern> conditions, const PieceView& pieces) {
  const auto whens = conditions.first(rule.when_count);
  if (rule.kind == RuleKind::kReplace) return false;
  if (!asks_for_more(rule.from, pieces)) return false;
  return std::all_of(whens.begin(), whens.end(), [&](const Pattern& when) { return asks_for_more(when, pieces); });
}

bool stays_quiet_anywhere(const ParsedRule& rule, std::span<const Pattern> conditions, const PieceView& pieces) {
  const auto whens = conditions.first(rule.when_count);
  if (!stays_quiet(rule, conditions, pieces)) return false;
  if (!takes_any_front(rule.from, pieces)) return false;
  return std::all_of(whens.begin(), whens.end(), [&](const Pattern& when) { return takes_any_front(when, pieces); });
}

}  // namespace undust
