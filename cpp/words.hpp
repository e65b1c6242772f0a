// The words of a text, as sketches and blocks count them.
//
// A word is a run of letters and digits, its ASCII letters in lower case; scripts that are written
// without spaces have words of one character.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "bytes.hpp"

namespace undust {

// Steele, Lea and Flood's splitmix64: from a counter to 64 well mixed bits.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

inline constexpr std::uint64_t kWordSeed = 0xCBF29CE484222325u, kWordFactor = 0x100000001B3u;  // FNV-1a

// Blocks of scripts written without spaces: Thai to Lao, Tibetan, Myanmar, Khmer, kana and Han.
inline constexpr std::pair<char32_t, char32_t> kSpaceless[] = {
    {0x0E00, 0x0EFF},   {0x0F00, 0x0FFF},   {0x1000, 0x109F},   {0x1780, 0x17FF},   {0x2E80, 0x2FDF},
    {0x3005, 0x30FF},   {0x3400, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x3FFFF},
};

// Signs outside ASCII that separate words: Latin-1 signs, general punctuation, symbols, CJK
// punctuation and full-width forms of ASCII signs.
inline constexpr std::pair<char32_t, char32_t> kSigns[] = {
    {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB9},     {0xBB, 0xBF},     {0xD7, 0xD7},     {0xF7, 0xF7},
    {0x2000, 0x206F}, {0x20A0, 0x20CF}, {0x2190, 0x2BFF}, {0x3000, 0x3004}, {0xFE30, 0xFE4F}, {0xFF00, 0xFF0F},
    {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65}, {0xFFF0, 0xFFFF},
};

template <std::size_t Size>
[[nodiscard]] inline bool is_in(const std::pair<char32_t, char32_t> (&ranges)[Size], char32_t point) {
  const auto* found = std::upper_bound(std::begin(ranges), std::end(ranges), point,
                                       [](char32_t value, const auto& range) { return value < range.first; });
  return found != std::begin(ranges) && point <= (found - 1)->second;
}

// One character from the front of `rest`; a damaged byte is the replacement character.
[[nodiscard]] inline char32_t take_character(std::string_view& rest) {
  const auto first = static_cast<unsigned char>(rest[0]);
  const std::size_t size = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t point = size == 1 ? first : first & (0xFFu >> (size + 1));
  bool is_whole = first < 0x80 || (first >= 0xC2 && first < 0xF5 && size <= rest.size());
  for (std::size_t i = 1; is_whole && i < size; ++i) {
    const auto next = static_cast<unsigned char>(rest[i]);
    is_whole = (next & 0xC0) == 0x80;
    point = point << 6 | (next & 0x3F);
  }
  rest.remove_prefix(is_whole ? size : 1);
  return is_whole ? point : 0xFFFD;
}

// Letters and digits of ASCII, in lower case; 0 for every other byte.
inline constexpr std::array<unsigned char, 256> kPlainLetter = [] {
  std::array<unsigned char, 256> table{};
  for (int c = 0; c < 128; ++c) {
    const char letter = static_cast<char>(c);
    if (!has(kLower | kUpper | kDigit, letter)) continue;
    table[static_cast<std::size_t>(c)] = static_cast<unsigned char>(lower(letter));
  }
  return table;
}();

enum class WordPart { kSign, kLetter, kWholeWord };

[[nodiscard]] inline WordPart part_of(char32_t point) {
  if (point < 0x80) return has(kLower | kUpper | kDigit, static_cast<char>(point)) ? WordPart::kLetter : WordPart::kSign;
  if (is_in(kSigns, point)) return WordPart::kSign;
  return is_in(kSpaceless, point) ? WordPart::kWholeWord : WordPart::kLetter;
}

// Calls take(hash) for each word of the text.
template <typename Take>
void for_each_word(std::string_view text, Take&& take) {
  std::uint64_t hash = kWordSeed;
  const auto end_word = [&] {
    if (hash != kWordSeed) take(mix(hash));
    hash = kWordSeed;
  };
  while (!text.empty()) {
    // Most text is ASCII, most of that letters.
    std::size_t plain = 0;
    while (plain < text.size() && kPlainLetter[static_cast<unsigned char>(text[plain])]) {
      hash = (hash ^ kPlainLetter[static_cast<unsigned char>(text[plain])]) * kWordFactor;
      ++plain;
    }
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::string_view before = text;
    const char32_t point = take_character(text);
    const WordPart kind = part_of(point);
    if (kind != WordPart::kLetter) end_word();
    if (kind == WordPart::kSign) continue;
    for (const char c : before.substr(0, before.size() - text.size())) {
      hash = (hash ^ static_cast<unsigned char>(lower(c))) * kWordFactor;
    }
    if (kind == WordPart::kWholeWord) end_word();
  }
  end_word();
}

}  // namespace undust
