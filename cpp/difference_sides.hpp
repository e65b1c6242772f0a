// Two sides of a rule in the making: texts that stand on both become captures.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace undust {

using Tokens = std::vector<std::string_view>;

inline constexpr std::string_view kOpenPath = "{p**}", kForget = "{*}";

// A path and some parameters, each cut into tokens: words, triplets, single characters. The name of a
// parameter is one token with its "=".
struct CutSide {
  std::vector<Tokens> parts;  // the first is the path

  CutSide() = default;
  // The texts outlive the side.
  CutSide(std::string_view path, const std::vector<std::string_view>& parameters);

  // The parts put together: a path, and its parameters with "&" behind each.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::string query() const;
  // Whether it has a word of its own that is so long.
  [[nodiscard]] bool has_word_of(std::size_t size) const;
  [[nodiscard]] bool has_words_in_path() const;
};

struct Sides {
  CutSide left, right;
  std::vector<std::string> captures;   // texts that were on both sides
  std::vector<std::string> forgotten;  // texts that the left side forgets
};

// Puts captures for what both sides share, the longest text first.
void capture(Sides& sides);

// Lets the left side forget the words that only it has; false if it has none.
[[nodiscard]] bool forget(Sides& sides);

}  // namespace undust
