// Which rules of a site can match a URL at all, without trying each.
//
// Every rule stands under a guard: something that a URL must have for the rule to match, such
// as a parameter or its name, a segment at its place, the host, or a token to replace. A URL's own
// such things are looked up in a small hash table of the site. Of a rule's possible guards the
// one is taken that the fewest URLs and the fewest other rules have; a rule that needs nothing
// is always tried.
//
// The look-up has two halves, the tags and the slots, so that of many URLs the first half of each
// can be done before the second half of any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pattern_rule.hpp"
#include "program_match.hpp"

namespace undust {

// What the index of one site asks of a URL, and how large it is.
struct SiteIndex {
  std::uint64_t prefix_sizes = 0;  // a bit for each size of a prefix that is a guard
  std::uint64_t token_filter = 0;  // a bit for some of each token that is a guard
  std::uint64_t name_filter = 0, parameter_filter = 0, segment_filter = 0, host_filter = 0;  // likewise
  std::uint32_t rule_count = 0, always_count = 0, list_size = 0;
  std::uint32_t group_count = 0;  // groups of slots
  std::uint8_t segments_from_left = 0, segments_from_right = 0;  // how many places guards look at
  bool has_counts = false;
  std::uint8_t unused[5] = {};  // no byte is left to chance: a program is written to files
};

// A guard, and where the rule under it lies in the block of the site; of a guard of several
// rules, with kIsList, where in the lists their number and then their places are.
struct GuardSlot {
  static constexpr std::uint32_t kIsList = 0x80000000u;
  std::uint32_t guard = 0, place = 0;
};

// The tables of one site. A slot is empty where its tag is 0.
struct IndexTables {
  std::vector<char> tags;
  std::vector<GuardSlot> slots;
  std::vector<std::uint32_t> lists;
  std::vector<std::uint32_t> always;  // rules that have no guard, in order
};

// The same, wherever it lies.
struct IndexView {
  const SiteIndex* site;
  const char* tags;
  const GuardSlot* slots;
  const std::uint32_t* lists;
  const std::uint32_t* always;
};

// Something that a URL has, and a slot that may be of it.
struct Suspect {
  std::uint32_t guard, slot;
};

// First half: the slots to look at.
void find_suspects(const IndexView& index, const UrlView& url, std::vector<Suspect>& out);

// The same for a URL with which another one begins, up to its path at least, and that has no "?": `out` holds the
// slots of that one, and those that it did not have are added. Whether there are any.
bool find_more_suspects(const IndexView& index, const UrlView& url, std::vector<Suspect>& out);

// Second half: the places of the rules that may match, in order.
void find_candidates(const IndexView& index, const std::vector<Suspect>& suspects, std::vector<std::uint32_t>& out);

// Whether some rule stands under the guard; the index has one at least.
[[nodiscard]] bool has_guard(const IndexView& index, std::uint32_t guard);

// A parameter as URLs write it, if only one text is it.
[[nodiscard]] std::optional<std::string> whole_parameter(const Piece* name, const PieceView& pieces);

// Takes the rules of a site one after the other, then makes the index of them.
class IndexBuilder {
 public:
  // `place`: where the rule lies among those of its site.
  void add_rule(const ParsedRule& rule, const PieceView& pieces, std::span<const Pattern> conditions, std::uint32_t place);
  [[nodiscard]] SiteIndex finish();
  void clear();  // forgets the rules of a site that was not finished
  [[nodiscard]] const IndexTables& tables() const { return tables_; }  // until the next finish
  void move_rules(std::uint32_t by);                                   // adds to each place in the tables
  // Whether what finds a rule, the first one being 0, is something that a condition of it asks for; until the next
  // rule is added.
  [[nodiscard]] bool is_found_by_condition(std::size_t rule) const { return is_found_by_condition_[rule]; }

 private:
  // One way to guard a rule: all these guards, any of which a matching URL has.
  struct Option {
    std::uint32_t rule, first, count, weight;
    SiteIndex needs;  // what a URL is asked for if this option is taken
  };
  struct Entry {
    std::uint32_t guard, place;
  };

  void add_option(std::uint32_t weight, const SiteIndex& needs);
  [[nodiscard]] bool has_options() const { return !options_.empty() && options_.back().rule == places_.size(); }
  void add_pattern_options(const Pattern& pattern, const PieceView& pieces);
  void add_query_options(const Piece* piece, const Piece* end, const PieceView& pieces);
  void add_path_options(const Pattern& pattern, const PieceView& pieces);
  void add_segment_option(const Piece* segment, bool is_from_right, std::size_t place, const PieceView& pieces);
  void add_replace_options(std::string_view text, bool starts);
  void add_token_option(std::string_view text);
  [[nodiscard]] std::uint64_t cost_of(const Option& option) const;
  void take_best(SiteIndex& site);
  void make_table(SiteIndex& site);
  void put(std::uint32_t guard, std::uint32_t place, std::uint32_t group_count);

  IndexTables tables_;
  std::vector<Entry> entries_;
  std::vector<Option> options_;
  std::vector<std::uint32_t> guards_, sorted_guards_, places_;
  std::vector<std::uint32_t> own_options_;  // of each rule, where those of its conditions begin
  std::vector<bool> is_found_by_condition_;
  std::uint32_t first_guard_ = 0;
};

}  // namespace undust
