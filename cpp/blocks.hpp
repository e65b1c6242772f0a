// What a page is made of: short runs of words, each as one number, few enough to keep for every page.
//
// A block ends where the layout ends a block, after one word in four (by its hash, so that the same text is
// cut at the same words in any layout), and after 12 words. Numbers are kept apart from words: digits are
// masked before a word is hashed, and hashed by themselves. From the highest bit down a block is
//
//   0 | 31 bits: its words, digits masked | 20 bits: its digits, 0 for none | 8 bits: the words of the next block | 4 bits: words
//
// A page keeps its blocks with the smallest numbers, at most `kMostBlocks` (2 KiB): the same choice on every
// page, so that shared blocks are kept or left out on all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace undust {

inline constexpr std::size_t kMostBlocks = 256;
inline constexpr std::size_t kMostBlockWords = 12;

struct TextBlocks {
  std::vector<std::int64_t> blocks;  // ascending, each once
  std::int64_t words = 0;            // of the whole text
};

// `ends` are places in the text, ascending, at which the layout ends a block.
void read_blocks(std::string_view text, std::span<const std::size_t> ends, TextBlocks& out);

}  // namespace undust
