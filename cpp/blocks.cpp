#include "blocks.hpp"

#include <algorithm>

#include "words.hpp"

namespace undust {
namespace {

constexpr std::uint64_t kBlockFactor = 0xD6E8FEB86659FD93u;
constexpr std::uint64_t kCutMask = 3;
// Blocks that wait before those with the largest numbers are left out.
constexpr std::size_t kMostWaiting = 16 * kMostBlocks;
// Characters of a token, and numbers inside it, at least.
constexpr std::size_t kShortestToken = 12, kNumbersOfToken = 2;

// A word, its digits apart.
struct Word {
  std::uint64_t text = kWordSeed, digits = kWordSeed, whole = kWordSeed;
  std::size_t length = 0, numbers = 0;
  bool is_in_number = false;

  [[nodiscard]] bool is_empty() const { return text == kWordSeed; }
  // A token or a checksum: long, with digits here and there. All of it counts as one number.
  [[nodiscard]] bool is_token() const { return length >= kShortestToken && numbers >= kNumbersOfToken && length > numbers; }

  void add(unsigned char byte) {
    const bool is_digit = byte >= '0' && byte <= '9';
    whole = (whole ^ byte) * kWordFactor;
    ++length;
    numbers += is_digit && !is_in_number;
    if (is_digit) digits = (digits ^ byte) * kWordFactor;
    if (!is_digit || !is_in_number) text = (text ^ (is_digit ? '0' : byte)) * kWordFactor;
    if (!is_digit && is_in_number) digits = (digits ^ ' ') * kWordFactor;
    is_in_number = is_digit;
  }
};

class Cutter {
 public:
  explicit Cutter(TextBlocks& out) : out_(out) {}

  void end_word() {
    if (word_.is_empty()) return;
    if (word_.is_token()) {
      word_.digits = word_.whole;
      word_.text = (kWordSeed ^ '0') * kWordFactor;
    }
    const std::uint64_t hash = mix(word_.text);
    text_ = text_ * kBlockFactor + hash;
    if (word_.digits != kWordSeed) digits_ = digits_ * kBlockFactor + mix(word_.digits);
    ++words_;
    ++out_.words;
    word_ = {};
    if ((hash & kCutMask) == 0 || words_ == kMostBlockWords) end_block();
  }

  void end_block() {
    if (!words_) return;
    const std::uint64_t text = mix(text_) >> 33;
    const std::uint64_t digits = digits_ ? std::max<std::uint64_t>(mix(digits_) >> 44, 1) : 0;
    if (has_last_) keep(text & 0xFF);
    last_ = text << 32 | digits << 12 | words_;
    has_last_ = true;
    text_ = digits_ = words_ = 0;
  }

  void finish() {
    if (has_last_) keep(0);
    shrink();
  }

  Word& word() { return word_; }

 private:
  void keep(std::uint64_t next) {
    out_.blocks.push_back(static_cast<std::int64_t>(last_ | next << 4));
    if (out_.blocks.size() >= kMostWaiting) shrink();
  }

  void shrink() {
    std::sort(out_.blocks.begin(), out_.blocks.end());
    out_.blocks.erase(std::unique(out_.blocks.begin(), out_.blocks.end()), out_.blocks.end());
    if (out_.blocks.size() > kMostBlocks) out_.blocks.resize(kMostBlocks);
  }

  TextBlocks& out_;
  Word word_;
  std::uint64_t text_ = 0, digits_ = 0, last_ = 0;
  std::size_t words_ = 0;
  bool has_last_ = false;
};

void cut(std::string_view text, Cutter& cutter) {
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && kPlainLetter[static_cast<unsigned char>(text[plain])]) {
      cutter.word().add(kPlainLetter[static_cast<unsigned char>(text[plain])]);
      ++plain;
    }
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::string_view before = text;
    const WordPart part = part_of(take_character(text));
    if (part != WordPart::kLetter) cutter.end_word();
    if (part == WordPart::kSign) continue;
    for (const char c : before.substr(0, before.size() - text.size())) {
      cutter.word().add(static_cast<unsigned char>(lower(c)));
    }
    if (part == WordPart::kWholeWord) cutter.end_word();
  }
  cutter.end_word();
  cutter.end_block();
}

}  // namespace

void read_blocks(std::string_view text, std::span<const std::size_t> ends, TextBlocks& out) {
  out.blocks.clear();
  out.words = 0;
  Cutter cutter(out);
  std::size_t start = 0;
  for (const std::size_t end : ends) {
    cut(text.substr(start, end - start), cutter);
    start = end;
  }
  cut(text.substr(start), cutter);
  cutter.finish();
}

}  // namespace undust
