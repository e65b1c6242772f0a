// Which rules that left a URL as it is leave alone what another rule makes of it.
//
// After a change all rules of a site are tried again. Most changes only take parameters away or put them in order, and
// most rules ask for a parameter to be there. Such a rule that missed something before will miss it again.
//
//   a change drops        its result has some of the parameters of the URL, whole, each at most as often, in their
//                         order or sorted; nothing else stands in the query
//   a rule stays quiet    if it missed: what its left side and its `when` ask of the query are parameters of different
//                         names, or one list of names, whatever stands beside them;
//                         if it dropped nothing: then of fewer parameters it drops nothing either
#pragma once

#include <span>

#include "pattern_rule.hpp"

namespace undust {

// Whether all changes that a rule makes drop. It keeps URLs normal.
[[nodiscard]] bool drops_only(const ParsedRule& rule, const PieceView& pieces);

// Whether a rule stays quiet while what stands before the query stays the same.
[[nodiscard]] bool stays_quiet(const ParsedRule& rule, std::span<const Pattern> conditions, const PieceView& pieces);

// Whether it does so, too, when that changes.
[[nodiscard]] bool stays_quiet_anywhere(const ParsedRule& rule, std::span<const Pattern> conditions,
                                        const PieceView& pieces);

}  // namespace undust
