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

// The order in which {rest:sorted} writes parameters.
[[nodiscard]] bool is_written_before(const UrlParameter& left, const UrlParameter& right);

// Writes the URL to `out`, which it empties first. False where the rule does not apply: a
// capture makes a dot segment or a bad host label. The text is in normal form as long as
// the authority is the one of `url` (and no host was written elsewhere).
[[nodiscard]] bool write_url(const Pattern& to, const PieceView& pieces, const UrlView& url, const Match& match,
                             WriteScratch& scratch, std::string& out);

// Whether the rule takes any scheme and host and writes them as they are, in front of its path: {s}://{h}/… → {s}://{h}/…
[[nodiscard]] bool keeps_authority(const Pattern& from, const Pattern& to, const PieceView& pieces);

// write_url for such a rule, of which path and query alone were matched.
[[nodiscard]] bool write_behind_authority(const Pattern& to, const PieceView& pieces, const UrlView& url, const Match& match,
                                          WriteScratch& scratch, std::string& out);

// Whether the rule takes any scheme, host and path and writes them as they are, in front of its parameters:
// {s}://{h}/{p**}?… → {s}://{h}/{p}?…
[[nodiscard]] bool keeps_front(const Pattern& from, const Pattern& to, const PieceView& pieces);

// write_url for such a rule, of which the query alone was matched.
void write_query(const Pattern& to, const PieceView& pieces, const UrlView& url, const Match& match, WriteScratch& scratch,
                 std::string& out);

// Whether write_url may write a host into the path or the query of the URL.
[[nodiscard]] bool moves_host(const Pattern& to, const PieceView& pieces);

}  // namespace undust
