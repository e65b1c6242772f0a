// What separates two URLs of one page, as the two sides of a rule: what differs is written, what is equal is
// left open, and a text that stands on both sides becomes a capture. So the same difference on other pages
// gives the same rule, and it is counted on how many pages it is seen.
//
// URLs are in normal form, which is ASCII, and has no braces of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace undust {

// A pair of URLs of one page, by row. Pairs of a page stand together.
struct SamePage {
  std::int64_t left, right, page;
};

// What is looked at, and what of it is told.
struct DifferenceBounds {
  std::size_t longest;      // more segments or parameters do not change in one rule
  std::size_t long_name;    // letters and digits that no rule writes: the name of a page
  std::size_t kept_values;  // distinct texts of a capture are kept up to this
  std::size_t least_pages;  // that must show a difference
  std::size_t most;         // of those that most pages show
};

struct Difference {
  std::string source, target;
  // Of each capture in order, then of each text that is forgotten: the first distinct ones.
  std::vector<std::vector<std::string>> values;
};

// By falling number of pages, then by source and target. Rows must be those of `urls`.
[[nodiscard]] std::vector<Difference> differences(std::span<const std::string_view> urls, std::span<const SamePage> pairs,
                                                  const DifferenceBounds& bounds);

}  // namespace undust
