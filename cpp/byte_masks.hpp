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
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
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
#elif defined(__wasm_simd128__)
[[nodiscard]] inline std::uint64_t bits_of(const Bytes16 (&kinds)[4]) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    mask |= std::uint64_t{static_cast<std::uint16_t>(wasm_i8x16_bitmask(reinterpret_cast<v128_t>(kinds[i])))} << (16 * i);
  }
  return mask;
}
#else
[[nodiscard]] inline std::uint64_t bits_of(const Bytes16 (&kinds)[4]) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < kMaskBytes; ++i) mask |= std::uint64_t{kinds[i / 16][i % 16] & 1u} << i;
  return mask;
}
#endif

}  // namespace mask_detail

// Sixty-four bytes, and which bits of a mask over them count.
struct Chunk {
  Bytes16 bytes[4];
  unsigned shift = 0, half_shift = 32;  // the second half of the mask belongs half_shift bits up
  std::uint64_t used = ~std::uint64_t{0};

  // The bytes of `text` from `at` on, of which there is one at least. What is too short for
  // a chunk is read so that it ends where the text ends, or in two halves that overlap.
  Chunk(std::string_view text, std::size_t at) {
    const std::size_t left = text.size() - at;
    const char* place = text.data() + at;
    const char* second = place + 32;
    char copy[kMaskBytes];
    if (left < kMaskBytes && text.size() >= kMaskBytes) {
      place = text.data() + text.size() - kMaskBytes;
      second = place + 32;
      shift = static_cast<unsigned>(kMaskBytes - left);
    } else if (left < kMaskBytes && left >= 32) {
      second = text.data() + text.size() - 32;
      half_shift = static_cast<unsigned>(left - 32);
    } else if (left < 32) {
      std::memset(copy, 0, sizeof copy);
      std::memcpy(copy, place, left);
      place = copy;
      second = copy + 32;
      used = (std::uint64_t{1} << left) - 1;
    }
    std::memcpy(&bytes[0], place, 32);
    std::memcpy(&bytes[2], second, 32);
  }

  // Bit i says whether byte i is of the kind; bits behind the end of the text are 0.
  // is_kind(Bytes16) is a comparison, or several joined by |.
  template <typename IsKind>
  [[nodiscard]] std::uint64_t mask(IsKind&& is_kind) const {
    Bytes16 kinds[4];
    for (std::size_t i = 0; i < 4; ++i) kinds[i] = reinterpret_cast<Bytes16>(is_kind(bytes[i]));
    const std::uint64_t bits = mask_detail::bits_of(kinds);
    return ((bits & 0xFFFFFFFFu) | (bits >> 32 << half_shift)) >> shift & used;
  }
};

}  // namespace undust
