// The border of the substring learner: rows of tokens and what is known of them in, places out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>

#include "arrow.hpp"
#include "python.hpp"
#include "substrings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::Column;
using undust::Numbers;
using undust::Place;
using undust::span_of;
using undust::Substitution;

using Rows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sketches = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Columns of the evidence, in this order.
enum { kPage, kLabel, kSketch, kKnown, kFirm, kSizeMin, kSizeMax, kColumns };

undust::RowEvidence evidence_of(const Rows& columns, const Sketches& sketches, std::size_t agreeing, std::size_t rows) {
  undust::RowEvidence evidence;
  if (columns.shape(0) == 0) return evidence;
  if (columns.shape(0) != kColumns || columns.shape(1) != rows) {
    throw std::invalid_argument("the evidence needs seven columns with one number for each row of tokens");
  }
  const auto number = [&](int column, std::size_t row) {
    return columns.data()[static_cast<std::size_t>(column) * rows + row];
  };
  evidence.sketches = {sketches.data(), sketches.size()};
  evidence.sketch_size = sketches.shape(1);
  evidence.agreeing = agreeing;
  evidence.rows.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    if (number(kSketch, row) >= static_cast<std::int64_t>(sketches.shape(0))) {
      throw std::invalid_argument("the evidence names a sketch that is not there");
    }
    evidence.rows.push_back({number(kSizeMin, row), number(kSizeMax, row),
                             static_cast<std::int32_t>(number(kPage, row)),
                             static_cast<std::int32_t>(number(kLabel, row)),
                             static_cast<std::int32_t>(number(kSketch, row)), number(kKnown, row) != 0,
                             number(kFirm, row) != 0});
  }
  evidence.join_equal_sketches();
  return evidence;
}

std::vector<std::uint64_t> packed(const std::vector<Place>& places) {
  std::vector<std::uint64_t> numbers;
  for (const Place& place : places) numbers.push_back(std::uint64_t{place.row} << 32 | place.start_and_length);
  return numbers;
}
Place unpacked(std::uint64_t number) {
  return {static_cast<std::uint32_t>(number >> 32), static_cast<std::uint32_t>(number)};
}

std::tuple<Column, Column, Column, Column, std::int64_t, std::int64_t, std::int64_t, std::int64_t> likely_substitutions(
    const Numbers<std::int64_t>& offsets, const Numbers<std::uint32_t>& codes, const Rows& evidence,
    const Sketches& sketches, std::size_t agreeing, std::size_t max_length, std::size_t low_bucket,
    std::size_t high_bucket, std::uint32_t min_support, std::size_t memory_bytes, int threads, std::string folder) {
  nb::gil_scoped_release unlocked;
  const undust::TokenRows rows{span_of(offsets), span_of(codes)};
  undust::require_token_rows(rows);
  const undust::SubstringLimits limits{max_length, low_bucket, high_bucket, std::max(1u, min_support), memory_bytes,
                                       threads, std::move(folder)};
  const auto known = evidence_of(evidence, sketches, agreeing, rows.size());
  const undust::Detected detected = undust::likely_substitutions(rows, known, limits);
  std::vector<Place> longer, shorter;
  std::vector<std::uint32_t> low, high;
  for (const Substitution& each : detected.found) {
    longer.push_back(each.longer);
    shorter.push_back(each.shorter);
    low.push_back(each.low);
    high.push_back(each.high);
  }
  return {undust::number_column("L", packed(longer)), undust::number_column("L", packed(shorter)),
          undust::number_column("I", low),            undust::number_column("I", high),
          detected.envelopes,                         detected.compared,
          detected.passes,                            detected.spilled_bytes};
}

std::vector<Substitution> pairs_of(const undust::TokenRows& rows, const Numbers<std::uint64_t>& longer,
                                   const Numbers<std::uint64_t>& shorter) {
  if (longer.size() != shorter.size()) throw std::invalid_argument("a pair needs two places");
  std::vector<Substitution> found;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    const Substitution pair{unpacked(longer.data()[i]), unpacked(shorter.data()[i])};
    for (const Place& place : {pair.longer, pair.shorter}) {
      if (place.row >= rows.size() || place.start() + place.length() > rows[place.row].size()) {
        throw std::out_of_range("a place lies outside of the rows of tokens");
      }
    }
    found.push_back(pair);
  }
  return found;
}

Column redundant_substitutions(const Numbers<std::int64_t>& offsets, const Numbers<std::uint32_t>& codes,
                               const Numbers<std::uint64_t>& longer, const Numbers<std::uint64_t>& shorter,
                               const Numbers<std::uint32_t>& high, double relative, double absolute,
                               std::size_t window) {
  nb::gil_scoped_release unlocked;
  const undust::TokenRows rows{span_of(offsets), span_of(codes)};
  undust::require_token_rows(rows);
  if (longer.size() != high.size()) {
    throw std::invalid_argument("a pair needs two places and a support: the columns must have the same length");
  }
  auto found = pairs_of(rows, longer, shorter);
  for (std::size_t i = 0; i < found.size(); ++i) found[i].high = high.data()[i];
  return undust::number_column("C", undust::redundant_substitutions(rows, found, {relative, absolute, window}));
}

