// Rows of a table that is text, changed as bytes: where the URL of each row is, and where its result goes.
//
// Only plain rows are taken, from a place on up to the first one that is not; that one is for the caller, who
// can do what takes longer. What is taken here is changed to the same bytes there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace undust {

// How results are written.
struct ResultStyle {
  std::string before;      // stands before each result
  char delimiter = ',';
  bool is_json = false;    // else delimited
  bool has_quotes = false;  // of delimited text: a value with a delimiter in it is quoted
};

// A row: places in the bytes of the table.
struct PlainRow {
  std::size_t start, raw, raw_end;    // the row, and its URL as it is written there
  std::size_t target, target_end;     // what the result replaces
  std::size_t end;                    // behind the line feed, or where the table ends
  std::size_t cell_end;               // of the URL, in the cells
};

class PlainRows {
 public:
  explicit PlainRows(std::size_t start) : end_(start) {}

  void add(const PlainRow& row) {
    rows_.push_back(row);
    rows_.back().cell_end = cells_.size();
    cells_.push_back('\n');
    end_ = row.end;
  }
  // The texts of the URLs, each with a line feed behind it; the next one is appended before its row is added.
  [[nodiscard]] std::string& cells() { return cells_; }
  [[nodiscard]] const std::string& cells() const { return cells_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::size_t end() const { return end_; }  // where the next row begins

  // Appends the rows of `data` with their results, given as lines, or only those whose URL changed. False if a
  // result has a byte that JSON escapes. Throws std::invalid_argument if there are not as many lines as rows.
  [[nodiscard]] bool write(std::string_view data, std::string_view results, const ResultStyle& style, bool only_changed,
                           std::string& out) const;

 private:
  std::vector<PlainRow> rows_;
  std::string cells_;
  std::size_t end_;
};

// Which member of each object is read, which is written; each as JSON writes it, quotes included.
struct ObjectMembers {
  std::string read, written;
  bool has_key = false;  // a key and a time may stand before the object, as in CDXJ
};

// Plain: an object of valid JSON on a line, at most two levels of lists and objects in it, names without escapes,
// the member to be read once and a text, the one to be written missing or the same.
[[nodiscard]] PlainRows plain_objects(std::string_view data, std::size_t at, const ObjectMembers& members);

// Which value of each row is read, which is written; `written` is -1 or `width` for a new one at the end.
struct DelimitedPlaces {
  int read = 0, written = -1, width = -1;  // width -1: any number of values
  char delimiter = ',';
  bool has_quotes = false;  // a value may be quoted, and hold delimiters and line breaks then
};

// Plain: as many values as there should be, a line end behind them, no quote and no line break in the URL.
[[nodiscard]] PlainRows plain_values(std::string_view data, std::size_t at, const DelimitedPlaces& places);

}  // namespace undust
