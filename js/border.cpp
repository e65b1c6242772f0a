// The border to JavaScript: plain numbers and UTF-8 bytes in, the same out. One instance of the module holds one
// rule set, so that a rule set that is no longer used is freed with its instance.
//
// JavaScript writes a text to `undust_input(size)` and passes its size; an answer stands at `undust_answer()`.
// Lists travel as 32-bit numbers and texts in a row: a text is its size (or kAbsent) and its bytes.
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program.hpp"
#include "program_problem.hpp"
#include "suffixes.hpp"
#include "url.hpp"

#define UNDUST_EXPORT(name) extern "C" __attribute__((export_name(#name), used))

namespace {

using undust::Outcome;
using undust::Program;
using undust::Result;
using undust::RuleProblem;
using undust::RuleSource;

constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
constexpr std::int32_t kUnchanged = -1, kCut = -2;

std::string input, answer;
std::unique_ptr<undust::SuffixList> suffixes;
std::unique_ptr<Program> program;
undust::Scratch scratch;
undust::Lanes lanes;  // they remember hosts: a crawler asks for the same ones again and again

class Reader {
 public:
  explicit Reader(std::string_view data) : rest_(data) {}

  [[nodiscard]] std::uint32_t number() {
    std::uint32_t value = 0;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  [[nodiscard]] std::optional<std::string_view> maybe_text() {
    const std::uint32_t size = number();
    if (size == kAbsent) return std::nullopt;
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  [[nodiscard]] std::string_view text() { return maybe_text().value_or(""); }
  [[nodiscard]] std::vector<std::string_view> texts() {
    std::vector<std::string_view> all(number());
    for (auto& each : all) each = text();
    return all;
  }

 private:
  std::string_view rest_;
};

void add_number(std::size_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  answer.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void add_text(std::string_view text) {
  add_number(text.size());
  answer.append(text);
}

void add_texts(const std::vector<std::string>& texts) {
  add_number(texts.size());
  for (const auto& text : texts) add_text(text);
}

std::vector<RuleSource> read_rules(std::string_view data) {
  Reader reader(data);
  std::vector<RuleSource> rules(reader.number());
  for (RuleSource& rule : rules) {
    rule.site = reader.text();
    rule.text.kind = reader.text();
    rule.text.from = reader.text();
    rule.text.to = reader.maybe_text();
    rule.text.when = reader.texts();
    rule.text.unless = reader.texts();
    rule.except_sites = reader.texts();
    rule.is_active = reader.number() != 0;
    rule.is_fetched = reader.number() != 0;
  }
  return rules;
}

// The answer to rules that are wrong: which one, the field, the character in it, and the message.
void answer_problem(const RuleProblem& problem, std::size_t rule, std::size_t column) {
  answer.clear();
  add_number(rule);
  add_number(column);
  add_text(problem.field);
  add_text(problem.what());
}

void add_steps(const std::vector<undust::AppliedStep>& steps, const undust::Orbit& orbit) {
  add_number(steps.size());
  for (const auto& step : steps) {
    add_number(step.rule);
    add_text(orbit.texts[step.text]);
  }
}

// A URL on its way through the program; it lives until the next one.
undust::Lane& lane_of(const std::string_view& url) { return undust::Course(*program, {&url, 1}, lanes).next(); }

// The size of the answer. One that is the beginning of what was asked for is as far below kCut as it is long, so that
// JavaScript cuts the text that it has.
std::int32_t answer_result(const Result& result, std::string_view asked) {
  const std::string_view url = result.url;
  const auto size = static_cast<std::int32_t>(url.size());
  const bool is_beginning = asked.starts_with(url);
  if (is_beginning && url.size() == asked.size()) return kUnchanged;
  answer.assign(url);
  return is_beginning ? kCut - size : size;
}

}  // namespace

// Room for a text of `size` bytes.
UNDUST_EXPORT(input) char* undust_input(std::size_t size) {
  if (input.size() < size) input.resize(size);
  return input.data();
}

UNDUST_EXPORT(answer) const char* undust_answer() { return answer.data(); }

// Reads the public suffix list, which rules need.
UNDUST_EXPORT(suffix_list) void undust_suffix_list(std::size_t size) {
  suffixes = std::make_unique<undust::SuffixList>(std::string_view(input).substr(0, size));
}

// Makes the rule set of this instance; false if a rule is wrong.
UNDUST_EXPORT(compile) bool undust_compile(std::size_t size) {
  const std::string held = input.substr(0, size);
  const std::vector<RuleSource> rules = read_rules(held);
  try {
    program = std::make_unique<Program>(rules, *suffixes);
  } catch (const undust::ProgramProblem& problem) {
    const std::string_view text = undust::text_of_field(rules[problem.rule], problem.field);
    answer_problem(problem, problem.rule, undust::characters_before(text, problem.column));
    return false;
  }
  input = {};
  return true;
}

// The size of the canonical form (see answer_result), or kUnchanged.
UNDUST_EXPORT(canonical) std::int32_t undust_canonical(std::size_t size) {
  const std::string_view url(input.data(), size);
  return answer_result(program->canonical(lane_of(url), scratch), url);
}

UNDUST_EXPORT(key) std::int32_t undust_key(std::size_t size) {
  const std::string_view url(input.data(), size);
  return answer_result(program->key(lane_of(url), scratch), url);
}

// The outcome, and in the answer all that led to it.
UNDUST_EXPORT(explain) std::uint32_t undust_explain(std::size_t size) {
  const Result key = program->key(std::string_view(input.data(), size), scratch);
  answer.clear();
  if (key.outcome != Outcome::kNotUrl) {
    add_text(scratch.fetched.texts[0]);
    add_steps(scratch.fetched.steps, scratch.fetched);
    add_text(scratch.fetched.chosen());
    add_steps(scratch.compared.steps, scratch.compared);
    add_steps(scratch.masks, scratch.compared);
    add_text(key.url);
  }
  return static_cast<std::uint32_t>(key.outcome);
}

// The size of the normal form, or kUnchanged, also for what is not a URL.
UNDUST_EXPORT(normalize) std::int32_t undust_normalize(std::size_t size, std::uint32_t steps) {
  const std::string_view url(input.data(), size);
  answer.clear();
  if (!undust::normalize_url(url, steps, answer) || answer == url) return kUnchanged;
  return static_cast<std::int32_t>(answer.size());
}

// Reads one line of text as a rule; false if it is wrong.
UNDUST_EXPORT(parse_rule) bool undust_parse_rule(std::size_t size) {
  const std::string line = input.substr(0, size);
  RuleSource source;
  try {
    source.text = undust::split_rule_line(line);
    const undust::CanonicalRule rule = undust::canonical_rule(source.text);
    answer.clear();
    add_text(rule.kind);
    add_text(rule.from);
    rule.to ? add_text(*rule.to) : add_number(kAbsent);
    add_texts(rule.when);
    add_texts(rule.unless);
  } catch (const RuleProblem& problem) {
    const std::string_view field = undust::text_of_field(source, problem.field);
    const std::size_t start = field.data() ? static_cast<std::size_t>(field.data() - line.data()) : 0;
    answer_problem(problem, 0, undust::characters_before(line, start + problem.column));
    return false;
  }
  return true;
}
