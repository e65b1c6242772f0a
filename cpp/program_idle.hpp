// Rules that match nearly every URL of a site and change few:
//
//   {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:lower}?{rest:sorted}     the form of the path or of the parameters
//   // → /                                                           empty segments
//
// Whether one could change a URL is seen in the URL itself, without a match and without a result to compare.
#pragma once

#include "pattern_rule.hpp"
#include "program_match.hpp"

namespace undust {

// Whether a rule is one of these.
[[nodiscard]] bool may_idle(const ParsedRule& rule, const PieceView& pieces);

// Whether such a rule leaves the URL as it is. It may say no where the rule does.
[[nodiscard]] bool is_idle(const ParsedRule& rule, const PieceView& pieces, const UrlView& url);

}  // namespace undust
