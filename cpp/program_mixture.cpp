#include "program_mixture.hpp"

#include <algorithm>
#include <bit>

#include "bytes.hpp"
#include "hash.hpp"
#include "program_search.hpp"

namespace undust {
namespace {

// A bit for each class that a byte belongs to.
constexpr std::array<std::uint8_t, 256> kClassBits = [] {
  std::array<std::uint8_t, 256> bits{};
  const auto add = [&bits](RunClass run_class, const ByteSet& set) {
    for (std::size_t i = 0; i < 256; ++i) {
      bits[i] |= static_cast<std::uint8_t>(set[i] << static_cast<int>(run_class));
    }
  };
  ByteSet any{};
  for (std::size_t i = 0; i < 256; ++i) any[i] = i != '&' && i != ';';
  add(RunClass::kAny, any);
  add(RunClass::kInt, kDigit);
  add(RunClass::kAlpha, kLower | kUpper);
  add(RunClass::kHex, kDigit | bytes_of("ABCDEFabcdef"));
  add(RunClass::kWord, kLower | kUpper | kDigit | bytes_of("_-"));
  return bits;
}();

// Whether a text is a run of no class. Eight bytes at a time: x - 1 borrows into the top bit of a byte of x that is 0.
bool is_any_run(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101010101010101u;
  const auto has_zero = [](std::uint64_t bytes) { return ((bytes - kEach) & ~bytes & (kEach << 7)) != 0; };
  for (; text.size() >= 8; text.remove_prefix(8)) {
    const std::uint64_t bytes = hash_detail::load_8(text.data());
    if (has_zero(bytes ^ kEach * '&') || has_zero(bytes ^ kEach * ';')) return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) { return c != '&' && c != ';'; });
}

// "x" is a hexadecimal digit, "9" a decimal one, "-" itself.
constexpr std::string_view kUuidShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", kDateShape = "9999-99-99";

bool has_shape(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const RunClass digit = shape[i] == 'x' ? RunClass::kHex : RunClass::kInt;
    if (shape[i] == '-' ? text[i] != '-' : !is_in(digit, text[i])) return false;
  }
  return true;
}

std::string_view shape_of(RunClass run_class) { return run_class == RunClass::kUuid ? kUuidShape : kDateShape; }

}  // namespace

bool is_in(RunClass run_class, char c) {
  return kClassBits[static_cast<unsigned char>(c)] >> static_cast<int>(run_class) & 1;
}

bool match_whole_run(const Piece& run, const PieceView& pieces, std::string_view text) {
  switch (run.run_class) {
    case RunClass::kUuid:
    case RunClass::kDate: {
      const std::string_view shape = shape_of(run.run_class);
      return text.size() == shape.size() && has_shape(text, shape);
    }
    case RunClass::kOneOf:
      return std::any_of(&run + 1, &run + 1 + run.size, [&](const Piece& item) { return pieces.text_of(item) == text; });
    case RunClass::kAny: return !text.empty() && is_any_run(text);
    default: {
      const unsigned bit = 1u << static_cast<unsigned>(run.run_class);
      return !text.empty() && std::all_of(text.begin(), text.end(), [bit](char c) {
        return (kClassBits[static_cast<unsigned char>(c)] & bit) != 0;
      });
    }
  }
}

bool Mixture::has(Row row, std::size_t place) const {
  const std::size_t bit = text_.size() - place;
  return row[bit / 64] >> (bit % 64) & 1;
}

