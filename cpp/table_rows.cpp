// Results back into the rows of a table.
#include "table_rows.hpp"

#include <algorithm>
#include <stdexcept>

#include "bytes.hpp"

namespace undust {
namespace {

[[nodiscard]] bool is_plain_json(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
}

void append_quoted(std::string_view text, std::string& out) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

[[nodiscard]] bool append_result(std::string_view result, bool was_quoted, const ResultStyle& style, std::string& out) {
  if (style.is_json) {
    if (!is_plain_json(result)) return false;
    out.push_back('"');
    out.append(result);
    out.push_back('"');
    return true;
  }
  const char special[] = {'"', '\r', '\n', style.delimiter};
  const bool must_be = style.has_quotes && result.find_first_of(std::string_view(special, 4)) != std::string_view::npos;
  if (was_quoted || must_be || result.starts_with('"')) {
    append_quoted(result, out);
  } else {
    out.append(result);
  }
  return true;
}

}  // namespace

bool PlainRows::write(std::string_view data, std::string_view results, const ResultStyle& style, bool only_changed,
                      std::string& out) const {
  std::size_t cell_start = 0, at = 0;
  for (const PlainRow& row : rows_) {
    const std::size_t line_end = results.find('\n', at);
    if (line_end == std::string_view::npos || row.end > data.size()) {
      throw std::invalid_argument("there are fewer results than rows");
    }
    const std::string_view result = results.substr(at, line_end - at);
    const bool is_same = result == std::string_view(cells_).substr(cell_start, row.cell_end - cell_start);
    at = line_end + 1;
    cell_start = row.cell_end + 1;
    if (is_same && only_changed) continue;
    out.append(data.substr(row.start, row.target - row.start));
    out.append(style.before);
    const std::string_view raw = data.substr(row.raw, row.raw_end - row.raw);
    if (is_same) {
      out.append(raw);
    } else if (!append_result(result, raw.starts_with('"'), style, out)) {
      return false;
    }
    out.append(data.substr(row.target_end, row.end - row.target_end));
    if (row.end && data[row.end - 1] != '\n') out.push_back('\n');
  }
  if (at != results.size()) throw std::invalid_argument("there are more results than rows");
  return true;
}

}  // namespace undust
