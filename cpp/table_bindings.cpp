// The border of tables: whole rows as bytes in and out, and counts of different texts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <mutex>

#include "distinct.hpp"
#include "python.hpp"
#include "table_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::Distinct;
using undust::PlainRows;

[[nodiscard]] std::string_view view_of(const nb::bytes& data) { return {data.c_str(), data.size()}; }

[[nodiscard]] nb::bytes bytes_of_text(const std::string& text) { return nb::bytes(text.data(), text.size()); }

PlainRows plain_objects(nb::bytes data, std::size_t at, nb::bytes read, nb::bytes written, bool has_key) {
  const undust::ObjectMembers members{std::string(view_of(read)), std::string(view_of(written)), has_key};
  const std::string_view text = view_of(data);
  nb::gil_scoped_release unlocked;
  return undust::plain_objects(text, at, members);
}

PlainRows plain_values(nb::bytes data, std::size_t at, int read, int written, int width, char delimiter, bool has_quotes) {
  const undust::DelimitedPlaces places{read, written, width, delimiter, has_quotes};
  const std::string_view text = view_of(data);
  nb::gil_scoped_release unlocked;
  return undust::plain_values(text, at, places);
}

nb::object write(const PlainRows& rows, nb::bytes data, nb::bytes results, const undust::ResultStyle& style, bool only_changed) {
  std::string out;
  bool is_done = false;
  {
    const std::string_view text = view_of(data), lines = view_of(results);
    nb::gil_scoped_release unlocked;
    out.reserve(text.size() + lines.size() + rows.size() * style.before.size());
    is_done = rows.write(text, lines, style, only_changed, out);
  }
  return is_done ? nb::object(bytes_of_text(out)) : nb::none();
}

nb::object write_objects(const PlainRows& rows, nb::bytes data, nb::bytes results, nb::bytes before, bool only_changed) {
  undust::ResultStyle style;
  style.before = view_of(before);
  style.is_json = true;
  return write(rows, data, results, style, only_changed);
}

nb::object write_values(const PlainRows& rows, nb::bytes data, nb::bytes results, nb::bytes before, char delimiter,
                        bool has_quotes, bool only_changed) {
  return write(rows, data, results, {std::string(view_of(before)), delimiter, false, has_quotes}, only_changed);
}

// Counts that several threads may add to: the lock is the core's own, since texts are counted without the GIL, and in
// a free-threaded Python there is none.
class SharedDistinct {
 public:
  explicit SharedDistinct(std::size_t kept) : texts_(kept) {}

  // Calls use(Distinct&) while no other thread does, with the GIL released.
  template <typename Use>
  auto alone(Use&& use) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return use(texts_);
  }

 private:
  Distinct texts_;
  std::mutex mutex_;
};

void add_text(SharedDistinct& self, nb::bytes text) {
  const std::string_view one = view_of(text);
  self.alone([&](Distinct& texts) { texts.add(one); });
}

void add_lines(SharedDistinct& self, nb::bytes data) {
  std::string_view rest = view_of(data);
  self.alone([&](Distinct& texts) {
    while (!rest.empty()) {
      const std::size_t size = std::min(rest.find('\n'), rest.size());
      texts.add(rest.substr(0, size));
      rest.remove_prefix(std::min(size + 1, rest.size()));
    }
  });
}

void add_column(SharedDistinct& self, nb::object column) {
  const undust::BorrowedColumn borrowed(column);
  self.alone([&](Distinct& texts) {
    const undust::TextColumn rows = borrowed.texts();
    for (std::int64_t row = 0; row < rows.size(); ++row) {
      if (!rows.is_null(row)) texts.add(rows[row]);
    }
  });
}

}  // namespace

void bind_tables(nb::module_& m) {
  nb::class_<PlainRows>(m, "PlainRows", "Rows of a table that is text, which are changed as bytes.")
      .def("__len__", &PlainRows::size)
      .def_prop_ro("cells", [](const PlainRows& self) { return bytes_of_text(self.cells()); }, "The URLs as lines.")
      .def_prop_ro("end", &PlainRows::end, "Where the first row is that is not among them.")
      .def("write_objects", &write_objects, "data"_a, "results"_a, "before"_a, "only_changed"_a,
           nb::sig("def write_objects(self, data: bytes, results: bytes, before: bytes, only_changed: bool) -> bytes | None"),
           "The rows with their results; None if a result has a byte that JSON escapes.")
      .def("write_values", &write_values, "data"_a, "results"_a, "before"_a, "delimiter"_a, "has_quotes"_a, "only_changed"_a,
           nb::sig("def write_values(self, data: bytes, results: bytes, before: bytes, delimiter: str, has_quotes: bool, "
                   "only_changed: bool) -> bytes"),
           "The rows with their results.");
  m.def("plain_objects", &plain_objects, "data"_a, "at"_a, "read"_a, "written"_a, "has_key"_a,
        "The objects from a place on that are changed as bytes; names as JSON writes them.");
  m.def("plain_values", &plain_values, "data"_a, "at"_a, "read"_a, "written"_a, "width"_a, "delimiter"_a, "has_quotes"_a,
        "The same for delimited text; a new value goes to the end if `written` is -1 or `width`.");
  nb::class_<SharedDistinct>(m, "Distinct", "How many different texts there were, in memory that does not grow with them.")
      .def(nb::init<std::size_t>(), "kept"_a)
      .def("add", &add_text, "text"_a, "Count one text.")
      .def("add_lines", &add_lines, "data"_a, "Count the lines of a text.")
      .def("add_column", &add_column, "column"_a, "Count the texts of a column.")
      .def_prop_ro("is_exact", [](SharedDistinct& self) { return self.alone([](Distinct& texts) { return texts.is_exact(); }); })
      .def_prop_ro("count", [](SharedDistinct& self) { return self.alone([](Distinct& texts) { return texts.count(); }); });
}
