// Rows of tables under the fuzzer: what cpp/table_rows.hpp promises of any bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "distinct.hpp"
#include "promise.hpp"
#include "table_rows.hpp"

namespace {

using namespace undust;

void check_rows(std::string_view data, const PlainRows& rows, const ResultStyle& style) {
  promise(rows.end() <= data.size(), "rows end inside the table");
  std::size_t lines = 0;
  for (const char c : rows.cells()) lines += c == '\n';
  promise(lines == rows.size(), "no URL holds a line feed");
  std::string same, none, other;
  promise(rows.write(data, rows.cells(), style, false, same), "what stays needs no escape");
  promise(rows.write(data, rows.cells(), style, true, none) && none.empty(), "no row without a change");
  std::string results;
  for (std::size_t i = 0; i < rows.size(); ++i) results += "http://a.test/\n";
  promise(rows.write(data, results, style, false, other), "a URL needs no escape");
  if (style.before.empty()) {
    const std::string_view taken = data.substr(0, rows.end());
    promise(same == taken || same == std::string(taken) + "\n", "a table in which nothing changes stays");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool has_key : {false, true}) {
    check_rows(text, plain_objects(text, 0, {"\"url\"", "\"url\"", has_key}), {"", ',', true, false});
    check_rows(text, plain_objects(text, 0, {"\"url\"", "\"new\"", has_key}), {", \"new\": ", ',', true, false});
  }
  for (const bool has_quotes : {false, true}) {
    for (const int width : {-1, 1, 3}) {
      const int read = width == 3 ? 1 : 0;
      check_rows(text, plain_values(text, 0, {read, read, width, ',', has_quotes}), {"", ',', false, has_quotes});
      check_rows(text, plain_values(text, 0, {read, width, width, ',', has_quotes}), {",", ',', false, has_quotes});
    }
  }
  Distinct distinct(4);
  for (std::size_t at = 0; at < size; ++at) distinct.add(text.substr(at, 3));
  promise(distinct.count() >= 0, "a count is a number");
  return 0;
}
