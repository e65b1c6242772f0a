#include <algorithm>
#include <bit>
#include <compare>
#include <numeric>
#include <utility>

#include "substrings.hpp"
#include "substrings_hash.hpp"

namespace undust {
namespace {

using Tokens = std::span<const std::uint32_t>;

constexpr std::size_t kStretch = 8192;

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

// Pairs by a hash, at places in a list. Different ones may have the same.
class Table {
 public:
  explicit Table(std::size_t most) : slots_(std::bit_ceil(most * 2)), shift_(64 - std::countr_zero(slots_.size())) {}

  void clear() { std::fill(slots_.begin(), slots_.end(), Slot{}); }
  void add(std::uint64_t hash, std::size_t place) {
    std::size_t at = hash >> shift_;
    while (slots_[at].place != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {hash, place};
  }
  template <typename Take>
  void each(std::uint64_t hash, Take&& take) const {
    for (std::size_t at = hash >> shift_; slots_[at].place != kNone; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].hash == hash) take(slots_[at].place);
    }
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Slot {
    std::uint64_t hash = 0;
    std::size_t place = kNone;
  };
  std::vector<Slot> slots_;
  int shift_;
};

// The hashes of a pair, and of all that are left of it without some of what both pieces begin and end with.
class Contexts {
 public:
  void take(const Pair& pair) {
    pair_ = &pair;
    longer_.take(pair.longer);
    shorter_.take(pair.shorter);
  }
  [[nodiscard]] std::uint64_t whole() const { return without(0, 0); }
  template <typename Take>
  void each_wider(Take&& take) const {
    for (std::size_t before = 0; before <= pair_->head; ++before) {
      const std::size_t most = std::min(pair_->tail, pair_->shorter.size() - before);
      for (std::size_t behind = before == 0; behind <= most; ++behind) take(without(before, behind));
    }
  }

 private:
  [[nodiscard]] std::uint64_t without(std::size_t before, std::size_t behind) const {
    const TokenHash longer = longer_.piece(before, pair_->longer.size() - behind);
    const TokenHash shorter = shorter_.piece(before, pair_->shorter.size() - behind);
    return scaled(longer).a + shorter.a;
  }

  const Pair* pair_ = nullptr;
  PieceHashes longer_, shorter_;
};

// Two places in the list of pairs, of which one pair refines the other.
struct Link {
  std::size_t first, second;
  bool first_refines;

  friend auto operator<=>(const Link&, const Link&) = default;
};

}  // namespace

// Fig. 3 of the paper, to the letter: a pair that is gone already is still compared with (A8). The
// list is sorted by the supports that are compared, or the window would end at the first small one. Of
// equal supports, which the paper leaves open, pairs of one core stand together: on a large site thousands of
// pairs have the smallest support, and in any other order the window ends before it comes to those.
//
// Nobody goes through the windows: a pair is looked for in the list under all that it refines, and what was
// found is gone through in the order in which the figure would have come to it.
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
  std::vector<std::uint8_t> is_gone(found.size(), 0);
  const auto high = [&](std::size_t place) -> double { return found[order[place]].high; };
  // A stretch of the list at a time, so that memory does not grow with it.
  const std::size_t stretch = std::min(found.size(), std::max(kStretch, allowed.window));
  const auto end_of = [&](std::size_t from, std::size_t size) {
    return found.size() - from < size ? found.size() : from + size;
  };
  Table table(end_of(stretch, allowed.window));
  Contexts contexts;
  std::vector<Link> links;
  for (std::size_t from = 0; from < found.size(); from += stretch) {
    const std::size_t to = end_of(from, stretch), end = end_of(to, allowed.window);
    table.clear();
    links.clear();
    for (std::size_t place = from; place < end; ++place) {
      contexts.take(pairs[order[place]]);
      table.add(contexts.whole(), place);
    }
    for (std::size_t place = from; place < end; ++place) {
      contexts.take(pairs[order[place]]);
      contexts.each_wider([&](std::uint64_t hash) {
        table.each(hash, [&](std::size_t other) {
          const auto [first, second] = std::minmax(place, other);
          if (first >= to || second - first > allowed.window) return;
          if (high(first) - high(second) > std::max(allowed.relative * high(first), allowed.absolute)) return;
          if (refines(pairs[order[place]], pairs[order[other]])) links.push_back({first, second, first == place});
        });
      });
    }
    std::sort(links.begin(), links.end());
    for (const Link& link : links) {
      if (!is_gone[order[link.first]]) is_gone[order[link.first_refines ? link.second : link.first]] = 1;
    }
  }
  return is_gone;
}

}  // namespace undust
