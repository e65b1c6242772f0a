// Punycode (RFC 3492): a label of any letters, told in those of DNS.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace undust {

// The most code points a label may have. Encoding and decoding take quadratic time, and
// hosts come from strangers; DNS itself ends at 63 bytes.
inline constexpr std::size_t kMaxPunycode = 1024;

// Appends the punycode of a label, without "xn--". It has at most kMaxPunycode code points.
void append_punycode(std::u32string_view label, std::string& out);

// The label that a punycode in lower case stands for. False if it stands for none, or
// for one that is too long.
[[nodiscard]] bool decode_punycode(std::u32string_view text, std::u32string& label);

}  // namespace undust
