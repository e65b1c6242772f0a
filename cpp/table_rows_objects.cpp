// Plain objects of JSON: a reader that follows each byte of the grammar once and keeps nothing.
#include <algorithm>
#include <optional>

#include "bytes.hpp"
#include "table_rows.hpp"

namespace undust {
namespace {

constexpr int kDeepest = 2;  // lists and objects inside an object

constexpr ByteSet text_ends() {
  ByteSet set = bytes_of("\"\\");
  for (std::size_t i = 0; i < 0x20; ++i) set[i] = true;
  return set;
}
constexpr ByteSet kTextEnds = text_ends();
constexpr ByteSet kJsonSpace = bytes_of(" \t\r");  // a line feed ends the row
constexpr ByteSet kEscapes = bytes_of("\"\\/bfnrtu");

// The text that a JSON string without control characters stands for, appended; false if it has a line break,
// another control character, or half a surrogate pair.
class Unescaping {
 public:
  Unescaping(std::string_view inner, std::string& out) : rest_(inner), out_(out) {}

  [[nodiscard]] bool run() {
    while (true) {
      const std::size_t escape = std::min(rest_.find('\\'), rest_.size());
      out_.append(rest_.substr(0, escape));
      rest_.remove_prefix(escape);
      if (rest_.empty()) return true;
      const char kind = rest_[1];  // the reader has seen that there is one
      rest_.remove_prefix(2);
      if (kind == 'u') {
        if (!unicode()) return false;
      } else if (kind == '"' || kind == '\\' || kind == '/') {
        out_.push_back(kind);
      } else {
        return false;
      }
    }
  }

 private:
  [[nodiscard]] std::optional<char32_t> four_digits() {
    if (rest_.size() < 4) return std::nullopt;
    char32_t value = 0;
    for (const char c : rest_.substr(0, 4)) {
      const int digit = hex_value(c);
      if (digit < 0) return std::nullopt;
      value = value * 16 + static_cast<char32_t>(digit);
    }
    rest_.remove_prefix(4);
    return value;
  }

  [[nodiscard]] bool unicode() {
    auto code = four_digits();
    if (!code || *code < 0x20 || (*code >= 0xDC00 && *code < 0xE000)) return false;
    if (*code >= 0xD800 && *code < 0xDC00) {
      if (!rest_.starts_with("\\u")) return false;
      rest_.remove_prefix(2);
      const auto low = four_digits();
      if (!low || *low < 0xDC00 || *low >= 0xE000) return false;
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    }
    append(*code);
    return true;
  }

  void append(char32_t code) {
    const auto tail = [&](int shift) { out_.push_back(static_cast<char>(0x80 | (code >> shift & 0x3F))); };
    if (code < 0x80) {
      out_.push_back(static_cast<char>(code));
    } else if (code < 0x800) {
      out_.push_back(static_cast<char>(0xC0 | code >> 6));
      tail(0);
    } else if (code < 0x10000) {
      out_.push_back(static_cast<char>(0xE0 | code >> 12));
      tail(6), tail(0);
    } else {
      out_.push_back(static_cast<char>(0xF0 | code >> 18));
      tail(12), tail(6), tail(0);
    }
  }

  std::string_view rest_;
  std::string& out_;
};

class ObjectReader {
 public:
  ObjectReader(std::string_view data, const ObjectMembers& members) : data_(data), members_(members) {}

  // The row that starts at `at`; nothing if it is not plain.
  [[nodiscard]] std::optional<PlainRow> row(std::size_t at, std::string& cells) {
    PlainRow row{at, 0, 0, 0, 0, 0, 0};
    at_ = at;
    is_found_ = false;
    if (members_.has_key) skip_key();
    space();
    if (!take('{') || !members(row)) return std::nullopt;
    if (!is_found_ || !take('}')) return std::nullopt;
    space();
    if (at_ < data_.size() && data_[at_] != '\n') return std::nullopt;
    row.end = std::min(at_ + 1, data_.size());
    const std::size_t kept = cells.size();
    if (!Unescaping(data_.substr(row.raw + 1, row.raw_end - row.raw - 2), cells).run()) {
      cells.resize(kept);
      return std::nullopt;
    }
    return row;
  }

