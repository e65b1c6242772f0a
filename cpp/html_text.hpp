// Text as a reader sees it, out of text as HTML has it.
#pragma once

#include <string>
#include <string_view>

namespace undust {

// Collects shown text: references decoded, every run of white space one space, none at either end.
// What is white space is what Python's `str.split` takes for it.
class ShownText {
 public:
  explicit ShownText(std::string& out) : out_(out) {}

  // Adds text between tags; with `is_raw`, an ampersand is nothing but an ampersand.
  void add(std::string_view text, bool is_raw = false);

  // Ends the word, if one is not ended yet.
  void end_word() { has_gap_ = true; }

 private:
  void append(std::string_view piece);
  void append_character(char32_t point);
  [[nodiscard]] std::size_t add_reference(std::string_view text);
  [[nodiscard]] std::size_t add_number(std::string_view text);

  std::string& out_;
  bool has_gap_ = false;
};

}  // namespace undust
