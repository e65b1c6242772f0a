// Pages of any bytes: no stray read, no more text than there was, no more tags than asked for.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "html.hpp"
#include "sketch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view html(reinterpret_cast<const char*>(data), size);
  undust::HtmlPage page;
  undust::read_html(html, 5, page);
  if (page.text.size() > 2 * size || page.tags.size() > 5) std::abort();
  for (const undust::HtmlTag& tag : page.tags) {
    if (tag.attributes.size() > 32) std::abort();
  }

  std::vector<std::uint64_t> hashes;
  undust::shingles(page.text, 1 + size % 7, hashes);
  std::uint32_t minima[4];
  if (undust::sketch(hashes, {}, minima) != !hashes.empty()) std::abort();
  return 0;
}
