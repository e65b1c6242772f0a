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

// The index of one site.
struct SiteIndex {
  std::uint32_t entries = 0, entry_count = 0;  // guards, sorted
  std::uint32_t directory = 0;                 // where the guards of each bucket start
  std::uint32_t always = 0, always_count = 0;  // rules without a guard, in order
  std::uint32_t rule_count = 0;
  std::uint64_t prefix_sizes = 0, token_sizes = 0;  // a bit for each size that some guard has
  std::uint64_t filter = 0;                         // a bit for some of each guard's hash
  std::uint8_t directory_bits = 0;
  std::uint8_t segments_from_left = 0, segments_from_right = 0;  // how many places guards look at
  bool has_names = false, has_hosts = false, has_counts = false;
};

class RuleIndex {
 public:
  // The rules of a site, one after the other, then the index of them.
  void add_rule(const ParsedRule& rule, const Pieces& pieces);
  [[nodiscard]] SiteIndex finish_site();

  // The numbers of the rules that may match, from 0 for the site's first, in order.
  void candidates(const SiteIndex& site, const UrlView& url, std::vector<std::uint32_t>& out) const;

 private:
  struct Entry {
    std::uint32_t guard, rule;
  };
  // One way to guard a rule: all these guards, any of which a matching URL has.
  struct Option {
    std::uint32_t rule, first, count, weight;
    SiteIndex needs;  // what a URL is asked for if this option is taken
  };

  void add_option(std::uint32_t weight, const SiteIndex& needs);
  void add_pattern_options(const Pattern& pattern, const Pieces& pieces);
  void add_query_options(const Piece* piece, const Piece* end, const Pieces& pieces);
  void add_path_options(const Pattern& pattern, const Pieces& pieces);
  void add_token_option(std::string_view text);
  [[nodiscard]] std::uint64_t cost_of(const Option& option) const;
  void take(const Option& option, SiteIndex& site);

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> directory_, always_;

  // Of the site that is being read.
  std::vector<Option> options_;
  std::vector<std::uint32_t> guards_, sorted_guards_;
  std::vector<Entry> taken_;
  std::uint32_t rule_count_ = 0, first_guard_ = 0;
};

}  // namespace undust
