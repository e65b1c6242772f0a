// What a URL has that rules need, as the bits of a number. Most rules that would do nothing with a URL are passed over
// for want of a sign, without being read:
//
//   marks    bytes that are no letters and no digits: what a rule reads or replaces must stand in the URL, so each of
//            its marks must, and two that stand together must
//   size     how many segments the path has
//   events   what a rule is about that matches nearly every URL of a site and changes few:
//              {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:lower}?{rest:sorted}    the form of the path or of the parameters
//              // → /                                                          empty segments
//            One of those that a rule needs is enough.
#pragma once

#include <cstdint>
#include <span>

#include "pattern_rule.hpp"
#include "program_match.hpp"

namespace undust {

using Signs = std::uint64_t;

namespace sign {

// A mark has the bit of its last six bits. Those of capital letters are left for events.
inline constexpr Signs kTwoSlashes = Signs{1} << 1, kUpperInPath = Signs{1} << 2, kTripletInPath = Signs{1} << 3,
                       kUpperInQuery = Signs{1} << 4, kCodedInQuery = Signs{1} << 5, kSemicolonInQuery = Signs{1} << 6,
                       kUnsorted = Signs{1} << 7, kRepeated = Signs{1} << 8, kNameRepeated = Signs{1} << 9,
                       kBareQuestion = Signs{1} << 10;  // "?" and nothing: it is not written
inline constexpr Signs kEvents = ((Signs{1} << 10) - 1) << 1, kMarks = ~(((Signs{1} << 26) - 1) << 1);

[[nodiscard]] constexpr Signs mark_of(char c) { return Signs{1} << (static_cast<unsigned char>(c) & 63); }

// Marks together, of which the second is "&", or another one. A mark that ends the URL stands beside its end.
inline constexpr Signs kPairWithAnd = Signs{1} << 11, kOtherPair = Signs{1} << 12;

// Just so many segments, or so many at least.
inline constexpr std::size_t kMostCountedSegments = 8, kMostWantedSegments = 5;
[[nodiscard]] constexpr Signs segments_are(std::size_t count) {
  return count > 0 && count <= kMostCountedSegments ? Signs{1} << (12 + count) : 0;
}
[[nodiscard]] constexpr Signs segments_reach(std::size_t count) {
  return count < 2 ? 0 : Signs{1} << (19 + (count < kMostWantedSegments ? count : kMostWantedSegments));
}

}  // namespace sign

// What a rule needs. `whens`: its conditions that have to match.
[[nodiscard]] Signs needs_of(const ParsedRule& rule, std::span<const Pattern> whens, const PieceView& pieces);

// Whether a URL with these signs has what is needed. If not, the rule does nothing with it.
[[nodiscard]] inline bool has_needed(Signs signs, Signs needs) {
  const Signs events = needs & sign::kEvents;
  return !(needs & ~signs & ~sign::kEvents) && (!events || (events & signs));
}

// The signs of a URL among those that are asked for; for others than events it needs masks with words. It may have
// fewer than are said. Whether the authority is plain is remembered in the view.
[[nodiscard]] Signs signs_of(UrlView& url, Signs asked);

// The same for a URL with which the one that the signs in the view are of begins, where that one has no "?".
[[nodiscard]] Signs signs_of_beginning(UrlView& url, Signs asked);

}  // namespace undust