 private:
  [[nodiscard]] bool take(char c) {
    if (at_ >= data_.size() || data_[at_] != c) return false;
    ++at_;
    return true;
  }
  void space() {
    while (at_ < data_.size() && has(kJsonSpace, data_[at_])) ++at_;
  }

  // A key and 4 to 17 digits, a space behind each, then an object; otherwise nothing is skipped.
  void skip_key() {
    if (at_ < data_.size() && data_[at_] == '!') return;
    std::size_t at = at_;
    while (at < data_.size() && data_[at] != ' ' && data_[at] != '\n') ++at;
    if (at == at_ || at == data_.size() || data_[at] != ' ') return;
    const std::size_t digits = ++at;
    while (at < data_.size() && has(kDigit, data_[at])) ++at;
    if (at - digits < 4 || at - digits > 17 || at + 1 >= data_.size() || data_[at] != ' ' || data_[at + 1] != '{') return;
    at_ = at + 1;
  }

  // The members, up to the brace behind them.
  [[nodiscard]] bool members(PlainRow& row) {
    while (true) {
      space();
      const std::size_t start = at_;
      if (!text(false)) return false;
      const std::string_view name = data_.substr(start, at_ - start);
      space();
      if (!take(':')) return false;
      space();
      const std::size_t value = at_;
      if (name == members_.read) {
        if (is_found_ || !text(true)) return false;
        is_found_ = true;
        row.raw = value;
        row.raw_end = at_;
      } else if (name == members_.written || !any(kDeepest)) {
        return false;
      }
      const std::size_t end = at_;
      space();
      if (take(',')) continue;
      const bool is_same = members_.read == members_.written;
      row.target = is_same ? row.raw : end;
      row.target_end = is_same ? row.raw_end : at_;
      return true;
    }
  }

  [[nodiscard]] bool text(bool may_escape) {
    if (!take('"')) return false;
    while (true) {
      while (at_ < data_.size() && !has(kTextEnds, data_[at_])) ++at_;
      if (at_ >= data_.size()) return false;
      if (data_[at_] == '"') return ++at_, true;
      if (data_[at_] != '\\' || !may_escape || at_ + 1 >= data_.size() || !has(kEscapes, data_[at_ + 1])) return false;
      at_ += 2;
    }
  }

  [[nodiscard]] bool word(std::string_view expected) {
    if (data_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  [[nodiscard]] bool digits() {
    const std::size_t start = at_;
    while (at_ < data_.size() && has(kDigit, data_[at_])) ++at_;
    return at_ > start;
  }

  [[nodiscard]] bool number() {
    (void)take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) (void)take('-');
      return digits();
    }
    return true;
  }

  [[nodiscard]] bool any(int depth) {
    if (at_ >= data_.size()) return false;
    switch (data_[at_]) {
      case '"': return text(true);
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      case '[': return depth > 0 && several(']', depth);
      case '{': return depth > 0 && several('}', depth);
      default: return number();
    }
  }

  // What stands between brackets or braces.
  [[nodiscard]] bool several(char close, int depth) {
    ++at_;
    space();
    if (take(close)) return true;
    while (true) {
      space();
      if (close == '}') {
        if (!text(true)) return false;
        space();
        if (!take(':')) return false;
        space();
      }
      if (!any(depth - 1)) return false;
      space();
      if (take(close)) return true;
      if (!take(',')) return false;
    }
  }

  std::string_view data_;
  const ObjectMembers& members_;
  std::size_t at_ = 0;
  bool is_found_ = false;
};

}  // namespace

PlainRows plain_objects(std::string_view data, std::size_t at, const ObjectMembers& members) {
  PlainRows rows(at);
  ObjectReader reader(data, members);
  while (at < data.size()) {
    const auto row = reader.row(at, rows.cells());
    if (!row) break;
    rows.add(*row);
    at = row->end;
  }
  return rows;
}

}  // namespace undust
