// The border of differences: URLs and pairs of their rows in, sides of rules out.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "differences.hpp"
#include "python.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::Numbers;
using undust::str_of;

nb::list texts_of(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(str_of(text));
  return list;
}

nb::list differences(nb::object urls, const Numbers<std::int64_t>& left, const Numbers<std::int64_t>& right,
                     const Numbers<std::int64_t>& page, const undust::DifferenceBounds& bounds) {
  if (left.size() != right.size() || left.size() != page.size()) throw std::invalid_argument("expected columns over pairs");
  const undust::BorrowedColumn borrowed(urls);
  std::vector<undust::Difference> found;
  {
    nb::gil_scoped_release unlocked;
    std::vector<undust::SamePage> pairs;
    pairs.reserve(left.size());
    for (std::size_t i = 0; i < left.size(); ++i) pairs.push_back({left.data()[i], right.data()[i], page.data()[i]});
    const std::vector<std::string_view> texts = borrowed.views();
    found = undust::differences(texts, pairs, bounds);
  }
  nb::list told;
  for (const undust::Difference& one : found) {
    nb::list values;
    for (const auto& some : one.values) values.append(texts_of(some));
    told.append(nb::make_tuple(str_of(one.source), str_of(one.target), values));
  }
  return told;
}

}  // namespace

void bind_differences(nb::module_& m) {
  nb::class_<undust::DifferenceBounds>(m, "DifferenceBounds", "What is looked at in differences, and what of it is told.")
      .def(nb::init<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>(), nb::kw_only(), "longest"_a,
           "long_name"_a, "kept_values"_a, "least_pages"_a, "most"_a);
  m.def("differences", &differences, "urls"_a, "left"_a, "right"_a, "page"_a, "bounds"_a,
        nb::sig("def differences(urls: object, left: object, right: object, page: object, bounds: DifferenceBounds) -> "
                "list[tuple[str, str, list[list[str]]]]"),
        "The rules between rows of one page that several pages show, those of most pages first: both sides, and some texts\n"
        "of each capture and of each text that is forgotten. Pairs of a page stand together.");
}
