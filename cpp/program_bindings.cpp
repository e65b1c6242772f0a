// The border of rules: dicts of a rule file in, a program out; one URL, a column or lines through it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "batch.hpp"
#include "program.hpp"
#include "program_pairs.hpp"
#include "program_problem.hpp"
#include "python.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using undust::characters_before;
using undust::Column;
using undust::Course;
using undust::Lanes;
using undust::Outcome;
using undust::Program;
using undust::Result;
using undust::RuleProblem;
using undust::RuleSource;
using undust::Scratch;
using undust::str_of;
using undust::text_of_field;
using undust::utf8_of;

PyObject* rule_problem_type = nullptr;

[[noreturn]] void raise_problem(const RuleProblem& problem, std::int64_t rule, std::size_t column) {
  const nb::object error = nb::steal(PyObject_CallFunction(rule_problem_type, "s", problem.what()));
  if (error.is_valid()) {
    error.attr("rule") = rule;
    error.attr("field") = problem.field;
    error.attr("column") = column;
    PyErr_SetObject(rule_problem_type, error.ptr());
  }
  throw nb::python_error();
}

// The names of a rule's fields, made once: a file has many rules.
struct Keys {
  nb::str site{"site"}, kind{"kind"}, from{"from"}, to{"to"}, when{"when"}, unless{"unless"},
      except_sites{"except_sites"}, status{"status"}, fetch{"fetch"}, needs{"needs"};
};

nb::handle value_of(nb::dict rule, const nb::str& key) {
  const nb::handle value = PyDict_GetItemWithError(rule.ptr(), key.ptr());
  if (!value.is_valid() && PyErr_Occurred()) throw nb::python_error();
  return value.is_none() ? nb::handle() : value;
}

std::string_view text_of(nb::handle value, const std::string& field) {
  if (!value.is_valid()) {
    throw RuleProblem(field, 0, undust::joined({"'", field, "' is missing; add it to the rule"}));
  }
  const auto text = PyUnicode_Check(value.ptr()) ? utf8_of(value) : std::nullopt;
  if (!text) throw RuleProblem(field, 0, undust::joined({"'", field, "' is no text; write a string"}));
  return *text;
}

void read_texts(nb::handle value, const char* field, std::vector<std::string_view>& texts) {
  if (!value.is_valid()) return;
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
    throw RuleProblem(field, 0, undust::joined({"'", field, "' is no list; write a list of strings"}));
  }
  for (const nb::handle item : nb::borrow<nb::object>(value)) {
    texts.push_back(text_of(item, undust::joined({field, "[", std::to_string(texts.size()), "]"})));
  }
}

RuleSource source_of(nb::handle object, const Keys& keys) {
  if (!PyDict_Check(object.ptr())) throw RuleProblem("", 0, "a rule is an object with site, kind and from; write one");
  const auto rule = nb::borrow<nb::dict>(object);
  RuleSource source;
  source.site = text_of(value_of(rule, keys.site), "site");
  source.text.kind = text_of(value_of(rule, keys.kind), "kind");
  if (const nb::handle from = value_of(rule, keys.from); from.is_valid()) {
    source.text.from = text_of(from, "from");
  } else {
    throw RuleProblem("from", 0, "the left side is missing; add \"from\" to the rule");
  }
  if (const nb::handle to = value_of(rule, keys.to); to.is_valid()) source.text.to = text_of(to, "to");
  read_texts(value_of(rule, keys.when), "when", source.text.when);
  read_texts(value_of(rule, keys.unless), "unless", source.text.unless);
  read_texts(value_of(rule, keys.except_sites), "except_sites", source.except_sites);
  if (const nb::handle status = value_of(rule, keys.status); status.is_valid()) {
    const std::string_view text = text_of(status, "status");
    source.is_active = text == "active";
    if (!source.is_active && text != "disabled" && text != "proposed") {
      throw RuleProblem("status", 0,
                        undust::joined({"the status '", text, "' is not known; write active, disabled or proposed"}));
    }
  }
  if (const nb::handle fetch = value_of(rule, keys.fetch); fetch.is_valid()) {
    if (!PyBool_Check(fetch.ptr())) throw RuleProblem("fetch", 0, "'fetch' is not true or false; write one of them");
    source.is_fetched = fetch.ptr() == Py_True;
  }
  // Who needs whom is worked out before, by ids, which the core does not know.
  if (const nb::handle needs = value_of(rule, keys.needs); needs.is_valid()) {
    std::vector<std::string_view> ids;
    read_texts(needs, "needs", ids);
  }
  return source;
}

