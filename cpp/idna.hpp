// Internationalized host names: Unicode text to the ASCII form that DNS knows.
#pragma once

#include <string>
#include <string_view>

namespace undust {

// Appends the ASCII form of a host name in UTF-8 (UTS #46 processing, not transitional,
// as browsers do it: mapping, NFC, punycode). False, and `out` as before, if the bytes
// are not UTF-8 or a code point is not allowed.
[[nodiscard]] bool domain_to_ascii(std::string_view utf8, std::string& out);

}  // namespace undust
