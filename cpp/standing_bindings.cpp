// The border of learning: the columns of a site's state in, what candidates would do to it out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <numeric>
#include <optional>

#include "evidence_bindings.hpp"
#include "python.hpp"
#include "standing.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::array_of;
using undust::Effects;
using undust::Numbers;
using undust::Program;
using undust::span_of;
using undust::Standing;

// A standing, and what keeps its columns alive.
class HeldStanding {
 public:
  HeldStanding(nb::object images, Numbers<std::int64_t> first_pair, Numbers<std::int64_t> page, Numbers<std::int64_t> urls,
               Numbers<bool> is_served, Numbers<bool> is_preferred, Numbers<bool> speaks, Numbers<bool> is_held, Numbers<bool> is_silent,
               Numbers<std::int64_t> sketch, Numbers<std::uint32_t> sketches, std::size_t minima, std::size_t needed,
               nb::object evidence, Numbers<std::int64_t> row, double against, double supports)
      : borrowed_(images),
        evidence_(evidence),
        numbers_{first_pair, page, urls, sketch, row},
        flags_{is_served, is_preferred, speaks, is_held, is_silent},
        sketches_(sketches),
        standing_({borrowed_.views(), span_of(first_pair), span_of(page), span_of(urls), span_of(is_served), span_of(is_preferred),
                   span_of(speaks), span_of(is_held), span_of(is_silent), span_of(sketch), span_of(sketches), minima, needed,
                   evidence.is_none() ? nullptr : &nb::cast<const undust::HeldEvidence&>(evidence).evidence(), span_of(row), against, supports}) {}

  [[nodiscard]] nb::tuple asked(const Program& program, std::size_t first, bool together,
                                const std::optional<Numbers<std::int64_t>>& rows) const {
    Effects effects;
    {
      nb::gil_scoped_release unlocked;
      std::vector<std::int64_t> all(rows ? 0 : standing_.columns().images.size());
      std::iota(all.begin(), all.end(), 0);
      const std::span<const std::int64_t> some = rows ? span_of(*rows) : all;
      effects = together ? standing_.together(program, first, some) : standing_.apart(program, first, some);
    }
    nb::list counts;
    for (std::size_t i = 0; i < effects.counts.size(); ++i) {
      const auto& c = effects.counts[i];
      counts.append(nb::make_tuple(c.moved, c.saved, c.lost, c.lost_held, c.pages, c.pages_held, c.moved_urls, c.against, c.astray,
                                   effects.met[i]));
    }
    return nb::make_tuple(counts, array_of(std::move(effects.offsets)), array_of(std::move(effects.sources)),
                          array_of(std::move(effects.failing)), array_of(std::move(effects.blamed)),
                          array_of(std::move(effects.merging)), array_of(std::move(effects.touched_offsets)),
                          array_of(std::move(effects.touched)), array_of(std::move(effects.vote_offsets)),
                          array_of(std::move(effects.votes)));
  }

  [[nodiscard]] std::int64_t lost() const { return standing_.lost(); }

 private:
  undust::BorrowedColumn borrowed_;
  nb::object evidence_;
  std::vector<Numbers<std::int64_t>> numbers_;
  std::vector<Numbers<bool>> flags_;
  Numbers<std::uint32_t> sketches_;
  Standing standing_;
};

}  // namespace

void bind_standing(nb::module_& m) {
  nb::class_<HeldStanding>(m, "Standing", "The images of a site's URLs, the pages on them, and what rules would do there.")
      .def(nb::init<nb::object, Numbers<std::int64_t>, Numbers<std::int64_t>, Numbers<std::int64_t>, Numbers<bool>,
                    Numbers<bool>, Numbers<bool>, Numbers<bool>, Numbers<bool>, Numbers<std::int64_t>, Numbers<std::uint32_t>, std::size_t,
                    std::size_t, nb::object, Numbers<std::int64_t>, double, double>(),
           "images"_a, "first_pair"_a, "page"_a, "urls"_a, "is_served"_a, "is_preferred"_a, "speaks"_a, "is_held"_a, "is_silent"_a,
           "sketch"_a, "sketches"_a, "minima"_a, "needed"_a, "evidence"_a.none(), "row"_a, "against"_a, "supports"_a,
           nb::sig("def __init__(self, images: object, first_pair: object, page: object, urls: object, is_served: object, is_preferred: object, "
                   "speaks: object, is_held: object, is_silent: object, sketch: object, sketches: object, minima: int, "
                   "needed: int, evidence: Evidence | None, row: object, against: float, supports: float) -> None"))
      .def("effects", &HeldStanding::asked, "program"_a, "first"_a, "together"_a, "rows"_a.none(),
           nb::sig("def effects(self, program: Program, first: int, together: bool, rows: object | None) -> "
                   "tuple[list[tuple[int, int, int, int, int, int, int, int, int, float]], object, object, object, object, object, "
                   "object, object, object, object]"),
           "What the rules from number `first` on would do, each alone or all together, to some images or all: counts, and\n"
           "columns over what each moves, and touches.")
      .def("lost", &HeldStanding::lost, "How many pages lie under another one.");
}
