#include "program.hpp"

#include <algorithm>

#include "hash.hpp"

namespace undust {
namespace {

bool is_smaller(std::string_view left, std::string_view right) {
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

Signs needs_of(const SiteRules& rules) {
  return (rules.own ? rules.own.needs() : 0) | (*rules.shared ? rules.shared->needs() : 0);
}

// For a URL with which the one before it begins, whose rules are known.
void find_more_rules(const Block& block, Lane& lane) {
  if (find_more_suspects(block.index(), lane.view, lane.suspects)) {
    find_candidates(block.index(), lane.suspects, lane.candidates);
  }
  lane.quiet.arrive(lane.candidates);
}

void find_rules(const Block& block, Lane& lane) {
  find_suspects(block.index(), lane.view, lane.suspects);
  find_candidates(block.index(), lane.suspects, lane.candidates);
  lane.quiet.arrive(lane.candidates);
}

}  // namespace

void Orbit::start(const std::string& first) {
  texts.start_with(first);
  hashes.clear();
  steps.clear();
  result = 0;
  is_settled = is_in_view = false;
}

std::size_t Orbit::find_earlier(std::size_t step) {
  if (step == 1) return step;  // a change never gives the URL that it changed
  constexpr std::size_t kFew = 4;
  if (step <= kFew) {
    std::size_t earlier = 0;
    while (earlier < step && texts[earlier] != texts[step]) ++earlier;
    return earlier;
  }
  while (hashes.size() <= step) hashes.push_back(hash_of(texts[hashes.size()]));
  for (std::size_t earlier = 0; earlier < step; ++earlier) {
    if (hashes[earlier] == hashes[step] && texts[earlier] == texts[step]) return earlier;
  }
  return step;
}

void Scratch::start(const Lane& of) {
  fetched.start(of.normal);
  compared.start(of.normal);
  masks.clear();
}

// Makes the signs of the URL in the view known.
void Program::sign(Lane& lane) {
  if (lane.view.has_signs) return;
  lane.view.signs = signs_of(lane.view, needs_of(lane.rules));
  lane.view.has_signs = true;
}

// f, or for comparing g, of the URL in lane.view: the rule that changed it, with the result in `out`. Where f is known
// to change nothing (kComparingSettled), only the rules that g has besides those of f are tried.
Program::Change Program::change(For use, Lane& lane, Scratch& scratch, std::string& out) const {
  sign(lane);
  const Signs signs = lane.view.signs;
  for (const Block* block : lane.rules.in_order()) {
    if (!*block) continue;
    if (!lane.has_candidates) find_rules(*block, lane);
    lane.has_candidates = false;
    for (std::size_t i = 0; i < lane.candidates.size(); ++i) {
      const RuleHead& head = block->head(lane.candidates[i]);
      if (!has_needed(signs, head.needs) || lane.quiet.has(i)) continue;
      if (head.is_mask || use == (head.is_compared ? For::kFetching : For::kComparingSettled)) continue;
      const Effect effect = apply(rule_at(*block, lane.candidates[i]), lane, scratch, out);
      if (effect == Effect::kNone) {
        if (head.stays_quiet && scratch.has_missed) lane.quiet.add(i, head.stays_quiet_anywhere);
        continue;
      }
      if (effect == Effect::kKept) out = lane.view.url;
      if (effect == Effect::kKept || out != lane.view.url) {
        prepare_next(head, lane);
        lane.is_authority_kept = scratch.has_kept_authority;
        lane.is_cut = lane.is_authority_kept && lane.view.may_be_cut() && lane.view.url.starts_with(out);
        return {head.number, effect};
      }
      if (head.stays_quiet && head.drops_only && head.keeps_front) lane.quiet.add(i, head.stays_quiet_anywhere);
    }
  }
  return {};
}

// What is known of the result of a rule before it is read. One that drops parameters and keeps what stands before them
// has no guard that the URL did not have, so the candidates stay.
void Program::prepare_next(const RuleHead& head, Lane& lane) const {
  const bool is_one_block = lane.rules.own && !shared_;
  if (!is_one_block || !head.drops_only) {
    lane.quiet.clear();
  } else if (head.keeps_front) {
    lane.has_candidates = lane.is_front_kept = true;
    lane.view.signs &= ~(head.needs & sign::kEvents);  // what it sorted is sorted
  } else {
    lane.quiet.leave(lane.candidates);
  }
}

void Program::read_next(std::string_view next, Lane& lane) const {
  if (lane.is_front_kept) {
    lane.view.read_behind_path(next);
    lane.is_front_kept = false;
    return;
  }
  if (lane.is_cut) {
    lane.view.read_beginning(next);
    lane.view.signs = signs_of_beginning(lane.view, needs_of(lane.rules));
    lane.has_candidates = lane.rules.own && !shared_;
    if (lane.has_candidates) find_more_rules(lane.rules.own, lane);
    return;
  }
  const auto asks = [](const Block& block) { return block && block.index().site->token_filter != 0; };
  const bool asks_for_marks = (needs_of(lane.rules) & ~sign::kEvents) != 0;
  lane.view.masks.read(next, false, asks_for_marks || asks(lane.rules.own) || asks(shared_));
  lane.is_authority_kept ? lane.view.read_same_authority(next) : lane.view.read_authority(next);
  lane.view.read_rest();
}

// The orbit of its first text, which is in the view; orbit.result becomes the place of the chosen one.
// next_change(out) is what becomes of the URL in the view.
template <typename Step>
Outcome Program::walk_by(Lane& lane, Orbit& orbit, Step&& next_change) const {
  for (std::size_t step = 1; step <= kMostSteps; ++step) {
    std::string& next = orbit.texts.add();
    const auto [rule, effect] = next_change(next);
    orbit.result = step - 1;
    if (effect == Effect::kNone || effect == Effect::kKept) {
      orbit.texts.drop_last();
      orbit.is_settled = orbit.is_in_view = effect == Effect::kNone;
      if (effect == Effect::kKept) orbit.steps.push_back({rule, orbit.result});
      return Outcome::kResolved;
    }
    orbit.steps.push_back({rule, step});
    if (next.size() > kLongestUrl) break;
    if (effect == Effect::kFinished) {
      orbit.result = step;
      return Outcome::kResolved;
    }
    if (const std::size_t earlier = orbit.find_earlier(step); earlier < step) {
      orbit.result = earlier;
      for (std::size_t member = earlier + 1; member < step; ++member) {
        if (is_smaller(orbit.texts[member], orbit.chosen())) orbit.result = member;
      }
      orbit.is_in_view = orbit.result == step - 1 && !lane.is_front_kept;
      return Outcome::kCycle;
    }
    read_next(next, lane);
  }
  orbit.result = 0;
  return Outcome::kUnresolved;
}

Outcome Program::walk(For use, Lane& lane, Scratch& scratch, Orbit& orbit) const {
  return walk_by(lane, orbit, [&](std::string& out) {
    const Change found = change(use, lane, scratch, out);
    if (use == For::kComparingSettled) use = For::kComparing;
    return found;
  });
}

// Makes the lane ready for the chosen text of an orbit. If the view holds it, the candidates are those of it, too, where
// one block had its turn.
void Program::resume(const Orbit& orbit, Lane& lane) const {
  if (!orbit.is_in_view) lane.view.read(orbit.chosen());
  if (!orbit.is_settled) {
    lane.quiet.clear();
    lane.is_front_kept = lane.is_authority_kept = lane.is_cut = false;
  }
  lane.has_candidates = orbit.is_in_view && lane.rules.own && !shared_;
}

// Each matching mask once, in order, from k(u) on; where the last text it gave stands.
std::size_t Program::mask(Lane& lane, Scratch& scratch) const {
  Texts& texts = scratch.compared.texts;
  std::size_t masked = scratch.compared.result;
  sign(lane);
  for (const Block* block : lane.rules.in_order()) {
    if (!*block) continue;
    if (!lane.has_candidates) find_rules(*block, lane);
    lane.has_candidates = false;
    for (std::size_t i = 0; i < lane.candidates.size(); ++i) {
      const std::uint32_t place = lane.candidates[i];
      const RuleHead& head = block->head(place);
      if (!(head.is_mask || head.is_keep) || !has_needed(lane.view.signs, head.needs)) continue;
      const StoredRule rule = rule_at(*block, place);
      std::string& next = texts.add();
      const Effect effect = apply(rule, lane, scratch, next);
      if (effect == Effect::kKept) return masked;
      const bool was_masked = lane.view.is_scheme_masked;
      const bool is_masked = was_masked || rule->to.scheme_form == Form::kMask;
      if (effect == Effect::kNone || (next == lane.view.url && is_masked == was_masked)) {
        texts.drop_last();
        continue;
      }
      lane.view.read(next);
      lane.view.is_scheme_masked = is_masked;
      sign(lane);
      if (is_masked) texts.add().assign(1, '*').append(next, next.find(':'));
      masked = texts.size() - 1;
      scratch.masks.push_back({head.number, masked});
      // Other rules may match the new text; those up to this one had their turn.
      find_rules(*block, lane);
      const auto after = std::upper_bound(lane.candidates.begin(), lane.candidates.end(), place);
      i = static_cast<std::size_t>(after - lane.candidates.begin()) - 1;
    }
  }
  return masked;
}

Result Program::canonical(Lane& lane, Scratch& scratch) const {
  scratch.start(lane);
  if (lane.outcome == Outcome::kNotUrl) return {lane.outcome, lane.text};
  if (lane.outcome == Outcome::kResolved && lane.rules.has_any()) {
    if (lane.rules.have(&Block::has_fetched)) {
      lane.outcome = walk(For::kFetching, lane, scratch, scratch.fetched);
    } else {
      scratch.fetched.is_settled = scratch.fetched.is_in_view = true;
    }
  }
  return {lane.outcome, scratch.fetched.chosen()};
}

Result Program::key(Lane& lane, Scratch& scratch) const {
  const bool is_ruled = lane.outcome == Outcome::kResolved && lane.rules.has_any();
  const Result result = canonical(lane, scratch);
  if (!is_ruled) return result;
  scratch.compared.start(scratch.fetched.chosen());
  const auto have = [&](bool (Block::*has)() const) { return lane.rules.have(has); };
  const Orbit* last = &scratch.fetched;
  if (have(&Block::has_compared)) {
    resume(scratch.fetched, lane);
    (void)walk(scratch.fetched.is_settled ? For::kComparingSettled : For::kComparing, lane, scratch, scratch.compared);
    last = &scratch.compared;
  }
  if (!have(&Block::has_masks)) return {result.outcome, scratch.compared.chosen()};
  resume(*last, lane);
  return {result.outcome, scratch.compared.texts[mask(lane, scratch)]};
}

Result Program::canonical(std::string_view url, Scratch& scratch) const {
  begin(url, scratch);
  return canonical(scratch.lane, scratch);
}

Result Program::key(std::string_view url, Scratch& scratch) const {
  begin(url, scratch);
  return key(scratch.lane, scratch);
}

std::uint32_t Program::step(std::string_view url, Scratch& scratch, std::string& out) const {
  Lane& lane = scratch.lane;
  begin(url, scratch);
  scratch.start(lane);
  out = lane.outcome == Outcome::kNotUrl ? url : std::string_view(lane.normal);
  if (lane.outcome != Outcome::kResolved || !lane.rules.has_any()) return kNoRule;
  std::string& next = scratch.fetched.texts.add();
  const std::uint32_t rule = change(For::kComparing, lane, scratch, next).rule;
  if (rule != kNoRule) out = next;
  return rule;
}

std::vector<std::pair<std::uint32_t, std::string>> Program::matches(std::string_view url, Scratch& scratch) const {
  std::vector<std::pair<std::uint32_t, std::string>> found;
  Lane& lane = scratch.lane;
  begin(url, scratch);
  scratch.start(lane);
  if (lane.outcome != Outcome::kResolved) return found;
  std::string& next = scratch.fetched.texts.add();
  for (const Block* block : lane.rules.in_order()) {
    if (!*block) continue;
    std::uint32_t place = block->first_rule();
    for (std::uint32_t left = block->rule_count(); left > 0; --left) {
      const StoredRule rule = rule_at(*block, place);
      place += rule.head().size;
      const Effect effect = apply(rule, lane, scratch, next);
      if (effect == Effect::kNone) continue;
      found.emplace_back(rule.head().number, effect == Effect::kKept ? std::string(lane.view.url) : next);
    }
  }
  return found;
}

void Program::touching(std::string_view url, Scratch& scratch, std::vector<std::uint32_t>& found) const {
  Lane& lane = scratch.lane;
  begin(url, scratch);
  scratch.start(lane);
  if (lane.outcome != Outcome::kResolved || !lane.rules.has_any()) return;
  std::string& next = scratch.fetched.texts.add();
  sign(lane);
  for (const Block* block : lane.rules.in_order()) {
    if (!*block) continue;
    if (!lane.has_candidates) find_rules(*block, lane);
    lane.has_candidates = false;
    for (const std::uint32_t place : lane.candidates) {
      if (!has_needed(lane.view.signs, block->head(place).needs)) continue;
      const StoredRule rule = rule_at(*block, place);
      const Effect effect = apply(rule, lane, scratch, next);
      if (effect == Effect::kNone || effect == Effect::kKept) continue;
      const bool masks_scheme = rule->is_mask && rule->to.scheme_form == Form::kMask;
      if (masks_scheme || next != lane.view.url) found.push_back(rule.head().number);
    }
  }
}

// Whether a keep that stands before a rule, and that nobody asked for, matches the URL in the view.
bool Program::is_kept(std::uint32_t before, const std::vector<bool>& asked, Lane& lane, Scratch& scratch) const {
  for (const Block* block : lane.rules.in_order()) {
    if (!*block) continue;
    find_rules(*block, lane);
    for (const std::uint32_t place : lane.candidates) {
      const StoredRule rule = rule_at(*block, place);
      if (rule.head().number == before) return false;
      if (rule->kind != RuleKind::kKeep || asked[rule.head().number]) continue;
      if (apply(rule, lane, scratch, scratch.first) == Effect::kKept) return true;
    }
  }
  return false;
}

// The orbit under one rule, whose first result is in scratch.first.
Outcome Program::walk_apart(const StoredRule& rule, Effect effect, const std::vector<bool>& asked, Scratch& scratch) const {
  const std::uint32_t number = rule.head().number;
  Lane& lane = scratch.apart;
  bool is_first = true;
  return walk_by(lane, scratch.fetched, [&](std::string& out) -> Change {
    if (is_first) {
      is_first = false;
      out.swap(scratch.first);
      return {number, effect};
    }
    if (has_keeps_ && is_kept(number, asked, lane, scratch)) return {};
    lane.suspects.clear();  // nothing is known about what this rule alone would see again
    const Effect again = apply(rule, lane, scratch, out);
    return again == Effect::kNone || out == lane.view.url ? Change{} : Change{number, again};
  });
}

void Program::apart(std::string_view url, const std::vector<bool>& asked, Scratch& scratch, const Use& use) const {
  Lane& lane = scratch.lane;
  begin(url, scratch);
  if (lane.outcome != Outcome::kResolved || !lane.rules.has_any()) return;
  scratch.apart.rules = lane.rules;
  sign(lane);
  bool is_shielded = false;
  for (const Block* block : lane.rules.in_order()) {
    if (!*block) continue;
    if (!lane.has_candidates) find_rules(*block, lane);
    lane.has_candidates = false;
    for (const std::uint32_t place : lane.candidates) {
      if (!has_needed(lane.view.signs, block->head(place).needs)) continue;
      const StoredRule rule = rule_at(*block, place);
      const bool is_keep = rule->kind == RuleKind::kKeep;
      if (is_keep || rule->is_mask || !asked[rule.head().number]) {
        is_shielded = is_shielded || (is_keep && !asked[rule.head().number] &&
                                      apply(rule, lane, scratch, scratch.first) == Effect::kKept);
        continue;
      }
      const Effect effect = apply(rule, lane, scratch, scratch.first);
      if (effect == Effect::kNone || scratch.first == lane.view.url) continue;
      scratch.start(lane);
      const Outcome outcome = is_shielded ? Outcome::kResolved : walk_apart(rule, effect, asked, scratch);
      use(rule.head().number, {outcome, scratch.fetched.chosen()});
    }
  }
}

}  // namespace undust
