#include "difference_sides.hpp"

#include <algorithm>
#include <array>

namespace undust {
namespace {

// Names of captures, in the order in which they are made; h, p and s are taken.
constexpr std::array<std::string_view, 10> kCaptures = {"{a}", "{b}", "{c}", "{d}", "{e}", "{f}", "{g}", "{i}", "{j}", "{k}"};
constexpr std::string_view kJoiners = "-_.,+";  // between words of one name, as titles have them

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_upper_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); }
bool starts_word(std::string_view token) { return !token.empty() && is_letter_or_digit(token.front()); }
bool is_word(std::string_view token) { return starts_word(token) || token.starts_with('%'); }

// Two captures that touch cannot be told apart.
bool touches(std::string_view token) { return token.starts_with('{') && token != kOpenPath; }

std::size_t size_of_token(std::string_view text) {
  if (text.starts_with(kOpenPath)) return kOpenPath.size();
  if (text.front() == '%' && text.size() > 2 && is_upper_hex(text[1]) && is_upper_hex(text[2])) return 3;
  if (!is_letter_or_digit(text.front())) return 1;
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_letter_or_digit) - text.begin());
}

void cut(std::string_view text, Tokens& tokens) {
  while (!text.empty()) {
    const std::size_t size = size_of_token(text);
    tokens.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
}

// Where captures may begin: names of parameters stay as they are.
std::size_t first_free(std::size_t part) { return part ? 1 : 0; }

// A run of tokens that both sides have.
struct Common {
  std::size_t left_part, left, right_part, right, count, size = 0;
};

// How many tokens from there are the same on both sides, the last of them a word. A run never crosses
// "/" or ";".
std::size_t run_of(const Tokens& ours, std::size_t a, const Tokens& theirs, std::size_t b) {
  std::size_t count = 0;
  for (; a + count < ours.size() && b + count < theirs.size(); ++count) {
    const std::string_view token = ours[a + count];
    if (token != theirs[b + count] || token == "/" || token == ";" || token.starts_with('{')) break;
  }
  while (count && !is_word(ours[a + count - 1])) --count;
  return a + count < ours.size() && touches(ours[a + count]) ? 0 : count;
}

void find_longer(const Sides& sides, std::size_t i, std::size_t j, Common& best) {
  const Tokens &ours = sides.left.parts[i], &theirs = sides.right.parts[j];
  for (std::size_t a = first_free(i); a < ours.size(); ++a) {
    if (!is_word(ours[a]) || (a && touches(ours[a - 1]))) continue;
    for (std::size_t b = first_free(j); b < theirs.size(); ++b) {
      if (ours[a] != theirs[b]) continue;
      const std::size_t count = run_of(ours, a, theirs, b);
      std::size_t size = 0;
      for (std::size_t k = a; k < a + count; ++k) size += ours[k].size();
      if (size > best.size) best = {i, a, j, b, count, size};
    }
  }
}

void put(Tokens& tokens, std::size_t at, std::size_t count, std::string_view capture) {
  tokens[at] = capture;
  const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(at);
  tokens.erase(first + 1, first + static_cast<std::ptrdiff_t>(count));
}

std::string joined(const Tokens& tokens) {
  std::string text;
  for (const std::string_view token : tokens) text.append(token);
  return text;
}

// The tokens with runs of words forgotten; what they were is added to `texts`.
Tokens without_words(const Tokens& tokens, std::size_t start, std::vector<std::string>& texts) {
  Tokens done(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(std::min(start, tokens.size())));
  for (std::size_t at = start; at < tokens.size(); ++at) {
    const std::string_view token = tokens[at];
    const bool follows = !done.empty() && done.back() == kForget;
    if (is_word(token)) {
      if (!follows) {
        done.push_back(kForget);
        texts.emplace_back();
      }
      texts.back().append(token);
    } else if (follows && kJoiners.find(token) != std::string_view::npos && at + 1 < tokens.size() && is_word(tokens[at + 1])) {
      texts.back().append(token);
    } else {
      done.push_back(token);
    }
  }
  return done;
}

}  // namespace

CutSide::CutSide(std::string_view path, const std::vector<std::string_view>& parameters) : parts(1 + parameters.size()) {
  cut(path, parts[0]);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t equals = parameters[i].find('=');
    const std::size_t name = equals == std::string_view::npos ? parameters[i].size() : equals + 1;
    parts[i + 1].push_back(parameters[i].substr(0, name));
    cut(parameters[i].substr(name), parts[i + 1]);
  }
}

std::string CutSide::path() const { return joined(parts[0]); }

std::string CutSide::query() const {
  std::string text;
  for (std::size_t i = 1; i < parts.size(); ++i) text.append(joined(parts[i])).push_back('&');
  return text;
}

bool CutSide::has_word_of(std::size_t size) const {
  return std::any_of(parts.begin(), parts.end(), [size](const Tokens& tokens) {
    return std::any_of(tokens.begin(), tokens.end(), [size](std::string_view token) { return token.size() >= size && starts_word(token); });
  });
}

bool CutSide::has_words_in_path() const { return std::any_of(parts[0].begin(), parts[0].end(), starts_word); }

void capture(Sides& sides) {
  while (sides.captures.size() < kCaptures.size()) {
    Common best{};
    for (std::size_t i = 0; i < sides.left.parts.size(); ++i) {
      for (std::size_t j = 0; j < sides.right.parts.size(); ++j) find_longer(sides, i, j, best);
    }
    if (!best.size) return;
    const std::string_view name = kCaptures[sides.captures.size()];
    Tokens &ours = sides.left.parts[best.left_part], &theirs = sides.right.parts[best.right_part];
    std::string text;
    for (std::size_t k = best.left; k < best.left + best.count; ++k) text.append(ours[k]);
    sides.captures.push_back(std::move(text));
    put(ours, best.left, best.count, name);
    put(theirs, best.right, best.count, name);
  }
}

bool forget(Sides& sides) {
  for (std::size_t part = 0; part < sides.left.parts.size(); ++part) {
    sides.left.parts[part] = without_words(sides.left.parts[part], first_free(part), sides.forgotten);
  }
  return !sides.forgotten.empty();
}

}  // namespace undust
