#include "punycode.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace undust {
namespace {

constexpr std::uint32_t kBase = 36, kLeastThreshold = 1, kMostThreshold = 26;
constexpr std::uint32_t kRange = kBase - kLeastThreshold;

// The running state that coder and decoder share: how many digits the next number may take.
struct Bias {
  std::uint32_t value = 72;
  bool is_first = true;

  [[nodiscard]] std::uint32_t threshold(std::uint32_t digit_weight) const {
    return std::clamp(digit_weight > value ? digit_weight - value : 0, kLeastThreshold, kMostThreshold);
  }

  void adapt(std::uint32_t delta, std::uint32_t size) {
    delta /= is_first ? 700 : 2;
    is_first = false;
    delta += delta / size;
    std::uint32_t steps = 0;
    for (; delta > kRange * kMostThreshold / 2; steps += kBase) delta /= kRange;
    value = steps + (kRange + 1) * delta / (delta + 38);
  }
};

void append_number(std::uint32_t number, const Bias& bias, std::string& out) {
  constexpr char kDigits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (std::uint32_t weight = kBase;; weight += kBase) {
    const std::uint32_t threshold = bias.threshold(weight);
    if (number < threshold) break;
    out.push_back(kDigits[threshold + (number - threshold) % (kBase - threshold)]);
    number = (number - threshold) / (kBase - threshold);
  }
  out.push_back(kDigits[number]);
}

std::uint32_t digit_value(char32_t c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  return c >= '0' && c <= '9' ? c - '0' + 26 : kBase;
}

// Reads one number, from `at` on; false at the end of the digits or beyond 32 bits.
bool take_number(std::u32string_view digits, std::size_t& at, const Bias& bias, std::uint32_t& number) {
  std::uint64_t sum = 0, factor = 1;
  for (std::uint32_t weight = kBase; at < digits.size(); weight += kBase) {
    const std::uint32_t digit = digit_value(digits[at++]), threshold = bias.threshold(weight);
    sum += digit * factor;
    if (digit == kBase || sum > UINT32_MAX) return false;
    number = static_cast<std::uint32_t>(sum);
    if (digit < threshold) return true;
    factor *= kBase - threshold;
    if (factor > UINT32_MAX) return false;
  }
  return false;
}

}  // namespace

// The decoder inserts the smallest code point first, from left to right, and each number
// tells how far to move on: once per place in the label for every code point skipped.
void append_punycode(std::u32string_view label, std::string& out) {
  std::vector<std::pair<char32_t, std::uint32_t>> letters;
  for (std::uint32_t at = 0; at < label.size(); ++at) {
    if (label[at] < 0x80) {
      out.push_back(static_cast<char>(label[at]));
    } else {
      letters.emplace_back(label[at], at);
    }
  }
  std::sort(letters.begin(), letters.end());
  auto written = static_cast<std::uint32_t>(label.size() - letters.size());
  if (written > 0) out.push_back('-');
  Bias bias;
  char32_t last = 0x80;
  std::uint32_t last_end = 0, place = 0, counted = 0;
  for (const auto& [letter, at] : letters) {
    if (letter != last) place = counted = 0;
    for (; counted < at; ++counted) place += label[counted] <= letter;
    // At most 1025 * 0x110000, so 32 bits hold it.
    const std::uint32_t number = (letter - last) * (written + 1) + place - last_end;
    append_number(number, bias, out);
    bias.adapt(number, ++written);
    last = letter;
    last_end = place + 1;
  }
}

bool decode_punycode(std::u32string_view text, std::u32string& label) {
  const std::size_t hyphen = text.rfind(U'-');
  std::size_t at = 0;
  if (hyphen != text.npos && hyphen > 0) {
    label = text.substr(0, hyphen);
    at = hyphen + 1;
  }
  Bias bias;
  for (std::uint64_t code_point = 0x80, place = 0; at < text.size(); ++place) {
    std::uint32_t number = 0;
    if (label.size() >= kMaxPunycode || !take_number(text, at, bias, number)) return false;
    const std::size_t size = label.size() + 1;
    code_point += (place + number) / size;
    place = (place + number) % size;
    if (code_point > 0x10FFFF) return false;
    label.insert(place, 1, static_cast<char32_t>(code_point));
    bias.adapt(number, static_cast<std::uint32_t>(size));
  }
  return true;
}

}  // namespace undust
