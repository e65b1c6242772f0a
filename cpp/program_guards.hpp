// The guards of rules as numbers, made alike for rules and for URLs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bytes.hpp"
#include "hash.hpp"

namespace undust {

// What a guard speaks of. Guards are hashes; two that fall together only cost a try.
enum class About : std::uint64_t { kName, kPrefix, kFromLeft, kFromRight, kHost, kCount, kToken, kParameter };

inline constexpr std::size_t kMostCounted = 256;  // segments
inline constexpr std::size_t kLongestGuard = 63;  // of prefixes and tokens

[[nodiscard]] constexpr std::uint64_t seed_of(About about, std::uint64_t place) {
  return static_cast<std::uint64_t>(about) << 8 | place;
}

[[nodiscard]] inline std::uint32_t guard_of(About about, std::uint64_t place, std::string_view text) {
  return static_cast<std::uint32_t>(hash_of(text, seed_of(about, place)));
}

// The same for a part of a URL.
[[nodiscard]] inline std::uint32_t guard_in_url(About about, std::uint64_t place, std::string_view part) {
  return static_cast<std::uint32_t>(hash_inside(part, seed_of(about, place)));
}

// Words that begin with the same two letters share a bit.
[[nodiscard]] inline std::uint64_t token_bit(const char* word) {
  return std::uint64_t{1} << ((static_cast<unsigned char>(word[0]) * 7u + static_cast<unsigned char>(word[1])) & 63);
}

// Names, parameters and segments of one size that end alike share a bit.
[[nodiscard]] inline std::uint64_t part_bit(std::string_view part) {
  if (part.empty()) return 1;
  return std::uint64_t{1} << ((part.size() * 7u + static_cast<unsigned char>(part.back())) & 63);
}

// Calls use(word) for each run of letters and digits outside triplets.
template <typename Use>
void for_each_word(std::string_view text, Use&& use) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t start = at;
    while (at < text.size() && has(kWordBytes, text[at])) ++at;
    if (at > start) use(text.substr(start, at - start));
    if (at < text.size() && text[at] == '%') at += 2;
  }
}

// Where the table of guards keeps one: in groups of eight, of each of which a byte, its tag,
// is looked at first.
inline constexpr std::size_t kGroup = 8;
inline constexpr std::uint64_t kEachByte = 0x0101010101010101u;

[[nodiscard]] constexpr std::uint8_t tag_of(std::uint32_t guard) { return static_cast<std::uint8_t>(guard | 0x80); }
[[nodiscard]] constexpr std::uint32_t group_of(std::uint32_t guard, std::uint32_t group_count) {
  return static_cast<std::uint32_t>(std::uint64_t{guard} * group_count >> 32);
}
[[nodiscard]] constexpr std::uint32_t group_after(std::uint32_t group, std::uint32_t group_count) {
  return group + 1 == group_count ? 0 : group + 1;
}

}  // namespace undust
