// Several captures in one segment, label or value: which text each takes.
//
// For every piece, the places from which it and the pieces behind it match up to the end are
// the bits of a row. Rows are made from the last piece to the first, 64 places at a time; then
// captures take the longest text that leads from one row to the next. So the time is
// O(pieces × bytes / 64 + different literals × bytes), whatever the pattern and the text.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pattern.hpp"

namespace undust {

// Whether a byte can be part of a run of a class that is a set of bytes.
[[nodiscard]] bool is_in(RunClass run_class, char c);

// Whether a run takes all of a text.
[[nodiscard]] bool match_whole_run(const Piece& run, const PieceView& pieces, std::string_view text);

// Whether a place lies inside a percent triplet, where no piece starts or ends.
[[nodiscard]] inline bool is_inside_triplet(std::string_view text, std::size_t at) {
  return (at >= 1 && text[at - 1] == '%') || (at >= 2 && text[at - 2] == '%');
}

class Mixture {
 public:
  // `memory` is used again from one mixture to the next.
  Mixture(const PieceView& pieces, std::string_view text, std::vector<std::uint64_t>& memory)
      : pieces_(pieces), text_(text), words_(text.size() / 64 + 1), memory_(memory) {}

  // The pieces in order: literals and runs, no literal beside another.
  void add(const Piece& piece) { sequence_[count_++] = &piece; }

  // Whether all of the text is matched; `texts` gets what each capture took, by slot.
  [[nodiscard]] bool match(std::span<std::string_view> texts);

 private:
  // Bit (size - place) of a row stands for a place, so that going left in the text is going up.
  using Row = std::uint64_t*;

  [[nodiscard]] Row row(std::size_t number) { return memory_.data() + number * words_; }
  [[nodiscard]] bool has(Row row, std::size_t place) const;
  void set(Row row, std::size_t place) const;

  void find_edges();
  [[nodiscard]] Row bytes_of(RunClass run_class);
  [[nodiscard]] Row places_of(const Piece& literal);
  void reach_by_text(Row to, Row from, Row places, std::size_t size) const;
  void reach_by_item(Row to, Row from, std::string_view item) const;
  void reach_by_shape(Row to, Row from, std::string_view shape) const;
  void reach_by_run(Row to, Row from, Row bytes) const;
  void reach(std::size_t number);
  [[nodiscard]] std::size_t longest_run(Row bytes, Row to, std::size_t place) const;
  [[nodiscard]] std::size_t longest_end(std::size_t number, std::size_t place);

  static constexpr std::size_t kMostPieces = 2 * kMostCaptures + 1;
  static constexpr std::size_t kClasses = 8;

  const PieceView& pieces_;
  std::string_view text_;
  std::size_t words_;
  std::vector<std::uint64_t>& memory_;
  std::array<const Piece*, kMostPieces> sequence_;
  std::size_t count_ = 0;

  // Rows behind those of the pieces: the edges, then one for each class and literal in use.
  std::size_t rows_ = 0;
  bool has_triplets_ = false;
  std::array<std::size_t, kClasses> class_rows_{};
  std::array<std::size_t, kMostPieces> literal_rows_;
};

}  // namespace undust
