#include "program.hpp"

#include <algorithm>

#include "hash.hpp"
#include "program_replace.hpp"
#include "url.hpp"

namespace undust {
namespace {

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

// What is the host of a text if the text is in normal form already, as most are. Known early,
// it lets the rules of its site come from memory while the text is normalized.
std::string_view likely_host(std::string_view text) {
  const std::size_t start = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  return start ? text.substr(start, text.find('/', start) - start) : std::string_view();
}

bool allows(const StoredRule& rule, Scratch& scratch) {
  const Pattern* condition = rule.conditions();
  for (std::uint16_t i = 0; i < rule->when_count; ++i) {
    if (!match_pattern(*condition++, rule.pieces(), scratch.view, scratch.condition)) return false;
  }
  for (std::uint16_t i = 0; i < rule->unless_count; ++i) {
    if (match_pattern(*condition++, rule.pieces(), scratch.view, scratch.condition)) return false;
  }
  return true;
}

}  // namespace

std::size_t Scratch::find_earlier(std::size_t step) {
  if (step == 1) return step;  // a change never gives the URL that it changed
  while (hashes.size() <= step) hashes.push_back(hash_of(orbit[hashes.size()]));
  for (std::size_t earlier = 0; earlier < step; ++earlier) {
    if (hashes[earlier] == hashes[step] && orbit[earlier] == orbit[step]) return earlier;
  }
  return step;
}

// n(u) as the first text of the orbit and in the view, and the rules that may see it.
Outcome Program::begin(std::string_view url, Scratch& scratch, Rules& rules) const {
  scratch.orbit.clear();
  scratch.result = 0;
  scratch.steps.clear();
  scratch.masks.clear();
  const std::string_view host = likely_host(url);
  std::uint64_t hash = 0;
  const std::byte* expected = nullptr;
  const auto expect = [&](std::string_view on_host) {
    rules.site = suffixes_.site_of_host(on_host);
    hash = hash_of(rules.site);
    expected = sites_.expect(hash);
  };
  if (!host.empty()) expect(host);
  std::string& normal = scratch.orbit.add();
  normal.clear();
  if (!normalize_url(url, kAllSteps, normal)) return Outcome::kNotUrl;
  scratch.view.read_authority(normal);
  if (normal.size() > kLongestUrl || scratch.view.has_userinfo) return Outcome::kSkipped;
  if (scratch.view.host != host) expect(scratch.view.host);
  rules.own = sites_.find(rules.site, hash, expected);
  rules.shared = &shared_;
  if (rules.has_any()) scratch.view.read_rest();
  return Outcome::kResolved;
}

// The normal form of scratch.written in `out`, if it is a URL of the same site.
bool Program::settle(const Rules& rules, Scratch& scratch, std::string& out) const {
  out.clear();
  if (!normalize_url(scratch.written, kAllSteps, out)) return false;
  const UrlParts parts = split_normal(out);
  if (parts.has_userinfo) return false;
  return parts.host == scratch.view.host || suffixes_.site_of_host(parts.host) == rules.site;
}

Program::Effect Program::apply_replace(const StoredRule& rule, const Rules& rules, Scratch& scratch,
                                       std::string& out) const {
  const std::string_view url = scratch.view.url;
  const char* text = rule.pieces().text;
  const Replacement replacement({text + rule->find.at, rule->find.size}, {text + rule->put.at, rule->put.size},
                                rule->find.starts, rule->find.ends);
  Effect effect = Effect::kNone;
  bool is_allowed = false;
  for_each_token_place(replacement, url, [&](std::size_t place) {
    is_allowed = is_allowed || allows(rule, scratch);
    if (!is_allowed) return false;
    const Reach reach = reach_of(replacement, scratch.view, rules.site, place);
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

Program::Effect Program::apply(const StoredRule& rule, const Rules& rules, Scratch& scratch, std::string& out) const {
  if (const std::uint32_t exceptions = rule.head().exceptions) {
    const auto& sites = except_sites_[exceptions - 1];
    if (std::binary_search(sites.begin(), sites.end(), rules.site)) return Effect::kNone;
  }
  if (rule->kind == RuleKind::kReplace) return apply_replace(rule, rules, scratch, out);
  if (!match_pattern(rule->from, rule.pieces(), scratch.view, scratch.match)) return Effect::kNone;
  if (!allows(rule, scratch)) return Effect::kNone;
  if (rule->kind == RuleKind::kKeep) return Effect::kKept;
  if (!write_url(rule->to, rule.pieces(), scratch.view, scratch.match, scratch.write, out)) return Effect::kNone;
  if (!rule.head().keeps_normal || !has_same_authority(out, scratch.view)) {
    scratch.written.swap(out);
    if (!settle(rules, scratch, out)) return Effect::kNone;
  }
  return Effect::kChanged;
}

// f of the URL in scratch.view: the rule that changed it, with the result in `out`.
std::uint32_t Program::change(const Rules& rules, Scratch& scratch, std::string& out) const {
  for (const Block* block : rules.in_order()) {
    if (!*block) continue;
    find_candidates(block->index(), scratch.view, scratch.candidates);
    for (const std::uint32_t number : scratch.candidates) {
      const StoredRule rule = block->rule(number);
      if (rule->is_mask) continue;
      const Effect effect = apply(rule, rules, scratch, out);
      if (effect == Effect::kKept) {
        out = scratch.view.url;
        return rule.head().number;
      }
      if (effect == Effect::kChanged && out != scratch.view.url) return rule.head().number;
    }
  }
  return kNoRule;
}

// The orbit of its first text, which is in the view; scratch.result becomes the place of c(u) in it.
Outcome Program::walk(const Rules& rules, Scratch& scratch) const {
  scratch.hashes.clear();
  const std::string* current = &scratch.orbit[0];
  for (std::size_t step = 1; step <= kMostSteps; ++step) {
    std::string& next = scratch.orbit.add();
    const std::uint32_t rule = change(rules, scratch, next);
    const bool is_kept = rule != kNoRule && next == *current;
    if (rule == kNoRule || is_kept) {
      scratch.orbit.drop_last();
      if (is_kept) scratch.steps.push_back({rule, step - 1});
      scratch.result = step - 1;
      return Outcome::kResolved;
    }
    scratch.steps.push_back({rule, step});
    if (next.size() > kLongestUrl) break;
    if (const std::size_t earlier = scratch.find_earlier(step); earlier < step) {
      scratch.result = earlier;
      for (std::size_t member = earlier + 1; member < step; ++member) {
        if (is_smaller(scratch.orbit[member], scratch.orbit[scratch.result])) scratch.result = member;
      }
      return Outcome::kCycle;
    }
    scratch.view.read(next);
    current = &next;
  }
  return Outcome::kUnresolved;
}

// Each matching mask once, in order; where the last text it gave stands.
std::size_t Program::mask(const Rules& rules, Scratch& scratch) const {
  std::size_t masked = scratch.result;
  scratch.view.read(scratch.orbit[masked]);
  for (const Block* block : rules.in_order()) {
    if (!*block) continue;
    find_candidates(block->index(), scratch.view, scratch.candidates);
    for (std::size_t i = 0; i < scratch.candidates.size(); ++i) {
      const std::uint32_t number = scratch.candidates[i];
      const StoredRule rule = block->rule(number);
      if (!rule->is_mask && rule->kind != RuleKind::kKeep) continue;
      std::string& next = scratch.orbit.add();
      const Effect effect = apply(rule, rules, scratch, next);
      if (effect == Effect::kKept) return masked;
      const bool was_masked = scratch.view.is_scheme_masked;
      const bool is_masked = was_masked || rule->to.scheme_form == Form::kMask;
      if (effect == Effect::kNone || (next == scratch.view.url && is_masked == was_masked)) {
        scratch.orbit.drop_last();
        continue;
      }
      scratch.view.read(next);
      scratch.view.is_scheme_masked = is_masked;
      if (is_masked) scratch.orbit.add().assign(1, '*').append(next, next.find(':'));
      masked = scratch.orbit.size() - 1;
      scratch.masks.push_back({rule.head().number, masked});
      // Other rules may match the new text; those up to this one had their turn.
      find_candidates(block->index(), scratch.view, scratch.candidates);
      const auto after = std::upper_bound(scratch.candidates.begin(), scratch.candidates.end(), number);
      i = static_cast<std::size_t>(after - scratch.candidates.begin()) - 1;
    }
  }
  return masked;
}

Result Program::canonical(std::string_view url, Scratch& scratch) const {
  Rules rules;
  Outcome outcome = begin(url, scratch, rules);
  if (outcome == Outcome::kNotUrl) return {outcome, url};
  if (outcome == Outcome::kResolved && rules.has_any()) outcome = walk(rules, scratch);
  return {outcome, scratch.orbit[scratch.result]};
}

Result Program::key(std::string_view url, Scratch& scratch) const {
  Rules rules;
  Outcome outcome = begin(url, scratch, rules);
  if (outcome == Outcome::kNotUrl) return {outcome, url};
  if (outcome == Outcome::kSkipped || !rules.has_any()) return {outcome, scratch.orbit[0]};
  outcome = walk(rules, scratch);
  const bool has_masks = (rules.own && rules.own.has_masks()) || (shared_ && shared_.has_masks());
  return {outcome, scratch.orbit[has_masks ? mask(rules, scratch) : scratch.result]};
}

std::uint32_t Program::step(std::string_view url, Scratch& scratch, std::string& out) const {
  Rules rules;
  const Outcome outcome = begin(url, scratch, rules);
  out = outcome == Outcome::kNotUrl ? url : std::string_view(scratch.orbit[0]);
  if (outcome != Outcome::kResolved) return kNoRule;
  std::string& next = scratch.orbit.add();
  const std::uint32_t rule = change(rules, scratch, next);
  if (rule != kNoRule) out = next;
  return rule;
}

std::vector<std::pair<std::uint32_t, std::string>> Program::matches(std::string_view url, Scratch& scratch) const {
  std::vector<std::pair<std::uint32_t, std::string>> found;
  Rules rules;
  if (begin(url, scratch, rules) != Outcome::kResolved) return found;
  std::string& next = scratch.orbit.add();
  for (const Block* block : rules.in_order()) {
    if (!*block) continue;
    for (std::uint32_t number = 0; number < block->rule_count(); ++number) {
      const StoredRule rule = block->rule(number);
      const Effect effect = apply(rule, rules, scratch, next);
      if (effect == Effect::kNone) continue;
      found.emplace_back(rule.head().number, effect == Effect::kKept ? std::string(scratch.view.url) : next);
    }
  }
  return found;
}

void Program::touching(std::string_view url, Scratch& scratch, std::vector<std::uint32_t>& found) const {
  Rules rules;
  if (begin(url, scratch, rules) != Outcome::kResolved) return;
  std::string& next = scratch.orbit.add();
  for (const Block* block : rules.in_order()) {
    if (!*block) continue;
    find_candidates(block->index(), scratch.view, scratch.candidates);
    for (const std::uint32_t number : scratch.candidates) {
      const StoredRule rule = block->rule(number);
      if (apply(rule, rules, scratch, next) != Effect::kChanged) continue;
      const bool masks_scheme = rule->is_mask && rule->to.scheme_form == Form::kMask;
      if (masks_scheme || next != scratch.view.url) found.push_back(rule.head().number);
    }
  }
}

}  // namespace undust
