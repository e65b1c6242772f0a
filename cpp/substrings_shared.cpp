#include "substrings_shared.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>

#include "batch.hpp"

namespace undust {
namespace {

// Rows in the order of their tokens, read from the start or from the end: what a row shares with
// any other it shares with a neighbour.
template <typename Of>
void share_with_neighbours(std::size_t count, Of&& tokens_of, std::vector<Shared>& shared, std::uint32_t Shared::* side) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
    const auto left = tokens_of(one), right = tokens_of(other);
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  });
  for (std::size_t i = 1; i < count; ++i) {
    const auto left = tokens_of(order[i - 1]), right = tokens_of(order[i]);
    const auto common = static_cast<std::uint32_t>(
        std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first - left.begin());
    for (const auto row : {order[i - 1], order[i]}) shared[row].*side = std::max(shared[row].*side, common);
  }
}

}  // namespace

std::vector<Shared> shared_of(const TokenRows& rows, int threads) {
  std::vector<Shared> shared(rows.size());
  in_parts(2, threads > 1 ? 2 : 1, [&](std::int64_t begin, std::int64_t end, std::size_t) {
    if (begin == 0) {
      share_with_neighbours(rows.size(), [&](std::uint32_t row) { return rows[row]; }, shared, &Shared::head);
    }
    if (end == 2) {
      const auto reversed = [&](std::uint32_t row) { return std::views::reverse(rows[row]); };
      share_with_neighbours(rows.size(), reversed, shared, &Shared::tail);
    }
  });
  return shared;
}

}  // namespace undust
