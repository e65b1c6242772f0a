// Pages of any bytes: no stray read, no more text than there was, no more tags than asked for.
#include <cstdint>
#include <string_view>

#include "blocks.hpp"
#include "html.hpp"
#include "promise.hpp"
#include "sketch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view html(reinterpret_cast<const char*>(data), size);
  undust::HtmlPage page;
  undust::read_html(html, 5, page);
  undust::promise(page.text.size() <= 2 * size, "a page has no more text than bytes");
  undust::promise(page.tags.size() <= 5, "no more tags than asked for");
  for (const undust::HtmlTag& tag : page.tags) {
    undust::promise(tag.attributes.size() <= 32, "a tag has no more attributes than are kept");
  }

  undust::TextBlocks blocks;
  undust::read_blocks(page.text, page.block_ends, blocks);
  undust::promise(blocks.blocks.size() <= undust::kMostBlocks, "a page keeps no more blocks than are kept");

  std::vector<std::uint64_t> hashes;
  undust::shingles(page.text, 1 + size % 7, hashes);
  std::uint32_t minima[4];
  undust::promise(undust::sketch(hashes, {}, minima) == !hashes.empty(), "a text with words has a sketch");
  return 0;
}