Column pages_of_substitutions(const Numbers<std::int64_t>& offsets, const Numbers<std::uint32_t>& codes,
                              const Numbers<std::int64_t>& pages, const Numbers<std::uint64_t>& longer,
                              const Numbers<std::uint64_t>& shorter) {
  nb::gil_scoped_release unlocked;
  const undust::TokenRows rows{span_of(offsets), span_of(codes)};
  undust::require_token_rows(rows);
  if (pages.size() != rows.size()) throw std::invalid_argument("each row of tokens needs the number of its page");
  const auto found = pairs_of(rows, longer, shorter);
  return undust::number_column("I", undust::pages_of_substitutions(rows, span_of(pages), found));
}

std::tuple<Column, Column, Column, Column, Column> parameter_supports(const Numbers<std::int64_t>& offsets,
                                                      const Numbers<std::uint32_t>& codes, const Rows& evidence,
                                                      const Sketches& sketches, std::size_t agreeing,
                                                      std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> marks,
                                                      std::size_t compared) {
  nb::gil_scoped_release unlocked;
  const undust::TokenRows rows{span_of(offsets), span_of(codes)};
  undust::require_token_rows(rows);
  const auto known = evidence_of(evidence, sketches, agreeing, rows.size());
  const auto [question, ampersand, equals] = marks;
  std::vector<Place> names, values;
  std::vector<std::int64_t> supports, pages;
  std::vector<std::uint8_t> ends;
  for (const auto& each : undust::parameter_supports(rows, known, {question, ampersand, equals}, compared)) {
    names.push_back(each.name);
    values.push_back(each.value);
    supports.push_back(each.support);
    ends.push_back(each.ends_queries);
    pages.push_back(each.pages);
  }
  return {undust::number_column("L", packed(names)), undust::number_column("L", packed(values)),
          undust::number_column("l", supports), undust::number_column("C", ends),
          undust::number_column("l", pages)};
}

}  // namespace

void bind_substrings(nb::module_& m) {
  m.def("likely_substitutions", &likely_substitutions, "offsets"_a, "codes"_a, "evidence"_a, "sketches"_a,
        "agreeing"_a, "max_length"_a, "low_bucket"_a, "high_bucket"_a, "min_support"_a, "memory_bytes"_a,
        "threads"_a, "folder"_a,
        nb::sig("def likely_substitutions(offsets: object, codes: object, evidence: object, sketches: object, "
                "agreeing: int, max_length: int, low_bucket: int, high_bucket: int, min_support: int, "
                "memory_bytes: int, threads: int, folder: str) "
                "-> tuple[Column, Column, Column, Column, int, int, int, int]"),
        "Pairs of pieces of token rows that share envelopes: the places of the longer and of the shorter one, their "
        "support in small and in larger buckets; how many envelopes there were, how many of them were "
        "compared, in how many passes, and bytes written to `folder`. A place is row << 32 | start << 12 | length.");
  m.def("redundant_substitutions", &redundant_substitutions, "offsets"_a, "codes"_a, "longer"_a, "shorter"_a,
        "high"_a, "relative"_a, "absolute"_a, "window"_a,
        nb::sig("def redundant_substitutions(offsets: object, codes: object, longer: object, shorter: object, "
                "high: object, relative: float, absolute: float, window: int) -> Column"),
        "For each pair 1 if another one with more context and about as much support makes it redundant.");
  m.def("pages_of_substitutions", &pages_of_substitutions, "offsets"_a, "codes"_a, "pages"_a, "longer"_a, "shorter"_a,
        nb::sig("def pages_of_substitutions(offsets: object, codes: object, pages: object, longer: object, "
                "shorter: object) -> Column"),
        "For each pair how many pages have two URLs that it turns into each other; `pages` has the number of the page "
        "of each row, below 0 where it is not known.");
  m.def("parameter_supports", &parameter_supports, "offsets"_a, "codes"_a, "evidence"_a, "sketches"_a, "agreeing"_a,
        "marks"_a, "compared"_a,
        nb::sig("def parameter_supports(offsets: object, codes: object, evidence: object, sketches: object, "
                "agreeing: int, marks: tuple[int, int, int], compared: int) -> tuple[Column, Column, Column, Column, Column]"),
        "Names of parameters whose values may not matter: the place of the name, of its most frequent value, in "
        "how many envelopes, whether it stands more often last than first, and how many pages have two URLs that "
        "differ in its value alone; `marks` are the codes of `?`, `&` and `=`.");
}
