// Bytes that come from files: log lines and the texts of pages.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "log_lines.hpp"
#include "log_text.hpp"
#include "sketch.hpp"

namespace {

using namespace undust;

void promise(bool is_kept, const char* what) {
  if (is_kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

const LogFormat kCommon{"",
                        {{LogField::kHost, " "},
                         {LogField::kOther, " ["},
                         {LogField::kClfTime, "] \""},
                         {LogField::kRequest, "\" "},
                         {LogField::kStatus, " "},
                         {LogField::kSize, "", false, true}},
                        "",
                        "",
                        ""};
const LogFormat kOdd{"{",
                     {{LogField::kIsoTime, ",", false, true},
                      {LogField::kMethod, " ", true, false},
                      {LogField::kTarget, "?", true, true},
                      {LogField::kQuery, " ", false, true},
                      {LogField::kScheme, ":", false, true},
                      {LogField::kPort, ";", false, true},
                      {LogField::kRedirect, "\"", false, true},
                      {LogField::kMilliseconds, "", false, true}},
                     "https://base.test:8443",
                     "https",
                     "8443"};

void check_texts(const Column& column) {
  ArrowSchema schema{};
  ArrowArray array{};
  column.export_to(&schema, &array);
  const TextColumn texts(schema, array);
  std::size_t bytes = 0;
  for (std::int64_t row = 0; row < texts.size(); ++row) {
    if (texts.is_null(row)) continue;
    for (const char c : texts[row]) promise(c != '\n', "a value of one line has no line break");
    bytes += texts[row].size();
  }
  promise(bytes < SIZE_MAX, "texts can be read");
  array.release(&array);
  schema.release(&schema);
}

void check_log(std::string_view data, const LogFormat& format) {
  const LogColumns columns = read_log_lines(data, format);
  const auto rows = columns.url.length;
  promise(rows <= columns.lines, "a line gives one row at most");
  promise(columns.status.length == rows && columns.size.length == rows && columns.time.length == rows &&
              columns.redirect.length == rows,
          "all columns have the same rows");
  promise(columns.events.length == columns.event_lines.length && columns.events.length == columns.event_offsets.length,
          "each event has its place");
  check_texts(columns.url);
}

void check_values(std::string_view text) {
  std::string bytes, url, again;
  append_unescaped(text, bytes);
  promise(bytes.size() <= text.size(), "escapes are longer than what they stand for");
  append_url_bytes(bytes, url);
  for (const char c : url) promise(static_cast<unsigned char>(c) > 0x20, "a URL holds no controls and no spaces");
  append_url_bytes(url, again);
  promise(again == url, "what a URL can hold is left alone");
  (void)clf_time(text);
  (void)iso_time(text);
  for (const std::int64_t unit : {1, 1'000, 1'000'000}) (void)epoch_time(text, unit);
  if (const auto number = whole_number(text)) {
    promise(*number >= 0 && *number < 1'000'000'000'000'000'000, "whole numbers are below 10^18");
  }
}

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
  promise(sketch(hashes, {}, part) == has_any && std::equal(part.begin(), part.end(), minima.begin()),
          "a shorter sketch is the start of a longer one");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_log(text, kCommon);
  check_log(text, kOdd);
  check_values(text);
  for (const std::size_t words : {1, 2, 5}) check_sketch(text, words);
  return 0;
}
