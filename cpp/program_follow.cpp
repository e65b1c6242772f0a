#include "program_follow.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "program_guards.hpp"

namespace undust {
namespace {

// What the result of a rule may have that the index of its site asks for.
class Novelty {
 public:
  explicit Novelty(const IndexView& index) : index_(index), site_(*index.site) {}

  [[nodiscard]] bool of_rewrite(const ParsedRule& rule, const PieceView& pieces) const {
    const Piece* path = pieces.all + rule.to.first + rule.to.host_pieces;
    const Piece* query = path + rule.to.path_pieces;
    const std::span<const Piece> written(path, query + rule.to.query_pieces);
    return !holds_known_texts(written) || in_path({path, query}, pieces) || in_names(written, pieces) ||
           (site_.token_filter && in_words(rule.from, written, pieces));
  }

  // Whole segments take the place of whole segments.
  [[nodiscard]] bool of_replacement(std::string_view from, std::string_view to) const {
    const auto is_whole = [](std::string_view text) { return text.size() > 1 && text.front() == '/' && text.back() == '/'; };
    if (!is_whole(from) || !is_whole(to)) return true;
    const bool is_moving = std::count(from.begin(), from.end(), '/') != std::count(to.begin(), to.end(), '/');
    if (is_moving && (site_.segments_from_left || site_.segments_from_right || site_.has_counts)) return true;
    if (in_words(to)) return true;
    for (std::string_view rest = to.substr(1); !rest.empty();) {
      const std::string_view segment = rest.substr(0, rest.find('/'));
      if (is_segment_known(segment)) return true;
      rest.remove_prefix(segment.size() + 1);
    }
    return false;
  }

 private:
  [[nodiscard]] bool is_known(About about, std::size_t place, std::string_view text) const {
    return has_guard(index_, guard_of(about, place, text));
  }

  [[nodiscard]] bool is_segment_known(std::string_view segment) const {
    for (std::size_t place = 0; place < site_.segments_from_left; ++place) {
      if (is_known(About::kFromLeft, place, segment)) return true;
    }
    for (std::size_t place = 0; place < site_.segments_from_right; ++place) {
      if (is_known(About::kFromRight, place, segment)) return true;
    }
    return false;
  }

  // Captures of path and query, as they are: other texts may be anything.
  [[nodiscard]] static bool holds_known_texts(std::span<const Piece> written) {
    return std::all_of(written.begin(), written.end(), [](const Piece& piece) {
      if (piece.kind == PieceKind::kRest) {
        return piece.form == Form::kNone || piece.form == Form::kSorted || piece.form == Form::kUnique ||
               piece.form == Form::kFirst || piece.form == Form::kLast;
      }
      if (piece.kind != PieceKind::kRun) return true;
      const auto holds = static_cast<Holds>(piece.at);
      const bool is_part = holds == Holds::kSegmentRun || holds == Holds::kSegments || holds == Holds::kValue;
      return is_part && piece.form == Form::kNone;
    });
  }

  // Up to the first capture, from either end, it is known which segment stands where.
  [[nodiscard]] bool in_path(std::span<const Piece> path, const PieceView& pieces) const {
    const auto is_literal = [&path](std::size_t i) {
      return path[i].kind == PieceKind::kLiteral && path[i].ends && (i == 0 || path[i - 1].ends);
    };
    const std::size_t count = path.size();
    std::size_t left = 0, right = 0;
    for (; left < count && left < site_.segments_from_left && is_literal(left); ++left) {
      if (is_known(About::kFromLeft, left, pieces.text_of(path[left]))) return true;
    }
    for (; right < count && right < site_.segments_from_right && is_literal(count - 1 - right); ++right) {
      if (is_known(About::kFromRight, right, pieces.text_of(path[count - 1 - right]))) return true;
    }
    if (count == 0) return site_.segments_from_left || site_.segments_from_right || site_.has_counts;
    const bool is_left_open = left < count && left < site_.segments_from_left;
    const bool is_right_open = right < count && right < site_.segments_from_right;
    return is_left_open || is_right_open || (site_.has_counts && in_count(path));
  }

