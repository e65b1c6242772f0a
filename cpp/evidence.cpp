#include "evidence.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace undust {
namespace {

constexpr double kTiny = 1e-9;
// A title without a word of its own neither agrees nor differs.
constexpr double kTitleStart = 0.2;

std::int64_t key_of(std::int64_t block) { return block >> 32; }
std::int64_t digits_of(std::int64_t block) { return block >> 12 & 0xFFFFF; }
std::int64_t next_of(std::int64_t block) { return block >> 4 & 0xFF; }

// The blocks of one page that a comparison may look at.
struct Side {
  std::span<const std::int64_t> blocks;
  std::span<const float> weights, number_weights;
  std::size_t at = 0;

  [[nodiscard]] bool is_over() const { return at == blocks.size(); }
  [[nodiscard]] std::int64_t key() const { return key_of(blocks[at]); }
  [[nodiscard]] std::size_t end_of_group() const {
    std::size_t end = at;
    while (end < blocks.size() && key_of(blocks[end]) == key()) ++end;
    return end;
  }
};

struct Shared {
  double left = 0, right = 0, words = 0, exact = 0;  // weights: of each side, shared, shared with equal digits
  double numbers = 0, equal_numbers = 0, placed = 0, in_order = 0;
};

double total(const Side& side) {
  double sum = 0;
  for (const float weight : side.weights) sum += static_cast<double>(weight);
  return sum;
}

// Blocks of one group with equal digits on both sides, and what their digits weigh.
struct EqualDigits {
  std::size_t count = 0;
  double weight = 0;
};

EqualDigits equal_digits(std::span<const std::int64_t> left, std::span<const std::int64_t> right, std::span<const float> weights) {
  EqualDigits equal;
  std::size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    const std::int64_t a = digits_of(left[i]), b = digits_of(right[j]);
    equal.count += a == b;
    if (a == b) equal.weight += static_cast<double>(weights[i]);
    i += a <= b;
    j += b <= a;
  }
  return equal;
}

void compare_groups(Side& left, Side& right, Shared& shared) {
  const std::size_t left_end = left.end_of_group(), right_end = right.end_of_group();
  const auto ours = left.blocks.subspan(left.at, left_end - left.at);
  const auto theirs = right.blocks.subspan(right.at, right_end - right.at);
  const double weight = static_cast<double>(left.weights[left.at]);
  const auto our_numbers = left.number_weights.subspan(left.at, ours.size());
  const auto their_numbers = right.number_weights.subspan(right.at, theirs.size());
  const std::size_t both = std::min(ours.size(), theirs.size());
  const EqualDigits equal = equal_digits(ours, theirs, our_numbers);
  shared.words += weight * static_cast<double>(both);
  shared.exact += weight * static_cast<double>(equal.count);
  const float other = std::max(*std::max_element(our_numbers.begin(), our_numbers.end()),
                               *std::max_element(their_numbers.begin(), their_numbers.end()));
  shared.equal_numbers += equal.weight;
  shared.numbers += equal.weight + static_cast<double>(both - equal.count) * static_cast<double>(other);
  if (ours.size() == 1 && theirs.size() == 1) {
    shared.placed += weight;
    shared.in_order += next_of(ours[0]) == next_of(theirs[0]) ? weight : 0.0;
  }
  left.at = left_end;
  right.at = right_end;
}

double steep(double share) { return -std::log(1.03 - std::clamp(share, 0.0, 1.0)); }

void require(bool holds, const char* problem) {
  if (!holds) throw std::invalid_argument(problem);
}

bool are_offsets(std::span<const std::int64_t> offsets, std::size_t rows, std::size_t size) {
  return offsets.size() == rows + 1 && offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(size) &&
         std::is_sorted(offsets.begin(), offsets.end());
}

}  // namespace

Evidence::Evidence(EvidenceColumns columns) : columns_(columns) {
  const EvidenceColumns& all = columns_;
  const std::size_t rows = all.label.size();
  for (const auto column : {all.digest, all.home, all.language, all.sketch_row, all.last_key}) {
    require(column.size() == rows, "expected columns over rows");
  }
  require(all.shows.size() == rows, "expected columns over rows");
  require(are_offsets(all.first_block, rows, all.blocks.size()) && all.weights.size() == all.blocks.size() &&
              all.number_weights.size() == all.blocks.size(),
          "expected blocks of rows");
  require(are_offsets(all.first_title_word, rows, all.title_words.size()) && all.title_weights.size() == all.title_words.size(),
          "expected words of titles");
  const auto sketches = static_cast<std::int64_t>(all.minima ? all.sketches.size() / all.minima : 0);
  require(std::all_of(all.sketch_row.begin(), all.sketch_row.end(), [sketches](std::int64_t row) { return row < sketches; }),
          "expected rows of sketches");
}

void Evidence::calibrate(EvidenceScale scale) {
  require(scale.ratios.size() == scale.edges.size() + 1 && std::is_sorted(scale.edges.begin(), scale.edges.end()),
          "expected one ratio more than edges");
  require(scale.by_agreement.size() == columns_.minima + 1, "expected a ratio for each agreement of sketches");
  scale_ = std::move(scale);
}

