// What a row of tokens has in common with any other row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "substrings.hpp"

namespace undust {

// How many tokens a row shares with any other, from its start and from its end. An envelope beyond
// that is nobody else's, so there is nothing to look for in it. In most lists few are left.
struct Shared {
  std::uint32_t head = 0, tail = 0;
};

// Where another row may have the envelope of a piece.
class SharedEnvelopes {
 public:
  SharedEnvelopes(const TokenRows& rows, int threads);

  // How many starts of pieces a row has that are worth a look.
  [[nodiscard]] std::size_t starts(std::size_t row) const {
    return std::min<std::size_t>(rows_[row].size(), shared_[row].head + 1);
  }
  // The first end behind such a start.
  [[nodiscard]] std::size_t first_end(std::size_t row, std::size_t start) const {
    const std::uint16_t tail = tails_[static_cast<std::size_t>(rows_.offsets[row]) + start];
    return rows_[row].size() - (tail == kAnyTail ? shared_[row].tail : tail);
  }

 private:
  static constexpr std::uint16_t kAnyTail = 0xFFFF;

  void look_around(std::span<const std::uint32_t> order, std::span<const std::uint32_t> common);

  TokenRows rows_;
  std::vector<Shared> shared_;
  // For each place in the codes, how many tokens at the end of its row one of those has that are alike up to
  // there, as far as they are few.
  std::vector<std::uint16_t> tails_;
};

// What some rows have in common among themselves: raises what `shared` has of each. The order of `some` is lost.
void share_among(const TokenRows& rows, std::span<std::uint32_t> some, std::vector<Shared>& shared);

}  // namespace undust