void construct(Program* self, nb::list rules, const undust::SuffixList& suffixes) {
  const Keys keys;
  std::vector<RuleSource> sources;
  sources.reserve(rules.size());
  for (const nb::handle rule : rules) {
    try {
      sources.push_back(source_of(rule, keys));
    } catch (const RuleProblem& problem) {
      raise_problem(problem, static_cast<std::int64_t>(sources.size()), problem.column);
    }
  }
  try {
    new (self) Program(sources, suffixes);
  } catch (const undust::ProgramProblem& problem) {
    const std::string_view text = text_of_field(sources[problem.rule], problem.field);
    raise_problem(problem, static_cast<std::int64_t>(problem.rule), characters_before(text, problem.column));
  }
}

using ImageBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// ValueError with the kind and the reason, which Python makes a sentence of.
Program* mapped(const ImageBytes& image, const undust::SuffixList& suffixes) {
  constexpr const char* kKinds[] = {"not", "version", "damage"};
  try {
    return new Program(std::as_bytes(std::span(image.data(), image.size())), suffixes);
  } catch (const undust::ImageProblem& problem) {
    throw nb::value_error(undust::joined({kKinds[static_cast<std::size_t>(problem.kind)], ": ", problem.what()}).c_str());
  }
}

nb::bytes image_of(const Program& program, nb::bytes texts) {
  std::string image;
  {
    const std::string_view text(texts.c_str(), texts.size());
    nb::gil_scoped_release unlocked;
    image = program.image(text);
  }
  return nb::bytes(image.data(), image.size());
}

void check_rule(nb::dict rule) {
  RuleSource source;
  try {
    source = source_of(rule, Keys());
    undust::check_source(source);
  } catch (const RuleProblem& problem) {
    raise_problem(problem, -1, characters_before(text_of_field(source, problem.field), problem.column));
  }
}

std::tuple<std::string, std::string, std::optional<std::string>, std::vector<std::string>, std::vector<std::string>>
parse_rule(nb::str text) {
  const auto line = utf8_of(text);
  RuleSource source;
  try {
    if (!line) throw RuleProblem("text", 0, "the rule has half a character pair; write it as UTF-8");
    source.text = undust::split_rule_line(*line);
    auto rule = undust::canonical_rule(source.text);
    return {std::move(rule.kind), std::move(rule.from), std::move(rule.to), std::move(rule.when), std::move(rule.unless)};
  } catch (const RuleProblem& problem) {
    const std::string_view field = text_of_field(source, problem.field);
    const std::size_t start = field.data() ? static_cast<std::size_t>(field.data() - line->data()) : 0;
    raise_problem(problem, -1, characters_before(line.value_or(""), start + problem.column));
  }
}

// What happened to the URLs of a batch.
struct Counts {
  std::int64_t changed = 0, not_urls = 0, skipped = 0, unresolved = 0;
  std::vector<std::int64_t> uses;  // by rule: how many URLs it changed; empty if nobody asked

  Counts& operator+=(const Counts& other) {
    changed += other.changed;
    not_urls += other.not_urls;
    skipped += other.skipped;
    unresolved += other.unresolved;
    uses.resize(std::max(uses.size(), other.uses.size()));
    for (std::size_t i = 0; i < other.uses.size(); ++i) uses[i] += other.uses[i];
    return *this;
  }
};

// Each rule once for a URL, however often it acted.
void count_uses(const Program& program, const Scratch& scratch, std::vector<std::uint32_t>& rules,
                std::vector<std::int64_t>& uses) {
  uses.resize(program.size());
  rules.clear();
  if (!scratch.masks.empty() || scratch.fetched.result || scratch.compared.result) {
    for (const undust::Orbit* orbit : {&scratch.fetched, &scratch.compared}) {
      for (std::size_t i = 0; i < orbit->result; ++i) rules.push_back(orbit->steps[i].rule);
    }
    for (const auto& mask : scratch.masks) rules.push_back(mask.rule);
    std::sort(rules.begin(), rules.end());
    rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  }
  for (const std::uint32_t rule : rules) ++uses[rule];
}

// A rows function for map_texts and map_lines.
auto rows_of(const Program& program, bool keys, bool uses) {
  return [&program, keys, uses](std::span<const std::string_view> texts, std::string& out, Counts& counts, auto&& end_row) {
    thread_local Scratch scratch_here;
    thread_local Lanes lanes_here;
    Scratch& scratch = scratch_here;  // found once, not for each row
    Lanes& lanes = lanes_here;
    std::vector<std::uint32_t> rules;
    Course course(program, texts, lanes);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      undust::Lane& lane = course.next();
      const Result result = keys ? program.key(lane, scratch) : program.canonical(lane, scratch);
      out.append(result.url);
      end_row(i);
      counts.changed += result.url != texts[i];
      counts.not_urls += result.outcome == Outcome::kNotUrl;
      counts.skipped += result.outcome == Outcome::kSkipped;
      counts.unresolved += result.outcome == Outcome::kUnresolved;
      if (uses) count_uses(program, scratch, rules, counts.uses);
    }
  };
}

