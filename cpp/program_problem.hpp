// Where in a rule a problem is, counted as a person counts: in characters, not in bytes.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

#include "program.hpp"

namespace undust {

// A column of bytes as a column of characters.
[[nodiscard]] inline std::size_t characters_before(std::string_view text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return static_cast<std::size_t>(
      std::count_if(text.begin(), end, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The text of a field such as "from" or "when[2]".
[[nodiscard]] inline std::string_view text_of_field(const RuleSource& source, std::string_view field) {
  if (field == "from") return source.text.from;
  if (field == "to") return source.text.to.value_or("");
  const auto number = field.find('[');
  if (number == std::string_view::npos) return {};
  const auto& list = field.starts_with("when") ? source.text.when : field.starts_with("unless") ? source.text.unless : source.except_sites;
  std::size_t place = 0;
  std::from_chars(field.data() + number + 1, field.data() + field.size(), place);
  return list[place];
}

}  // namespace undust
