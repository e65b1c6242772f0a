#include "program_index.hpp"

#include <algorithm>
#include <bit>

#include "byte_masks.hpp"
#include "bytes.hpp"
#include "hash.hpp"

namespace undust {
namespace {

// What a guard speaks of. Guards are hashes; two that fall together only cost a try.
enum class About : std::uint64_t { kName, kPrefix, kFromLeft, kFromRight, kHost, kCount, kToken };

constexpr std::size_t kDeepest = 16;      // segments further in are no guards
constexpr std::size_t kLongestSize = 63;  // of prefixes and tokens
constexpr std::size_t kMostCounted = 256;  // segments
constexpr std::uint32_t kFewRules = 4;    // so many are tried without asking
constexpr std::size_t kFewGuards = 16;    // so many are compared one by one
constexpr ByteSet kWordBytes = kLower | kUpper | kDigit;

constexpr std::uint64_t seed_of(About about, std::uint64_t place) { return static_cast<std::uint64_t>(about) << 8 | place; }

std::uint32_t guard_of(About about, std::uint64_t place, std::string_view text) {
  return static_cast<std::uint32_t>(hash_of(text, seed_of(about, place)));
}

// The same for a part of a URL.
std::uint32_t guard_in_url(About about, std::uint64_t place, std::string_view part) {
  return static_cast<std::uint32_t>(hash_inside(part, seed_of(about, place)));
}

std::size_t bucket_of(std::uint32_t guard, const SiteIndex& site) {
  return static_cast<std::size_t>(std::uint64_t{guard} << site.directory_bits >> 32);
}

// How common a guard is in URLs: a parameter is the rarest sight, a number of segments the most common.
constexpr std::uint32_t kNameWeight = 1, kSegmentWeight = 2, kTokenWeight = 2, kHostWeight = 10, kCommonWeight = 30,
                        kCountWeight = 40;

// Calls use(word) for each run of letters and digits outside triplets.
template <typename Use>
void for_each_word(std::string_view text, Use&& use) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t start = at;
    while (at < text.size() && has(kWordBytes, text[at])) ++at;
    if (at > start) use(text.substr(start, at - start));
    if (at < text.size() && text[at] == '%') at += 2;
  }
}

// Words that begin with the same two letters share a bit.
std::uint64_t token_bit(const char* word) {
  return std::uint64_t{1} << ((static_cast<unsigned char>(word[0]) * 7u + static_cast<unsigned char>(word[1])) & 63);
}

constexpr auto is_word_byte = [](Bytes16 c) { return ((c | 0x20) - 'a' < 26) | (c - '0' < 10); };
constexpr auto is_percent = [](Bytes16 c) { return c == '%'; };

// The same for the words of two to 62 bytes behind the scheme of a URL whose bit is in `filter`,
// many bytes at a time.
template <typename Use>
void for_each_word_in_url(std::string_view url, std::uint64_t filter, Use&& use) {
  std::uint64_t digits = 0;  // of a triplet that began in the bytes before
  std::size_t end = 0;
  for (std::size_t at = 6; at < url.size(); at = end) {  // from a slash of "http://" or "https://" on
    const Chunk chunk(url, at);
    const std::uint64_t percents = chunk.mask(is_percent);
    std::uint64_t words = chunk.mask(is_word_byte) & ~(digits | percents << 1 | percents << 2);
    digits = percents >> 63 | percents >> 62;
    end = std::min(url.size(), at + kMaskBytes);
    if (end < url.size() && words >> 63) {
      // The last word may go on; it is seen again from its start, unless it fills the mask.
      const auto size = static_cast<std::size_t>(std::countl_one(words));
      if (size == kMaskBytes) {
        while (end < url.size() && has(kWordBytes, url[end])) ++end;
        words = 0;
      } else {
        end -= size;
        words = words << size >> size;
      }
    }
    // Each place with a letter before which there is none, and behind which there is another.
    for (std::uint64_t starts = words & ~(words << 1) & (words >> 1); starts; starts &= starts - 1) {
      const auto start = static_cast<std::size_t>(std::countr_zero(starts));
      if (!(filter & token_bit(url.data() + at + start))) continue;
      use(url.substr(at + start, static_cast<std::size_t>(std::countr_one(words >> start))));
    }
  }
}

