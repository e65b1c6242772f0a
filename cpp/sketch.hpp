// Sketches of texts: how alike two pages are, from a few numbers each.
//
// A text is a set of shingles, runs of n words. For each of k hash functions the sketch
// holds the minimum over that set, so two sketches agree in one place with the probability
// |A ∩ B| / |A ∪ B| (Broder 1997). The functions are fixed for ever: sketches made today
// and years ago can be compared.
//
// A word is a run of letters and digits, its ASCII letters in lower case; scripts that are
// written without spaces have words of one character. A text of fewer than n words, and at
// least one, is a single shingle.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace undust {

inline constexpr std::size_t kMostMinima = 1024;

// The hashes of a text's shingles, in order of appearance; nothing for a text without words.
// `out` is cleared first.
void shingles(std::string_view text, std::size_t words, std::vector<std::uint64_t>& out);

// Writes the minima over `hashes`, less those in `ignored` (sorted), to `minima`. False, and
// `minima` untouched, if nothing is left.
[[nodiscard]] bool sketch(std::span<const std::uint64_t> hashes, std::span<const std::uint64_t> ignored,
                          std::span<std::uint32_t> minima);

}  // namespace undust
