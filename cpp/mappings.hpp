// What a mapping between two patterns does to the pairs of URLs behind it, counted on integer columns.
//
// A pattern tree compares the values, the pages and the images of thousands of pairs of its nodes;
// here each comparison is one pass over sorted codes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace undust {

// Codes in ascending order, each once, and how often each is there.
struct Counted {
  std::span<const std::int64_t> codes, counts;
};

// How many codes two ascending columns of different ones share.
[[nodiscard]] std::int64_t shared_codes(std::span<const std::int32_t> left, std::span<const std::int32_t> right);

// How many pairs of one from each side have equal codes.
[[nodiscard]] std::int64_t meetings(const Counted& left, const Counted& right);

// Rows that a mapping takes from its source, rows of its target, and what each carries over. A row is
// an index into every column; rows of one page stand together there. Both lists ascend, a row in both
// is taken.
struct CarriedRows {
  std::span<const std::int64_t> taken, own;
  std::vector<std::span<const std::int32_t>> taken_values, own_values;  // as many columns on both sides
  std::span<const std::int64_t> page;
};

struct ImagePairs {
  std::int64_t rows = 0, images = 0;
  std::int64_t pairs = 0, same = 0;  // pairs of rows with one image; those of them of one page
  std::int64_t pages = 0;            // pages of which two rows or more have one image
};

// Throws where columns differ in length, a row is out of range, or a list does not ascend.
[[nodiscard]] ImagePairs image_pairs(const CarriedRows& carried);

}  // namespace undust
