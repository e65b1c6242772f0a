// Sorted codes and carried columns of any values, counted in passing and one by one.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "mappings.hpp"
#include "promise.hpp"

namespace {

using namespace undust;

void count_codes(const std::uint8_t* data, std::size_t size) {
  std::map<std::int64_t, std::int64_t> sides[2];
  for (std::size_t i = 0; i + 1 < size; i += 2) sides[data[i] % 2][data[i] / 2] += data[i + 1] % 5;
  std::vector<std::int64_t> codes[2], counts[2];
  std::vector<std::int32_t> short_codes[2];
  for (int side = 0; side < 2; ++side) {
    for (const auto& [code, count] : sides[side]) {
      codes[side].push_back(code), counts[side].push_back(count);
      short_codes[side].push_back(static_cast<std::int32_t>(code));
    }
  }
  std::int64_t shared = 0, met = 0;
  for (const auto& [code, count] : sides[0]) {
    const auto other = sides[1].find(code);
    if (other != sides[1].end()) ++shared, met += count * other->second;
  }
  promise(shared_codes(short_codes[0], short_codes[1]) == shared, "codes on both sides are counted");
  promise(meetings({codes[0], counts[0]}, {codes[1], counts[1]}) == met, "every pair of equal codes meets");
}

// A byte a row: whether it is taken, own, both or neither, whether its page is another, and its values.
void count_images(const std::uint8_t* data, std::size_t size) {
  const std::size_t rows = std::min<std::size_t>(size, 64);
  std::vector<std::int64_t> taken, own, page(rows);
  std::vector<std::int32_t> arriving[2], staying[2];
  std::vector<std::vector<std::int32_t>> images;
  std::vector<std::int64_t> pages;
  for (std::size_t i = 0; i < rows; ++i) {
    page[i] = i ? page[i - 1] + (data[i] >> 2) % 2 : 0;
    for (int column = 0; column < 2; ++column) {
      arriving[column].push_back((data[i] >> (3 + column)) % 3 - 1);
      staying[column].push_back((data[i] >> (4 + column)) % 3 - 1);
    }
    const bool is_taken = data[i] % 2, is_own = (data[i] >> 1) % 2;
    if (is_taken) taken.push_back(static_cast<std::int64_t>(i));
    if (is_own) own.push_back(static_cast<std::int64_t>(i));
    if (!is_taken && !is_own) continue;
    const auto& values = is_taken ? arriving : staying;
    images.push_back({values[0][i], values[1][i]}), pages.push_back(page[i]);
  }
  const ImagePairs found = image_pairs({taken, own, {arriving[0], arriving[1]}, {staying[0], staying[1]}, page});
  std::int64_t pairs = 0, same = 0;
  std::set<std::int64_t> merged;
  for (std::size_t i = 0; i < images.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (images[i] != images[j]) continue;
      ++pairs;
      if (pages[i] == pages[j]) ++same, merged.insert(pages[i]);
    }
  }
  promise(found.rows == static_cast<std::int64_t>(images.size()), "every row is counted once");
  promise(found.images == static_cast<std::int64_t>(std::set(images.begin(), images.end()).size()), "images");
  promise(found.pairs == pairs && found.same == same, "pairs with one image are counted");
  promise(found.pages == static_cast<std::int64_t>(merged.size()), "pages with such pairs are counted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  count_codes(data, size);
  count_images(data, size);
  return 0;
}
