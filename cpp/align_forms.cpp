#include "align_forms.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "align_parts.hpp"

namespace undust {

namespace {

using Elements = std::vector<std::int32_t>;  // literal codes, and kOptional for a unit

struct Spot {
  std::int32_t token = -1;  // if there is but one
  std::int32_t rows = 0;
  bool is_single = true, is_literal = false, is_host = false;
  bool is_whole = false;  // part of a stretch that is one unit
};

// What stands in the skeleton at some columns: a literal or a unit that all rows have.
struct Fixed {
  std::int32_t mark;           // a code, or kSame, kVaries, kHostUnit
  std::size_t start, end;      // its columns
};

class Forms {
 public:
  Forms(const TokenGroups& groups, const Alignment& alignment, const TextColumn& tokens, const FormOptions& options)
      : groups_(groups), widths_(alignment.widths), column_of_(alignment.columns), tokens_(tokens), options_(options) {}

  [[nodiscard]] GroupForms run() && {
    for (std::size_t group = 0; group + 1 < groups_.groups.size(); ++group) {
      const std::int32_t problem = read_rows(group);
      form_of_.assign(count_, 0);
      out_.skeleton_of.push_back(problem < 0 ? problem : skeleton_of(group));
      if (out_.skeleton_of.back() < 0) form_of_.assign(count_, 0);
      out_.row_form.insert(out_.row_form.end(), form_of_.begin(), form_of_.end());
    }
    out_.texts = std::move(texts_).finish("U");
    return std::move(out_);
  }

 private:
  std::int32_t read_rows(std::size_t group) {
    first_ = static_cast<std::size_t>(groups_.groups[group]);
    count_ = static_cast<std::size_t>(groups_.groups[group + 1]) - first_;
    if (!read_columns(group)) return kNoUrls;
    if (options_.word_runs && slide_left()) read_columns(group);
    mark_hosts();
    if (options_.whole_parts) mark_whole_parts();
    return 0;
  }

  bool read_columns(std::size_t group) {
    columns_.assign(static_cast<std::size_t>(widths_[group]), {});
    for (std::size_t row = 0; row < count_; ++row) {
      const auto [start, end] = tokens_of(row);
      words_.clear();
      for (std::size_t i = start; i < end; ++i) words_.push_back(text(groups_.codes[i]));
      if (!reading_.read(words_)) return false;
      for (std::size_t i = start; i < end; ++i) add_token(i, i - start);
    }
    return true;
  }

  // Of equally good alignments the one in which what follows a shared number is shared too: in `7-a` and
  // `7-b-c` either hyphen may meet the first. True if a token has moved.
  bool slide_left() {
    bool is_changed = false;
    for (std::size_t c = 0; c + 1 < columns_.size(); ++c) {
      const Spot& next = columns_[c + 1];
      if (columns_[c].is_literal || !is_same(c) || kind(c) != kDigitRun) continue;
      if (next.is_literal || next.rows == 0 || !next.is_single || !is_optional(c + 1) || !is_punctuation(next.token)) continue;
      followers_.clear();
      for (std::size_t row = 0; row < count_; ++row) {
        const auto [start, end] = tokens_of(row);
        const std::int32_t* columns = column_of_.data();
        const auto* found = std::upper_bound(columns + start, columns + end, static_cast<std::int32_t>(c));
        const auto i = static_cast<std::size_t>(found - columns);
        if (i == end || static_cast<std::int32_t>(groups_.codes[i]) != next.token) break;
        followers_.push_back(i);
      }
      if (followers_.size() < count_) continue;
      for (const std::size_t i : followers_) column_of_[i] = static_cast<std::int32_t>(c + 1);
      is_changed = true;
    }
    return is_changed;
  }

  void add_token(std::size_t i, std::size_t at) {
    auto& column = columns_[column_of(i)];
    const auto code = static_cast<std::int32_t>(groups_.codes[i]);
    column.is_single = column.is_single && (column.rows == 0 || column.token == code);
    column.token = code;
    ++column.rows;
    column.is_literal = column.is_literal || reading_.is_mark[at] || reading_.places[at] == UrlPart::kName;
    column.is_host = column.is_host || reading_.places[at] <= UrlPart::kHost;
  }

