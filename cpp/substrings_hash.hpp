// Rolling hashes of 128 bits over tokens: of what stands before, behind, and of the piece itself.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace undust {

// Two chains of 64 bits with different constants. Each step is a bijection of the state, so two
// texts that differ in their last token alone never collide.
struct TokenHash {
  std::uint64_t a, b;

  friend auto operator<=>(const TokenHash&, const TokenHash&) = default;

  void roll(std::uint32_t code) {
    a = (a ^ (code + 1)) * 0xD6E8FEB86659FD93u;
    a ^= a >> 32;
    b = (b + code + 1) * 0x9E3779B97F4A7C15u;
    b ^= b >> 29;
  }
};

inline constexpr TokenHash kBefore{0x243F6A8885A308D3u, 0x13198A2E03707344u};
inline constexpr TokenHash kBehind{0xA4093822299F31D0u, 0x082EFA98EC4E6C89u};
inline constexpr TokenHash kPiece{0x452821E638D01377u, 0xBE5466CF34E90C6Cu};

// Not symmetric: what stands before never counts as what stands behind.
[[nodiscard]] inline TokenHash scaled(TokenHash hash) {
  return {hash.a * 0xC2B2AE3D27D4EB4Fu, hash.b * 0x165667B19E3779F9u};
}
[[nodiscard]] inline TokenHash sum(TokenHash first, TokenHash second) {
  return {first.a + second.a, first.b + second.b};
}

[[nodiscard]] inline TokenHash hash_of_piece(std::span<const std::uint32_t> tokens) {
  TokenHash hash = kPiece;
  for (const auto token : tokens) hash.roll(token);
  return hash;
}

// The hashes of all pieces of some tokens, each in one step: polynomials, unlike `hash_of_piece`, so that what
// stands before a piece can be taken off. For tables, take the high bits.
class PieceHashes {
 public:
  void take(std::span<const std::uint32_t> tokens) {
    sums_.resize(tokens.size() + 1);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      TokenHash token = kPiece;
      token.roll(tokens[i]);
      sums_[i + 1] = sum({sums_[i].a * kBase.a, sums_[i].b * kBase.b}, token);
    }
    while (powers_.size() < sums_.size()) {
      powers_.push_back({powers_.back().a * kBase.a, powers_.back().b * kBase.b});
    }
  }
  [[nodiscard]] TokenHash piece(std::size_t start, std::size_t end) const {
    return {sums_[end].a - sums_[start].a * powers_[end - start].a, half(start, end)};
  }
  // The second half of it, for those who may not need the first.
  [[nodiscard]] std::uint64_t half(std::size_t start, std::size_t end) const {
    return sums_[end].b - sums_[start].b * powers_[end - start].b;
  }

 private:
  static constexpr TokenHash kBase{0x9FB21C651E98DF25u, 0xD1342543DE82EF95u};
  std::vector<TokenHash> sums_{{0, 0}}, powers_{{1, 1}};
};

// The hashes of all prefixes, scaled, and of all suffixes of a row.
class RowHashes {
 public:
  void take(std::span<const std::uint32_t> tokens) {
    const std::size_t count = tokens.size();
    before_.resize(count + 1);
    behind_.resize(count + 1);
    TokenHash hash = kBefore;
    for (std::size_t i = 0;; ++i) {
      before_[i] = scaled(hash);
      if (i == count) break;
      hash.roll(tokens[i]);
    }
    hash = kBehind;
    for (std::size_t i = count;; --i) {
      behind_[i] = hash;
      if (i == 0) break;
      hash.roll(tokens[i - 1]);
    }
  }
  [[nodiscard]] TokenHash before(std::size_t start) const { return before_[start]; }
  [[nodiscard]] TokenHash behind(std::size_t end) const { return behind_[end]; }
  [[nodiscard]] TokenHash envelope(std::size_t start, std::size_t end) const {
    return sum(before_[start], behind_[end]);
  }

 private:
  std::vector<TokenHash> before_, behind_;
};

}  // namespace undust