Features Evidence::features(std::size_t left, std::size_t right) const {
  const std::int64_t last = std::min(columns_.last_key[left], columns_.last_key[right]);
  const auto side_of = [&](std::size_t row) {
    const auto first = static_cast<std::size_t>(columns_.first_block[row]);
    const auto end = static_cast<std::size_t>(columns_.first_block[row + 1]);
    const auto all = columns_.blocks.subspan(first, end - first);
    const auto kept = std::upper_bound(all.begin(), all.end(), last, [](std::int64_t key, std::int64_t block) { return key < key_of(block); });
    const auto count = static_cast<std::size_t>(kept - all.begin());
    return Side{all.first(count), columns_.weights.subspan(first, count), columns_.number_weights.subspan(first, count)};
  };
  Side ours = side_of(left), theirs = side_of(right);
  Shared shared;
  shared.left = total(ours);
  shared.right = total(theirs);
  while (!ours.is_over() && !theirs.is_over()) {
    if (ours.key() < theirs.key()) {
      ++ours.at;
    } else if (theirs.key() < ours.key()) {
      ++theirs.at;
    } else {
      compare_groups(ours, theirs, shared);
    }
  }
  const double fewer = std::min(shared.left, shared.right), all = shared.left + shared.right;
  return {shared.words / std::max(all - shared.words, kTiny),
          shared.words / std::max(fewer, kTiny),
          shared.exact / std::max(all - shared.exact, kTiny),
          (shared.equal_numbers + 1) / (shared.numbers + 1),
          (shared.in_order + 1) / (shared.placed + 1),
          title_share(left, right),
          fewer};
}

double Evidence::title_share(std::size_t left, std::size_t right) const {
  auto i = static_cast<std::size_t>(columns_.first_title_word[left]), j = static_cast<std::size_t>(columns_.first_title_word[right]);
  const auto left_end = static_cast<std::size_t>(columns_.first_title_word[left + 1]);
  const auto right_end = static_cast<std::size_t>(columns_.first_title_word[right + 1]);
  // A page without a title, such as a print view, does not differ in it.
  if (i == left_end || j == right_end) return 1.0;
  double shared = kTitleStart, all = kTitleStart;
  while (i < left_end || j < right_end) {
    const bool is_left = j == right_end || (i < left_end && columns_.title_words[i] <= columns_.title_words[j]);
    const bool is_right = i == left_end || (j < right_end && columns_.title_words[j] <= columns_.title_words[i]);
    const double weight = static_cast<double>(is_left ? columns_.title_weights[i] : columns_.title_weights[j]);
    all += weight;
    if (is_left && is_right) shared += weight;
    i += is_left;
    j += is_right;
  }
  return shared / all;
}

double Evidence::score(const Features& features) const {
  double sum = scale_.factors[kFeatures] + scale_.factors[kFeatures - 1] * std::log1p(features[kFeatures - 1]);
  for (std::size_t i = 0; i + 1 < kFeatures; ++i) sum += scale_.factors[i] * steep(features[i]);
  return sum;
}

std::size_t Evidence::agreement(std::int64_t left, std::int64_t right) const {
  const auto ours = columns_.sketches.subspan(static_cast<std::size_t>(left) * columns_.minima, columns_.minima);
  const auto theirs = columns_.sketches.subspan(static_cast<std::size_t>(right) * columns_.minima, columns_.minima);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) equal += ours[i] == theirs[i];
  return equal;
}

double Evidence::content(std::size_t left, std::size_t right) const {
  if (!columns_.shows[left] || !columns_.shows[right]) return 0.0;
  const std::int64_t ours = columns_.digest[left], theirs = columns_.digest[right];
  if (ours >= 0 && ours == theirs) return scale_.equal_digest;
  if (columns_.last_key[left] >= 0 && columns_.last_key[right] >= 0) {
    const Features found = features(left, right);
    if (found[kFeatures - 1] < scale_.least_words) return 0.0;
    const auto bin = std::upper_bound(scale_.edges.begin(), scale_.edges.end(), score(found)) - scale_.edges.begin();
    return scale_.ratios[static_cast<std::size_t>(bin)];
  }
  if (columns_.sketch_row[left] >= 0 && columns_.sketch_row[right] >= 0) {
    return scale_.by_agreement[agreement(columns_.sketch_row[left], columns_.sketch_row[right])];
  }
  return ours >= 0 && theirs >= 0 ? scale_.other_digest : 0.0;
}

double Evidence::ratio(std::size_t left, std::size_t right) const {
  if (left == right) return scale_.most;
  if (columns_.label[left] >= 0 && columns_.label[right] >= 0) {
    return columns_.label[left] == columns_.label[right] ? scale_.most : -scale_.most;
  }
  double sum = content(left, right);
  if (columns_.home[left] >= 0 && columns_.home[right] >= 0) {
    sum += columns_.home[left] == columns_.home[right] ? scale_.equal_home : scale_.other_home;
  }
  const std::int64_t language = columns_.language[left];
  if (language >= 0 && columns_.language[right] >= 0 && language != columns_.language[right]) sum += scale_.other_language;
  return std::clamp(sum, -scale_.most, scale_.most);
}

}  // namespace undust
