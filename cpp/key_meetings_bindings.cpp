// The border of the judge by key: the columns of a site's state in, what edits would do to it out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <numeric>
#include <optional>

#include "key_meetings.hpp"
#include "python.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::array_of;
using undust::KeyIndex;
using undust::KeyMoves;
using undust::Numbers;
using undust::Program;
using undust::span_of;

// An index, and what keeps its columns alive.
class HeldKeyIndex {
 public:
  using Rows = Numbers<std::int64_t>;

  HeldKeyIndex(nb::object images, nb::object keys, nb::object gone, Rows key_of_image, Rows order, Rows starts, Rows urls, Rows page)
      : images_(images),
        keys_(keys),
        gone_(gone),
        numbers_{key_of_image, order, starts, urls, page},
        index_({images_.views(), keys_.views(), gone_.views(), span_of(key_of_image), span_of(order), span_of(starts), span_of(urls),
                span_of(page)}) {}

  [[nodiscard]] nb::tuple moves(const Program& touching, Rows owner, nb::list candidates, const std::optional<Rows>& rows) const {
    std::vector<const Program*> programs;
    for (const nb::handle each : candidates) programs.push_back(&nb::cast<const Program&>(each));
    KeyMoves found;
    {
      nb::gil_scoped_release unlocked;
      std::vector<std::int64_t> all(rows ? 0 : index_.columns().images.size());
      std::iota(all.begin(), all.end(), 0);
      found = index_.moves(touching, span_of(owner), programs, rows ? span_of(*rows) : all);
    }
    return nb::make_tuple(array_of(std::move(found.offsets)), array_of(std::move(found.image)), array_of(std::move(found.target)),
                          array_of(std::move(found.is_gone)), array_of(std::move(found.vote_offsets)), array_of(std::move(found.left)),
                          array_of(std::move(found.right)), array_of(std::move(found.group)), array_of(std::move(found.saved)));
  }

 private:
  undust::BorrowedColumn images_, keys_, gone_;
  std::vector<Rows> numbers_;
  KeyIndex index_;
};

}  // namespace

void bind_key_meetings(nb::module_& m) {
  nb::class_<HeldKeyIndex>(m, "KeyIndex", "The images of a site's URLs and their keys, and what edits would do there.")
      .def(nb::init<nb::object, nb::object, nb::object, HeldKeyIndex::Rows, HeldKeyIndex::Rows, HeldKeyIndex::Rows, HeldKeyIndex::Rows,
                    HeldKeyIndex::Rows>(),
           "images"_a, "keys"_a, "gone"_a, "key_of_image"_a, "order"_a, "starts"_a, "urls"_a, "page"_a,
           nb::sig("def __init__(self, images: object, keys: object, gone: object, key_of_image: object, order: object, "
                   "starts: object, urls: object, page: object) -> None"))
      .def("moves", &HeldKeyIndex::moves, "touching"_a, "owner"_a, "candidates"_a, "rows"_a.none(),
           nb::sig("def moves(self, touching: Program, owner: object, candidates: list[Program], rows: object | None) -> "
                   "tuple[object, object, object, object, object, object, object, object, object]"),
           "What candidates would do, each alone, to some images or all. Of what moves: where each candidate begins, the\n"
           "images, their keys then, whether the site has no page there. Of what meets: where each candidate begins, the\n"
           "key that comes under another, that other, the key of both then. And the keys that each candidate saves.");
}
