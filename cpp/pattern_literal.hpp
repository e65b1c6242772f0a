// Literals of rules in normal form, so that matching can compare bytes.
#pragma once

#include <string>
#include <string_view>

#include "bytes.hpp"

namespace undust {

inline constexpr ByteSet kSegmentLiteral = kUnreserved | kSubDelims | bytes_of(":@");
inline constexpr ByteSet kQueryLiteral = kSegmentLiteral | bytes_of("/?");
inline constexpr ByteSet kReplaceLiteral = kQueryLiteral;  // it may reach over components

// Appends `text` with triplets of unreserved characters decoded, other triplets in upper
// case, and what is neither allowed nor a triplet as triplets. Unlike in a URL, "\" is not "/".
void append_literal(std::string_view text, const ByteSet& allowed, std::string& out);

// Appends a host label that stands in a pattern on its own. False if no host has it.
[[nodiscard]] bool append_label(std::string_view label, std::string& out);

// The number of a port; -1 if it is none.
[[nodiscard]] int port_number(std::string_view digits);

}  // namespace undust
