// Plain rows of delimited text.
#include <optional>

#include "table_rows.hpp"

namespace undust {
namespace {

class ValueReader {
 public:
  ValueReader(std::string_view data, const DelimitedPlaces& places)
      : data_(data), places_(places) {}

  [[nodiscard]] std::optional<PlainRow> row(std::size_t at) {
    PlainRow row{at, at, at, at, at, at, 0};
    at_ = at;
    const bool is_new = places_.written < 0 || places_.written == places_.width;
    for (int place = 0;; ++place) {
      const std::size_t start = at_;
      if (!value()) return std::nullopt;
      if (place == places_.read) row.raw = start, row.raw_end = at_;
      if (place == places_.written) row.target = start, row.target_end = at_;
      if (data_[at_] == places_.delimiter) {
        ++at_;
        continue;
      }
      if (place < places_.read || (places_.width >= 0 && place + 1 != places_.width)) return std::nullopt;
      if (is_new) row.target = row.target_end = at_;
      if (at_ == row.start) return std::nullopt;  // a blank line
      row.end = at_ + (data_[at_] == '\r' ? 2 : 1);
      return row;
    }
  }

  // The text of a value as it is written; nothing if it is not simple.
  [[nodiscard]] std::optional<std::string_view> text_of(const PlainRow& row) const {
    std::string_view text = data_.substr(row.raw, row.raw_end - row.raw);
    if (text.starts_with('"')) {
      if (!places_.has_quotes) return std::nullopt;
      text = text.substr(1, text.size() - 2);
      if (text.find('"') != std::string_view::npos) return std::nullopt;
    }
    if (text.find_first_of("\r\n") != std::string_view::npos) return std::nullopt;
    return text;
  }

 private:
  [[nodiscard]] bool is_line_end(std::size_t at) const {
    return data_[at] == '\n' || (data_[at] == '\r' && at + 1 < data_.size() && data_[at + 1] == '\n');
  }

  // Goes behind a value, to the delimiter or the line end that follows; false if there is none.
  [[nodiscard]] bool value() {
    if (places_.has_quotes && at_ < data_.size() && data_[at_] == '"') return quoted();
    while (at_ < data_.size()) {
      const char c = data_[at_];
      if (c == places_.delimiter || c == '\n' || (c == '\r' && is_line_end(at_))) return true;
      ++at_;
    }
    return false;
  }

  [[nodiscard]] bool quoted() {
    for (++at_; (at_ = data_.find('"', at_)) != std::string_view::npos; ++at_) {
      if (at_ + 1 >= data_.size()) return false;
      const char next = data_[at_ + 1];
      if (next == '"') {
        ++at_;
      } else if (next == places_.delimiter || is_line_end(at_ + 1)) {
        return ++at_, true;
      }
    }
    return false;
  }

  std::string_view data_;
  const DelimitedPlaces& places_;
  std::size_t at_ = 0;
};

}  // namespace

PlainRows plain_values(std::string_view data, std::size_t at, const DelimitedPlaces& places) {
  PlainRows rows(at);
  ValueReader reader(data, places);
  while (at < data.size()) {
    const auto row = reader.row(at);
    const auto text = row ? reader.text_of(*row) : std::nullopt;
    if (!text) break;
    rows.cells().append(*text);
    rows.add(*row);
    at = row->end;
  }
  return rows;
}

}  // namespace undust
