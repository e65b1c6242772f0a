// The border of the clusters: edges in, components out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrow.hpp"
#include "components.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// A numpy array of int64.
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

undust::Column components(const Numbers& left, const Numbers& right, std::int64_t count) {
  nb::gil_scoped_release unlocked;
  return undust::number_column("l", undust::components({left.data(), left.size()}, {right.data(), right.size()}, count));
}

}  // namespace

void bind_duplicates(nb::module_& m) {
  m.def("components", &components, "left"_a, "right"_a, "count"_a,
        nb::sig("def components(left: object, right: object, count: int) -> Column"),
        "For each of `count` nodes the smallest node that edges lead to.");
}
