// The border of alignment: groups of token sequences in, their columns and forms out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "align.hpp"
#include "align_forms.hpp"
#include "python.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::BorrowedColumn;
using undust::Column;
using undust::number_column;

template <typename Number>
using Numbers = nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Number>
[[nodiscard]] std::span<const Number> span_of(const Numbers<Number>& numbers) {
  return {numbers.data(), numbers.size()};
}

// The kind of each token; the sentinels, which no row holds, count as punctuation.
[[nodiscard]] std::vector<std::uint8_t> kinds_of(const undust::TextColumn& vocabulary) {
  std::vector<std::uint8_t> kinds;
  for (std::int64_t code = 0; code < vocabulary.size(); ++code) {
    kinds.push_back(undust::kind_of_token(vocabulary.is_null(code) ? std::string_view{} : vocabulary[code]));
  }
  return kinds;
}

std::tuple<Column, Column, Column> align_groups(const Numbers<std::int64_t>& offsets,
                                                const Numbers<std::uint32_t>& codes,
                                                const Numbers<std::int64_t>& groups, nb::object vocabulary,
                                                bool typed, bool by_share, bool gaps_count, bool anchored,
                                                std::size_t band) {
  const BorrowedColumn borrowed(vocabulary);
  nb::gil_scoped_release unlocked;
  const auto kinds = kinds_of(borrowed.texts());
  undust::AlignOptions options;
  options.scoring = typed ? undust::Scoring::kTyped : undust::Scoring::kJaccard;
  options.order = by_share ? undust::MergeOrder::kShare : undust::MergeOrder::kScore;
  options.gaps_count = gaps_count;
  options.anchored = anchored;
  if (band > 0) options.band = band;
  const auto aligned = undust::align_groups({span_of(offsets), span_of(codes), span_of(groups), kinds}, options);
  return {number_column("i", aligned.columns), number_column("i", aligned.widths), number_column("g", aligned.scores)};
}

std::tuple<Column, Column, Column, Column, Column, Column, Column, Column> group_forms(
    const Numbers<std::int64_t>& offsets, const Numbers<std::uint32_t>& codes, const Numbers<std::int64_t>& groups,
    nb::object vocabulary, const Numbers<std::int32_t>& columns, const Numbers<std::int32_t>& widths,
    std::size_t max_forms, bool across_hosts, bool whole_parts, bool word_runs) {
  const BorrowedColumn borrowed(vocabulary);
  nb::gil_scoped_release unlocked;
  const auto kinds = kinds_of(borrowed.texts());
  undust::Alignment alignment;
  alignment.columns.assign(columns.data(), columns.data() + columns.size());
  alignment.widths.assign(widths.data(), widths.data() + widths.size());
  auto forms = undust::group_forms({span_of(offsets), span_of(codes), span_of(groups), kinds}, alignment,
                                   borrowed.texts(), {max_forms, across_hosts, whole_parts, word_runs});
  return {number_column("l", forms.skeleton_offsets), number_column("i", forms.skeletons),
          number_column("i", forms.skeleton_of),      number_column("i", forms.row_form),
          number_column("i", forms.text_group),       number_column("i", forms.text_unit),
          number_column("i", forms.text_form),        std::move(forms.texts)};
}

}  // namespace

void bind_alignment(nb::module_& m) {
  m.def("align_groups", &align_groups, "offsets"_a, "codes"_a, "groups"_a, "vocabulary"_a, nb::kw_only(), "typed"_a,
        "by_share"_a, "gaps_count"_a, "anchored"_a, "band"_a,
        nb::sig("def align_groups(offsets: object, codes: object, groups: object, vocabulary: object, *, typed: bool, "
                "by_share: bool, gaps_count: bool, anchored: bool, band: int) -> tuple[Column, Column, Column]"),
        "The column of each token in the consensus of its group, how many columns each consensus has, and the score "
        "of the last two sequences that were aligned in each group. A `band` of 0 is none.");
  m.def("group_forms", &group_forms, "offsets"_a, "codes"_a, "groups"_a, "vocabulary"_a, "columns"_a, "widths"_a,
        nb::kw_only(), "max_forms"_a, "across_hosts"_a, "whole_parts"_a, "word_runs"_a,
        nb::sig("def group_forms(offsets: object, codes: object, groups: object, vocabulary: object, columns: object, "
                "widths: object, *, max_forms: int, across_hosts: bool, whole_parts: bool, word_runs: bool) "
                "-> tuple[Column, Column, Column, Column, Column, Column, Column, Column]"),
        "The skeletons of aligned groups: offsets, elements, the skeleton of each group (-1: too many forms, -2: no "
        "URLs), the form of each row; and the texts of units: group, unit, form, text.");
}
