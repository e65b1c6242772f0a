#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "substrings.hpp"
#include "substrings_hash.hpp"
#include "substrings_shared.hpp"

namespace undust {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// The pieces of some substitutions, numbered, and which of them stand for each other.
class Partners {
 public:
  struct Link {
    std::uint32_t longer, shorter;  // pieces
    std::uint32_t substitution;

    friend auto operator<=>(const Link&, const Link&) = default;
  };

  Partners(const TokenRows& rows, std::span<const Substitution> found) : is_some_(kFilter) {
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      longest_ = std::max({longest_, found[i].longer.length(), found[i].shorter.length()});
      links_.push_back({number(found[i].longer.tokens(rows)), number(found[i].shorter.tokens(rows)), i});
    }
    std::sort(links_.begin(), links_.end());
    ends_.assign(numbers_.size() + 1, 0);
    for (const Link& link : links_) ++ends_[link.longer + 1];
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
  }

  [[nodiscard]] std::size_t longest() const { return longest_; }
  [[nodiscard]] std::uint32_t find(const PieceHashes& hashes, std::size_t start, std::size_t end) const {
    if (!is_some_[hashes.half(start, end) >> kFilterShift]) return kNone;
    const auto place = numbers_.find(hashes.piece(start, end));
    return place == numbers_.end() ? kNone : place->second;
  }
  [[nodiscard]] std::span<const Link> of(std::uint32_t longer) const {
    return std::span(links_).subspan(ends_[longer], ends_[longer + 1] - ends_[longer]);
  }

 private:
  static constexpr int kFilterShift = 64 - 18;
  static constexpr std::size_t kFilter = std::size_t{1} << 18;
  struct Mixed {
    std::size_t operator()(const TokenHash& hash) const { return hash.a; }
  };

  std::uint32_t number(std::span<const std::uint32_t> tokens) {
    hashes_.take(tokens);
    const TokenHash hash = hashes_.piece(0, tokens.size());
    is_some_[hash.b >> kFilterShift] = true;
    return numbers_.try_emplace(hash, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

  PieceHashes hashes_;
  std::size_t longest_ = 0;
  std::vector<bool> is_some_;  // most pieces of URLs are none of these, and that is seen here
  std::unordered_map<TokenHash, std::uint32_t, Mixed> numbers_;
  std::vector<Link> links_;
  std::vector<std::size_t> ends_;  // of the links of the longer pieces before each, and of all
};

// A piece of a row that is one of those numbered.
struct Seen {
  TokenHash envelope;
  std::uint32_t piece;

  friend auto operator<=>(const Seen&, const Seen&) = default;
};

struct Hashes {
  RowHashes envelopes;
  PieceHashes pieces;
};

// Sees the pieces of a row whose envelopes another row of its page may have.
void see(std::span<const std::uint32_t> tokens, const Shared& shared, const Partners& partners, Hashes& hashes,
         std::vector<Seen>& seen) {
  hashes.envelopes.take(tokens);
  hashes.pieces.take(tokens);
  for (std::size_t start = 0; start <= std::min<std::size_t>(shared.head, tokens.size() - 1); ++start) {
    // Nothing stands before the start of a URL.
    const std::size_t first = std::max(start + (start == 0), tokens.size() - shared.tail);
    const std::size_t last = std::min(tokens.size(), start + partners.longest());
    for (std::size_t end = first; end <= last; ++end) {
      const std::uint32_t number = partners.find(hashes.pieces, start, end);
      if (number != kNone) seen.push_back({hashes.envelopes.envelope(start, end), number});
    }
  }
}

// Calls take(substitution) for those of which both pieces stand in one envelope; `bucket` is sorted.
template <typename Take>
void each_instance(std::span<const Seen> bucket, const Partners& partners, Take&& take) {
  for (const Seen& each : bucket) {
    const auto links = partners.of(each.piece);
    if (links.size() <= bucket.size()) {
      for (const auto& link : links) {
        if (std::ranges::binary_search(bucket, link.shorter, {}, &Seen::piece)) take(link.substitution);
      }
    } else {
      for (const Seen& other : bucket) {
        const auto link = std::ranges::lower_bound(links, other.piece, {}, &Partners::Link::shorter);
        if (link != links.end() && link->shorter == other.piece) take(link->substitution);
      }
    }
  }
}

}  // namespace

std::vector<std::uint32_t> pages_of_substitutions(const TokenRows& rows, std::span<const std::int64_t> pages,
                                                  std::span<const Substitution> found) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    if (pages[row] >= 0) order.push_back(row);
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t row) { return pages[row]; });
  const Partners partners(rows, found);
  std::vector<std::uint32_t> counts(found.size(), 0);
  std::vector<std::int64_t> last(found.size(), -1);
  std::vector<Shared> shared(rows.size());
  std::vector<Seen> seen;
  Hashes hashes;
  for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
    const std::int64_t page = pages[order[from]];
    while (to < order.size() && pages[order[to]] == page) ++to;
    if (to - from < 2) continue;
    seen.clear();
    share_among(rows, std::span(order).subspan(from, to - from), shared);
    for (std::size_t i = from; i < to; ++i) see(rows[order[i]], shared[order[i]], partners, hashes, seen);
    std::sort(seen.begin(), seen.end());
    for (std::size_t first = 0, end = 0; first < seen.size(); first = end) {
      while (end < seen.size() && seen[end].envelope == seen[first].envelope) ++end;
      if (end - first < 2) continue;
      each_instance(std::span(seen).subspan(first, end - first), partners, [&](std::uint32_t substitution) {
        counts[substitution] += last[substitution] != page;
        last[substitution] = page;
      });
    }
  }
  return counts;
}

}  // namespace undust
