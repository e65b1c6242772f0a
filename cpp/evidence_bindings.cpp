// The border of evidence: columns over the URLs of a site in, features and ratios of pairs out.
#include "evidence_bindings.hpp"

#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::array_of;
using undust::HeldEvidence;
using undust::kFeatures;
using undust::Numbers;
using Rows = Numbers<std::int64_t>;
using Weights = Numbers<float>;

void calibrate(HeldEvidence& self, const std::vector<double>& factors, std::vector<double> edges, std::vector<double> ratios,
               std::vector<double> by_agreement, const std::vector<double>& singles, double least_words, double most) {
  if (factors.size() != kFeatures + 1 || singles.size() != 5) throw nb::value_error("expected 8 factors and 5 single ratios");
  undust::EvidenceScale scale;
  std::copy(factors.begin(), factors.end(), scale.factors.begin());
  scale.edges = std::move(edges);
  scale.ratios = std::move(ratios);
  scale.by_agreement = std::move(by_agreement);
  scale.equal_digest = singles[0];
  scale.other_digest = singles[1];
  scale.equal_home = singles[2];
  scale.other_home = singles[3];
  scale.other_language = singles[4];
  scale.least_words = least_words;
  scale.most = most;
  self.evidence().calibrate(std::move(scale));
}

// Calls take(left, right) for each pair of rows.
template <typename Take>
void for_each_pair(const HeldEvidence& self, const Rows& left, const Rows& right, Take&& take) {
  if (left.size() != right.size()) throw nb::value_error("expected as many rows on both sides");
  const auto rows = static_cast<std::int64_t>(self.evidence().size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::int64_t a = left.data()[i], b = right.data()[i];
    if (a < 0 || b < 0 || a >= rows || b >= rows) throw nb::index_error("there is no such row");
  }
  nb::gil_scoped_release unlocked;
  for (std::size_t i = 0; i < left.size(); ++i) take(static_cast<std::size_t>(left.data()[i]), static_cast<std::size_t>(right.data()[i]));
}

nb::object features(const HeldEvidence& self, const Rows& left, const Rows& right) {
  std::vector<double> found;
  found.reserve(left.size() * kFeatures);
  for_each_pair(self, left, right, [&](std::size_t a, std::size_t b) {
    const undust::Features each = self.evidence().features(a, b);
    found.insert(found.end(), each.begin(), each.end());
  });
  return array_of(std::move(found));
}

nb::object ratios(const HeldEvidence& self, const Rows& left, const Rows& right, bool of_content) {
  std::vector<double> found;
  found.reserve(left.size());
  const undust::Evidence& evidence = self.evidence();
  for_each_pair(self, left, right, [&](std::size_t a, std::size_t b) {
    found.push_back(of_content ? evidence.content(a, b) : evidence.ratio(a, b));
  });
  return array_of(std::move(found));
}

}  // namespace

void bind_evidence(nb::module_& m) {
  nb::class_<HeldEvidence>(m, "Evidence", "What is known of the URLs of a site, and how alike two of them are.")
      .def(nb::init<Rows, Rows, Weights, Weights, Rows, Rows, Rows, Weights, Rows, Rows, Rows, Rows, Rows, Numbers<bool>,
                    Numbers<std::uint32_t>, std::size_t>(),
           "first_block"_a, "blocks"_a, "weights"_a, "number_weights"_a, "last_key"_a, "first_title_word"_a, "title_words"_a,
           "title_weights"_a, "label"_a, "digest"_a, "home"_a, "language"_a, "sketch_row"_a, "shows"_a, "sketches"_a, "minima"_a,
           nb::sig("def __init__(self, first_block: object, blocks: object, weights: object, number_weights: object, last_key: object, first_title_word: object, "
                   "title_words: object, title_weights: object, label: object, digest: object, home: object, language: object, "
                   "sketch_row: object, shows: object, sketches: object, minima: int) -> None"))
      .def("calibrate", &calibrate, "factors"_a, "edges"_a, "ratios"_a, "by_agreement"_a, "singles"_a, "least_words"_a, "most"_a,
           nb::sig("def calibrate(self, factors: list[float], edges: list[float], ratios: list[float], by_agreement: list[float], "
                   "singles: list[float], least_words: float, most: float) -> None"),
           "Sets what a comparison weighs; `singles` are the ratios of equal digests, other digests, equal homes, other homes and "
           "other languages.")
      .def("features", &features, "left"_a, "right"_a, nb::sig("def features(self, left: object, right: object) -> object"),
           "Seven features of each pair of rows, one pair after the other.")
      .def("ratios", &ratios, "left"_a, "right"_a, "of_content"_a = false,
           nb::sig("def ratios(self, left: object, right: object, of_content: bool = False) -> object"),
           "The log-likelihood ratio of each pair of rows; with `of_content`, of what they show alone.");
}
