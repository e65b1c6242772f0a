#include "program.hpp"

#include <algorithm>

#include "hash.hpp"
#include "program_replace.hpp"
#include "url.hpp"

namespace undust {
namespace {

// Scratch that a hostile URL made larger than this is given back.
constexpr std::size_t kKeptTexts = 16;

bool has_userinfo(std::string_view normal) {
  const auto place = normal.find_first_of("/@", normal.find("//") + 2);
  return normal[place] == '@';
}

bool is_smaller(std::string_view left, std::string_view right) {
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

// Whether a text that was written has the authority of the URL, and no port that its own
// scheme would drop.
bool has_same_authority(std::string_view written, const UrlView& url) {
  const bool is_https = written[4] == 's';
  const std::string_view rest = written.substr(is_https ? 8 : 7);
  return rest.starts_with(url.authority) && rest[url.authority.size()] == '/' &&
         (url.port == kNoPort || is_https == url.is_https);
}

}  // namespace

// n(u) as the first text of the orbit.
Outcome Program::normalize(std::string_view url, Scratch& scratch) const {
  if (scratch.orbit.size() > kKeptTexts) scratch.orbit.resize(kKeptTexts);
  scratch.used = 0;
  scratch.result = 0;
  scratch.steps.clear();
  scratch.masks.clear();
  std::string& normal = scratch.next_text();
  normal.clear();
  if (!normalize_url(url, kAllSteps, normal)) return Outcome::kNotUrl;
  return normal.size() > kLongestUrl || has_userinfo(normal) ? Outcome::kSkipped : Outcome::kResolved;
}

bool Program::allows(const CompiledRule& rule, Scratch& scratch) const {
  const Pattern* condition = conditions_.data() + rule.parsed.conditions;
  for (std::uint32_t i = 0; i < rule.parsed.when_count; ++i) {
    if (!match_pattern(*condition++, pieces_, scratch.view, scratch.condition)) return false;
  }
  for (std::uint32_t i = 0; i < rule.parsed.unless_count; ++i) {
    if (match_pattern(*condition++, pieces_, scratch.view, scratch.condition)) return false;
  }
  return true;
}

// The normal form of scratch.written in `out`, if it is a URL of the same site.
bool Program::settle(const Rules& rules, Scratch& scratch, std::string& out) const {
  out.clear();
  if (!normalize_url(scratch.written, kAllSteps, out) || has_userinfo(out)) return false;
  const std::string_view host = split_normal(out).host;
  return host == scratch.view.host || suffixes_.site_of_host(host) == rules.site;
}

Program::Effect Program::apply_replace(const CompiledRule& rule, const Rules& rules, Scratch& scratch,
                                       std::string& out) const {
  const std::string_view text(pieces_.text), url = scratch.view.url;
  const ParsedRule& parsed = rule.parsed;
  const Replacement replacement{text.substr(parsed.find.at, parsed.find.size), text.substr(parsed.put.at, parsed.put.size),
                                parsed.find.starts, parsed.find.ends};
  Effect effect = Effect::kNone;
  bool is_allowed = false;
  for_each_token_place(replacement, url, [&](std::size_t place) {
    is_allowed = is_allowed || allows(rule, scratch);
    if (!is_allowed) return false;
    const Reach reach = reach_of(replacement, scratch.view, place);
    if (reach == Reach::kNothing) return true;
    std::string& result = reach == Reach::kQuery ? out : scratch.written;
    result.assign(url, 0, place);
    result.append(replacement.to);
    result.append(url, place + replacement.from.size());
    if (reach != Reach::kQuery && (!settle(rules, scratch, out) || out == url)) return true;
    effect = Effect::kChanged;
    return false;
  });
  return effect;
}

Program::Effect Program::apply(const CompiledRule& rule, const Rules& rules, Scratch& scratch, std::string& out) const {
  if (rule.exceptions != kNoRule) {
    const auto& sites = except_sites_[rule.exceptions];
    if (std::binary_search(sites.begin(), sites.end(), rules.site)) return Effect::kNone;
  }
  if (rule.parsed.kind == RuleKind::kReplace) return apply_replace(rule, rules, scratch, out);
  if (!match_pattern(rule.parsed.from, pieces_, scratch.view, scratch.match)) return Effect::kNone;
  if (!allows(rule, scratch)) return Effect::kNone;
  if (rule.parsed.kind == RuleKind::kKeep) return Effect::kKept;
  if (!write_url(rule.parsed.to, pieces_, scratch.view, scratch.match, scratch.write, out)) return Effect::kNone;
  if (!rule.keeps_normal || !has_same_authority(out, scratch.view)) {
    scratch.written.swap(out);
    if (!settle(rules, scratch, out)) return Effect::kNone;
  }
  return Effect::kChanged;
}

// f of the URL in scratch.view: the rule that changed it, with the result in `out`.
std::uint32_t Program::change(const Rules& rules, Scratch& scratch, std::string& out) const {
  for (const Group* group : {rules.own, rules.shared}) {
    if (!group) continue;
    index_.candidates(group->index, scratch.view, scratch.candidates);
    for (const std::uint32_t number : scratch.candidates) {
      const CompiledRule& rule = rules_[group->first + number];
      if (rule.parsed.is_mask) continue;
      const Effect effect = apply(rule, rules, scratch, out);
      if (effect == Effect::kKept) {
        out = scratch.view.url;
        return rule.number;
      }
      if (effect == Effect::kChanged && out != scratch.view.url) return rule.number;
    }
  }
  return kNoRule;
}

// The orbit of its first text; scratch.result becomes the place of c(u) in it.
Outcome Program::walk(const Rules& rules, Scratch& scratch) const {
  scratch.hashes.assign(1, hash_of(scratch.orbit[0]));
  for (std::size_t step = 1; step <= kMostSteps; ++step) {
    const std::string& current = scratch.orbit[step - 1];
    scratch.view.read(current);
    std::string& next = scratch.next_text();
    const std::uint32_t rule = change(rules, scratch, next);
    const bool is_kept = rule != kNoRule && next == current;
    if (rule == kNoRule || is_kept) {
      --scratch.used;
      if (is_kept) scratch.steps.push_back({rule, step - 1});
      scratch.result = step - 1;
      return Outcome::kResolved;
    }
    scratch.steps.push_back({rule, step});
    if (next.size() > kLongestUrl) break;
    const std::uint64_t hash = hash_of(next);
    for (std::size_t earlier = 0; earlier < step; ++earlier) {
      if (scratch.hashes[earlier] != hash || scratch.orbit[earlier] != next) continue;
      scratch.result = earlier;
      for (std::size_t member = earlier + 1; member < step; ++member) {
        if (is_smaller(scratch.orbit[member], scratch.orbit[scratch.result])) scratch.result = member;
      }
      return Outcome::kCycle;
    }
    scratch.hashes.push_back(hash);
  }
  return Outcome::kUnresolved;
}

// Each matching mask once, in order; where the last text it gave stands.
std::size_t Program::mask(const Rules& rules, Scratch& scratch) const {
  std::size_t masked = scratch.result;
  scratch.view.read(scratch.orbit[masked]);
  for (const Group* group : {rules.own, rules.shared}) {
    if (!group) continue;
    index_.candidates(group->index, scratch.view, scratch.candidates);
    for (std::size_t i = 0; i < scratch.candidates.size(); ++i) {
      const std::uint32_t number = scratch.candidates[i];
      const CompiledRule& rule = rules_[group->first + number];
      if (!rule.parsed.is_mask && rule.parsed.kind != RuleKind::kKeep) continue;
      std::string& next = scratch.next_text();
      const Effect effect = apply(rule, rules, scratch, next);
      if (effect == Effect::kKept) return masked;
      const bool was_masked = scratch.view.is_scheme_masked;
      const bool is_masked = was_masked || rule.parsed.to.scheme_form == Form::kMask;
      if (effect == Effect::kNone || (next == scratch.view.url && is_masked == was_masked)) {
        --scratch.used;
        continue;
      }
      scratch.view.read(next);
      scratch.view.is_scheme_masked = is_masked;
      if (is_masked) scratch.next_text().assign("*").append(next, next.find(':'));
      masked = scratch.used - 1;
      scratch.masks.push_back({rule.number, masked});
      // Other rules may match the new text; those up to this one had their turn.
      index_.candidates(group->index, scratch.view, scratch.candidates);
      const auto after = std::upper_bound(scratch.candidates.begin(), scratch.candidates.end(), number);
      i = static_cast<std::size_t>(after - scratch.candidates.begin()) - 1;
    }
  }
  return masked;
}

Result Program::canonical(std::string_view url, Scratch& scratch) const {
  Outcome outcome = normalize(url, scratch);
  if (outcome == Outcome::kNotUrl) return {outcome, url};
  if (outcome == Outcome::kResolved) {
    const Rules rules = rules_of(split_normal(scratch.orbit[0]).host);
    if (rules.own || rules.shared) outcome = walk(rules, scratch);
  }
  return {outcome, scratch.orbit[scratch.result]};
}

Result Program::key(std::string_view url, Scratch& scratch) const {
  Outcome outcome = normalize(url, scratch);
  if (outcome == Outcome::kNotUrl) return {outcome, url};
  std::size_t result = 0;
  if (outcome == Outcome::kResolved) {
    const Rules rules = rules_of(split_normal(scratch.orbit[0]).host);
    if (rules.own || rules.shared) {
      outcome = walk(rules, scratch);
      const bool has_masks = (rules.own && rules.own->has_masks) || (rules.shared && rules.shared->has_masks);
      result = has_masks ? mask(rules, scratch) : scratch.result;
    }
  }
  return {outcome, scratch.orbit[result]};
}

std::uint32_t Program::step(std::string_view url, Scratch& scratch, std::string& out) const {
  const Outcome outcome = normalize(url, scratch);
  out = outcome == Outcome::kNotUrl ? url : std::string_view(scratch.orbit[0]);
  if (outcome != Outcome::kResolved) return kNoRule;
  const Rules rules = rules_of(split_normal(scratch.orbit[0]).host);
  scratch.view.read(scratch.orbit[0]);
  std::string& next = scratch.next_text();
  const std::uint32_t rule = change(rules, scratch, next);
  if (rule != kNoRule) out = next;
  return rule;
}

std::vector<std::pair<std::uint32_t, std::string>> Program::matches(std::string_view url, Scratch& scratch) const {
  std::vector<std::pair<std::uint32_t, std::string>> found;
  if (normalize(url, scratch) != Outcome::kResolved) return found;
  const Rules rules = rules_of(split_normal(scratch.orbit[0]).host);
  scratch.view.read(scratch.orbit[0]);
  std::string& next = scratch.next_text();
  for (const Group* group : {rules.own, rules.shared}) {
    if (!group) continue;
    for (std::uint32_t at = group->first; at < group->first + group->count; ++at) {
      const Effect effect = apply(rules_[at], rules, scratch, next);
      if (effect == Effect::kNone) continue;
      found.emplace_back(rules_[at].number, effect == Effect::kKept ? std::string(scratch.view.url) : next);
    }
  }
  return found;
}

}  // namespace undust
