// What a row of tokens has in common with any other row.
#pragma once

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

[[nodiscard]] std::vector<Shared> shared_of(const TokenRows& rows, int threads);

// The same among some rows alone: raises what `shared` has of each. The order of `some` is lost.
void share_among(const TokenRows& rows, std::span<std::uint32_t> some, std::vector<Shared>& shared);

}  // namespace undust
