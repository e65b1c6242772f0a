// Rules in the order of a file become rules in groups: one for each site, found by its hash.
#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "host.hpp"
#include "program.hpp"
#include "hash.hpp"
#include "url.hpp"

namespace undust {
namespace {

// A site as site_of_host gives it. Throws where no host has the name.
std::string normal_site(std::string_view site, const char* field) {
  if (site == "*") return std::string(site);
  std::string host;
  if (!append_host(site, kAllSteps, host)) {
    throw RuleProblem(field, 0, "'" + std::string(site) + "' is no site; write a registered domain, such as example.org");
  }
  if (host.size() > 1 && host.ends_with('.')) host.pop_back();
  return host;
}

// The sites that a rule of "*" leaves alone, sorted.
std::vector<std::string> exceptions_of(const RuleSource& rule) {
  std::vector<std::string> sites;
  for (std::size_t i = 0; i < rule.except_sites.size(); ++i) {
    const std::string field = "except_sites[" + std::to_string(i) + "]";
    sites.push_back(normal_site(rule.except_sites[i], field.c_str()));
  }
  if (!sites.empty() && rule.site != "*") {
    throw RuleProblem("except_sites", 0, "only rules of the site '*' except sites; leave it out");
  }
  std::sort(sites.begin(), sites.end());
  return sites;
}

}  // namespace

void check_source(const RuleSource& rule) {
  Pieces pieces;
  std::vector<Pattern> conditions;
  (void)normal_site(rule.site, "site");
  (void)parse_rule(rule.text, pieces, conditions);
  (void)exceptions_of(rule);
}

Program::Program(std::span<const RuleSource> rules, const SuffixList& suffixes)
    : suffixes_(suffixes), rule_count_(rules.size()) {
  compile(rules);
}

void Program::compile(std::span<const RuleSource> rules) {
  std::unordered_map<std::string, std::uint32_t> site_numbers;
  std::vector<std::string> sites;
  std::vector<std::uint32_t> site_of(rules.size()), order(rules.size());
  site_numbers.reserve(rules.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    try {
      std::string site = normal_site(rules[i].site, "site");
      const auto [found, is_new] = site_numbers.try_emplace(std::move(site), static_cast<std::uint32_t>(sites.size()));
      if (is_new) sites.push_back(found->first);
      site_of[i] = found->second;
    } catch (const RuleProblem& problem) {
      throw ProgramProblem(i, problem);
    }
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return site_of[a] < site_of[b]; });

  rules_.reserve(rules.size());
  groups_.reserve(sites.size());
  std::size_t slots = 2;
  while (slots < sites.size() * 2) slots *= 2;
  slots_.resize(slots);
  std::optional<ProgramProblem> first_problem;
  for (std::size_t at = 0; at < order.size();) {
    std::size_t end = at;
    while (end < order.size() && site_of[order[end]] == site_of[order[at]]) ++end;
    try {
      add_group(sites[site_of[order[at]]], rules, std::span(order).subspan(at, end - at));
    } catch (const ProgramProblem& problem) {
      if (!first_problem || problem.rule < first_problem->rule) first_problem.emplace(problem);
    }
    at = end;
  }
  if (first_problem) throw *first_problem;
  for (const Group& group : groups_) {
    if (std::string_view(pieces_.text).substr(group.site_at, group.site_size) == "*") shared_ = &group;
  }
}

void Program::add_group(std::string_view site, std::span<const RuleSource> rules,
                        std::span<const std::uint32_t> numbers) {
  Group group;
  group.site_at = static_cast<std::uint32_t>(pieces_.text.size());
  group.site_size = static_cast<std::uint32_t>(site.size());
  pieces_.text.append(site);
  group.first = static_cast<std::uint32_t>(rules_.size());
  for (const std::uint32_t number : numbers) {
    try {
      add_rule(rules[number], number);
    } catch (const RuleProblem& problem) {
      throw ProgramProblem(number, problem);
    }
  }
  group.count = static_cast<std::uint32_t>(rules_.size()) - group.first;
  if (group.count == 0) return;
  for (std::uint32_t rule = group.first; rule < rules_.size(); ++rule) {
    index_.add_rule(rules_[rule].parsed, pieces_);
    group.has_masks |= rules_[rule].parsed.is_mask;
  }
  group.index = index_.finish_site();
  groups_.push_back(group);
  const std::uint64_t hash = hash_of(site);
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].group) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(groups_.size())};
}

void Program::add_rule(const RuleSource& rule, std::uint32_t number) {
  const std::size_t piece_count = pieces_.all.size(), text_size = pieces_.text.size(), condition_count = conditions_.size();
  CompiledRule compiled;
  compiled.parsed = parse_rule(rule.text, pieces_, conditions_);
  compiled.number = number;
  const ParsedRule& parsed = compiled.parsed;
  compiled.keeps_normal = parsed.kind == RuleKind::kRewrite && parsed.to.scheme_form == Form::kNone &&
                          !moves_host(parsed.to, pieces_);
  std::vector<std::string> exceptions = exceptions_of(rule);
  // A rule that is switched off was checked all the same, and keeps its number.
  const bool does_nothing = parsed.kind == RuleKind::kReplace &&
                            std::string_view(pieces_.text).substr(parsed.find.at, parsed.find.size) ==
                                std::string_view(pieces_.text).substr(parsed.put.at, parsed.put.size);
  if (!rule.is_active || does_nothing) {
    pieces_.all.resize(piece_count);
    pieces_.text.resize(text_size);
    conditions_.resize(condition_count);
    return;
  }
  if (!exceptions.empty()) {
    compiled.exceptions = static_cast<std::uint32_t>(except_sites_.size());
    except_sites_.push_back(std::move(exceptions));
  }
  rules_.push_back(compiled);
}

const Program::Group* Program::find_group(std::string_view site) const {
  const std::uint64_t hash = hash_of(site);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t at = hash & (slots_.size() - 1); slots_[at].group; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].tag != tag) continue;
    const Group& group = groups_[slots_[at].group - 1];
    if (std::string_view(pieces_.text).substr(group.site_at, group.site_size) == site) return &group;
  }
  return nullptr;
}

Program::Rules Program::rules_of(std::string_view host) const {
  Rules rules;
  rules.site = suffixes_.site_of_host(host);
  rules.own = find_group(rules.site);
  rules.shared = shared_;
  return rules;
}

}  // namespace undust
