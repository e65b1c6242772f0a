#include <algorithm>
#include <compare>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "substrings.hpp"
#include "substrings_hash.hpp"

namespace undust {
namespace {

using Tokens = std::span<const std::uint32_t>;

struct Pair {
  Tokens longer, shorter;
  std::size_t head, tail;  // tokens that both begin with, that both end with
};

Pair pair_of(const TokenRows& rows, const Substitution& found) {
  const Tokens longer = found.longer.tokens(rows), shorter = found.shorter.tokens(rows);
  const auto head = std::mismatch(longer.begin(), longer.end(), shorter.begin(), shorter.end()).first;
  const auto tail = std::mismatch(longer.rbegin(), longer.rend(), shorter.rbegin(), shorter.rend()).first;
  return {longer, shorter, static_cast<std::size_t>(head - longer.begin()),
          static_cast<std::size_t>(tail - longer.rbegin())};
}

// What is left of both pieces without what they begin with and then end with alike: pairs that say the same
// with more or less context have the same.
std::pair<Tokens, Tokens> core_of(const Pair& pair) {
  const std::size_t tail = std::min(pair.tail, pair.shorter.size() - pair.head);
  return {pair.longer.subspan(pair.head, pair.longer.size() - pair.head - tail),
          pair.shorter.subspan(pair.head, pair.shorter.size() - pair.head - tail)};
}

std::strong_ordering compared(Tokens one, Tokens other) {
  return std::lexicographical_compare_three_way(one.begin(), one.end(), other.begin(), other.end());
}

bool holds_at(Tokens text, std::size_t place, Tokens piece) {
  return std::equal(piece.begin(), piece.end(), text.begin() + static_cast<std::ptrdiff_t>(place));
}

// Lemma 6: what the narrow pair has beyond the wide one is the same around both of its pieces. The
// other direction need not be tried: with the same text around them, the larger piece of the one
// lies in the larger piece of the other.
bool refines(const Pair& narrow, const Pair& wide) {
  if (narrow.longer.size() < wide.longer.size() ||
      narrow.longer.size() - wide.longer.size() != narrow.shorter.size() - wide.shorter.size()) {
    return false;
  }
  const std::size_t around = narrow.longer.size() - wide.longer.size();
  const std::size_t first = around > narrow.tail ? around - narrow.tail : 0, last = std::min(around, narrow.head);
  for (std::size_t before = first; before <= last; ++before) {
    if (holds_at(narrow.longer, before, wide.longer) && holds_at(narrow.shorter, before, wide.shorter)) return true;
  }
  return false;
}

// What the pieces of a pair have more than each other, whatever the order of their tokens. Text around both of
// them does not change it, so of two pairs that differ in it neither refines the other.
std::uint64_t difference_of(const Pair& pair) {
  const auto sum_of = [](Tokens piece) {
    std::uint64_t sum = 0;
    for (const std::uint32_t token : piece) {
      TokenHash hash = kPiece;
      hash.roll(token);
      sum += hash.a;
    }
    return sum;
  };
  return sum_of(pair.longer) - sum_of(pair.shorter);
}

// For each place in a list of pairs the next one with the same difference, or the end of the list.
std::vector<std::size_t> next_alike(std::span<const Pair> pairs, std::span<const std::size_t> order) {
  std::vector<std::size_t> next(order.size());
  std::unordered_map<std::uint64_t, std::size_t> seen;
  for (std::size_t place = order.size(); place-- > 0;) {
    const auto [last, is_new] = seen.try_emplace(difference_of(pairs[order[place]]), order.size());
    next[place] = std::exchange(last->second, place);
  }
  return next;
}

}  // namespace

// Fig. 3 of the paper, to the letter: a pair that is gone already is still compared with (A8). The
// list is sorted by the supports that are compared, or the window would end at the first small one. Of
// equal supports, which the paper leaves open, pairs of one core stand together: on a large site thousands of
// pairs have the smallest support, and in any other order the window ends before it comes to those. Of a
// window only the pairs are looked at that may be refinements, or a list of thousands would take millions of steps.
std::vector<std::uint8_t> redundant_substitutions(const TokenRows& rows, std::span<const Substitution> found,
                                                  const Deficiency& allowed) {
  std::vector<Pair> pairs;
  pairs.reserve(found.size());
  for (const Substitution& each : found) pairs.push_back(pair_of(rows, each));
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    if (found[one].high != found[other].high) return found[one].high > found[other].high;
    const auto [longer, shorter] = core_of(pairs[one]);
    const auto [other_longer, other_shorter] = core_of(pairs[other]);
    if (const auto by = compared(longer, other_longer); by != 0) return by < 0;
    if (const auto by = compared(shorter, other_shorter); by != 0) return by < 0;
    return one < other;
  });
  const std::vector<std::size_t> next = next_alike(pairs, order);
  std::vector<std::uint8_t> is_gone(found.size(), 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t own = order[i];
    if (is_gone[own]) continue;
    const double size = found[own].high, most = std::max(allowed.relative * size, allowed.absolute);
    const std::size_t last = found.size() - 1 - i < allowed.window ? found.size() - 1 : i + allowed.window;
    for (std::size_t j = next[i]; j <= last; j = next[j]) {
      const std::size_t other = order[j];
      if (size - found[other].high > most) break;
      if (refines(pairs[own], pairs[other])) {
        is_gone[other] = 1;
      } else if (refines(pairs[other], pairs[own])) {
        is_gone[own] = 1;
        break;
      }
    }
  }
  return is_gone;
}

}  // namespace undust
