// Sequences of columns, and how much two of single tokens have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace undust {

inline constexpr std::uint32_t kNothing = 0xFFFFFFFFu;

// Columns one after the other: the tokens of column c, sorted, from starts[c] to starts[c + 1].
struct Sequence {
  std::vector<std::uint32_t> starts{0};
  std::vector<std::uint32_t> tokens;
  std::vector<std::uint8_t> kinds;  // of all its tokens, or'ed
  std::vector<std::uint8_t> gaps;

  [[nodiscard]] std::size_t size() const { return kinds.size(); }
  [[nodiscard]] std::span<const std::uint32_t> column(std::size_t at) const {
    return {tokens.data() + starts[at], starts[at + 1] - starts[at]};
  }
  void end_column(std::uint8_t kind, bool has_gap) {
    starts.push_back(static_cast<std::uint32_t>(tokens.size()));
    kinds.push_back(kind);
    gaps.push_back(has_gap);
  }
};

// Longest common subsequences of one row of tokens with others, 64 tokens at a time (Hyyrö 2004).
// Between rows the score is nothing else: what is equal counts 1, all else nothing or less.
class CommonTokens {
 public:
  explicit CommonTokens(std::size_t vocabulary) : place_(vocabulary, kNothing) {}

  void set(const Sequence& row) {
    for (const std::uint32_t token : tokens_) place_[token] = kNothing;
    tokens_.clear();
    size_ = row.size();
    words_ = (size_ + 63) / 64;
    masks_.clear();
    for (std::size_t at = 0; at < size_; ++at) {
      auto& place = place_[row.tokens[at]];
      if (place == kNothing) {
        place = static_cast<std::uint32_t>(tokens_.size());
        tokens_.push_back(row.tokens[at]);
        masks_.resize(masks_.size() + words_, 0);
      }
      masks_[place * words_ + at / 64] |= std::uint64_t{1} << (at % 64);
    }
  }

  [[nodiscard]] double with(const Sequence& other) {
    open_.assign(words_, ~std::uint64_t{0});
    for (const std::uint32_t token : other.tokens) {
      if (place_[token] == kNothing) continue;
      const std::uint64_t* mask = &masks_[place_[token] * words_];
      std::uint64_t carry = 0;
      for (std::size_t word = 0; word < words_; ++word) {
        const std::uint64_t before = open_[word], met = before & mask[word];
        const std::uint64_t sum = before + met, with_carry = sum + carry;
        carry = (sum < before) | (with_carry < sum);
        open_[word] = with_carry | (before - met);
      }
    }
    std::size_t count = 0;
    for (std::size_t at = 0; at < size_; ++at) count += !(open_[at / 64] >> (at % 64) & 1);
    return static_cast<double>(count);
  }

 private:
  std::vector<std::uint32_t> place_;  // of each token of the row among its masks
  std::vector<std::uint32_t> tokens_;
  std::vector<std::uint64_t> masks_, open_;
  std::size_t size_ = 0, words_ = 0;
};

}  // namespace undust
