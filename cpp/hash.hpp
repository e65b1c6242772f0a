// A hash of short texts, for tables that never leave the process.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace undust {

[[nodiscard]] inline std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15u, kOther = 0xD6E8FEB86659FD93u;
  const auto stir = [](std::uint64_t h, std::uint64_t word) {
    h = (h ^ word) * kOther;
    return h ^ (h >> 32);
  };
  const auto load = [](const char* at, std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, size);
    return word;
  };
  std::uint64_t h = (seed + text.size()) * kOdd;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left > 8; left -= 8, at += 8) h = stir(h, load(at, 8));
  // The last bytes: one load of eight where the text is long enough to overlap the one before.
  if (text.size() >= 8) {
    h = stir(h, load(text.data() + text.size() - 8, 8));
  } else if (left >= 4) {
    h = stir(h, load(at, 4) << 32 | load(at + left - 4, 4));
  } else if (left > 0) {
    h = stir(h, load(at, 1) << 16 | load(at + left / 2, 1) << 8 | load(at + left - 1, 1));
  }
  h *= kOdd;
  return h ^ (h >> 29);
}

}  // namespace undust
