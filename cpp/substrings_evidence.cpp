#include <algorithm>
#include <bit>

#include "substrings.hpp"
#include "substrings_hash.hpp"

namespace undust {

void RowEvidence::join_equal_sketches() {
  const auto sketch = [this](std::int32_t number) {
    return sketches.subspan(static_cast<std::size_t>(number) * sketch_size, sketch_size);
  };
  const std::size_t mask = std::bit_ceil(rows.size() * 2 + 1) - 1;
  std::vector<std::int32_t> firsts(mask + 1, -1);
  for (Row& row : rows) {
    if (row.sketch < 0) continue;
    const auto own = sketch(row.sketch);
    std::size_t slot = hash_of_piece(own).a & mask;
    while (firsts[slot] >= 0 && !std::ranges::equal(own, sketch(firsts[slot]))) slot = (slot + 1) & mask;
    if (firsts[slot] < 0) firsts[slot] = row.sketch;
    row.sketch = firsts[slot];
  }
}

bool RowEvidence::may_be_one_page(std::size_t left, std::size_t right) const {
  if (rows.empty()) return true;
  const Row& one = rows[left];
  const Row& other = rows[right];
  if (one.page >= 0 && one.page == other.page) return true;
  if (one.label >= 0 && other.label >= 0) return one.label == other.label;
  if (one.is_known && other.is_known) {
    if (one.sketch < 0 || other.sketch < 0) return !(one.is_firm && other.is_firm);
    if (one.sketch == other.sketch || agreeing >= sketch_size) return one.sketch == other.sketch;
    const auto* a = sketches.data() + static_cast<std::size_t>(one.sketch) * sketch_size;
    const auto* b = sketches.data() + static_cast<std::size_t>(other.sketch) * sketch_size;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < sketch_size; ++i) equal += a[i] == b[i];
    return equal >= agreeing;
  }
  if (one.size_max < 0 || other.size_max < 0) return true;
  return one.size_min <= other.size_max && other.size_min <= one.size_max;
}

}  // namespace undust
