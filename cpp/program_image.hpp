// Programs in files.
#pragma once

#include <cstdint>

namespace undust {

// Of what a program is as bytes, guards and hashes included. A change of any of them takes another number.
inline constexpr std::uint32_t kImageVersion = 6;

// A number that no other program of this process has.
[[nodiscard]] std::uint64_t next_identity();

}  // namespace undust
