// Rules in the order of a file become rules in groups: one for each site, found by its hash.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "host.hpp"
#include "program.hpp"
#include "program_image.hpp"
#include "program_quiet.hpp"
#include "program_replace.hpp"
#include "hash.hpp"
#include "url.hpp"

namespace undust {
namespace {

// A site as site_of_host gives it. Throws where no host has the name.
std::string normal_site(std::string_view site, const char* field) {
  if (site == "*") return std::string(site);
  std::string host;
  const bool is_host = append_host(site, kAllSteps, host);
  if (host.size() > 1 && host.ends_with('.')) host.pop_back();
  if (!is_host || !is_host_name(host)) {
    throw RuleProblem(field, 0,
                      joined({"'", site, "' is not a site; write a host name such as example.org, an IP address, or *"}));
  }
  return host;
}

// The sites that a rule of "*" leaves alone, sorted.
std::vector<std::string> exceptions_of(const RuleSource& rule) {
  std::vector<std::string> sites;
  for (std::size_t i = 0; i < rule.except_sites.size(); ++i) {
    const std::string field = joined({"except_sites[", std::to_string(i), "]"});
    sites.push_back(normal_site(rule.except_sites[i], field.c_str()));
  }
  if (!sites.empty() && rule.site != "*") {
    throw RuleProblem("except_sites", 0, "only rules of the site '*' except sites; leave it out");
  }
  std::sort(sites.begin(), sites.end());
  return sites;
}

// A keep writes nothing, so there is nothing to fetch or not to fetch.
void check_fetched(const RuleSource& rule, const ParsedRule& parsed) {
  if (rule.is_fetched || parsed.kind != RuleKind::kKeep) return;
  throw RuleProblem("fetch", 0, "'fetch' is for rewrite and replace rules; a keep writes nothing, so leave it out");
}

// The rules by site, in the order in which the sites first come, each site's in file order.
struct SiteOrder {
  explicit SiteOrder(std::span<const RuleSource> rules) : site_of(rules.size()), numbers(rules.size()) {
    std::unordered_map<std::string, std::uint32_t> known;
    known.reserve(rules.size());
    for (std::size_t i = 0; i < rules.size(); ++i) {
      // Files are mostly in order of site, so the last one is likely.
      if (i > 0 && rules[i].site == rules[i - 1].site) {
        site_of[i] = site_of[i - 1];
        continue;
      }
      try {
        const auto [found, is_new] = known.try_emplace(normal_site(rules[i].site, "site"), sites.size());
        if (is_new) sites.push_back(found->first);
        site_of[i] = found->second;
      } catch (const RuleProblem& problem) {
        throw ProgramProblem(i, problem);
      }
    }
    std::iota(numbers.begin(), numbers.end(), 0);
    std::stable_sort(numbers.begin(), numbers.end(), [this](auto a, auto b) { return site_of[a] < site_of[b]; });
  }

  std::vector<std::string> sites;
  std::vector<std::uint32_t> site_of, numbers;
};

// Makes the block of one site after the other, in buffers that are used again.
class SiteCompiler {
 public:
  SiteCompiler(ShapeTable& shapes, std::vector<std::vector<std::string>>& except_sites)
      : except_sites_(except_sites), block_(shapes) {}

  // False if the site has no rule that could ever do anything.
  bool append_site(std::string_view site, std::span<const RuleSource> rules, std::span<const std::uint32_t> numbers,
                   std::vector<std::byte>& memory) {
    block_.clear();
    for (const std::uint32_t number : numbers) {
      try {
        add_rule(rules[number], number);
      } catch (const RuleProblem& problem) {
        throw ProgramProblem(number, problem);
      }
    }
    if (block_.is_empty()) return false;
    block_.append_to(site, memory);
    return true;
  }

