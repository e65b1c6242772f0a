// The border of the pattern tree: codes and columns of URLs in, counts out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "mappings.hpp"
#include "python.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::Numbers;
using undust::span_of;

[[nodiscard]] std::vector<std::span<const std::int32_t>> spans_of(const std::vector<Numbers<std::int32_t>>& columns) {
  std::vector<std::span<const std::int32_t>> spans;
  for (const auto& column : columns) spans.push_back(span_of(column));
  return spans;
}

std::int64_t shared_codes(const Numbers<std::int32_t>& left, const Numbers<std::int32_t>& right) {
  return undust::shared_codes(span_of(left), span_of(right));
}

std::int64_t meetings(const Numbers<std::int64_t>& left, const Numbers<std::int64_t>& left_counts,
                      const Numbers<std::int64_t>& right, const Numbers<std::int64_t>& right_counts) {
  return undust::meetings({span_of(left), span_of(left_counts)}, {span_of(right), span_of(right_counts)});
}

std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t> image_pairs(
    const Numbers<std::int64_t>& taken, const Numbers<std::int64_t>& own,
    const std::vector<Numbers<std::int32_t>>& taken_values, const std::vector<Numbers<std::int32_t>>& own_values,
    const Numbers<std::int64_t>& page) {
  const undust::CarriedRows carried{span_of(taken), span_of(own), spans_of(taken_values), spans_of(own_values),
                                    span_of(page)};
  nb::gil_scoped_release unlocked;
  const undust::ImagePairs found = undust::image_pairs(carried);
  return {found.rows, found.images, found.pairs, found.same, found.pages};
}

}  // namespace

void bind_tree(nb::module_& m) {
  m.def("shared_codes", &shared_codes, "left"_a, "right"_a,
        nb::sig("def shared_codes(left: object, right: object) -> int"),
        "How many codes two ascending columns of different ones share.");
  m.def("meetings", &meetings, "left"_a, "left_counts"_a, "right"_a, "right_counts"_a,
        nb::sig("def meetings(left: object, left_counts: object, right: object, right_counts: object) -> int"),
        "How many pairs of one from each side are equal, of ascending codes and how often each is there.");
  m.def("image_pairs", &image_pairs, "taken"_a, "own"_a, "taken_values"_a, "own_values"_a, "page"_a,
        nb::sig("def image_pairs(taken: object, own: object, taken_values: object, own_values: object, "
                "page: object) -> tuple[int, int, int, int, int]"),
        "Rows, images, pairs with one image, those of one page, and pages with such pairs.");
}