Column map_column(const Program& program, nb::object urls, bool keys, int threads, bool uses, Counts& counts) {
  const undust::BorrowedColumn borrowed(urls);
  nb::gil_scoped_release unlocked;
  return undust::map_texts(borrowed.texts(), threads, counts, rows_of(program, keys, uses));
}

nb::bytes map_bytes(const Program& program, nb::bytes data, bool keys, int threads, bool uses, Counts& counts,
                    std::int64_t& lines) {
  std::string out;
  {
    const std::string_view text(data.c_str(), data.size());
    nb::gil_scoped_release unlocked;
    lines = undust::map_lines(text, threads, counts, out, rows_of(program, keys, uses));
  }
  return nb::bytes(out.data(), out.size());
}

nb::object one_url(const Program& program, nb::str url, bool keys) {
  thread_local Scratch scratch;
  const auto text = utf8_of(url);
  if (!text) return url;
  const Result result = keys ? program.key(*text, scratch) : program.canonical(*text, scratch);
  return result.url == *text ? nb::object(url) : str_of(result.url);
}

nb::list steps_of(const std::vector<undust::AppliedStep>& steps, const undust::Orbit& orbit) {
  nb::list list;
  for (const auto& step : steps) list.append(nb::make_tuple(step.rule, str_of(orbit.texts[step.text])));
  return list;
}

nb::tuple explain(const Program& program, nb::str url) {
  constexpr const char* kNames[] = {"resolved", "cycle", "no URL", "skipped", "unresolved"};
  Scratch scratch;
  const auto text = utf8_of(url);
  if (!text) return nb::make_tuple(url, nb::list(), url, nb::list(), nb::list(), url, kNames[2]);
  const Result key = program.key(*text, scratch);
  const char* outcome = kNames[static_cast<std::size_t>(key.outcome)];
  if (key.outcome == Outcome::kNotUrl) {
    return nb::make_tuple(url, nb::list(), url, nb::list(), nb::list(), url, outcome);
  }
  const auto& [fetched, compared] = std::tie(scratch.fetched, scratch.compared);
  return nb::make_tuple(str_of(fetched.texts[0]), steps_of(fetched.steps, fetched), str_of(fetched.chosen()),
                        steps_of(compared.steps, compared), steps_of(scratch.masks, compared), str_of(key.url), outcome);
}

nb::tuple step(const Program& program, nb::str url) {
  Scratch scratch;
  std::string out;
  const auto text = utf8_of(url);
  if (!text) return nb::make_tuple(nb::none(), url);
  const std::uint32_t rule = program.step(*text, scratch, out);
  return nb::make_tuple(rule == undust::kNoRule ? nb::none() : nb::object(nb::int_(rule)), str_of(out));
}

nb::list matches(const Program& program, nb::str url) {
  Scratch scratch;
  nb::list list;
  const auto text = utf8_of(url);
  if (!text) return list;
  for (const auto& [rule, result] : program.matches(*text, scratch)) list.append(nb::make_tuple(rule, str_of(result)));
  return list;
}

// What a function tells of a column of URLs.
template <std::tuple<Column, Column> (*pairs)(const Program&, const undust::TextColumn&, int)>
std::tuple<Column, Column> pairs_in(const Program& program, nb::object urls, int threads) {
  const undust::BorrowedColumn borrowed(urls);
  nb::gil_scoped_release unlocked;
  return pairs(program, borrowed.texts(), threads);
}

void bind_problem(nb::module_& m) {
  nb::dict attributes;
  attributes["rule"] = -1;
  attributes["field"] = "";
  attributes["column"] = 0;
  rule_problem_type = PyErr_NewExceptionWithDoc(
      "undust._core.RuleProblem",
      "What is wrong with a rule, and the mend: the rule's number (-1 where there is one rule only), the field, the column in it.",
      PyExc_ValueError, attributes.ptr());
  if (!rule_problem_type) throw nb::python_error();
  m.attr("RuleProblem") = nb::borrow(rule_problem_type);
  m.attr("IMAGE_MARK") = nb::bytes(undust::kImageMark.data(), undust::kImageMark.size());
}

}  // namespace

