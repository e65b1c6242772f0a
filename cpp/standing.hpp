// What rules would do to a site: the question that learning asks thousands of times.
//
// The URLs of a site stand on images, each image shows some pages. A candidate moves images; those that
// meet are one group, in which a page either needs fewer images now (it merges), or lies under another
// one that is no near copy (it is lost).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "evidence.hpp"
#include "numbered_texts.hpp"
#include "program.hpp"

namespace undust {

// Columns that somebody else owns. Those over pages may change between two questions.
struct StandingColumns {
  std::vector<std::string_view> images;               // all different
  std::span<const std::int64_t> first_pair;           // of each image, and behind the last
  std::span<const std::int64_t> page, urls;           // of each pair of an image and a page on it
  std::span<const bool> is_served, is_preferred;      // of each image: whether the site has it, and sends others to it
  std::span<const bool> speaks, is_held, is_silent;   // of each page
  std::span<const std::int64_t> sketch;               // of each page: a row of the sketches, or -1
  std::span<const std::uint32_t> sketches;
  std::size_t minima = 0, needed = 0;                 // of a sketch; so many agree in near copies
  const Evidence* evidence = nullptr;                 // where there is any, it tells instead of sketches ...
  std::span<const std::int64_t> row;                  // ... by the row of each page
  double against = 0, supports = 0;                   // ratios: up to the first a page is lost, from the second on it merges
};

// What one candidate would do.
struct CandidateCounts {
  std::int64_t moved = 0, saved = 0, lost = 0, lost_held = 0, pages = 0, pages_held = 0, moved_urls = 0, against = 0, astray = 0;
};

// The same of several, and columns over the images that each of them moves.
struct Effects {
  std::vector<CandidateCounts> counts;
  std::vector<double> met;  // share of the images that merge which do so on an image that was there
  std::vector<std::int64_t> offsets{0}, sources;
  std::vector<std::uint8_t> failing, blamed, merging;
  std::vector<std::int64_t> touched_offsets{0}, touched;  // images that one of its rules alone would change
  std::vector<std::int64_t> vote_offsets{0};
  std::vector<double> votes;  // the ratio of each page that comes together with another page, if evidence is there
};

class Standing {
 public:
  // Throws std::invalid_argument where columns do not fit together.
  explicit Standing(StandingColumns columns);

  // The rules of a program from number `first` on, each as a candidate; those before it that keep shield
  // their images. Only the images in `rows`, which ascend, are asked about.
  [[nodiscard]] Effects apart(const Program& program, std::size_t first, std::span<const std::int64_t> rows) const;
  // The same rules together, as one candidate.
  [[nodiscard]] Effects together(const Program& program, std::size_t first, std::span<const std::int64_t> rows) const;

  // How many pages lie under another one as it is.
  [[nodiscard]] std::int64_t lost() const;

  [[nodiscard]] const StandingColumns& columns() const { return columns_; }
  // The number of an image, or -1.
  [[nodiscard]] std::int64_t find(std::string_view text) const { return row_of_.find(text); }
  [[nodiscard]] bool buries(std::int64_t main, std::int64_t page) const;
  // Whether both pages show something that could be compared.
  [[nodiscard]] bool are_shown(std::int64_t main, std::int64_t page) const;
  // How much likelier two pages are one than two; 0 where nothing is known.
  [[nodiscard]] double ratio(std::int64_t main, std::int64_t page) const;

 private:
  StandingColumns columns_;
  NumberedTexts row_of_;
};

}  // namespace undust
