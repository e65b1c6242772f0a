// The look-up of a URL in the index of its site.
#include <algorithm>
#include <bit>

#include "program_guards.hpp"
#include "program_index.hpp"

namespace undust {
namespace {

// Calls use(slot) for each slot whose tag is that of the guard, until it answers false.
//
// Eight tags are compared at once: x - 1 borrows into the top bit of a byte of x that is 0. (Of
// a byte above such a one as well, now and then; the slot itself will tell.)
template <typename Use>
void for_each_slot(const IndexView& index, std::uint32_t guard, Use&& use) {
  const std::uint32_t group_count = index.site->group_count;
  const std::uint64_t wanted = tag_of(guard) * kEachByte;
  for (std::uint32_t group = group_of(guard, group_count);; group = group_after(group, group_count)) {
    const std::uint64_t tags = hash_detail::load_8(index.tags + group * kGroup);
    const std::uint64_t other = tags ^ wanted;
    for (std::uint64_t same = (other - kEachByte) & ~other & (kEachByte << 7); same; same &= same - 1) {
      if (!use(group * kGroup + static_cast<std::uint32_t>(std::countr_zero(same)) / 8)) return;
    }
    const bool is_full = (tags & (kEachByte << 7)) == kEachByte << 7;
    if (!is_full) return;
  }
}

class LookUp {
 public:
  LookUp(const IndexView& index, std::vector<Suspect>& out) : index_(index), out_(out) {}

  void add(std::uint32_t guard) {
    for_each_slot(index_, guard, [&](std::uint32_t slot) {
      out_.push_back({guard, slot});
      return true;
    });
  }
  // If it is not there.
  void add_new(std::uint32_t guard) {
    const auto is_it = [guard](const Suspect& suspect) { return suspect.guard == guard; };
    if (std::none_of(out_.begin(), out_.end(), is_it)) add(guard);
  }

 private:
  const IndexView& index_;
  std::vector<Suspect>& out_;
};

void look_up_names(const SiteIndex& site, const UrlView& url, LookUp& look_up) {
  for (const UrlParameter& parameter : url.parameters) {
    const std::string_view name = parameter.name();
    if (site.name_filter & part_bit(name)) look_up.add(guard_in_url(About::kName, 0, name));
    if (site.parameter_filter & part_bit(parameter.text)) look_up.add(guard_in_url(About::kParameter, 0, parameter.text));
    for (std::uint64_t sizes = site.prefix_sizes; sizes; sizes &= sizes - 1) {
      const auto size = static_cast<std::size_t>(std::countr_zero(sizes));
      if (size > name.size()) break;
      look_up.add(guard_in_url(About::kPrefix, size, name.substr(0, size)));
    }
  }
}

void look_up_segments(const SiteIndex& site, const UrlView& url, LookUp& look_up) {
  const std::size_t count = url.segments.size();
  const auto is_likely = [&site](std::string_view segment) { return (site.segment_filter & part_bit(segment)) != 0; };
  for (std::size_t i = 0; i < std::min<std::size_t>(site.segments_from_left, count); ++i) {
    const std::string_view segment = url.segments[i];
    if (is_likely(segment)) look_up.add(guard_in_url(About::kFromLeft, i, segment));
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(site.segments_from_right, count); ++i) {
    const std::string_view segment = url.segments[count - 1 - i];
    if (is_likely(segment)) look_up.add(guard_in_url(About::kFromRight, i, segment));
  }
  if (site.has_counts && count < kMostCounted) look_up.add(guard_of(About::kCount, count, {}));
}

}  // namespace

void find_suspects(const IndexView& index, const UrlView& url, std::vector<Suspect>& out) {
  const SiteIndex& site = *index.site;
  out.clear();
  if (site.group_count == 0) return;
  LookUp look_up(index, out);
  if (site.name_filter | site.parameter_filter | site.prefix_sizes) look_up_names(site, url, look_up);
  look_up_segments(site, url, look_up);
  if (site.host_filter & part_bit(url.host)) look_up.add(guard_in_url(About::kHost, 0, url.host));
  if (site.token_filter) {
    for_each_word(
        url.url, url.masks, [&](const char* word) { return (site.token_filter & token_bit(word)) != 0; },
        [&](std::string_view word) { look_up.add(guard_in_url(About::kToken, 0, word)); });
  }
}

bool find_more_suspects(const IndexView& index, const UrlView& url, std::vector<Suspect>& out) {
  const SiteIndex& site = *index.site;
  if (site.group_count == 0) return false;
  const std::size_t before = out.size(), count = url.segments.size();
  LookUp look_up(index, out);
  const auto is_likely = [&site](std::string_view segment) { return (site.segment_filter & part_bit(segment)) != 0; };
  const std::string_view last = url.segments.back();
  if (count <= site.segments_from_left && is_likely(last)) look_up.add_new(guard_in_url(About::kFromLeft, count - 1, last));
  for (std::size_t i = 0; i < std::min<std::size_t>(site.segments_from_right, count); ++i) {
    const std::string_view segment = url.segments[count - 1 - i];
    if (is_likely(segment)) look_up.add_new(guard_in_url(About::kFromRight, i, segment));
  }
  if (site.has_counts && count < kMostCounted) look_up.add_new(guard_of(About::kCount, count, {}));
  const std::string_view word = site.token_filter ? last_word(url.url, url.masks) : std::string_view();
  if (word.size() > 1 && (site.token_filter & token_bit(word.data()))) look_up.add_new(guard_in_url(About::kToken, 0, word));
  return out.size() != before;
}

void find_candidates(const IndexView& index, const std::vector<Suspect>& suspects, std::vector<std::uint32_t>& out) {
  out.assign(index.always, index.always + index.site->always_count);
  for (const Suspect& suspect : suspects) {
    const GuardSlot slot = index.slots[suspect.slot];
    if (slot.guard != suspect.guard) continue;
    if (slot.place & GuardSlot::kIsList) {
      const std::uint32_t* list = index.lists + (slot.place & ~GuardSlot::kIsList);
      for (const std::uint32_t* place = list + 1; place != list + 1 + *list; ++place) out.push_back(*place);
    } else {
      out.push_back(slot.place);
    }
  }
  if (suspects.empty() || out.size() < 2) return;
  // Mostly few, and each perhaps found more than once. A long query may find one rule thousands of times.
  constexpr std::size_t kFew = 24;
  if (out.size() > kFew) {
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return;
  }
  for (std::size_t i = std::max<std::size_t>(index.site->always_count, 1); i < out.size(); ++i) {
    const std::uint32_t place = out[i];
    std::size_t at = i;
    for (; at > 0 && out[at - 1] > place; --at) out[at] = out[at - 1];
    out[at] = place;
  }
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

bool has_guard(const IndexView& index, std::uint32_t guard) {
  bool is_there = false;
  for_each_slot(index, guard, [&](std::uint32_t slot) {
    is_there = index.slots[slot].guard == guard;
    return !is_there;
  });
  return is_there;
}

}  // namespace undust
