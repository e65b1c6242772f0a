// The border of the sources: bytes of a file in, columns out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "log_lines.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::LogFormat;
using Part = std::tuple<int, std::string, bool, bool>;

void make_format(LogFormat* self, const std::string& before, const std::vector<Part>& parts, const std::string& base,
                 const std::string& scheme, const std::string& port) {
  new (self) LogFormat{before, {}, base, scheme, port};
  for (const auto& [field, until, keeps_until, may_be_last] : parts) {
    self->parts.push_back({static_cast<undust::LogField>(field), until, keeps_until, may_be_last});
  }
}

nb::tuple read_lines(const LogFormat& format, nb::bytes data) {
  undust::LogColumns columns;
  {
    const std::string_view text(data.c_str(), data.size());
    nb::gil_scoped_release unlocked;
    columns = undust::read_log_lines(text, format);
  }
  return nb::make_tuple(std::move(columns.url), std::move(columns.status), std::move(columns.size),
                        std::move(columns.time), std::move(columns.redirect), std::move(columns.events),
                        std::move(columns.event_lines), std::move(columns.event_offsets),
                        std::move(columns.event_lengths), columns.lines);
}

// Python's own count takes as long as reading the lines.
std::int64_t count_lines(nb::bytes data) {
  const std::string_view text(data.c_str(), data.size());
  nb::gil_scoped_release unlocked;
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace

void bind_sources(nb::module_& m) {
  m.def("count_lines", &count_lines, "data"_a, "How many line feeds there are.");
  nb::class_<LogFormat>(m, "LogFormat", "How a server writes its access log.")
      .def("__init__", &make_format, "before"_a, "parts"_a, "base"_a, "scheme"_a, "port"_a,
           nb::sig("def __init__(self, before: str, parts: list[tuple[int, str, bool, bool]], base: str, "
                   "scheme: str, port: str) -> None"))
      .def("read", &read_lines, "data"_a,
           nb::sig("def read(self, data: bytes) -> tuple[Column, Column, Column, Column, Column, Column, "
                   "Column, Column, Column, int]"),
           "Whole lines to url, status, size, time and redirect; then the events: what, line, offset "
           "and length; last the number of lines.");
}
