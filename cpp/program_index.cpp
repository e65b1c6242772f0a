#include "program_index.hpp"

#include <algorithm>

#include "program_guards.hpp"

namespace undust {
namespace {

constexpr std::size_t kDeepest = 16;    // segments further in are no guards
constexpr std::uint32_t kFewRules = 4;  // so many are tried without asking
constexpr std::size_t kGuardsInGroup = 5;

// How common a guard is in URLs: a parameter is the rarest sight, a number of segments the most common.
constexpr std::uint32_t kNameWeight = 1, kSegmentWeight = 2, kTokenWeight = 2, kHostWeight = 10, kCommonWeight = 30,
                        kCountWeight = 40;

std::uint64_t bit_of(std::size_t size) { return std::uint64_t{1} << std::min(size, kLongestGuard); }

void merge(SiteIndex& site, const SiteIndex& needs) {
  site.prefix_sizes |= needs.prefix_sizes;
  site.token_filter |= needs.token_filter;
  site.name_filter |= needs.name_filter;
  site.parameter_filter |= needs.parameter_filter;
  site.segment_filter |= needs.segment_filter;
  site.segments_from_left = std::max(site.segments_from_left, needs.segments_from_left);
  site.segments_from_right = std::max(site.segments_from_right, needs.segments_from_right);
  site.host_filter |= needs.host_filter;
  site.has_counts |= needs.has_counts;
}

// The host that a replace rule begins with, if it begins with a whole one.
std::string_view host_in_front(std::string_view text, bool starts) {
  const std::size_t host_at = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
  if (!starts || host_at == 0) return {};
  const std::size_t end = text.find_first_of("/:?@", host_at);
  return end == std::string_view::npos || text[end] != '/' ? std::string_view() : text.substr(host_at, end - host_at);
}

}  // namespace

std::optional<std::string> whole_parameter(const Piece* name, const PieceView& pieces) {
  std::string whole(pieces.text_of(*name));
  switch (name->value) {
    case Value::kNoEquals: return whole;
    case Value::kEmpty: return whole += '=';
    case Value::kText: {
      const Piece& value = name[1];
      if (value.kind != PieceKind::kLiteral || !value.ends) return std::nullopt;
      return whole.append("=").append(pieces.text_of(value));
    }
    default: return std::nullopt;
  }
}

// The guards collected since the last option are one way to find the rule.
void IndexBuilder::add_option(std::uint32_t weight, const SiteIndex& needs) {
  const auto end = static_cast<std::uint32_t>(guards_.size());
  options_.push_back({static_cast<std::uint32_t>(places_.size()), first_guard_, end - first_guard_, weight, needs});
  first_guard_ = end;
}

void IndexBuilder::add_query_options(const Piece* piece, const Piece* end, const PieceView& pieces) {
  for (; piece != end; ++piece) {
    if (piece->kind == PieceKind::kParameter) {
      if (const std::optional<std::string> whole = whole_parameter(piece, pieces)) {
        guards_.push_back(guard_of(About::kParameter, 0, *whole));
        SiteIndex needs;
        needs.parameter_filter = part_bit(*whole);
        add_option(kNameWeight, needs);
      }
      const std::string_view name = pieces.text_of(*piece);
      guards_.push_back(guard_of(About::kName, 0, name));
      SiteIndex needs;
      needs.name_filter = part_bit(name);
      add_option(kNameWeight, needs);
    } else if (piece->kind == PieceKind::kList && piece->slot == kForgotten) {
      SiteIndex needs;
      for (const Piece* item = piece + 1; item <= piece + piece->size; ++item) {
        const std::string_view name = pieces.text_of(*item).substr(0, item->is_prefix ? kLongestGuard : std::string_view::npos);
        guards_.push_back(item->is_prefix ? guard_of(About::kPrefix, name.size(), name) : guard_of(About::kName, 0, name));
        (item->is_prefix ? needs.prefix_sizes : needs.name_filter) |= item->is_prefix ? bit_of(name.size()) : part_bit(name);
      }
      add_option(kNameWeight, needs);
    }
  }
}

void IndexBuilder::add_path_options(const Pattern& pattern, const PieceView& pieces) {
  const Piece* piece = pieces.all + pattern.first + pattern.host_pieces;
  const Piece* end = piece + pattern.path_pieces;
  bool is_after_many = false, is_start = true;
  for (std::size_t part = 0; piece != end; ++piece) {
    if (piece->kind == PieceKind::kItem) continue;
    if (piece->kind == PieceKind::kMany) {
      is_after_many = true;
      continue;
    }
    const std::size_t place = is_after_many ? pattern.segments - 1 - part : part;
    if (piece->ends && is_start && place < kDeepest) add_segment_option(piece, is_after_many, place, pieces);
    is_start = piece->ends;
    if (piece->ends) ++part;
  }
}

// For a whole segment that is one text, or one of some.
void IndexBuilder::add_segment_option(const Piece* segment, bool is_from_right, std::size_t place, const PieceView& pieces) {
  const bool is_text = segment->kind == PieceKind::kLiteral;
  if (!is_text && segment->run_class != RunClass::kOneOf) return;
  SiteIndex needs;
  (is_from_right ? needs.segments_from_right : needs.segments_from_left) = static_cast<std::uint8_t>(place + 1);
  const Piece* const first = is_text ? segment : segment + 1;
  std::uint32_t weight = kSegmentWeight;
  for (const Piece* item = first; item != first + (is_text ? 1 : segment->size); ++item) {
    const std::string_view text = pieces.text_of(*item);
    needs.segment_filter |= part_bit(text);
    guards_.push_back(guard_of(is_from_right ? About::kFromRight : About::kFromLeft, place, text));
    if (text.empty()) weight = kCommonWeight;
  }
  add_option(weight, needs);
}

void IndexBuilder::add_pattern_options(const Pattern& pattern, const PieceView& pieces) {
  const Piece* first = pieces.all + pattern.first;
  const Piece* query = first + pattern.host_pieces + pattern.path_pieces;
  add_query_options(query, query + pattern.query_pieces, pieces);
  add_path_options(pattern, pieces);
  SiteIndex needs;
  if (pattern.host == HostShape::kLiteral) {
    needs.host_filter = part_bit(pieces.text_of(*first));
    guards_.push_back(guard_of(About::kHost, 0, pieces.text_of(*first)));
    add_option(kHostWeight, needs);
  } else if (!pattern.path_many && pattern.segments < kMostCounted) {
    needs.has_counts = true;
    guards_.push_back(guard_of(About::kCount, pattern.segments, {}));
    add_option(kCountWeight, needs);
  }
}

// A replace rule for one host is found by a word behind that host, which all its URLs have, or else by the host.
void IndexBuilder::add_replace_options(std::string_view text, bool starts) {
  const std::string_view host = host_in_front(text, starts);
  if (host.empty()) {
    add_token_option(text);
    return;
  }
  add_token_option(text.substr(static_cast<std::size_t>(host.data() + host.size() - text.data())));
  if (has_options()) return;
  SiteIndex needs;
  needs.host_filter = part_bit(host);
  guards_.push_back(guard_of(About::kHost, 0, host));
  add_option(kHostWeight, needs);
}

// The longest word of a replace rule must stand in the URL as a whole token. (The scheme is no
// guard: words are looked for behind it.)
void IndexBuilder::add_token_option(std::string_view text) {
  std::string_view longest;
  for_each_word(text, [&](std::string_view word) {
    const bool is_common = word == "http" || word == "https" || word == "www" || word == "com";
    if (!is_common && word.size() > longest.size() && word.size() < kLongestGuard) longest = word;
  });
  if (longest.size() < 2) return;
  SiteIndex needs;
  needs.token_filter = token_bit(longest.data());
  guards_.push_back(guard_of(About::kToken, 0, longest));
  add_option(kTokenWeight, needs);
}

void IndexBuilder::add_rule(const ParsedRule& rule, const PieceView& pieces, std::span<const Pattern> conditions,
                            std::uint32_t place) {
  if (places_.empty()) own_options_.clear(), is_found_by_condition_.clear();
  if (rule.kind == RuleKind::kReplace) {
    add_replace_options({pieces.text + rule.find.at, rule.find.size}, rule.find.starts);
  } else {
    add_pattern_options(rule.from, pieces);
  }
  own_options_.push_back(static_cast<std::uint32_t>(options_.size()));
  for (const Pattern& when : conditions.first(rule.when_count)) {
    const Piece* query = pieces.all + when.first + when.host_pieces + when.path_pieces;
    add_query_options(query, query + when.query_pieces, pieces);
    add_path_options(when, pieces);
  }
  places_.push_back(place);
  is_found_by_condition_.push_back(false);
}

std::uint64_t IndexBuilder::cost_of(const Option& option) const {
  std::uint64_t rules = 0;
  for (std::uint32_t i = 0; i < option.count; ++i) {
    const auto [first, last] = std::equal_range(sorted_guards_.begin(), sorted_guards_.end(), guards_[option.first + i]);
    rules += static_cast<std::uint64_t>(last - first);
  }
  return rules * option.weight;
}

// For each rule the option that the fewest URLs will meet.
void IndexBuilder::take_best(SiteIndex& site) {
  sorted_guards_ = guards_;
  std::sort(sorted_guards_.begin(), sorted_guards_.end());
  std::size_t at = 0;
  for (std::uint32_t rule = 0; rule < places_.size(); ++rule) {
    const Option* best = nullptr;
    std::uint64_t best_cost = 0;
    for (; at < options_.size() && options_[at].rule == rule; ++at) {
      const std::uint64_t cost = cost_of(options_[at]);
      if (!best || cost < best_cost) best = &options_[at], best_cost = cost;
    }
    if (!best) {
      tables_.always.push_back(places_[rule]);
      continue;
    }
    for (std::uint32_t i = 0; i < best->count; ++i) entries_.push_back({guards_[best->first + i], places_[rule]});
    is_found_by_condition_[rule] = best >= options_.data() + own_options_[rule];
    merge(site, best->needs);
  }
}

void IndexBuilder::put(std::uint32_t guard, std::uint32_t place, std::uint32_t group_count) {
  for (std::uint32_t group = group_of(guard, group_count);; group = group_after(group, group_count)) {
    for (std::size_t slot = group * kGroup; slot < (group + 1) * kGroup; ++slot) {
      if (tables_.tags[slot]) continue;
      tables_.tags[slot] = static_cast<char>(tag_of(guard));
      tables_.slots[slot] = {guard, place};
      return;
    }
  }
}

// One slot for each guard, and more than are needed, so that few groups are full.
void IndexBuilder::make_table(SiteIndex& site) {
  if (entries_.empty()) return;
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.guard != b.guard ? a.guard < b.guard : a.place < b.place;
  });
  site.group_count = static_cast<std::uint32_t>(entries_.size() / kGuardsInGroup + 1);
  tables_.tags.assign(site.group_count * kGroup, 0);
  tables_.slots.assign(site.group_count * kGroup, {});
  for (auto first = entries_.begin(); first != entries_.end();) {
    const auto last = std::find_if(first, entries_.end(), [first](const Entry& entry) { return entry.guard != first->guard; });
    if (last - first == 1) {
      put(first->guard, first->place, site.group_count);
    } else {
      put(first->guard, static_cast<std::uint32_t>(tables_.lists.size()) | GuardSlot::kIsList, site.group_count);
      tables_.lists.push_back(static_cast<std::uint32_t>(last - first));
      for (auto entry = first; entry != last; ++entry) tables_.lists.push_back(entry->place);
    }
    first = last;
  }
}

SiteIndex IndexBuilder::finish() {
  SiteIndex site;
  site.rule_count = static_cast<std::uint32_t>(places_.size());
  tables_.tags.clear();
  tables_.slots.clear();
  tables_.lists.clear();
  tables_.always.clear();
  entries_.clear();
  if (places_.size() > kFewRules) {
    take_best(site);
    make_table(site);
  } else {
    tables_.always = places_;
  }
  site.list_size = static_cast<std::uint32_t>(tables_.lists.size());
  site.always_count = static_cast<std::uint32_t>(tables_.always.size());
  clear();
  return site;
}

void IndexBuilder::clear() {
  options_.clear();
  guards_.clear();
  places_.clear();
  first_guard_ = 0;
}

void IndexBuilder::move_rules(std::uint32_t by) {
  for (std::uint32_t& place : tables_.always) place += by;
  for (GuardSlot& slot : tables_.slots) {
    if (!(slot.place & GuardSlot::kIsList)) slot.place += by;
  }
  for (std::size_t list = 0; list < tables_.lists.size(); list += tables_.lists[list] + 1) {
    for (std::size_t i = 1; i <= tables_.lists[list]; ++i) tables_.lists[list + i] += by;
  }
}

}  // namespace undust
