// Every place of a text inside another one, overlapping ones too, in linear time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace undust {

// Calls found(place) from left to right until it answers false. Short texts are compared
// where their first byte stands; for long ones that could cost the product of both sizes,
// so there the borders of the text's beginnings (Knuth, Morris, Pratt) save the comparisons.
template <typename Found>
void for_each_place(std::string_view text, std::string_view wanted, Found&& found) {
  constexpr std::size_t kShort = 32;
  if (wanted.size() <= kShort) {
    for (auto place = text.find(wanted); place != std::string_view::npos; place = text.find(wanted, place + 1)) {
      if (!found(place)) return;
    }
    return;
  }
  if (wanted.size() > text.size()) return;
  std::vector<std::uint32_t> border(wanted.size() + 1, 0);
  for (std::size_t i = 1, size = 0; i < wanted.size(); ++i) {
    while (size > 0 && wanted[i] != wanted[size]) size = border[size];
    if (wanted[i] == wanted[size]) ++size;
    border[i + 1] = static_cast<std::uint32_t>(size);
  }
  for (std::size_t i = 0, size = 0; i < text.size(); ++i) {
    while (size > 0 && text[i] != wanted[size]) size = border[size];
    if (text[i] == wanted[size]) ++size;
    if (size < wanted.size()) continue;
    if (!found(i + 1 - size)) return;
    size = border[size];
  }
}

}  // namespace undust