std::uint64_t bit_of(std::size_t size) { return std::uint64_t{1} << std::min(size, kLongestSize); }

void merge(SiteIndex& site, const SiteIndex& needs) {
  site.prefix_sizes |= needs.prefix_sizes;
  site.token_filter |= needs.token_filter;
  site.segments_from_left = std::max(site.segments_from_left, needs.segments_from_left);
  site.segments_from_right = std::max(site.segments_from_right, needs.segments_from_right);
  site.has_names |= needs.has_names;
  site.has_hosts |= needs.has_hosts;
  site.has_counts |= needs.has_counts;
}

}  // namespace

// The guards collected since the last option are one way to find the rule.
void IndexBuilder::add_option(std::uint32_t weight, const SiteIndex& needs) {
  const auto end = static_cast<std::uint32_t>(guards_.size());
  options_.push_back({rule_count_, first_guard_, end - first_guard_, weight, needs});
  first_guard_ = end;
}

void IndexBuilder::add_query_options(const Piece* piece, const Piece* end, const PieceView& pieces) {
  for (; piece != end; ++piece) {
    if (piece->kind == PieceKind::kParameter) {
      guards_.push_back(guard_of(About::kName, 0, pieces.text_of(*piece)));
      SiteIndex needs;
      needs.has_names = true;
      add_option(kNameWeight, needs);
    } else if (piece->kind == PieceKind::kList && piece->slot == kForgotten) {
      SiteIndex needs;
      for (const Piece* item = piece + 1; item <= piece + piece->size; ++item) {
        const std::string_view name = pieces.text_of(*item).substr(0, item->is_prefix ? kLongestSize : std::string_view::npos);
        guards_.push_back(item->is_prefix ? guard_of(About::kPrefix, name.size(), name) : guard_of(About::kName, 0, name));
        if (item->is_prefix) needs.prefix_sizes |= bit_of(name.size());
        needs.has_names = true;
      }
      add_option(kNameWeight, needs);
    }
  }
}

void IndexBuilder::add_path_options(const Pattern& pattern, const PieceView& pieces) {
  const Piece* piece = pieces.all + pattern.first + pattern.host_pieces;
  const Piece* end = piece + pattern.path_pieces;
  bool is_after_many = false;
  for (std::size_t part = 0; piece != end; ++piece) {
    if (piece->kind == PieceKind::kItem) continue;
    if (piece->kind == PieceKind::kMany) {
      is_after_many = true;
      continue;
    }
    const bool is_start = piece == pieces.all + pattern.first + pattern.host_pieces || (piece - 1)->ends;
    const std::size_t place = is_after_many ? pattern.segments - 1 - part : part;
    if (piece->kind == PieceKind::kLiteral && piece->ends && is_start && place < kDeepest) {
      const std::string_view text = pieces.text_of(*piece);
      SiteIndex needs;
      (is_after_many ? needs.segments_from_right : needs.segments_from_left) = static_cast<std::uint8_t>(place + 1);
      guards_.push_back(guard_of(is_after_many ? About::kFromRight : About::kFromLeft, place, text));
      add_option(text.empty() ? kCommonWeight : kSegmentWeight, needs);
    }
    if (piece->ends) ++part;
  }
}

