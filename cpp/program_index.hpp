// Which rules of a site can match a URL at all, without trying each.
//
// Every rule stands under a guard: something that a URL must have for the rule to match, such
// as a parameter's name, a segment at its place, the host, or a token to replace. A URL's own
// such things are looked up in a small hash table of the site. Of a rule's possible guards the
// one is taken that the fewest URLs and the fewest other rules have; a rule that needs nothing
// is always tried.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pattern_rule.hpp"
#include "program_match.hpp"

namespace undust {

// What the index of one site asks of a URL, and how large it is.
struct SiteIndex {
  std::uint64_t prefix_sizes = 0;  // a bit for each size of a prefix that is a guard
  std::uint64_t token_filter = 0;  // a bit for some of each token that is a guard
  std::uint64_t filter = 0;        // a bit for some of each guard's hash
  std::uint32_t rule_count = 0, entry_count = 0, directory_size = 0, always_count = 0;
  std::uint8_t directory_bits = 0;
  std::uint8_t segments_from_left = 0, segments_from_right = 0;  // how many places guards look at
  bool has_names = false, has_hosts = false, has_counts = false;
};

struct GuardEntry {
  std::uint32_t guard, rule;
};

// The tables of one site: its guards, sorted; where those of each bucket start; and the rules
// that have none, in order.
struct IndexTables {
  std::vector<GuardEntry> entries;
  std::vector<std::uint32_t> directory, always;
};

// The same, wherever it lies.
struct IndexView {
  const SiteIndex* site;
  const GuardEntry* entries;
  const std::uint32_t* directory;
  const std::uint32_t* always;
};

// The rules that may match, by their place in the site, in order.
void find_candidates(const IndexView& index, const UrlView& url, std::vector<std::uint32_t>& out);

// Takes the rules of a site one after the other, then makes the index of them.
class IndexBuilder {
 public:
  void add_rule(const ParsedRule& rule, const PieceView& pieces);
  [[nodiscard]] SiteIndex finish();
  [[nodiscard]] const IndexTables& tables() const { return tables_; }  // until the next finish

 private:
  // One way to guard a rule: all these guards, any of which a matching URL has.
  struct Option {
    std::uint32_t rule, first, count, weight;
    SiteIndex needs;  // what a URL is asked for if this option is taken
  };

  void add_option(std::uint32_t weight, const SiteIndex& needs);
  void add_pattern_options(const Pattern& pattern, const PieceView& pieces);
  void add_query_options(const Piece* piece, const Piece* end, const PieceView& pieces);
  void add_path_options(const Pattern& pattern, const PieceView& pieces);
  void add_token_option(std::string_view text);
  [[nodiscard]] std::uint64_t cost_of(const Option& option) const;
  void take(const Option& option, SiteIndex& site);
  void take_best(SiteIndex& site);
  void make_directory(SiteIndex& site);

  IndexTables tables_;
  std::vector<Option> options_;
  std::vector<std::uint32_t> guards_, sorted_guards_;
  std::uint32_t rule_count_ = 0, first_guard_ = 0;
};

}  // namespace undust
