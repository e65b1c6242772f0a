// How much likelier two URLs of a site are one page than two: log-likelihood ratios for pairs of rows.
//
// A row is a distinct URL with what is known of its content. Two rows are compared by the best that both have:
// labels, equal digests, blocks (see blocks.hpp), sketches, digests. What the numbers of a comparison weigh is
// a scale that was made for the site. What the site itself says (where a page is at home, its language) is
// added; the sum stays between -most and most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace undust {

struct EvidenceColumns {
  std::span<const std::int64_t> first_block;  // of each row, and behind the last
  std::span<const std::int64_t> blocks;       // ascending within a row; those that say nothing left out
  std::span<const float> weights;             // of each block, in words; 0 for those of the template
  std::span<const float> number_weights;      // of its digits; also where its words are the template's
  std::span<const std::int64_t> last_key;     // of each row: larger keys were not kept; -1 for rows without blocks
  std::span<const std::int64_t> first_title_word;
  std::span<const std::int64_t> title_words;  // codes, ascending within a row
  std::span<const float> title_weights;
  std::span<const std::int64_t> label, digest, home, language, sketch_row;  // of each row; -1 for unknown
  std::span<const bool> shows;                // of each row: its content may be compared
  std::span<const std::uint32_t> sketches;
  std::size_t minima = 0;
};

// Shared words by all words, shared words by those of the shorter page, the same with digits, shared numbers,
// order of the shared blocks, shared words of the titles; and the words of the shorter page.
inline constexpr std::size_t kFeatures = 7;
using Features = std::array<double, kFeatures>;

struct EvidenceScale {
  std::array<double, kFeatures + 1> factors{};  // of -log(1.03 - x) of the first six features, of log(1 + words), and 1
  std::vector<double> edges, ratios;            // ratios has one more: below the first edge, ..., from the last on
  std::vector<double> by_agreement;             // of minima, from none to all
  double equal_digest = 0, other_digest = 0, equal_home = 0, other_home = 0, other_language = 0;
  double least_words = 0;                       // below it blocks say nothing
  double most = 0;
};

class Evidence {
 public:
  // Throws std::invalid_argument where columns do not fit together.
  explicit Evidence(EvidenceColumns columns);

  void calibrate(EvidenceScale scale);

  [[nodiscard]] std::size_t size() const { return columns_.label.size(); }
  [[nodiscard]] bool shows(std::size_t row) const { return columns_.shows[row]; }
  [[nodiscard]] Features features(std::size_t left, std::size_t right) const;
  // What the logistic model says of features.
  [[nodiscard]] double score(const Features& features) const;
  [[nodiscard]] double ratio(std::size_t left, std::size_t right) const;
  // The same of what the rows show alone, whatever the site says; 0 where either shows nothing.
  [[nodiscard]] double content(std::size_t left, std::size_t right) const;

 private:
  [[nodiscard]] double title_share(std::size_t left, std::size_t right) const;
  [[nodiscard]] std::size_t agreement(std::int64_t left, std::int64_t right) const;

  EvidenceColumns columns_;
  EvidenceScale scale_;
};

}  // namespace undust
