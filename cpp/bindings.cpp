// The border: the only files that know Python. Columns cross it, and single URLs; the
// interpreter lock is held while objects are made and never while work is done.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "arrow.hpp"
#include "batch.hpp"
#include "host.hpp"
#include "python.hpp"
#include "suffixes.hpp"
#include "url.hpp"
#include "views.hpp"

namespace nb = nanobind;
using namespace nb::literals;

// The border is split by what crosses it.
void bind_content(nb::module_& m);
void bind_differences(nb::module_& m);
void bind_duplicates(nb::module_& m);
void bind_evidence(nb::module_& m);
void bind_key_meetings(nb::module_& m);
void bind_program(nb::module_& m);
void bind_alignment(nb::module_& m);
void bind_rewrite(nb::module_& m);
void bind_rule_file(nb::module_& m);
void bind_sources(nb::module_& m);
void bind_standing(nb::module_& m);
void bind_substrings(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_tree(nb::module_& m);

namespace {

using undust::BatchCounts;
using undust::BorrowedColumn;
using undust::Column;
using undust::str_of;
using undust::TextColumn;
using undust::utf8_of;

// What a consumer did not take over is released with the capsule.
template <typename Struct>
void release_capsule(PyObject* capsule, const char* name) {
  auto* held = static_cast<Struct*>(PyCapsule_GetPointer(capsule, name));
  if (held->release) held->release(held);
  delete held;
}

nb::tuple arrow_capsules(const Column& column) {
  auto* schema = new ArrowSchema{};
  auto* array = new ArrowArray{};
  column.export_to(schema, array);
  const auto schema_capsule = nb::steal(PyCapsule_New(
      schema, "arrow_schema", [](PyObject* self) { release_capsule<ArrowSchema>(self, "arrow_schema"); }));
  const auto array_capsule = nb::steal(PyCapsule_New(
      array, "arrow_array", [](PyObject* self) { release_capsule<ArrowArray>(self, "arrow_array"); }));
  return nb::make_tuple(schema_capsule, array_capsule);
}

// Appends the normal form, or the text itself where it is no URL, and counts which.
void append_normalized(std::string_view text, unsigned steps, std::string& out, BatchCounts& counts) {
  const std::size_t start = out.size();
  if (undust::normalize_url(text, steps, out)) {
    counts.changed += std::string_view(out).substr(start) != text;
  } else {
    out.append(text);
    ++counts.not_urls;
  }
}

nb::object normalize_url(nb::str url, unsigned steps) {
  thread_local std::string out;
  out.clear();
  const auto text = utf8_of(url);
  if (!text || !undust::normalize_url(*text, steps, out) || out == *text) return url;
  return str_of(out);
}

auto rows_normalized(unsigned steps) {
  return undust::row_by_row([steps](std::string_view text, std::string& out, BatchCounts& counts) {
    append_normalized(text, steps, out, counts);
  });
}

std::tuple<Column, std::int64_t, std::int64_t> normalize(nb::object urls, unsigned steps, int threads) {
  const BorrowedColumn borrowed(urls);
  BatchCounts counts;
  nb::gil_scoped_release unlocked;
  Column result = undust::map_texts(borrowed.texts(), threads, counts, rows_normalized(steps));
  return {std::move(result), counts.changed, counts.not_urls};
}

nb::tuple normalize_lines(nb::bytes data, unsigned steps, int threads) {
  BatchCounts counts;
  std::string out;
  std::int64_t lines = 0;
  const std::string_view text(data.c_str(), data.size());
  {
    nb::gil_scoped_release unlocked;
    lines = undust::map_lines(text, threads, counts, out, rows_normalized(steps));
  }
  return nb::make_tuple(nb::bytes(out.data(), out.size()), lines, counts.changed, counts.not_urls);
}

nb::object split_url(nb::str url) {
  undust::UrlParts parts;
  std::string host;
  const auto text = utf8_of(url);
  if (!text || !undust::split_url(*text, parts)) return nb::none();
  // A host that nobody could resolve makes it no URL; tabs and line breaks do not count.
  std::string clean;
  for (const char c : parts.host) {
    if (c != '\t' && c != '\n' && c != '\r') clean.push_back(c);
  }
  if (!undust::append_host(clean, undust::kAllSteps, host)) return nb::none();
  const auto maybe = [](bool is_there, std::string_view part) {
    return is_there ? nb::object(str_of(part)) : nb::none();
  };
  return nb::make_tuple(str_of(parts.before), str_of(parts.scheme), str_of(parts.separator),
                        maybe(parts.has_userinfo, parts.userinfo), str_of(parts.host),
                        maybe(parts.has_port, parts.port), str_of(parts.path), maybe(parts.has_query, parts.query),
                        maybe(parts.has_fragment, parts.fragment), str_of(parts.after));
}

std::tuple<Column, Column, Column> tokens(nb::object urls, int style) {
  const BorrowedColumn borrowed(urls);
  nb::gil_scoped_release unlocked;
  auto view = undust::token_codes(borrowed.texts(), static_cast<undust::TokenStyle>(style));
  return {undust::number_column("l", view.offsets), undust::number_column("I", view.codes),
          std::move(view.vocabulary)};
}

std::tuple<Column, Column, Column, Column, Column, Column> key_values(nb::object urls, bool semicolons) {
  const BorrowedColumn borrowed(urls);
  nb::gil_scoped_release unlocked;
  auto view = undust::key_value_codes(borrowed.texts(), semicolons);
  return {undust::number_column("l", view.offsets), undust::number_column("I", view.keys),
          undust::number_column("I", view.values),  undust::number_column("C", view.separators),
          std::move(view.key_names),                std::move(view.value_texts)};
}

// The site of any text; nothing where it is no URL. The slice points into `host`.
std::optional<std::string_view> site_of(const undust::SuffixList& suffixes, std::string_view url, std::string& host) {
  std::string normal;
  if (!undust::normalize_url(url, undust::kAllSteps, normal)) return std::nullopt;
  host = undust::split_normal(normal).host;
  return suffixes.site_of_host(host);
}

nb::object site(const undust::SuffixList& suffixes, nb::str url) {
  std::string host;
  const auto text = utf8_of(url);
  const auto found = text ? site_of(suffixes, *text, host) : std::nullopt;
  return found ? nb::object(str_of(*found)) : nb::none();
}

Column sites(const undust::SuffixList& suffixes, nb::object urls) {
  const BorrowedColumn borrowed(urls);
  nb::gil_scoped_release unlocked;
  const TextColumn column = borrowed.texts();
  undust::TextBuilder builder;
  std::string host;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    const auto found = column.is_null(row) ? std::nullopt : site_of(suffixes, column[row], host);
    if (found) {
      builder.append(*found);
    } else {
      builder.append_null();
    }
  }
  return std::move(builder).finish(column.output_format());
}

}  // namespace

