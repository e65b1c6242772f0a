// The right side of a rewrite, filled with what the left side took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pattern.hpp"
#include "program_match.hpp"

namespace undust {

struct WriteScratch {
  std::string text;
  std::vector<std::uint32_t> order, kept;
};

// Writes the URL to `out`, which it empties first. False where the rule does not apply: a
// capture makes a dot segment or a bad host label. The text is in normal form as long as
// the authority is the one of `url` (and no host was written elsewhere).
[[nodiscard]] bool write_url(const Pattern& to, const PieceView& pieces, const UrlView& url, const Match& match,
                             WriteScratch& scratch, std::string& out);

// Whether write_url may write a host into the path or the query of the URL.
[[nodiscard]] bool moves_host(const Pattern& to, const PieceView& pieces);

}  // namespace undust
