#include "log_text.hpp"

#include <algorithm>
#include <array>

#include "bytes.hpp"

namespace undust {
namespace {

constexpr ByteSet plain_bytes() {
  ByteSet set{};
  for (int byte = 0x21; byte < 0x7F; ++byte) set[static_cast<std::size_t>(byte)] = true;
  return set;
}

constexpr ByteSet kPlain = plain_bytes();

// How many bytes the UTF-8 character at the start of `text` has; 0 if there is none. Overlong
// forms, surrogates and what lies beyond U+10FFFF are none (RFC 3629, section 4).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return is_wrong ? 0 : length;
}

// The byte that two hexadecimal digits at `at` give, or -1.
int hex_byte(std::string_view text, std::size_t at) {
  if (at + 2 > text.size()) return -1;
  const int high = hex_value(text[at]), low = hex_value(text[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

constexpr std::string_view kEscapes = "\"\\/bfnrtv";
constexpr std::string_view kEscaped = "\"\\/\b\f\n\r\t\v";

// The number that the digits text[at, at + count) give, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!has(kDigit, text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// Days since 1970 of a date in the Gregorian calendar; years begin in March, so that the leap
// day is the last of a year.
constexpr std::int64_t days_of(std::int64_t year, int month, int day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static_assert(days_of(1970, 1, 1) == 0 && days_of(2000, 3, 1) == 11017);

struct Moment {
  int year, month, day, hour, minute, second;
};

std::optional<std::int64_t> microseconds_of(const Moment& at, std::int64_t zone_minutes) {
  constexpr std::array<int, 13> kDays = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (at.year < 0 || at.month < 1 || at.month > 12 || at.hour < 0 || at.hour > 23 || at.minute < 0 ||
      at.minute > 59 || at.second < 0 || at.second > 60) {
    return std::nullopt;
  }
  const bool is_leap = (at.year % 4 == 0 && at.year % 100 != 0) || at.year % 400 == 0;
  const int days = at.month == 2 && !is_leap ? 28 : kDays[static_cast<std::size_t>(at.month)];
  if (at.day < 1 || at.day > days) return std::nullopt;
  const std::int64_t minutes = (days_of(at.year, at.month, at.day) * 24 + at.hour) * 60 + at.minute - zone_minutes;
  return (minutes * 60 + at.second) * 1'000'000;
}

// "+0100", "+01:00" or "Z", in minutes east.
std::optional<std::int64_t> zone_of(std::string_view text) {
  if (text == "Z") return 0;
  const bool has_colon = text.size() == 6 && text[3] == ':';
  if ((text.size() != 5 && !has_colon) || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int hours = digits(text, 1, 2), minutes = digits(text, has_colon ? 4 : 3, 2);
  if (hours < 0 || minutes < 0) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

void append_unescaped(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const auto plain = std::min(text.find('\\'), text.size());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const char kind = text.size() > 1 ? text[1] : '\0';
    const bool is_unicode = kind == 'u' && text.substr(2, 2) == "00";
    const int byte = kind == 'x' ? hex_byte(text, 2) : is_unicode ? hex_byte(text, 4) : -1;
    const auto escape = kind == '\0' ? std::string_view::npos : kEscapes.find(kind);
    if (byte >= 0) {
      out.push_back(static_cast<char>(byte));
      text.remove_prefix(is_unicode ? 6 : 4);
    } else if (escape != std::string_view::npos) {
      out.push_back(kEscaped[escape]);
      text.remove_prefix(2);
    } else {
      out.push_back('\\');
      text.remove_prefix(1);
    }
  }
}

void append_url_bytes(std::string_view bytes, std::string& out) {
  std::size_t done = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    if (has(kPlain, bytes[at])) {
      ++at;
    } else if (const auto length = utf8_length(bytes.substr(at)); length) {
      at += length;
    } else {
      out.append(bytes.substr(done, at - done));
      append_triplet(static_cast<unsigned char>(bytes[at]), out);
      done = ++at;
    }
  }
  out.append(bytes.substr(done));
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (!has(kDigit, c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<std::int64_t> clf_time(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 26 || text[2] != '/' || text[6] != '/' || text[11] != ':' || text[20] != ' ') return std::nullopt;
  const auto month = kMonths.find(text.substr(3, 3));
  const auto zone = zone_of(text.substr(21));
  if (month == std::string_view::npos || month % 3 || !zone) return std::nullopt;
  return microseconds_of({digits(text, 7, 4), static_cast<int>(month / 3) + 1, digits(text, 0, 2),
                          digits(text, 12, 2), digits(text, 15, 2), digits(text, 18, 2)},
                         *zone);
}

std::optional<std::int64_t> iso_time(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T') return std::nullopt;
  const auto zone = zone_of(text.substr(19));
  if (!zone) return std::nullopt;
  return microseconds_of({digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2), digits(text, 11, 2),
                          digits(text, 14, 2), digits(text, 17, 2)},
                         *zone);
}

std::optional<std::int64_t> epoch_time(std::string_view text, std::int64_t unit) {
  const auto dot = std::min(text.find('.'), text.size());
  const auto whole = whole_number(text.substr(0, dot));
  if (!whole || *whole > 100'000'000'000'000'000 / unit) return std::nullopt;
  std::int64_t result = *whole * unit;
  for (std::size_t at = dot + 1; at < text.size(); ++at) {
    if (!has(kDigit, text[at])) return std::nullopt;
    unit /= 10;
    result += unit * (text[at] - '0');
  }
  return result;
}

}  // namespace undust
