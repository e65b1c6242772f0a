// What one rule makes of a URL.
#include <algorithm>

#include "program.hpp"
#include "program_replace.hpp"
#include "url.hpp"

namespace undust {
namespace {

// Whether a text that was written has the authority of the URL, and no port that its own
// scheme would drop.
bool has_same_authority(std::string_view written, const UrlView& url) {
  const bool is_https = written[4] == 's';
  const std::string_view rest = written.substr(is_https ? 8 : 7);
  return rest.starts_with(url.authority) && rest[url.authority.size()] == '/' &&
         (url.port == kNoPort || is_https == url.is_https);
}

bool is_wanted(const StoredRule& rule, const UrlView& url, Scratch& scratch) {
  if (rule->when_count == 0) return true;
  const Pattern* when = rule.conditions();
  return std::all_of(when, when + rule->when_count, [&](const Pattern& condition) {
    return match_pattern(condition, rule.pieces(), url, scratch.condition);
  });
}

bool is_excepted(const StoredRule& rule, const UrlView& url, Scratch& scratch) {
  if (rule->unless_count == 0) return false;
  const Pattern* unless = rule.conditions() + rule->when_count;
  return std::any_of(unless, unless + rule->unless_count, [&](const Pattern& condition) {
    return match_pattern(condition, rule.pieces(), url, scratch.condition);
  });
}

}  // namespace

// The normal form of scratch.written in `out`, if it is a URL of the same site.
bool Program::settle(const Lane& lane, Scratch& scratch, std::string& out) const {
  out.clear();
  if (!normalize_url(scratch.written, kAllSteps, out)) return false;
  const UrlParts parts = split_normal(out);
  if (parts.has_userinfo) return false;
  return parts.host == lane.view.host || suffixes_.site_of_host(parts.host) == lane.rules.site;
}

Program::Effect Program::apply_replace(const StoredRule& rule, const Lane& lane, Scratch& scratch,
                                       std::string& out) const {
  const std::string_view url = lane.view.url;
  const char* text = rule.pieces().text;
  const Replacement replacement{{text + rule->find.at, rule->find.size}, {text + rule->put.at, rule->put.size},
                                rule->find.starts, rule->find.ends, rule.head().puts_plain_host};
  Effect effect = Effect::kNone;
  bool is_allowed = false;
  for_each_token_place(replacement, url, [&](std::size_t place) {
    is_allowed =
        is_allowed || (is_wanted(rule, lane.view, scratch) && !is_excepted(rule, lane.view, scratch));
    if (!is_allowed) return false;
    const Reach reach = reach_of(replacement, lane.view, lane.rules.site, place);
    if (reach == Reach::kNothing) return true;
    std::string& result = reach == Reach::kLittle ? out : scratch.written;
    result.assign(url, 0, place);
    result.append(replacement.to);
    result.append(url, place + replacement.from.size());
    if (reach != Reach::kLittle && (!settle(lane, scratch, out) || out == url)) return true;
    scratch.has_kept_authority = reach == Reach::kLittle;
    const bool is_in_path = reach == Reach::kLittle && url.data() + place < lane.view.path.data() + lane.view.path.size();
    effect = is_in_path ? changed_by(rule, lane) : Effect::kChanged;
    return false;
  });
  return effect;
}

Program::Effect Program::apply(const StoredRule& rule, const Lane& lane, Scratch& scratch, std::string& out) const {
  scratch.has_missed = scratch.has_kept_authority = false;
  if (const std::uint32_t exceptions = rule.head().exceptions) {
    const auto& sites = except_sites_[exceptions - 1];
    if (std::binary_search(sites.begin(), sites.end(), lane.rules.site)) return Effect::kNone;
  }
  if (rule->kind == RuleKind::kReplace) return apply_replace(rule, lane, scratch, out);
  scratch.has_missed = true;
  // What a rule is for says more than what it reads, and is shorter.
  if (!is_wanted(rule, lane.view, scratch)) return Effect::kNone;
  const bool keeps_authority = rule.head().keeps_authority;
  const auto match = rule.head().keeps_front ? match_query : keeps_authority ? match_behind_authority : match_pattern;
  if (!match(rule->from, rule.pieces(), lane.view, scratch.match)) return Effect::kNone;
  scratch.has_missed = false;
  if (is_excepted(rule, lane.view, scratch)) return Effect::kNone;
  if (rule.head().keeps_front) {
    write_query(rule->to, rule.pieces(), lane.view, scratch.match, scratch.write, out);
    return changed_by(rule, lane);
  }
  if (rule->kind == RuleKind::kKeep) return Effect::kKept;
  const auto write = keeps_authority ? write_behind_authority : write_url;
  if (!write(rule->to, rule.pieces(), lane.view, scratch.match, scratch.write, out)) return Effect::kNone;
  if (!keeps_authority && (!rule.head().keeps_normal || !has_same_authority(out, lane.view))) {
    scratch.written.swap(out);
    return settle(lane, scratch, out) ? Effect::kChanged : Effect::kNone;
  }
  scratch.has_kept_authority = true;
  return changed_by(rule, lane);
}

// What the rule did, if its result is in normal form and has the authority of the URL.
Program::Effect Program::changed_by(const StoredRule& rule, const Lane& lane) const {
  const bool is_only_one = lane.suspects.size() == 1 && !shared_;
  return is_only_one && rule.head().is_final ? Effect::kFinished : Effect::kChanged;
}

}  // namespace undust
