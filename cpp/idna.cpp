// UTS #46 for hosts: map, split at the dots, compose (NFC), check, encode.
//
// The answers are those of the URL standard's "domain to ASCII" (not strict), so
//   - a host in ASCII is put in lower case and never refused, its "xn--" labels unread;
//   - beside a label that is not ASCII, an "xn--" label must decode to one that is valid.
// Two differences:
//   - Bidi: a label is judged by itself, as ada does it. The standard would also refuse
//     "3d" for standing beside a label written from right to left.
//   - A label too long for punycode.hpp is refused.
// Labels are worked on one by one, so that a hostile host costs no more memory than one
// label and its answer.
#include "idna.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "bytes.hpp"
#include "idna_tables.hpp"
#include "punycode.hpp"

namespace undust {
namespace {

using namespace idna;

constexpr std::u32string_view kAcePrefix = U"xn--";
constexpr char32_t kZeroWidthNonJoiner = 0x200C, kZeroWidthJoiner = 0x200D;
constexpr char32_t kFirstComposable = 0x300;  // NFC changes nothing in valid text below it
constexpr std::size_t kMaxUncomposed = 4 * kMaxPunycode;  // NFC makes one code point of four at most

template <typename Text>
bool is_ascii(const Text& text) {
  return std::all_of(text.begin(), text.end(), [](auto c) { return static_cast<char32_t>(c) < 0x80; });
}

// The place of the range that holds a code point; the first range starts at zero.
template <std::size_t kSize>
std::size_t range_of(const std::uint32_t (&starts)[kSize], char32_t code_point) {
  return static_cast<std::size_t>(std::upper_bound(starts, starts + kSize, code_point) - starts) - 1;
}

// Takes one code point off the front of a text that is not empty; false if it is not UTF-8.
bool take_code_point(std::string_view& bytes, char32_t& code_point) {
  constexpr char32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(bytes.front());
  const unsigned tail = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || bytes.size() <= tail) return false;
  code_point = tail == 0 ? lead : lead & (0x3Fu >> tail);
  for (unsigned i = 1; i <= tail; ++i) {
    const auto next = static_cast<unsigned char>(bytes[i]);
    if ((next & 0xC0) != 0x80) return false;
    code_point = code_point << 6 | (next & 0x3F);
  }
  bytes.remove_prefix(tail + 1);
  const bool is_surrogate = code_point >= 0xD800 && code_point < 0xE000;
  return code_point >= kSmallest[tail] && code_point <= 0x10FFFF && !is_surrogate;
}

// ---- mapping

std::int32_t action_of(char32_t code_point) { return kActions[range_of(kActionStarts, code_point)]; }

bool is_valid(char32_t code_point) { return (action_of(code_point) & 3) == kValid; }

// What UTS #46 puts in the place of a code point; false if it is not allowed. The answer
// may point to `code_point`, which is changed.
bool map_code_point(char32_t& code_point, std::u32string_view& mapped) {
  const std::int32_t action = action_of(code_point), detail = action >> 2;
  const int kind = action & 3;
  if (kind == kMapped) {
    mapped = {kReplacements + detail / 32, static_cast<std::size_t>(detail % 32)};
    return true;
  }
  if (kind == kShifted) code_point += static_cast<char32_t>(detail);
  mapped = {&code_point, 1};
  return kind != kDisallowed;
}

// ---- traits

struct Traits {
  std::uint16_t bits;
  [[nodiscard]] unsigned combining_class() const { return bits & 0xFF; }
  [[nodiscard]] unsigned direction() const { return bits >> 8 & 7; }
  [[nodiscard]] unsigned joining() const { return bits >> 11 & 7; }
  [[nodiscard]] bool is_mark() const { return bits >> 14 & 1; }
};

Traits traits_of(char32_t code_point) { return {kTraits[range_of(kTraitStarts, code_point)]}; }

// ---- NFC

// Hangul syllables are numbered: leading consonant, vowel, trailing consonant or none.
constexpr char32_t kSyllable = 0xAC00, kLeading = 0x1100, kVowel = 0x1161, kTrailing = 0x11A7;
constexpr char32_t kLeadings = 19, kVowels = 21, kTrailings = 28;
constexpr char32_t kSyllables = kLeadings * kVowels * kTrailings;

// While NFC is at work, each code point carries its combining class above bit 24.
constexpr unsigned kClassShift = 24;
constexpr char32_t kCodePointMask = (1u << kClassShift) - 1;

void push_with_class(char32_t code_point, std::u32string& out) {
  out.push_back(code_point | static_cast<char32_t>(traits_of(code_point).combining_class()) << kClassShift);
}

void decompose(char32_t code_point, std::u32string& out) {
  if (code_point - kSyllable < kSyllables) {
    const char32_t index = code_point - kSyllable;
    out.push_back(kLeading + index / (kVowels * kTrailings));
    out.push_back(kVowel + index / kTrailings % kVowels);
    if (index % kTrailings) out.push_back(kTrailing + index % kTrailings);
    return;
  }
  const auto composed_at = [](std::uint16_t place) { return kPairs[place].composed; };
  const auto* found = std::ranges::lower_bound(kPairsByComposed, code_point, {}, composed_at);
  if (code_point >= 0x80 && found != std::end(kPairsByComposed) && composed_at(*found) == code_point) {
    decompose(kPairs[*found].first, out);
    decompose(kPairs[*found].second, out);
  } else {
    push_with_class(code_point, out);
  }
}

// What NFC makes of two neighbours, or zero.
char32_t composed_of(char32_t first, char32_t second) {
  if (first - kLeading < kLeadings && second - kVowel < kVowels) {
    return kSyllable + ((first - kLeading) * kVowels + (second - kVowel)) * kTrailings;
  }
  const bool is_open = first - kSyllable < kSyllables && (first - kSyllable) % kTrailings == 0;
  if (is_open && second > kTrailing && second < kTrailing + kTrailings) return first + (second - kTrailing);
  const auto precedes = [](const Pair& left, const Pair& right) {
    return left.first != right.first ? left.first < right.first : left.second < right.second;
  };
  const Pair* found = std::ranges::lower_bound(kPairs, Pair{first, second, 0}, precedes);
  const bool is_found = found != std::end(kPairs) && found->first == first && found->second == second;
  return is_found ? found->composed : 0;
}

void sort_marks(std::u32string& text) {
  const auto is_starter = [](char32_t c) { return c >> kClassShift == 0; };
  for (auto at = text.begin(); at != text.end();) {
    const auto first = std::find_if_not(at, text.end(), is_starter);
    at = std::find_if(first, text.end(), is_starter);
    std::stable_sort(first, at, [](char32_t l, char32_t r) { return l >> kClassShift < r >> kClassShift; });
  }
}

// Joins each mark to the starter before it, unless a mark of its class, or a higher one, stands between.
void compose(std::u32string& text) {
  constexpr std::size_t kNone = std::u32string::npos;
  std::size_t starter = kNone, size = 0;
  for (const char32_t c : text) {
    const char32_t combining_class = c >> kClassShift;
    const char32_t last_class = size > 0 ? text[size - 1] >> kClassShift : 0;
    const bool is_free = starter != kNone && (size == starter + 1 || last_class < combining_class);
    if (const char32_t composed = is_free ? composed_of(text[starter], c & kCodePointMask) : 0) {
      text[starter] = composed;
      continue;
    }
    if (combining_class == 0) starter = size;
    text[size++] = c;
  }
  text.resize(size);
  for (char32_t& c : text) c &= kCodePointMask;
}

void to_nfc(std::u32string& text) {
  if (std::ranges::all_of(text, [](char32_t c) { return c < kFirstComposable; })) return;
  std::u32string decomposed;
  decomposed.reserve(text.size() * 2);
  for (const char32_t code_point : text) decompose(code_point, decomposed);
  sort_marks(decomposed);
  compose(decomposed);
  text.swap(decomposed);
}

// ---- validity

// RFC 5892, appendix A.1 and A.2: a joiner stands after a virama, or, if it is the one
// that parts letters, between two that would join.
bool is_joiner_at_home(std::u32string_view label, std::size_t at) {
  constexpr unsigned kVirama = 9;
  if (at > 0 && traits_of(label[at - 1]).combining_class() == kVirama) return true;
  if (label[at] == kZeroWidthJoiner) return false;
  const auto opaque = [](char32_t c) { return traits_of(c).joining() != kTransparent; };
  const auto before = std::find_if(label.rend() - static_cast<std::ptrdiff_t>(at), label.rend(), opaque);
  const auto after = std::find_if(label.begin() + static_cast<std::ptrdiff_t>(at) + 1, label.end(), opaque);
  if (before == label.rend() || after == label.end()) return false;
  const unsigned left = traits_of(*before).joining(), right = traits_of(*after).joining();
  return (left == kDualJoining || left == kLeftJoining) && (right == kDualJoining || right == kRightJoining);
}

// RFC 5893, rules 1 to 4, for a label with anything written from right to left in it.
bool is_direction_clear(std::u32string_view label) {
  unsigned seen = 0, last = kNonspacing;
  for (const char32_t c : label) {
    const unsigned direction = traits_of(c).direction();
    seen |= 1u << direction;
    if (direction != kNonspacing) last = direction;
  }
  constexpr unsigned kNumbers = 1u << kArabicNumber | 1u << kEuropeanNumber;
  if (!(seen & (1u << kRight | 1u << kArabicNumber))) return true;
  const bool starts_right = traits_of(label.front()).direction() == kRight;
  return starts_right && !(seen & 1u << kLeft) && (seen & kNumbers) != kNumbers && last != kNeutral;
}

bool is_valid_label(std::u32string_view label) {
  if (label.size() > kMaxPunycode || label.starts_with(kAcePrefix)) return false;
  if (!std::ranges::all_of(label, is_valid)) return false;
  if (traits_of(label.front()).is_mark() || !is_direction_clear(label)) return false;
  for (std::size_t at = 0; at < label.size(); ++at) {
    const bool is_joiner = label[at] == kZeroWidthNonJoiner || label[at] == kZeroWidthJoiner;
    if (is_joiner && !is_joiner_at_home(label, at)) return false;
  }
  return true;
}

bool is_valid_ace(std::u32string_view label) {
  std::u32string decoded;
  if (!decode_punycode(label.substr(kAcePrefix.size()), decoded) || is_ascii(decoded)) return false;
  if (!is_valid_label(decoded)) return false;
  std::u32string normal = decoded;
  to_nfc(normal);
  return normal == decoded;
}

bool append_label(std::u32string& label, std::string& out) {
  to_nfc(label);
  if (is_ascii(label)) {
    for (const char32_t c : label) out.push_back(static_cast<char>(c));
    return !label.starts_with(kAcePrefix) || is_valid_ace(label);
  }
  if (!is_valid_label(label)) return false;
  out.append("xn--");
  append_punycode(label, out);
  return true;
}

bool append_labels(std::string_view utf8, std::string& out) {
  std::u32string label;
  bool is_ascii_label = true;
  while (!utf8.empty()) {
    char32_t code_point = 0;
    std::u32string_view mapped;
    if (!take_code_point(utf8, code_point) || !map_code_point(code_point, mapped)) return false;
    for (const char32_t c : mapped) {
      if (c != '.') {
        label.push_back(c);
        is_ascii_label &= c < 0x80;
        continue;
      }
      if (!append_label(label, out)) return false;
      out.push_back('.');
      label.clear();
      is_ascii_label = true;
    }
    if (!is_ascii_label && label.size() > kMaxUncomposed) return false;
  }
  return append_label(label, out);
}

}  // namespace

bool domain_to_ascii(std::string_view utf8, std::string& out) {
  const std::size_t start = out.size();
  if (is_ascii(utf8)) {
    for (const char c : utf8) out.push_back(lower(c));
  } else if (!append_labels(utf8, out)) {
    out.resize(start);
  }
  return out.size() > start;
}

}  // namespace undust
