#include "sketch.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "words.hpp"

namespace undust {
namespace {

// The k-th hash function is the upper half of factor * x + shift, modulo 2^64.
struct HashFunction {
  std::uint64_t factor, shift;
};

constexpr std::array<HashFunction, kMostMinima> kFunctions = [] {
  std::array<HashFunction, kMostMinima> functions{};
  for (std::size_t i = 0; i < functions.size(); ++i) functions[i] = {mix(2 * i) | 1, mix(2 * i + 1)};
  return functions;
}();

constexpr std::uint64_t kShingleFactor = 0xD6E8FEB86659FD93u;

// Whether a hash is among sorted ones. Hashes are spread evenly, so each stands near its share of the way.
bool is_among(std::span<const std::uint64_t> sorted, std::uint64_t hash) {
  auto at = static_cast<std::size_t>((hash >> 32) * sorted.size() >> 32);
  while (at > 0 && sorted[at] > hash) --at;
  while (at + 1 < sorted.size() && sorted[at] < hash) ++at;
  return sorted[at] == hash;
}

}  // namespace

void shingles(std::string_view text, std::size_t words, std::vector<std::uint64_t>& out) {
  out.clear();
  for_each_word(text, [&out](std::uint64_t word) { out.push_back(word); });
  if (out.empty()) return;
  const std::size_t width = std::min(std::max<std::size_t>(words, 1), out.size());

  // Horner over the window, rolled on by one word at a time; `out` is overwritten from the
  // front, which the window has left already.
  std::uint64_t leaving_factor = 1, window = 0;
  for (std::size_t i = 0; i < width; ++i) {
    window = window * kShingleFactor + out[i];
    if (i) leaving_factor *= kShingleFactor;
  }
  for (std::size_t start = 0;; ++start) {
    const std::uint64_t leaving = out[start];
    out[start] = mix(window);
    if (start + width == out.size()) break;
    window = (window - leaving * leaving_factor) * kShingleFactor + out[start + width];
  }
  out.resize(out.size() - width + 1);
}

bool sketch(std::span<const std::uint64_t> hashes, std::span<const std::uint64_t> ignored,
            std::span<std::uint32_t> minima) {
  std::vector<std::uint64_t> kept;
  if (!ignored.empty()) {
    kept.reserve(hashes.size());
    std::copy_if(hashes.begin(), hashes.end(), std::back_inserter(kept),
                 [ignored](std::uint64_t hash) { return !is_among(ignored, hash); });
    hashes = kept;
  }
  if (hashes.empty()) return false;
  for (std::size_t i = 0; i < minima.size(); ++i) {
    const auto [factor, shift] = kFunctions[i];
    std::uint64_t smallest = ~std::uint64_t{0};
    for (const std::uint64_t hash : hashes) smallest = std::min(smallest, factor * hash + shift);
    minima[i] = static_cast<std::uint32_t>(smallest >> 32);
  }
  return true;
}

}  // namespace undust
