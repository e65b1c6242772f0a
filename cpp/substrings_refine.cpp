#include <algorithm>
#include <numeric>

#include "substrings.hpp"

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

}  // namespace

// Fig. 3 of the paper, to the letter: a pair that is gone already is still compared with (A8). The
// list is sorted by the supports that are compared, or the window would end at the first small one.
std::vector<std::uint8_t> redundant_substitutions(const TokenRows& rows, std::span<const Substitution> found,
                                                  const Deficiency& allowed) {
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return found[one].high > found[other].high; });
  std::vector<Pair> pairs;
  pairs.reserve(found.size());
  for (const std::size_t place : order) pairs.push_back(pair_of(rows, found[place]));
  std::vector<std::uint8_t> is_gone(found.size(), 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (is_gone[order[i]]) continue;
    const double size = found[order[i]].high, most = std::max(allowed.relative * size, allowed.absolute);
    const std::size_t last = found.size() - 1 - i < allowed.window ? found.size() - 1 : i + allowed.window;
    for (std::size_t j = i + 1; j <= last; ++j) {
      if (size - found[order[j]].high > most) break;
      if (refines(pairs[i], pairs[j])) {
        is_gone[order[j]] = 1;
      } else if (refines(pairs[j], pairs[i])) {
        is_gone[order[i]] = 1;
        break;
      }
    }
  }
  return is_gone;
}

}  // namespace undust
