#include "substrings_shared.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <ranges>
#include <utility>

#include "batch.hpp"

namespace undust {
namespace {

constexpr std::size_t kFew = 12;

// Rows as they are read from the start, or from the end: what is left behind some tokens.
class Heads {
 public:
  explicit Heads(const TokenRows& rows) : rows_(rows) {}
  [[nodiscard]] auto behind(std::uint32_t row, std::size_t depth) const { return rows_[row].subspan(depth); }

 private:
  TokenRows rows_;
};
class Tails {
 public:
  explicit Tails(const TokenRows& rows) : rows_(rows) {}
  [[nodiscard]] auto behind(std::uint32_t row, std::size_t depth) const {
    const auto tokens = rows_[row];
    return std::views::reverse(tokens.first(tokens.size() - depth));
  }

 private:
  TokenRows rows_;
};

template <typename Side>
void compare_rows(std::span<std::uint32_t> order, const Side& side, std::size_t depth) {
  std::sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
    const auto left = side.behind(one, depth), right = side.behind(other, depth);
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  });
}

// Parts rows by one token at a time (Bentley and Sedgewick): all URLs of a site begin alike, and what rows have in
// common is read once then, and not in each comparison. Where parts stay large, because somebody made them so,
// it compares. All of `order` have their first `depth` tokens in common.
template <typename Side>
void sort_rows(std::span<std::uint32_t> order, const Side& side, std::size_t depth, int splits) {
  const auto token_of = [&](std::uint32_t row) {
    const auto left = side.behind(row, depth);
    return left.empty() ? 0 : std::uint64_t{left.front()} + 1;
  };
  while (order.size() > kFew && splits > 0) {
    std::uint64_t some[] = {token_of(order.front()), token_of(order[order.size() / 2]), token_of(order.back())};
    std::sort(std::begin(some), std::end(some));
    const std::uint64_t middle = some[1];
    std::size_t less = 0, more = order.size();
    for (std::size_t i = 0; i < more;) {
      const std::uint64_t token = token_of(order[i]);
      if (token < middle) {
        std::swap(order[less++], order[i++]);
      } else if (token > middle) {
        std::swap(order[--more], order[i]);
      } else {
        ++i;
      }
    }
    sort_rows(order.first(less), side, depth, splits - 1);
    sort_rows(order.subspan(more), side, depth, splits - 1);
    if (middle == 0) return;
    order = order.subspan(less, more - less);
    ++depth;
  }
  compare_rows(order, side, depth);
}

// In the order of their tokens, what a row shares with any other it shares with a neighbour.
template <typename Side>
void share_with_neighbours(std::span<std::uint32_t> order, const Side& side, std::vector<Shared>& shared,
                           std::uint32_t Shared::* own) {
  sort_rows(order, side, 0, 2 * static_cast<int>(std::bit_width(order.size())));
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto left = side.behind(order[i - 1], 0), right = side.behind(order[i], 0);
    const auto common = static_cast<std::uint32_t>(
        std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first - left.begin());
    for (const auto row : {order[i - 1], order[i]}) shared[row].*own = std::max(shared[row].*own, common);
  }
}

}  // namespace

std::vector<Shared> shared_of(const TokenRows& rows, int threads) {
  std::vector<Shared> shared(rows.size());
  in_parts(2, threads > 1 ? 2 : 1, [&](std::int64_t begin, std::int64_t end, std::size_t) {
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0u);
    if (begin == 0) share_with_neighbours(std::span(order), Heads(rows), shared, &Shared::head);
    if (end == 2) share_with_neighbours(std::span(order), Tails(rows), shared, &Shared::tail);
  });
  return shared;
}

void share_among(const TokenRows& rows, std::span<std::uint32_t> some, std::vector<Shared>& shared) {
  share_with_neighbours(some, Heads(rows), shared, &Shared::head);
  share_with_neighbours(some, Tails(rows), shared, &Shared::tail);
}

}  // namespace undust
