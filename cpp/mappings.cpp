#include "mappings.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace undust {

namespace {

// From here on it is faster to look up the few among the many than to walk along both.
constexpr std::size_t kFew = 16;

// Calls `met(l, r)` for the places of equal codes in two ascending columns of different ones.
template <typename Code, typename Met>
void walk(std::span<const Code> left, std::span<const Code> right, Met met) {
  const auto few = left.size() <= right.size() ? left : right;
  const auto many = left.size() <= right.size() ? right : left;
  const auto told = [&](std::size_t f, std::size_t m) { left.size() <= right.size() ? met(f, m) : met(m, f); };
  if (few.size() * kFew < many.size()) {
    auto from = many.begin();
    for (std::size_t f = 0; f < few.size(); ++f) {
      from = std::lower_bound(from, many.end(), few[f]);
      if (from == many.end()) return;
      if (*from == few[f]) told(f, static_cast<std::size_t>(from - many.begin()));
    }
    return;
  }
  for (std::size_t f = 0, m = 0; f < few.size() && m < many.size();) {
    const Code one = few[f], other = many[m];
    if (one == other) told(f, m);
    f += one <= other;
    m += other <= one;
  }
}

struct Image {
  std::uint64_t hash;
  std::int64_t last_page;
  std::uint32_t first;  // row, doubled, and one more if it was taken
  std::uint32_t size, on_last_page;
};

// Counts rows that come page by page: an image needs one count only, of its rows on the page at hand.
class Counting {
 public:
  explicit Counting(const CarriedRows& carried)
      : carried_(carried), places_(std::bit_ceil(2 * (carried.taken.size() + carried.own.size()) + 2), 0) {}

  void add(std::int64_t row, bool is_taken) {
    const std::int64_t page = carried_.page[static_cast<std::size_t>(row)];
    Image& image = images_[image_of(row, is_taken)];
    if (image.last_page != page) image.last_page = page, image.on_last_page = 0;
    found_.pairs += image.size++;
    found_.same += image.on_last_page++;
    if (image.on_last_page > 1 && page != last_merged_page_) ++found_.pages, last_merged_page_ = page;
    ++found_.rows;
  }

  [[nodiscard]] ImagePairs finish() {
    found_.images = static_cast<std::int64_t>(images_.size());
    return found_;
  }

 private:
  [[nodiscard]] const std::vector<std::span<const std::int32_t>>& values(bool is_taken) const {
    return is_taken ? carried_.taken_values : carried_.own_values;
  }

  [[nodiscard]] std::size_t image_of(std::int64_t row, bool is_taken) {
    if (carried_.own_values.empty() && !images_.empty()) return 0;
    const std::uint64_t hash = hash_of(row, is_taken);
    const std::size_t mask = places_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      if (places_[at] == 0) {
        images_.push_back({hash, -1, static_cast<std::uint32_t>(2 * row + is_taken), 0, 0});
        places_[at] = static_cast<std::uint32_t>(images_.size());
        return images_.size() - 1;
      }
      const Image& image = images_[places_[at] - 1];
      if (image.hash == hash && is_equal(image, row, is_taken)) return places_[at] - 1;
    }
  }

  [[nodiscard]] std::uint64_t hash_of(std::int64_t row, bool is_taken) const {
    std::uint64_t hash = 0x9E3779B97F4A7C15u;
    for (const auto& column : values(is_taken)) {
      hash = (hash ^ static_cast<std::uint32_t>(column[static_cast<std::size_t>(row)])) * 0xD6E8FEB86659FD93u;
      hash ^= hash >> 32;
    }
    return hash;
  }

  [[nodiscard]] bool is_equal(const Image& image, std::int64_t row, bool is_taken) const {
    const auto &there = values(image.first & 1), &here = values(is_taken);
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (there[i][image.first >> 1] != here[i][static_cast<std::size_t>(row)]) return false;
    }
    return true;
  }

  const CarriedRows& carried_;
  std::vector<std::uint32_t> places_;  // number of an image, from 1 on; 0 for none
  std::vector<Image> images_;
  std::int64_t last_merged_page_ = -1;
  ImagePairs found_;
};

void check(const CarriedRows& carried) {
  const std::size_t rows = carried.page.size();
  const auto is_whole = [&](const auto& column) { return column.size() == rows; };
  if (carried.taken_values.size() != carried.own_values.size() ||
      !std::ranges::all_of(carried.taken_values, is_whole) || !std::ranges::all_of(carried.own_values, is_whole)) {
    throw std::invalid_argument("every column must have a value for each row, on both sides");
  }
  if (rows > UINT32_MAX / 4) throw std::length_error("too many rows");
  for (const auto list : {carried.taken, carried.own}) {
    if (!std::ranges::is_sorted(list)) throw std::invalid_argument("rows must ascend");
    if (!list.empty() && (list.front() < 0 || static_cast<std::size_t>(list.back()) >= rows)) {
      throw std::out_of_range("there is no such row");
    }
  }
}

}  // namespace

std::int64_t shared_codes(std::span<const std::int32_t> left, std::span<const std::int32_t> right) {
  std::int64_t count = 0;
  walk(left, right, [&](std::size_t, std::size_t) { ++count; });
  return count;
}

std::int64_t meetings(const Counted& left, const Counted& right) {
  if (left.codes.size() != left.counts.size() || right.codes.size() != right.counts.size()) {
    throw std::invalid_argument("every code needs its count");
  }
  std::int64_t count = 0;
  walk(left.codes, right.codes, [&](std::size_t l, std::size_t r) { count += left.counts[l] * right.counts[r]; });
  return count;
}

ImagePairs image_pairs(const CarriedRows& carried) {
  check(carried);
  Counting counting(carried);
  const auto &taken = carried.taken, &own = carried.own;
  for (std::size_t t = 0, o = 0; t < taken.size() || o < own.size();) {
    if (t < taken.size() && o < own.size() && taken[t] == own[o]) ++o;
    const bool is_taken = t < taken.size() && (o == own.size() || taken[t] < own[o]);
    counting.add(is_taken ? taken[t++] : own[o++], is_taken);
  }
  return counting.finish();
}

}  // namespace undust