void IndexBuilder::add_pattern_options(const Pattern& pattern, const PieceView& pieces) {
  const Piece* first = pieces.all + pattern.first;
  const Piece* query = first + pattern.host_pieces + pattern.path_pieces;
  add_query_options(query, query + pattern.query_pieces, pieces);
  add_path_options(pattern, pieces);
  SiteIndex needs;
  if (pattern.host == HostShape::kLiteral) {
    needs.has_hosts = true;
    guards_.push_back(guard_of(About::kHost, 0, pieces.text_of(*first)));
    add_option(kHostWeight, needs);
  } else if (!pattern.path_many && pattern.segments < kMostCounted) {
    needs.has_counts = true;
    guards_.push_back(guard_of(About::kCount, pattern.segments, {}));
    add_option(kCountWeight, needs);
  }
}

// The longest word of a replace rule must stand in the URL as a whole token. (The scheme is no
// guard: words are looked for behind it.)
void IndexBuilder::add_token_option(std::string_view text) {
  std::string_view longest;
  for_each_word(text, [&](std::string_view word) {
    const bool is_common = word == "http" || word == "https" || word == "www" || word == "com";
    if (!is_common && word.size() > longest.size() && word.size() < kLongestSize) longest = word;
  });
  if (longest.size() < 2) return;
  SiteIndex needs;
  needs.token_filter = token_bit(longest.data());
  guards_.push_back(guard_of(About::kToken, 0, longest));
  add_option(kTokenWeight, needs);
}

void IndexBuilder::add_rule(const ParsedRule& rule, const PieceView& pieces) {
  if (rule.kind == RuleKind::kReplace) {
    add_token_option({pieces.text + rule.find.at, rule.find.size});
  } else {
    add_pattern_options(rule.from, pieces);
  }
  ++rule_count_;
}

std::uint64_t IndexBuilder::cost_of(const Option& option) const {
  std::uint64_t rules = 0;
  for (std::uint32_t i = 0; i < option.count; ++i) {
    const auto [first, last] = std::equal_range(sorted_guards_.begin(), sorted_guards_.end(), guards_[option.first + i]);
    rules += static_cast<std::uint64_t>(last - first);
  }
  return rules * option.weight;
}

void IndexBuilder::take(const Option& option, SiteIndex& site) {
  for (std::uint32_t i = 0; i < option.count; ++i) {
    const std::uint32_t guard = guards_[option.first + i];
    tables_.entries.push_back({guard, option.rule});
    site.filter |= std::uint64_t{1} << (guard & 63);
  }
  merge(site, option.needs);
}

// For each rule the option that the fewest URLs will meet.
void IndexBuilder::take_best(SiteIndex& site) {
  sorted_guards_ = guards_;
  std::sort(sorted_guards_.begin(), sorted_guards_.end());
  std::size_t at = 0;
  for (std::uint32_t rule = 0; rule < rule_count_; ++rule) {
    const Option* best = nullptr;
    std::uint64_t best_cost = 0;
    for (; at < options_.size() && options_[at].rule == rule; ++at) {
      const std::uint64_t cost = cost_of(options_[at]);
      if (!best || cost < best_cost) best = &options_[at], best_cost = cost;
    }
    if (best) {
      take(*best, site);
    } else {
      tables_.always.push_back(rule);
    }
  }
}

void IndexBuilder::make_directory(SiteIndex& site) {
  auto& entries = tables_.entries;
  std::sort(entries.begin(), entries.end(), [](const GuardEntry& a, const GuardEntry& b) {
    return a.guard != b.guard ? a.guard < b.guard : a.rule < b.rule;
  });
  // A few are looked through as they are, behind the filter. Of many, four buckets and more
  // for a guard: most things of a URL guard nothing, and meet an empty one.
  if (entries.size() <= kFewGuards) return;
  site.directory_bits = static_cast<std::uint8_t>(std::bit_width(entries.size()) + 2);
  const std::size_t buckets = std::size_t{1} << site.directory_bits;
  for (std::size_t bucket = 0, entry = 0; bucket <= buckets; ++bucket) {
    while (entry < entries.size() && bucket_of(entries[entry].guard, site) < bucket) ++entry;
    tables_.directory.push_back(static_cast<std::uint32_t>(entry));
  }
}

