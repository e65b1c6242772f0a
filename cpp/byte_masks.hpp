// Which bytes of a text are of a kind, 64 at a time as the bits of a word: then nothing is
// guessed at each byte, and the rest of the work is done for the bytes that matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace undust {

// Sixteen bytes that the processor compares at once. (GCC and Clang know this type on every machine.)
using Bytes16 = unsigned char __attribute__((vector_size(16)));

inline constexpr std::size_t kMaskBytes = 64;

namespace mask_detail {

// Four vectors of 0 and 255 as the bits of a word.
#if defined(__SSE2__)
[[nodiscard]] inline std::uint64_t bits_of(const Bytes16 (&kinds)[4]) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    mask |= std::uint64_t{static_cast<std::uint16_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(kinds[i])))} << (16 * i);
  }
  return mask;
}
#elif defined(__aarch64__)
[[nodiscard]] inline std::uint64_t bits_of(const Bytes16 (&kinds)[4]) {
  constexpr Bytes16 kPlaces = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const Bytes16 low = vpaddq_u8(kinds[0] & kPlaces, kinds[1] & kPlaces);
  const Bytes16 high = vpaddq_u8(kinds[2] & kPlaces, kinds[3] & kPlaces);
  const Bytes16 sums = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}
#else
[[nodiscard]] inline std::uint64_t bits_of(const Bytes16 (&kinds)[4]) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < kMaskBytes; ++i) mask |= std::uint64_t{kinds[i / 16][i % 16] & 1u} << i;
  return mask;
}
#endif

}  // namespace mask_detail

// Bit i says whether byte i of 64 is of the kind: is_kind(Bytes16) is a comparison, or several joined by |.
template <typename IsKind>
[[nodiscard]] inline std::uint64_t mask_of_64(const char* text, IsKind&& is_kind) {
  Bytes16 kinds[4];
  for (std::size_t i = 0; i < 4; ++i) {
    Bytes16 bytes;
    std::memcpy(&bytes, text + 16 * i, 16);
    kinds[i] = reinterpret_cast<Bytes16>(is_kind(bytes));
  }
  return mask_detail::bits_of(kinds);
}

// The same for the bytes of `text` from `at` on, of which there is one at least; bits behind
// its end are 0.
template <typename IsKind>
[[nodiscard]] inline std::uint64_t mask_at(std::string_view text, std::size_t at, IsKind&& is_kind) {
  const std::size_t left = text.size() - at;
  if (left >= kMaskBytes) return mask_of_64(text.data() + at, is_kind);
  if (text.size() >= kMaskBytes) return mask_of_64(text.data() + text.size() - kMaskBytes, is_kind) >> (kMaskBytes - left);
  char bytes[kMaskBytes] = {};
  std::memcpy(bytes, text.data() + at, left);
  return mask_of_64(bytes, is_kind) & ((std::uint64_t{1} << left) - 1);
}

}  // namespace undust
