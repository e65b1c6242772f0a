#include "html_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "bytes.hpp"
#include "html_references.hpp"

namespace undust {
namespace {

constexpr ByteSet kWhiteSpace = bytes_of("\t\n\v\f\r\x1c\x1d\x1e\x1f ");
// What cannot simply be copied: white space, ampersands, NULs, first bytes of white space outside ASCII.
constexpr ByteSet kSpecial = kWhiteSpace | bytes_of({"&\0\xC2\xE1\xE2\xE3", 6});
constexpr ByteSet kEndOfReference = bytes_of("\t\n\f <&#;");
constexpr std::size_t kLongestReference = 32;

// Windows-1252, which numbers from 128 to 159 mean on the web; 0 is "as it is".
constexpr std::array<char16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178,
};

// How many bytes of white space outside ASCII stand at the front, or 0.
std::size_t wide_space(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  switch (byte(0)) {
    case 0xC2: return byte(1) == 0x85 || byte(1) == 0xA0 ? 2 : 0;
    case 0xE1: return byte(1) == 0x9A && byte(2) == 0x80 ? 3 : 0;
    case 0xE2:
      if (byte(1) == 0x81) return byte(2) == 0x9F ? 3 : 0;
      if (byte(1) != 0x80) return 0;
      return (byte(2) >= 0x80 && byte(2) <= 0x8A) || byte(2) == 0xA8 || byte(2) == 0xA9 || byte(2) == 0xAF ? 3 : 0;
    case 0xE3: return byte(1) == 0x80 && byte(2) == 0x80 ? 3 : 0;
    default: return 0;
  }
}

const HtmlReference* named(std::string_view name) {
  const auto* found = std::lower_bound(std::begin(kHtmlReferences), std::end(kHtmlReferences), name,
                                       [](const HtmlReference& one, std::string_view n) { return one.name < n; });
  return found != std::end(kHtmlReferences) && found->name == name ? found : nullptr;
}

// What a number stands for (13.2.5.80); nothing for one that is no character.
std::u32string_view character_of(std::uint32_t number, char32_t& held) {
  held = number;
  if (number == 0 || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF)) held = 0xFFFD;
  if (number >= 0x80 && number <= 0x9F && kWindows1252[number - 0x80]) held = kWindows1252[number - 0x80];
  const bool is_control = (number < 0x20 && !has(bytes_of("\t\n\f\r"), static_cast<char>(number))) || number == 0x7F;
  const bool is_none = (held >= 0xFDD0 && held <= 0xFDEF) || (held & 0xFFFE) == 0xFFFE;
  return held != 0xFFFD && (is_control || is_none) ? std::u32string_view() : std::u32string_view(&held, 1);
}

}  // namespace

void ShownText::add(std::string_view text, bool is_raw) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && !has(kSpecial, text[end])) ++end;
    if (end > at) append(text.substr(at, end - at));
    if (end == text.size()) return;
    at = end;
    const std::string_view rest = text.substr(at);
    if (has(kWhiteSpace, rest[0])) {
      has_gap_ = true;
      ++at;
    } else if (rest[0] == '&') {
      at += is_raw ? 0 : add_reference(rest);
      if (at == end) {
        append("&");
        ++at;
      }
    } else if (const std::size_t width = rest[0] == '\0' ? 1 : wide_space(rest)) {
      has_gap_ = has_gap_ || rest[0] != '\0';
      at += width;
    } else {
      append(rest.substr(0, 1));
      ++at;
    }
  }
}

void ShownText::append(std::string_view piece) {
  if (has_gap_ && !out_.empty()) out_.push_back(' ');
  has_gap_ = false;
  out_.append(piece);
}

void ShownText::append_character(char32_t point) {
  std::string piece;
  if (point < 0x80) {
    piece = {static_cast<char>(point)};
  } else if (point < 0x800) {
    piece = {static_cast<char>(0xC0 | point >> 6), static_cast<char>(0x80 | (point & 0x3F))};
  } else if (point < 0x10000) {
    piece = {static_cast<char>(0xE0 | point >> 12), static_cast<char>(0x80 | (point >> 6 & 0x3F)),
             static_cast<char>(0x80 | (point & 0x3F))};
  } else {
    piece = {static_cast<char>(0xF0 | point >> 18), static_cast<char>(0x80 | (point >> 12 & 0x3F)),
             static_cast<char>(0x80 | (point >> 6 & 0x3F)), static_cast<char>(0x80 | (point & 0x3F))};
  }
  add(piece, true);
}

// At an '&': adds what the reference stands for and returns how long it is; 0 if it is none.
std::size_t ShownText::add_reference(std::string_view text) {
  if (text.substr(1, 1) == "#") return add_number(text);
  std::size_t end = 1;
  while (end < text.size() && end <= kLongestReference && !has(kEndOfReference, text[end])) ++end;
  const std::string_view name = text.substr(1, end - 1);
  if (end < text.size() && text[end] == ';') {
    if (const HtmlReference* found = named(name)) {
      add(found->text, true);
      return end + 1;
    }
  }
  for (std::size_t size = std::min<std::size_t>(name.size(), 6); size > 1; --size) {
    const HtmlReference* found = named(name.substr(0, size));
    if (found && found->may_lack_semicolon) {
      add(found->text, true);
      return 1 + size;
    }
  }
  return 0;
}

std::size_t ShownText::add_number(std::string_view text) {
  const bool is_hexadecimal = text.size() > 2 && lower(text[2]) == 'x';
  const std::size_t start = is_hexadecimal ? 3 : 2;
  std::size_t end = start;
  std::uint32_t number = 0;
  for (; end < text.size(); ++end) {
    const int digit = hex_value(text[end]);
    if (digit < 0 || (!is_hexadecimal && digit > 9)) break;
    if (number <= 0x10FFFF) number = number * (is_hexadecimal ? 16 : 10) + static_cast<std::uint32_t>(digit);
  }
  if (end == start) return 0;
  char32_t held = 0;
  for (const char32_t point : character_of(number, held)) append_character(point);
  return end + (end < text.size() && text[end] == ';');
}

}  // namespace undust
