// The values inside a log line: escapes, URLs, numbers and times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace undust {

// Appends text that a server escaped for its log (\xNN, \u00NN, \", \\, \n …), as the bytes it
// stands for. What no server writes stays as it is.
void append_unescaped(std::string_view text, std::string& out);

// Appends bytes of a URL: those that a URL cannot hold as they are, which are controls, spaces
// and bytes that are no UTF-8, become triplets.
void append_url_bytes(std::string_view bytes, std::string& out);

// A whole number below 10^18.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

// Microseconds since 1970 of the two times that servers write in words and of numbers with a
// fraction; `unit` is the microseconds that 1 stands for.
[[nodiscard]] std::optional<std::int64_t> clf_time(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> iso_time(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> epoch_time(std::string_view text, std::int64_t unit);

}  // namespace undust