void bind_program(nb::module_& m) {
  bind_problem(m);

  nb::class_<Counts>(m, "Counts", "What happened to the URLs of a batch.")
      .def_ro("changed", &Counts::changed)
      .def_ro("not_urls", &Counts::not_urls)
      .def_ro("skipped", &Counts::skipped, "User name, or too long.")
      .def_ro("unresolved", &Counts::unresolved, "No URL repeated within 256 steps and 64 KiB.")
      .def_ro("uses", &Counts::uses, "By rule, how many URLs it changed; empty if not asked for.");

  nb::class_<Program>(m, "Program", "A compiled rule set.")
      .def("__init__", &construct, "rules"_a, "suffixes"_a, nb::keep_alive<1, 3>(),
           nb::sig("def __init__(self, rules: list[dict[str, object]], suffixes: Suffixes) -> None"))
      .def_static("mapped", &mapped, "image"_a, "suffixes"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
                  nb::rv_policy::take_ownership,
                  nb::sig("def mapped(image: memoryview, suffixes: Suffixes) -> Program"),
                  "The program that `image` gave, used where it lies; ValueError if it is not whole.")
      .def("image", &image_of, "texts"_a, "The program as the bytes of a file, with texts of the caller's in it.")
      .def("__len__", &Program::size)
      .def_prop_ro("texts", &Program::texts, "Where these texts are in the image: their place and size.")
      .def(
          "canonical", [](const Program& self, nb::str url) { return one_url(self, url, false); }, "url"_a,
          nb::sig("def canonical(self, url: str) -> str"), "The canonical form of a URL; what is none comes back as it is.")
      .def(
          "key", [](const Program& self, nb::str url) { return one_url(self, url, true); }, "url"_a,
          nb::sig("def key(self, url: str) -> str"),
          "The canonical form with the rules for comparing only and the masks applied.")
      .def(
          "batch",
          [](const Program& self, nb::object urls, bool keys, int threads) {
            Counts counts;
            return map_column(self, urls, keys, threads, false, counts);
          },
          "urls"_a, "keys"_a = false, "threads"_a = 1, "The canonical forms, or keys, of a column.")
      .def(
          "batch_counted",
          [](const Program& self, nb::object urls, bool keys, int threads, bool uses) {
            Counts counts;
            Column column = map_column(self, urls, keys, threads, uses, counts);
            return std::make_tuple(std::move(column), std::move(counts));
          },
          "urls"_a, "keys"_a = false, "threads"_a = 1, "uses"_a = false, "The same, and what happened.")
      .def(
          "lines",
          [](const Program& self, nb::bytes data, bool keys, int threads) {
            Counts counts;
            std::int64_t lines = 0;
            const nb::bytes out = map_bytes(self, data, keys, threads, false, counts, lines);
            return nb::make_tuple(out, lines, counts.changed, counts.not_urls);
          },
          "data"_a, "keys"_a = false, "threads"_a = 1,
          nb::sig("def lines(self, data: bytes, keys: bool = False, threads: int = 1) -> tuple[bytes, int, int, int]"),
          "The lines of a text in canonical form, or as keys; how many there are, changed, are no URLs.")
      .def(
          "lines_counted",
          [](const Program& self, nb::bytes data, bool keys, int threads, bool uses) {
            Counts counts;
            std::int64_t lines = 0;
            const nb::bytes out = map_bytes(self, data, keys, threads, uses, counts, lines);
            return nb::make_tuple(out, lines, std::move(counts));
          },
          "data"_a, "keys"_a = false, "threads"_a = 1, "uses"_a = false,
          nb::sig("def lines_counted(self, data: bytes, keys: bool = False, threads: int = 1, uses: bool = False) -> tuple[bytes, int, Counts]"),
          "The same lines, how many there are, and what happened.")
      .def("explain", &explain, "url"_a,
           nb::sig("def explain(self, url: str) -> tuple[str, list[tuple[int, str]], str, list[tuple[int, str]], "
                   "list[tuple[int, str]], str, str]"),
           "The normal form; each step, with the rule and the URL after it, up to a keep, a repeated URL or the bounds;\n"
           "the canonical form; the steps for comparing likewise, then the masks; the key; and how it ended.")
      .def("step", &step, "url"_a, nb::sig("def step(self, url: str) -> tuple[int | None, str]"),
           "The first rule that changes or keeps the normal form of a URL, and the URL after it.")
      .def("matches", &matches, "url"_a, nb::sig("def matches(self, url: str) -> list[tuple[int, str]]"),
           "Every rule that matches the normal form, whatever stands before it, and what it makes of it.")
      .def("touched", &pairs_in<undust::touched_pairs>, "urls"_a, "threads"_a = 1,
           "Rows and rules of all pairs in which the rule, alone, makes something else of the row's URL.")
      .def("used", &pairs_in<undust::used_pairs>, "urls"_a, "threads"_a = 1,
           "Rows and rules of all pairs in which the rule is on the way from the row's URL to its key.");

  m.def("parse_rule", &parse_rule, "text"_a,
        nb::sig("def parse_rule(text: str) -> tuple[str, str, str | None, list[str], list[str]]"),
        "One line of text as kind, from, to, when and unless, each in its canonical form.");
  m.def("check_rule", &check_rule, "rule"_a, nb::sig("def check_rule(rule: dict[str, object]) -> None"),
        "Raise a RuleProblem if the rule is wrong.");
}