  [[nodiscard]] bool in_count(std::span<const Piece> path) const {
    const bool is_fixed = std::all_of(path.begin(), path.end(), [](const Piece& piece) {
      return piece.kind == PieceKind::kLiteral || piece.at == static_cast<std::uint16_t>(Holds::kSegmentRun);
    });
    const auto segments = std::count_if(path.begin(), path.end(), [](const Piece& piece) { return piece.ends; });
    return !is_fixed || is_known(About::kCount, static_cast<std::size_t>(segments), {});
  }

  [[nodiscard]] bool in_names(std::span<const Piece> written, const PieceView& pieces) const {
    return std::any_of(written.begin(), written.end(), [&](const Piece& piece) {
      return piece.kind == PieceKind::kParameter && (is_name_known(pieces.text_of(piece)) || is_parameter_known(&piece, pieces));
    });
  }

  // One of unknown value may be any that is asked for.
  [[nodiscard]] bool is_parameter_known(const Piece* name, const PieceView& pieces) const {
    if (!site_.parameter_filter) return false;
    const std::optional<std::string> whole = whole_parameter(name, pieces);
    return !whole || is_known(About::kParameter, 0, *whole);
  }

  [[nodiscard]] bool is_name_known(std::string_view name) const {
    if (is_known(About::kName, 0, name)) return true;
    for (std::uint64_t sizes = site_.prefix_sizes; sizes; sizes &= sizes - 1) {
      const auto size = static_cast<std::size_t>(std::countr_zero(sizes));
      if (size <= name.size() && is_known(About::kPrefix, size, name.substr(0, size))) return true;
    }
    return false;
  }

  // A capture that is a part of its own, in both URLs, brings no word that was not there.
  [[nodiscard]] bool in_words(const Pattern& from, std::span<const Piece> written, const PieceView& pieces) const {
    const Piece* read = pieces.all + from.first + from.host_pieces;
    if (!are_runs_whole({read, std::size_t{from.path_pieces} + from.query_pieces}) || !are_runs_whole(written)) return true;
    return std::any_of(written.begin(), written.end(), [&](const Piece& piece) {
      const bool is_text = piece.kind == PieceKind::kLiteral || piece.kind == PieceKind::kParameter;
      return is_text && in_words(pieces.text_of(piece));
    });
  }

  [[nodiscard]] static bool are_runs_whole(std::span<const Piece> side) {
    for (std::size_t i = 0; i < side.size(); ++i) {
      const bool is_start = i == 0 || side[i - 1].ends || side[i - 1].kind == PieceKind::kParameter;
      if (side[i].kind == PieceKind::kRun && !(side[i].ends && is_start)) return false;
    }
    return true;
  }

  [[nodiscard]] bool in_words(std::string_view text) const {
    bool is_any = false;
    for_each_word(text, [&](std::string_view word) {
      is_any = is_any || (word.size() > 1 && (site_.token_filter & token_bit(word.data())) && is_known(About::kToken, 0, word));
    });
    return is_any;
  }

  const IndexView& index_;
  const SiteIndex& site_;
};

}  // namespace

bool is_final(const ParsedRule& rule, const PieceView& pieces, const IndexView& index) {
  const SiteIndex& site = *index.site;
  if (site.always_count || site.group_count == 0) return false;
  const Novelty novelty(index);
  if (rule.kind == RuleKind::kReplace) {
    return !novelty.of_replacement({pieces.text + rule.find.at, rule.find.size}, {pieces.text + rule.put.at, rule.put.size});
  }
  const bool is_found_by_host = site.host_filter && rule.from.host == HostShape::kLiteral;
  return rule.kind == RuleKind::kRewrite && !is_found_by_host && !novelty.of_rewrite(rule, pieces);
}

}  // namespace undust
