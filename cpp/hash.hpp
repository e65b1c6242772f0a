// A hash of short texts, for tables that never leave the process.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace undust {

namespace hash_detail {

inline constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15u, kOther = 0xD6E8FEB86659FD93u;

[[nodiscard]] inline std::uint64_t load_8(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// Fewer than eight bytes as a number, the first one lowest.
[[nodiscard]] inline std::uint64_t load_short(std::string_view text) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i) word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  return word;
}

[[nodiscard]] inline std::uint64_t stir(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kOther;
  return hash ^ (hash >> 32);
}

// `tail` is the last eight bytes, or all of them if there are fewer.
[[nodiscard]] inline std::uint64_t hash_with_tail(std::string_view text, std::uint64_t tail, std::uint64_t seed) {
  std::uint64_t hash = (seed + text.size()) * kOdd;
  for (std::size_t at = 0; at + 8 < text.size(); at += 8) hash = stir(hash, load_8(text.data() + at));
  hash = stir(hash, tail) * kOdd;
  return hash ^ (hash >> 32);
}

}  // namespace hash_detail

[[nodiscard]] inline std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0) {
  using namespace hash_detail;
  return hash_with_tail(text, text.size() >= 8 ? load_8(text.data() + text.size() - 8) : load_short(text), seed);
}

// The same, for a text before whose end eight bytes can be read: a part of a URL behind its
// scheme. Then a short text needs no case of its own, and its size is nothing to guess.
[[nodiscard]] inline std::uint64_t hash_inside(std::string_view text, std::uint64_t seed = 0) {
  const std::size_t size = text.size();
  const std::uint64_t eight = hash_detail::load_8(text.data() + size - 8);
  const std::uint64_t tail = size >= 8 ? eight : size == 0 ? 0 : eight >> (64 - 8 * size);
  return hash_detail::hash_with_tail(text, tail, seed);
}

}  // namespace undust
