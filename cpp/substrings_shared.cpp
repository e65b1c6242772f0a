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
constexpr std::size_t kAsked = 8;  // before a row, and as many behind it

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
std::uint32_t common_of(const Side& side, std::uint32_t one, std::uint32_t other) {
  const auto left = side.behind(one, 0), right = side.behind(other, 0);
  return static_cast<std::uint32_t>(std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first -
                                    left.begin());
}

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
    std::uint64_t some[] = {token_of(order.front()), token_of(order[order.size() / 2]),
                            token_of(order.back())};
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
// Answers what each has in common with the one before it.
template <typename Side>
std::vector<std::uint32_t> share_with_neighbours(std::span<std::uint32_t> order, const Side& side,
                                                 std::vector<Shared>& shared, std::uint32_t Shared::* own) {
  sort_rows(order, side, 0, 2 * static_cast<int>(std::bit_width(order.size())));
  std::vector<std::uint32_t> common(order.size(), 0);
  for (std::size_t i = 1; i < order.size(); ++i) {
    common[i] = common_of(side, order[i - 1], order[i]);
    for (const auto row : {order[i - 1], order[i]}) shared[row].*own = std::max(shared[row].*own, common[i]);
  }
  return common;
}

}  // namespace

SharedEnvelopes::SharedEnvelopes(const TokenRows& rows, int threads) : rows_(rows), shared_(rows.size()) {
  in_parts(2, threads > 1 ? 2 : 1, [&](std::int64_t begin, std::int64_t end, std::size_t) {
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0u);
    if (begin == 0) {
      const auto common = share_with_neighbours(std::span(order), Heads(rows), shared_, &Shared::head);
      look_around(order, common);
    }
    if (end == 2) share_with_neighbours(std::span(order), Tails(rows), shared_, &Shared::tail);
  });
}

// The longer the start of a piece, the fewer rows begin so, and they stand around it in the order of rows. Where
// these are few, they are asked one by one what they end with: most of what is left otherwise is the envelope of a
// row that begins like some and ends like others.
void SharedEnvelopes::look_around(std::span<const std::uint32_t> order, std::span<const std::uint32_t> common) {
  tails_.assign(rows_.codes.size(), kAnyTail);
  const Tails tails(rows_);
  std::vector<std::uint32_t> tail_of_head;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t row = order[i], head = shared_[row].head;
    tail_of_head.assign(head + 1, 0);
    std::uint32_t unseen = 0;  // rows that were not asked share no more than so many tokens less one
    const auto ask = [&](std::size_t steps, auto&& place_of) {
      std::uint32_t alike = head;
      for (std::size_t step = 1; step <= steps; ++step) {
        const std::size_t place = place_of(step);
        alike = std::min(alike, common[std::max(place, place_of(step - 1))]);
        if (step > kAsked) {
          unseen = std::max(unseen, alike + 1);
          return;
        }
        tail_of_head[alike] = std::max(tail_of_head[alike], common_of(tails, row, order[place]));
      }
    };
    ask(i, [&](std::size_t step) { return i - step; });
    ask(order.size() - 1 - i, [&](std::size_t step) { return i + step; });
    std::uint32_t tail = 0;
    const auto begin = static_cast<std::size_t>(rows_.offsets[row]);
    for (std::uint32_t start = head; start + 1 > unseen; --start) {
      tail = std::max(tail, tail_of_head[start]);
      if (start < rows_[row].size()) {
        tails_[begin + start] = static_cast<std::uint16_t>(std::min<std::uint32_t>(tail, kAnyTail));
      }
      if (start == 0) break;
    }
  }
}

void share_among(const TokenRows& rows, std::span<std::uint32_t> some, std::vector<Shared>& shared) {
  share_with_neighbours(some, Heads(rows), shared, &Shared::head);
  share_with_neighbours(some, Tails(rows), shared, &Shared::tail);
}

}  // namespace undust