SiteIndex IndexBuilder::finish() {
  SiteIndex site;
  site.rule_count = rule_count_;
  tables_.entries.clear();
  tables_.directory.clear();
  tables_.always.clear();
  if (rule_count_ > kFewRules) {
    take_best(site);
    make_directory(site);
  }
  site.entry_count = static_cast<std::uint32_t>(tables_.entries.size());
  site.directory_size = static_cast<std::uint32_t>(tables_.directory.size());
  site.always_count = static_cast<std::uint32_t>(tables_.always.size());
  options_.clear();
  guards_.clear();
  rule_count_ = first_guard_ = 0;
  return site;
}

namespace {

// Collects what a URL has before it is looked up: hashes are then computed side by side, and a
// wrong guess in one look-up does not hold up the next hash.
class LookUp {
 public:
  LookUp(const IndexView& index, std::vector<std::uint32_t>& out) : index_(index), out_(out) {}

  void add(std::uint32_t guard) {
    guards_[count_++] = guard;
    if (count_ == kMost) run();
  }

  void run() {
    const SiteIndex& site = *index_.site;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint32_t guard = guards_[i];
      if (!(site.filter >> (guard & 63) & 1)) continue;
      std::uint32_t at = 0, end = site.entry_count;
      if (site.directory_size) {
        const std::uint32_t* bucket = index_.directory + bucket_of(guard, site);
        at = bucket[0];
        end = bucket[1];
      }
      for (; at < end; ++at) {
        if (index_.entries[at].guard == guard) out_.push_back(index_.entries[at].rule);
      }
    }
    count_ = 0;
  }

 private:
  static constexpr std::size_t kMost = 32;

  const IndexView& index_;
  std::vector<std::uint32_t>& out_;
  std::uint32_t guards_[kMost];
  std::size_t count_ = 0;
};

void look_up_names(const SiteIndex& site, const UrlView& url, LookUp& look_up) {
  for (const UrlParameter& parameter : url.parameters) {
    const std::string_view name = parameter.name();
    look_up.add(guard_in_url(About::kName, 0, name));
    for (std::uint64_t sizes = site.prefix_sizes; sizes; sizes &= sizes - 1) {
      const auto size = static_cast<std::size_t>(std::countr_zero(sizes));
      if (size > name.size()) break;
      look_up.add(guard_in_url(About::kPrefix, size, name.substr(0, size)));
    }
  }
}

void look_up_segments(const SiteIndex& site, const UrlView& url, LookUp& look_up) {
  const std::size_t count = url.segments.size();
  for (std::size_t i = 0; i < std::min<std::size_t>(site.segments_from_left, count); ++i) {
    look_up.add(guard_in_url(About::kFromLeft, i, url.segments[i]));
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(site.segments_from_right, count); ++i) {
    look_up.add(guard_in_url(About::kFromRight, i, url.segments[count - 1 - i]));
  }
  if (site.has_counts && count < kMostCounted) look_up.add(guard_of(About::kCount, count, {}));
}

}  // namespace

void find_candidates(const IndexView& index, const UrlView& url, std::vector<std::uint32_t>& out) {
  const SiteIndex& site = *index.site;
  out.clear();
  if (site.rule_count <= kFewRules) {
    for (std::uint32_t rule = 0; rule < site.rule_count; ++rule) out.push_back(rule);
    return;
  }
  LookUp look_up(index, out);
  if (site.has_names) look_up_names(site, url, look_up);
  look_up_segments(site, url, look_up);
  if (site.has_hosts) look_up.add(guard_in_url(About::kHost, 0, url.host));
  if (site.token_filter) {
    for_each_word_in_url(url.url, site.token_filter, [&](std::string_view word) {
      look_up.add(guard_in_url(About::kToken, 0, word));
    });
  }
  look_up.run();
  out.insert(out.end(), index.always, index.always + site.always_count);
  if (out.size() < 2) return;
  // Few, and each perhaps found more than once.
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace undust
