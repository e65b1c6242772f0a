// The border of rewrite rules: maps and pairs of URLs in, rules in codes out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrow.hpp"
#include "pair_rules.hpp"
#include "python.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::Numbers;
using undust::span_of;

std::tuple<undust::Column, undust::Column, undust::Column, undust::Column> pair_rules(
    const Numbers<std::int64_t>& offsets, const Numbers<std::int32_t>& keys, const Numbers<std::int32_t>& values,
    const Numbers<std::uint8_t>& linked, const Numbers<std::int64_t>& left, const Numbers<std::int64_t>& right) {
  nb::gil_scoped_release unlocked;
  const undust::ValueMaps maps{span_of(offsets), span_of(keys), span_of(values), span_of(linked)};
  const auto rules = undust::pair_rules(maps, span_of(left), span_of(right));
  return {undust::number_column("l", rules.offsets), undust::number_column("i", rules.keys),
          undust::number_column("i", rules.context), undust::number_column("i", rules.action)};
}

undust::Column entry_hashes(const Numbers<std::int32_t>& keys, const Numbers<std::int32_t>& context,
                            const Numbers<std::int32_t>& action) {
  nb::gil_scoped_release unlocked;
  return undust::number_column("L", undust::entry_hashes(span_of(keys), span_of(context), span_of(action)));
}

}  // namespace

void bind_rewrite(nb::module_& m) {
  m.def("pair_rules", &pair_rules, "offsets"_a, "keys"_a, "values"_a, "linked"_a, "left"_a, "right"_a,
        nb::sig("def pair_rules(offsets: object, keys: object, values: object, linked: object, left: object, "
                "right: object) -> tuple[Column, Column, Column, Column]"),
        "Offsets, keys, contexts and actions of the rules that turn row `left` into row `right`.");
  m.def("entry_hashes", &entry_hashes, "keys"_a, "context"_a, "action"_a,
        nb::sig("def entry_hashes(keys: object, context: object, action: object) -> Column"),
        "A number for each entry of a rule; the sum of its numbers stands for a rule.");
}