  // Scheme and host are literals where they are the same, unless rules may cross hosts.
  void mark_hosts() {
    host_start_ = host_end_ = 0;
    if (options_.across_hosts) find_common_host();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].is_host && is_same(c)) columns_[c].is_literal = true;
    }
  }

  void find_common_host() {
    std::size_t slashes = 0, c = 0;
    while (c < columns_.size() && columns_[c].is_host && is_same(c) && slashes < 3) {
      const bool is_slash = text(static_cast<std::uint32_t>(columns_[c].token)) == "/";
      slashes += is_slash;
      ++c;
      if (is_slash && slashes == 2) host_start_ = c;
      if (is_slash && slashes == 3) host_end_ = c - 1;
    }
    if (host_end_ <= host_start_) host_start_ = host_end_ = 0;
  }

  // A stretch between literals in which tokens come and go is one unit, if all rows have some of it.
  void mark_whole_parts() {
    for (std::size_t start = 0; start < columns_.size();) {
      std::size_t end = start;
      while (end < columns_.size() && !columns_[end].is_literal) ++end;
      if (end == start) {
        ++start;
        continue;
      }
      bool has_optional = false, has_same = false, has_variant = false;
      for (std::size_t c = start; c < end; ++c) {
        has_optional |= is_optional(c);
        has_same |= is_same(c);
        has_variant |= is_variant(c);
      }
      if (has_variant && options_.word_runs) {
        mark_runs(start, end);
      } else if (has_optional && (has_variant || (!has_same && all_rows_have(start, end)))) {
        mark_whole(start, end);
      }
      start = end;
    }
  }

  void mark_whole(std::size_t start, std::size_t end) {
    for (std::size_t c = start; c < end; ++c) columns_[c].is_whole = true;
  }

  // The runs of a stretch. Between them stand numbers that all rows share, with punctuation around them, and
  // shared punctuation that does not join words.
  void mark_runs(std::size_t start, std::size_t end) {
    std::size_t first = start;
    for (std::size_t c = start; c <= end; ++c) {
      const bool is_border = c == end || is_shared_number(c, start, end) || (is_same_punctuation(c) && !joins(c));
      if (!is_border) continue;
      mark_run(first, c);
      first = c + 1;
    }
  }

  [[nodiscard]] bool is_shared_number(std::size_t c, std::size_t start, std::size_t end) const {
    return is_same(c) && kind(c) == kDigitRun && (c == start || is_same_punctuation(c - 1)) &&
           (c + 1 == end || is_same_punctuation(c + 1));
  }

  // From the first change to the last, and what touches them; and shared words in the midst of others.
  void mark_run(std::size_t start, std::size_t end) {
    std::size_t first = start, last = end;
    while (first < last && is_same(first)) ++first;
    while (last > first && is_same(last - 1)) --last;
    bool has_variant = false;
    for (std::size_t c = first; c < last; ++c) has_variant |= is_variant(c);
    if (!has_variant) return;
    while (first > start && !is_same_punctuation(first - 1)) --first;
    while (last < end && !is_same_punctuation(last)) ++last;
    while (first >= start + 3 && joins(first - 1) && is_same_word(first - 2) && joins(first - 3)) first -= 2;
    while (last + 2 < end && joins(last) && is_same_word(last + 1) && joins(last + 2)) last += 2;
    if (last - first > 1) mark_whole(first, last);
  }

  [[nodiscard]] std::uint8_t kind(std::size_t c) const {
    return groups_.kinds[static_cast<std::size_t>(columns_[c].token)];
  }
  [[nodiscard]] bool is_same_punctuation(std::size_t c) const { return is_same(c) && kind(c) == kPunctuation; }
  [[nodiscard]] bool is_same_word(std::size_t c) const { return is_same(c) && kind(c) == kLetterRun; }
  // What words of a title are joined by.
  [[nodiscard]] bool joins(std::size_t c) const {
    if (!is_same(c)) return false;
    const std::string_view sign = text(static_cast<std::uint32_t>(columns_[c].token));
    return sign == "-" || sign == "_" || sign == "+" || sign == "%20";
  }

  [[nodiscard]] bool all_rows_have(std::size_t start, std::size_t end) const {
    for (std::size_t row = 0; row < count_; ++row) {
      const auto [first, last] = tokens_of(row);
      const auto* columns = column_of_.data();
      const auto* found = std::lower_bound(columns + first, columns + last, static_cast<std::int32_t>(start));
      if (found == columns + last || *found >= static_cast<std::int32_t>(end)) return false;
    }
    return true;
  }

  std::int32_t skeleton_of(std::size_t group) {
    find_fixed();
    find_slots();
    if (!find_factors()) return kTooManyForms;
    write_texts(static_cast<std::int32_t>(group));
    return number_of(write_skeleton());
  }

  // The fixed elements, in order. Punctuation at the border of a run that changes go on beside
  // stays literal, so that captures do not touch.
  void find_fixed() {
    fixed_.clear();
    for (std::size_t c = 0; c < columns_.size();) {
      std::size_t end = c + 1;
      if (host_end_ > host_start_ && c == host_start_) {
        end = host_end_;
        fixed_.push_back({kHostUnit, c, end});
      } else if (columns_[c].is_whole) {
        while (end < columns_.size() && columns_[end].is_whole) ++end;
        fixed_.push_back({kVaries, c, end});
      } else if (columns_[c].is_literal) {
        if (is_same(c)) fixed_.push_back({columns_[c].token, c, end});
      } else if (is_variant(c)) {
        fixed_.push_back({kVaries, c, end});
      } else if (is_same(c)) {
        while (end < columns_.size() && !columns_[end].is_literal && !columns_[end].is_whole && is_same(end)) ++end;
        add_run(c, end);
      }
      c = end;
    }
  }

  void add_run(std::size_t start, std::size_t end) {
    const bool is_left_open = start > 0 && !columns_[start - 1].is_literal;
    const bool is_right_open = end < columns_.size() && !columns_[end].is_literal;
    std::size_t first = start, last = end;
    while (is_left_open && first < last && is_punctuation(columns_[first].token)) ++first;
    while (is_right_open && last > first && is_punctuation(columns_[last - 1].token)) --last;
    for (std::size_t c = start; c < first; ++c) fixed_.push_back({columns_[c].token, c, c + 1});
    if (first < last) fixed_.push_back({kSame, first, last});
    for (std::size_t c = last; c < end; ++c) fixed_.push_back({columns_[c].token, c, c + 1});
  }

  // What each row has before each fixed element, and after the last.
  void find_slots() {
    std::vector<std::int32_t> fixed_at(columns_.size(), -1);
    for (std::size_t f = 0; f < fixed_.size(); ++f) {
      for (std::size_t c = fixed_[f].start; c < fixed_[f].end; ++c) fixed_at[c] = static_cast<std::int32_t>(f);
    }
    slots_.assign(fixed_.size() + 1, {});
    for (auto& slot : slots_) slot.assign(count_, {});
    units_.assign(count_, std::vector<std::string>(fixed_.size()));
    for (std::size_t row = 0; row < count_; ++row) {
      const auto [start, end] = tokens_of(row);
      std::size_t slot = 0;
      for (std::size_t i = start; i < end;) {
        const auto c = column_of(i);
        if (fixed_at[c] >= 0) {
          slot = static_cast<std::size_t>(fixed_at[c]) + 1;
          if (fixed_[slot - 1].mark < 0) units_[row][slot - 1] += text(groups_.codes[i]);
          ++i;
          continue;
        }
        std::size_t last = i + 1;
        if (!columns_[c].is_literal) {
          while (last < end && fixed_at[column_of(last)] < 0 && !columns_[column_of(last)].is_literal) ++last;
          add_piece(i, last, slots_[slot][row]);
        } else {
          slots_[slot][row].elements.push_back(static_cast<std::int32_t>(groups_.codes[i]));
        }
        i = last;
      }
    }
  }

  struct Filling {
    Elements elements;
    std::vector<std::string> texts;  // of its units
  };

  void add_piece(std::size_t start, std::size_t end, Filling& out) const {
    std::size_t first = start, last = end;
    while (first < last && groups_.kinds[groups_.codes[first]] == kPunctuation) ++first;
    while (last > first && groups_.kinds[groups_.codes[last - 1]] == kPunctuation) --last;
    for (std::size_t i = start; i < first; ++i) out.elements.push_back(static_cast<std::int32_t>(groups_.codes[i]));
    if (first < last) {
      out.elements.push_back(kOptional);
      out.texts.emplace_back();
      for (std::size_t i = first; i < last; ++i) out.texts.back() += text(groups_.codes[i]);
    }
    for (std::size_t i = last; i < end; ++i) out.elements.push_back(static_cast<std::int32_t>(groups_.codes[i]));
  }

  // Slots that change together are one factor; false if there are too many forms.
  bool find_factors() {
    factor_of_.assign(slots_.size(), -1);
    factors_.clear();
    std::map<std::vector<std::size_t>, std::int32_t> known;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      std::map<Elements, std::size_t> seen;  // in the order of their first rows
      std::vector<std::size_t> partition;
      for (const Filling& filling : slots_[s]) partition.push_back(seen.try_emplace(filling.elements, seen.size()).first->second);
      if (seen.size() < 2) continue;
      const auto [found, is_new] = known.try_emplace(partition, static_cast<std::int32_t>(factors_.size()));
      if (is_new) factors_.emplace_back();
      factor_of_[s] = found->second;
      factors_[static_cast<std::size_t>(found->second)].slots.push_back(s);
    }
    std::size_t forms = 1;
    for (Factor& factor : factors_) {
      sort_alternatives(factor);
      forms *= factor.rows.size();
      if (forms > options_.max_forms) return false;
    }
    return true;
  }

  struct Factor {
    std::vector<std::size_t> slots;
    std::vector<std::size_t> rows;  // for each alternative a row that has it
  };

  // The shortest alternative first, then by what they say; counts the forms of all rows on.
  void sort_alternatives(Factor& factor) {
    using Whole = std::pair<std::size_t, std::vector<Elements>>;
    std::map<Whole, std::size_t> wholes;
    std::vector<Whole> of_row(count_);
    for (std::size_t row = 0; row < count_; ++row) {
      for (const std::size_t s : factor.slots) {
        of_row[row].first += slots_[s][row].elements.size();
        of_row[row].second.push_back(slots_[s][row].elements);
      }
      wholes.try_emplace(of_row[row], row);
    }
    for (const auto& [whole, row] : wholes) factor.rows.push_back(row);
    for (std::size_t row = 0; row < count_; ++row) {
      const auto place = std::distance(wholes.begin(), wholes.find(of_row[row]));
      form_of_[row] = form_of_[row] * static_cast<std::int32_t>(wholes.size()) + static_cast<std::int32_t>(place);
    }
  }

  // The texts of all units, numbered as the skeleton has them: first those outside of slots.
  void write_texts(std::int32_t group) {
    written_ = out_.text_unit.size();
    std::int32_t unit = 0;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      if (factor_of_[s] < 0) {
        for (std::size_t u = 0; u < slots_[s][0].texts.size(); ++u, ++unit) {
          for (std::size_t row = 0; row < count_; ++row) write_text(group, unit, form_of_[row], slots_[s][row].texts[u]);
        }
      }
      if (s == fixed_.size() || fixed_[s].mark >= 0) continue;
      const bool is_varying = fixed_[s].mark == kVaries;
      for (std::size_t row = 0; row < (is_varying ? count_ : 1); ++row) {
        write_text(group, unit, is_varying ? form_of_[row] : 0, units_[row][s]);
      }
      ++unit;
    }
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      if (factor_of_[s] < 0) continue;
      for (const std::size_t example : factors_[static_cast<std::size_t>(factor_of_[s])].rows) {
        const Filling& filling = slots_[s][example];
        for (std::size_t u = 0; u < filling.texts.size(); ++u, ++unit) {
          for (std::size_t row = 0; row < count_; ++row) {
            if (slots_[s][row].elements == filling.elements) write_text(group, unit, 0, slots_[s][row].texts[u]);
          }
        }
      }
    }
  }

  void write_text(std::int32_t group, std::int32_t unit, std::int32_t form, const std::string& said) {
    // A unit has few texts in a group, and they are the last ones.
    for (std::size_t i = out_.text_unit.size(); i > written_ && out_.text_unit[i - 1] == unit; --i) {
      if (out_.text_form[i - 1] == form && texts_.row(i - 1) == said) return;
    }
    out_.text_group.push_back(group);
    out_.text_unit.push_back(unit);
    out_.text_form.push_back(form);
    texts_.append(said);
  }

  [[nodiscard]] Elements write_skeleton() const {
    Elements all;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      if (factor_of_[s] < 0) {
        // All rows have the same here, by whatever columns: what is optional elsewhere is not.
        for (const std::int32_t e : slots_[s][0].elements) all.push_back(e == kOptional ? kVaries : e);
      } else {
        all.push_back(kSlot);
        all.push_back(factor_of_[s]);
        bool is_first = true;
        for (const std::size_t row : factors_[static_cast<std::size_t>(factor_of_[s])].rows) {
          if (!is_first) all.push_back(kOr);
          is_first = false;
          const Elements& elements = slots_[s][row].elements;
          all.insert(all.end(), elements.begin(), elements.end());
        }
        all.push_back(kEndSlot);
      }
      if (s < fixed_.size()) all.push_back(fixed_[s].mark);
    }
    return all;
  }

  std::int32_t number_of(Elements skeleton) {
    const auto next = static_cast<std::int32_t>(numbers_.size());
    const auto [found, is_new] = numbers_.try_emplace(std::move(skeleton), next);
    if (is_new) {
      out_.skeletons.insert(out_.skeletons.end(), found->first.begin(), found->first.end());
      out_.skeleton_offsets.push_back(static_cast<std::int64_t>(out_.skeletons.size()));
    }
    return found->second;
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> tokens_of(std::size_t row) const {
    return {static_cast<std::size_t>(groups_.offsets[first_ + row]),
            static_cast<std::size_t>(groups_.offsets[first_ + row + 1])};
  }
  [[nodiscard]] std::size_t column_of(std::size_t i) const { return static_cast<std::size_t>(column_of_[i]); }
  [[nodiscard]] std::string_view text(std::uint32_t code) const { return tokens_[code]; }
  [[nodiscard]] bool is_same(std::size_t c) const { return !is_optional(c) && columns_[c].is_single; }
  [[nodiscard]] bool is_variant(std::size_t c) const { return !is_optional(c) && !columns_[c].is_single; }
  [[nodiscard]] bool is_optional(std::size_t c) const { return columns_[c].rows < static_cast<std::int32_t>(count_); }
  [[nodiscard]] bool is_punctuation(std::int32_t code) const {
    return groups_.kinds[static_cast<std::size_t>(code)] == kPunctuation;
  }

  const TokenGroups& groups_;
  const std::vector<std::int32_t>& widths_;
  std::vector<std::int32_t> column_of_;  // of each token
  const TextColumn& tokens_;
  const FormOptions& options_;
  GroupForms out_;
  TextBuilder texts_;
  std::map<Elements, std::int32_t> numbers_;

  // Of the group at hand.
  std::size_t first_ = 0, count_ = 0, host_start_ = 0, host_end_ = 0;
  Reading reading_;
  std::vector<std::string_view> words_;
  std::vector<std::size_t> followers_;
  std::vector<Spot> columns_;
  std::vector<Fixed> fixed_;
  std::vector<std::vector<Filling>> slots_;       // before each fixed element and after the last, by row
  std::vector<std::vector<std::string>> units_;   // of each row: the text of each fixed unit
  std::vector<std::int32_t> factor_of_;           // of each slot; -1 where all rows say the same
  std::vector<Factor> factors_;
  std::vector<std::int32_t> form_of_;             // of each row
  std::size_t written_ = 0;                       // texts of the groups before
};

}  // namespace

GroupForms group_forms(const TokenGroups& groups, const Alignment& alignment, const TextColumn& tokens,
                       const FormOptions& options) {
  require_token_groups(groups);
  const auto vocabulary = static_cast<std::size_t>(tokens.size());
  if (vocabulary < groups.kinds.size() || alignment.columns.size() != groups.codes.size() ||
      alignment.widths.size() + 1 != groups.groups.size()) {
    throw std::invalid_argument("the alignment is not one of these groups");
  }
  return Forms(groups, alignment, tokens, options).run();
}

}  // namespace undust
