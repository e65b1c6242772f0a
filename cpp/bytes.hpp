// Classes of bytes and triplets, as RFC 3986 names them.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace undust {

using ByteSet = std::array<bool, 256>;

constexpr ByteSet bytes_of(std::string_view members) {
  ByteSet set{};
  for (const char c : members) set[static_cast<unsigned char>(c)] = true;
  return set;
}

constexpr ByteSet operator|(const ByteSet& left, const ByteSet& right) {
  ByteSet set{};
  for (std::size_t i = 0; i < set.size(); ++i) set[i] = left[i] || right[i];
  return set;
}

inline constexpr ByteSet kLower = bytes_of("abcdefghijklmnopqrstuvwxyz");
inline constexpr ByteSet kUpper = bytes_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
inline constexpr ByteSet kDigit = bytes_of("0123456789");
inline constexpr ByteSet kWordBytes = kLower | kUpper | kDigit;
inline constexpr ByteSet kUnreserved = kLower | kUpper | kDigit | bytes_of("-._~");
inline constexpr ByteSet kSubDelims = bytes_of("!$&'()*+,;=");

[[nodiscard]] constexpr bool has(const ByteSet& set, char c) { return set[static_cast<unsigned char>(c)]; }

[[nodiscard]] constexpr char lower(char c) { return has(kUpper, c) ? static_cast<char>(c | 0x20) : c; }

// The value of a hexadecimal digit, or -1.
[[nodiscard]] constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The byte that the triplet at `at` encodes, or -1 where there is no triplet.
[[nodiscard]] constexpr int triplet_at(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size() || text[at] != '%') return -1;
  const int high = hex_value(text[at + 1]), low = hex_value(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

inline void append_triplet(unsigned char byte, std::string& out) {
  constexpr char kHex[] = "0123456789ABCDEF";
  const char triplet[3] = {'%', kHex[byte >> 4], kHex[byte & 15]};
  out.append(triplet, 3);
}

}  // namespace undust