NB_MODULE(_core, m) {
  // DuckDB keeps Python modules alive until the process ends; what lives on in them is no leak of ours.
  nb::set_leak_warnings(false);
  m.doc() = "The core of undust: what must be fast, on Arrow columns.";
  m.attr("ALL_STEPS") = static_cast<unsigned>(undust::kAllSteps);

  nb::class_<Column>(m, "Column", "A column that the core made; any Arrow library can take it.")
      .def("__len__", [](const Column& column) { return column.length; })
      .def(
          "__arrow_c_schema__", [](const Column& column) { return nb::object(arrow_capsules(column)[0]); },
          "The column's type, for Arrow libraries.")
      .def(
          "__arrow_c_array__",
          [](const Column& column, const nb::object&) { return arrow_capsules(column); },
          "requested_schema"_a = nb::none(), nb::sig("def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]"),
          "The column itself, for Arrow libraries.");

  m.def("normalize_url", &normalize_url, "url"_a, "steps"_a = static_cast<unsigned>(undust::kAllSteps),
        nb::sig("def normalize_url(url: str, steps: int = 255) -> str"),
        "The normal form of one URL; the text itself if it is none.");
  m.def("normalize", &normalize, "urls"_a, "steps"_a = static_cast<unsigned>(undust::kAllSteps), "threads"_a = 1,
        "The normal forms of a column, how many changed and how many are no URLs.");
  m.def("normalize_lines", &normalize_lines, "data"_a, "steps"_a = static_cast<unsigned>(undust::kAllSteps),
        "threads"_a = 1, nb::sig("def normalize_lines(data: bytes, steps: int = 255, threads: int = 1) -> tuple[bytes, int, int, int]"),
        "The lines of a text in normal form; how many there are, changed, are no URLs.");
  m.def("split_url", &split_url, "url"_a,
        nb::sig("def split_url(url: str) -> tuple[str, str, str, str | None, str, str | None, str, str | None, str | None, str] | None"),
        "The pieces of a URL as written, or None if it is no URL.");
  m.def("tokens", &tokens, "urls"_a, "style"_a, "Offsets, codes and vocabulary of the token view.");
  m.def("key_values", &key_values, "urls"_a, "semicolons"_a,
        "Offsets, keys, values, separators, key names and value texts of the key-value view.");

  nb::class_<undust::SuffixList>(m, "Suffixes", "A public suffix list.")
      .def(
          "__init__",
          [](undust::SuffixList* self, nb::bytes text) {
            new (self) undust::SuffixList(std::string_view(text.c_str(), text.size()));
          },
          "text"_a)
      .def("site", &site, "url"_a, nb::sig("def site(self, url: str) -> str | None"),
           "The registered domain of a URL, or None if it is no URL.")
      .def("sites", &sites, "urls"_a, "The registered domain of each URL of a column.");

  bind_content(m);
  bind_differences(m);
  bind_duplicates(m);
  bind_evidence(m);
  bind_program(m);
  bind_key_meetings(m);
  bind_alignment(m);
  bind_rewrite(m);
  bind_rule_file(m);
  bind_sources(m);
  bind_standing(m);
  bind_substrings(m);
  bind_tables(m);
  bind_tree(m);
}
