// The border of page content: one page in, its text and tags out; one text in, its shingles or its sketch out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>

#include "arrow.hpp"
#include "blocks.hpp"
#include "html.hpp"
#include "sketch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// A sorted numpy array of hashes.
using Hashes = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::string_view text_of(const nb::bytes& text) { return {text.c_str(), text.size()}; }

undust::Column shingles(const nb::bytes& text, std::size_t words) {
  const std::string_view view = text_of(text);
  nb::gil_scoped_release unlocked;
  std::vector<std::uint64_t> hashes;
  undust::shingles(view, words, hashes);
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return undust::number_column("L", hashes);
}

nb::object sketch(const nb::bytes& text, std::size_t words, std::size_t size, const std::optional<Hashes>& ignored) {
  if (size == 0 || size > undust::kMostMinima) {
    throw nb::value_error("a sketch has from 1 to 1024 minima");
  }
  std::vector<std::uint32_t> minima(size);
  bool is_made = false;
  {
    const std::string_view view = text_of(text);
    const std::span<const std::uint64_t> without =
        ignored ? std::span(ignored->data(), ignored->size()) : std::span<const std::uint64_t>();
    nb::gil_scoped_release unlocked;
    std::vector<std::uint64_t> hashes;
    undust::shingles(view, words, hashes);
    is_made = undust::sketch(hashes, without, minima);
  }
  if (!is_made) return nb::none();
  return nb::bytes(reinterpret_cast<const char*>(minima.data()), minima.size() * sizeof(std::uint32_t));
}

nb::bytes bytes_of(std::string_view text) { return nb::bytes(text.data(), text.size()); }

nb::bytes bytes_of(const std::vector<std::int64_t>& numbers) {
  return nb::bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t));
}

nb::tuple blocks(const nb::bytes& text) {
  undust::TextBlocks found;
  {
    const std::string_view view = text_of(text);
    nb::gil_scoped_release unlocked;
    undust::read_blocks(view, {}, found);
  }
  return nb::make_tuple(bytes_of(found.blocks), found.words);
}

nb::tuple read_html(const nb::bytes& html, std::size_t most_tags) {
  undust::HtmlPage page;
  undust::TextBlocks found;
  {
    const std::string_view view = text_of(html);
    nb::gil_scoped_release unlocked;
    undust::read_html(view, most_tags, page);
    undust::read_blocks(page.text, page.block_ends, found);
  }
  nb::list tags;
  for (const undust::HtmlTag& tag : page.tags) {
    nb::dict attributes;
    for (const auto& [name, value] : tag.attributes) attributes[bytes_of(name)] = bytes_of(value);
    tags.append(nb::make_tuple(bytes_of(tag.name), tag.is_in_head, attributes));
  }
  return nb::make_tuple(bytes_of(page.text), tags, bytes_of(page.title), bytes_of(page.language), bytes_of(found.blocks),
                        found.words);
}

}  // namespace

void bind_content(nb::module_& m) {
  m.def("read_html", &read_html, "html"_a, "most_tags"_a,
        nb::sig("def read_html(html: bytes, most_tags: int) -> tuple[bytes, list[tuple[bytes, bool, dict[bytes, "
                "bytes]]], bytes, bytes, bytes, int]"),
        "The text of a UTF-8 page that is shown, single spaces between words; its link, meta and base tags: name, "
        "whether it stands in the head, attributes with references undecoded; its title, its language, its blocks, 64 bits "
        "each, and the number of its words.");
  m.def("blocks", &blocks, "text"_a, nb::sig("def blocks(text: bytes) -> tuple[bytes, int]"),
        "The blocks of a UTF-8 text without layout, 64 bits each, and the number of its words.");
  m.def("shingles", &shingles, "text"_a, "words"_a, nb::sig("def shingles(text: bytes, words: int) -> Column"),
        "The hashes of a UTF-8 text's shingles, sorted, each once.");
  m.def("sketch", &sketch, "text"_a, "words"_a, "size"_a, "ignored"_a.none() = nb::none(),
        nb::sig("def sketch(text: bytes, words: int, size: int, ignored: object = None) -> bytes | None"),
        "The minima of a UTF-8 text, 32 bits each, over its shingles less the sorted hashes in `ignored`; None if no "
        "shingle is left.");
}
