// The border of rule files: their bytes in, a program out.
#include <nanobind/nanobind.h>

#include "rule_file.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::PlainRuleFile;
using undust::Program;

nb::object read_plain(nb::bytes data, const undust::SuffixList& suffixes, std::size_t most) {
  const std::string_view text(data.c_str(), data.size());
  std::optional<PlainRuleFile> file;
  std::unique_ptr<Program> program;
  {
    nb::gil_scoped_release unlocked;
    file = undust::plain_rule_file(text, most);
    try {
      if (file) program = std::make_unique<Program>(file->rules, suffixes);
    } catch (const undust::RuleProblem&) {
      file.reset();
    }
  }
  if (!file) return nb::none();
  const nb::object held = nb::cast(program.release(), nb::rv_policy::take_ownership);
  nb::keep_alive_obj(held, nb::find(suffixes));
  return nb::make_tuple(held, file->list_start, file->list_end, file->is_limited);
}

}  // namespace

void bind_rule_file(nb::module_& m) {
  m.def("plain_rule_file", &read_plain, "data"_a, "suffixes"_a, "most"_a,
        nb::sig("def plain_rule_file(data: bytes, suffixes: Suffixes, most: int) -> tuple[Program, int, int, bool] | None"),
        "The program of a rule file as undust writes it, where the list of its rules starts and ends, and whether a rule\n"
        "is for comparing only, is proposed or needs others. Rules whose needs are not met are off in the program. None\n"
        "for any other file, for one that is wrong, and for more rules than `most`.");
}
