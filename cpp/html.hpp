// What a reader sees of an HTML page, and where its head points: one pass, no tree.
//
// A tree says more than we need and costs more than we have: libraries that build one take time in
// the square of the depth, so that half a megabyte of `<div>` stops a crawl for minutes. This is the
// tokenizer of the HTML standard (13.2.5) with the little of tree construction that text depends on:
// which elements hold raw text, what is never shown, where the head ends, which tags separate words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace undust {

// A `link`, `meta` or `base` tag. Names are in lower case, values as written, references and all.
struct HtmlTag {
  std::string name;
  bool is_in_head;
  std::vector<std::pair<std::string, std::string>> attributes;
};

struct HtmlPage {
  // Text nodes that are shown, the text of `textarea` and the values of fields that a reader sees: references
  // decoded, words apart wherever a block or a cell ends or begins.
  std::string text;
  // Places in the text at which the layout ends a block, ascending.
  std::vector<std::size_t> block_ends;
  std::vector<HtmlTag> tags;
  std::string title;
  // The attribute `lang` of the `html` tag, as written.
  std::string language;
};

// Time and memory grow with the size of the page alone. No more than `most_tags` tags are kept.
void read_html(std::string_view html, std::size_t most_tags, HtmlPage& page);

}  // namespace undust