void Mixture::set(Row row, std::size_t place) const {
  const std::size_t bit = text_.size() - place;
  row[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

// Row count_ + 1 becomes the places outside triplets.
void Mixture::find_edges() {
  has_triplets_ = text_.find('%') != std::string_view::npos;
  if (!has_triplets_) return;
  for (std::size_t place = 0; place <= text_.size(); ++place) {
    if (!is_inside_triplet(text_, place)) set(row(count_ + 1), place);
  }
}

Mixture::Row Mixture::bytes_of(RunClass run_class) {
  std::size_t& number = class_rows_[static_cast<std::size_t>(run_class)];
  if (number == 0) {
    number = rows_++;
    const Row bytes = row(number);
    for (std::size_t place = 0; place < text_.size(); ++place) {
      if (is_in(run_class, text_[place])) set(bytes, place);
    }
  }
  return row(number);
}

// Where a literal stands; one that occurs twice in the pattern is looked for once.
Mixture::Row Mixture::places_of(const Piece& literal) {
  const std::string_view wanted = pieces_.text_of(literal);
  for (std::size_t i = 0; i < count_; ++i) {
    const bool is_known = sequence_[i]->kind == PieceKind::kLiteral && literal_rows_[i] != 0;
    if (is_known && pieces_.text_of(*sequence_[i]) == wanted) return row(literal_rows_[i]);
  }
  const auto self = static_cast<std::size_t>(std::find(sequence_.begin(), sequence_.begin() + count_, &literal) - sequence_.begin());
  literal_rows_[self] = rows_++;
  const Row places = row(literal_rows_[self]);
  for_each_place(text_, wanted, [&](std::size_t place) {
    set(places, place);
    return true;
  });
  return places;
}

// From where a text of `size` bytes that stands at `places` leads into `from`.
void Mixture::reach_by_text(Row to, Row from, Row places, std::size_t size) const {
  const std::size_t skip = size / 64, shift = size % 64;
  for (std::size_t word = skip; word < words_; ++word) {
    std::uint64_t moved = from[word - skip] << shift;
    if (shift && word > skip) moved |= from[word - skip - 1] >> (64 - shift);
    to[word] |= moved & places[word];
  }
}

void Mixture::reach_by_item(Row to, Row from, std::string_view item) const {
  for_each_place(text_, item, [&](std::size_t place) {
    if (has(from, place + item.size())) set(to, place);
    return true;
  });
}

void Mixture::reach_by_shape(Row to, Row from, std::string_view shape) const {
  for (std::size_t place = 0; place + shape.size() <= text_.size(); ++place) {
    if (has(from, place + shape.size()) && has_shape(text_.substr(place), shape)) set(to, place);
  }
}

// From where some bytes of the class, one at least, lead into `from`. Adding a bit to a run of
// ones carries through to the end of the run: what the sum changed is what the bit reaches.
void Mixture::reach_by_run(Row to, Row from, Row bytes) const {
  std::uint64_t carry = 0, before = 0;
  for (std::size_t word = 0; word < words_; ++word) {
    const std::uint64_t starts = (from[word] << 1 | before >> 63) & bytes[word];
    before = from[word];
    const std::uint64_t sum = bytes[word] + starts, total = sum + carry;
    carry = (sum < bytes[word]) | (total < sum);
    to[word] = (bytes[word] & ~total) | starts;
  }
}

void Mixture::reach(std::size_t number) {
  const Piece& piece = *sequence_[number];
  const Row to = row(number), from = row(number + 1);
  if (piece.kind == PieceKind::kLiteral) {
    reach_by_text(to, from, places_of(piece), piece.size);
  } else if (piece.run_class == RunClass::kOneOf) {
    for (std::uint16_t item = 1; item <= piece.size; ++item) reach_by_item(to, from, pieces_.text_of((&piece)[item]));
  } else if (piece.run_class == RunClass::kUuid || piece.run_class == RunClass::kDate) {
    reach_by_shape(to, from, shape_of(piece.run_class));
  } else {
    reach_by_run(to, from, bytes_of(piece.run_class));
  }
  if (!has_triplets_) return;
  for (std::size_t word = 0; word < words_; ++word) to[word] &= row(count_ + 1)[word];
}

// The end of the longest run at `place` that leads into `to`: of the bits that stand for ends
// inside the run of bytes, the lowest.
std::size_t Mixture::longest_run(Row bytes, Row to, std::size_t place) const {
  const std::size_t start = text_.size() - place;
  std::size_t word = start / 64;
  // The highest bit below `start` that is no byte of the class; bit 0 is none.
  std::uint64_t gaps = ~bytes[word] & ((std::uint64_t{1} << (start % 64)) - 1);
  while (!gaps) gaps = ~bytes[--word];
  const std::size_t stop = word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(gaps));
  std::uint64_t ends = to[word] >> (stop % 64) << (stop % 64);
  while (!ends) ends = to[++word];
  return text_.size() - (word * 64 + static_cast<std::size_t>(std::countr_zero(ends)));
}

std::size_t Mixture::longest_end(std::size_t number, std::size_t place) {
  const Piece& piece = *sequence_[number];
  if (piece.kind == PieceKind::kLiteral) return place + piece.size;
  const Row to = row(number + 1);
  switch (piece.run_class) {
    case RunClass::kUuid:
    case RunClass::kDate: return place + shape_of(piece.run_class).size();
    case RunClass::kOneOf: break;
    default: return longest_run(bytes_of(piece.run_class), to, place);
  }
  std::size_t best = place;
  for (std::uint16_t item = 1; item <= piece.size; ++item) {
    const std::string_view text = pieces_.text_of((&piece)[item]);
    const std::size_t end = place + text.size();
    if (end > best && text_.substr(place).starts_with(text) && has(to, end)) best = end;
  }
  return best;
}

bool Mixture::match(std::span<std::string_view> texts) {
  // All the rows there can be, so that none moves while another is made.
  memory_.assign((count_ + 2 + kClasses + count_) * words_, 0);
  std::fill_n(literal_rows_.begin(), count_, 0);
  rows_ = count_ + 2;
  find_edges();
  set(row(count_), text_.size());
  for (std::size_t number = count_; number-- > 0;) reach(number);
  if (!has(row(0), 0)) return false;
  std::size_t place = 0;
  for (std::size_t number = 0; number < count_; ++number) {
    const std::size_t end = longest_end(number, place);
    const Piece& piece = *sequence_[number];
    if (piece.kind == PieceKind::kRun && piece.slot != kForgotten) texts[piece.slot] = text_.substr(place, end - place);
    place = end;
  }
  return true;
}

}  // namespace undust
