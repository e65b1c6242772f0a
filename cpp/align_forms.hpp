// What an alignment of URLs says: what they share, what varies, and what some of them lack.
//
// The URLs of a group are spelled as one skeleton: literals, units (text that a rule captures or
// forgets) and slots, each with the alternatives that were seen there. Equal skeletons of
// different groups are one rule; the texts of their units tell what its captures match.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "align.hpp"
#include "arrow.hpp"

namespace undust {

// A skeleton is a list of numbers: codes of literal tokens, and these. A slot is kSlot, the number
// of its factor, its alternatives with kOr between them, kEndSlot. Slots of one factor change
// together, and their shortest alternative is the first.
enum Mark : std::int32_t {
  kSame = -1,      // a unit with one text in the whole group
  kVaries = -2,    // a unit that all have, with different texts
  kOptional = -3,  // a unit inside an alternative
  kSlot = -4,
  kOr = -5,
  kEndSlot = -6,
  kHostUnit = -7,  // the whole host with its port, the same in the whole group
};

// Instead of a skeleton: the group has more forms than allowed, or texts that are no URLs.
inline constexpr std::int32_t kTooManyForms = -1, kNoUrls = -2;

struct FormOptions {
  std::size_t max_forms = 8;
  bool across_hosts = false;  // whether a host that all share is a unit
  bool whole_parts = true;    // whether a part with all sorts of changes is one unit
  bool word_runs = false;     // whether such a unit ends where the changes end, and words are as many as they are
};

struct GroupForms {
  std::vector<std::int64_t> skeleton_offsets{0};
  std::vector<std::int32_t> skeletons;
  std::vector<std::int32_t> skeleton_of;  // of each group, or one of the reasons above
  // A form is the number of the alternative of each factor, the first factor counting slowest.
  std::vector<std::int32_t> row_form;  // of each row; 0 in groups without a skeleton
  // Texts of units: in which group, which unit, in which form.
  std::vector<std::int32_t> text_group, text_unit, text_form;
  Column texts;
};

// `alignment` is that of the same groups; `tokens` is the vocabulary of the codes.
[[nodiscard]] GroupForms group_forms(const TokenGroups& groups, const Alignment& alignment, const TextColumn& tokens,
                                     const FormOptions& options);

}  // namespace undust