 private:
  void add_rule(const RuleSource& rule, std::uint32_t number) {
    RuleHead head;
    const ParsedRule parsed = parse_rule(rule.text, pieces_, conditions_);
    head.number = number;
    check_fetched(rule, parsed);
    std::vector<std::string> exceptions = exceptions_of(rule);
    // A rule that is switched off was checked all the same, and keeps its number.
    if (!rule.is_active || does_nothing(parsed)) return;
    head.is_mask = parsed.is_mask;
    head.is_keep = parsed.kind == RuleKind::kKeep;
    head.is_compared = !rule.is_fetched && !parsed.is_mask;
    head.keeps_normal = parsed.kind == RuleKind::kRewrite && parsed.to.scheme_form == Form::kNone &&
                        !moves_host(parsed.to, pieces_.view());
    head.keeps_authority = head.keeps_normal && keeps_authority(parsed.from, parsed.to, pieces_.view());
    head.keeps_front = head.keeps_normal && !parsed.is_mask && keeps_front(parsed.from, parsed.to, pieces_.view());
    head.needs = needs_of(parsed, std::span<const Pattern>(conditions_).first(parsed.when_count), pieces_.view());
    head.puts_plain_host = parsed.kind == RuleKind::kReplace &&
                           is_plain_in_host({pieces_.text.data() + parsed.put.at, parsed.put.size});
    head.drops_only = head.keeps_normal && drops_only(parsed, pieces_.view());
    head.stays_quiet = stays_quiet(parsed, conditions_, pieces_.view());
    head.stays_quiet_anywhere = stays_quiet_anywhere(parsed, conditions_, pieces_.view());
    if (!exceptions.empty()) {
      except_sites_.push_back(std::move(exceptions));
      head.exceptions = static_cast<std::uint32_t>(except_sites_.size());
    }
    block_.add_rule(head, parsed, pieces_, conditions_);
  }

  [[nodiscard]] bool does_nothing(const ParsedRule& rule) const {
    const std::string_view text(pieces_.text);
    return rule.kind == RuleKind::kReplace &&
           text.substr(rule.find.at, rule.find.size) == text.substr(rule.put.at, rule.put.size);
  }

  std::vector<std::vector<std::string>>& except_sites_;
  Pieces pieces_;
  std::vector<Pattern> conditions_;
  BlockBuilder block_;
};

}  // namespace

std::uint64_t next_identity() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void check_source(const RuleSource& rule) {
  Pieces pieces;
  std::vector<Pattern> conditions;
  (void)normal_site(rule.site, "site");
  check_fetched(rule, parse_rule(rule.text, pieces, conditions));
  (void)exceptions_of(rule);
}

Program::Program(std::span<const RuleSource> rules, const SuffixList& suffixes)
    : suffixes_(suffixes),
      rule_count_(rules.size()),
      has_keeps_(std::any_of(rules.begin(), rules.end(), [](const RuleSource& rule) { return rule.text.kind == "keep"; })),
      identity_(next_identity()) {
  const SiteOrder order(rules);
  std::vector<std::byte> blocks;
  std::vector<std::pair<std::uint64_t, std::size_t>> places;
  SiteCompiler compiler(shapes_, except_sites_);
  std::optional<ProgramProblem> first_problem;
  std::optional<std::size_t> shared;
  for (std::size_t at = 0; at < order.numbers.size();) {
    const std::uint32_t number = order.site_of[order.numbers[at]];
    const std::string& site = order.sites[number];
    std::size_t end = at;
    while (end < order.numbers.size() && order.site_of[order.numbers[end]] == number) ++end;
    const std::size_t place = blocks.size();
    try {
      if (compiler.append_site(site, rules, std::span(order.numbers).subspan(at, end - at), blocks)) {
        places.emplace_back(hash_of(site), place);
        if (site == "*") shared = place;
      }
    } catch (const ProgramProblem& problem) {
      if (!first_problem || problem.rule < first_problem->rule) first_problem.emplace(problem);
    }
    at = end;
  }
  if (first_problem) throw *first_problem;
  shapes_.finish();
  sites_ = SiteTable(places, blocks);
  if (shared) shared_ = sites_.block_at(*shared);
}

}  // namespace undust
