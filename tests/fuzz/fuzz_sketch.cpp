// Texts of pages, whatever bytes they are made of, to shingles and sketches.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "promise.hpp"
#include "sketch.hpp"

namespace {

using namespace undust;

void check_sketch(std::string_view text, std::size_t words) {
  std::vector<std::uint64_t> hashes, shouted;
  shingles(text, words, hashes);
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  shingles(upper, words, shouted);
  promise(shouted == hashes, "case does not count");

  std::vector<std::uint32_t> minima(32, 7), part(8, 7);
  const bool has_any = sketch(hashes, {}, minima);
  promise(has_any == !hashes.empty(), "a text with words has a sketch");
  promise(sketch(hashes, {}, part) == has_any && (!has_any || std::equal(part.begin(), part.end(), minima.begin())),
          "a shorter sketch is the start of a longer one");

  std::vector<std::uint64_t> all = hashes;
  std::sort(all.begin(), all.end());
  const std::vector<std::uint32_t> before = minima;
  promise(!sketch(hashes, all, minima) && minima == before, "where all is ignored nothing is left");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::size_t words : {1, 2, 5}) check_sketch(text, words);
  return 0;
}
