// Alignment of token sequences, two at a time and then all of a group: the kernel of DUSTER.
//
// A sequence is a list of columns; a column holds the tokens that URLs have there, and perhaps a
// gap, where some URL has none. Aligning two sequences gives one whose columns are unions.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace undust {

enum TokenKind : std::uint8_t { kLetterRun = 1, kDigitRun = 2, kPunctuation = 4 };

// Letters, digits, or one other character (a percent triplet is one too).
[[nodiscard]] TokenKind kind_of_token(std::string_view token);

enum class Scoring : std::uint8_t {
  kTyped,    // Jaccard; punctuation meets nothing but itself, letters never meet digits
  kJaccard,  // Jaccard alone: anything may meet anything, for nothing
};

enum class MergeOrder : std::uint8_t {
  kScore,  // the pair with the highest score first
  kShare,  // the pair with the highest score in relation to the longer of the two
};

struct AlignOptions {
  Scoring scoring = Scoring::kTyped;
  MergeOrder order = MergeOrder::kScore;
  bool gaps_count = false;  // whether a gap is a member of its column when columns are compared
  bool anchored = false;    // whether a common beginning and end are matched without looking further
  std::size_t band = std::numeric_limits<std::size_t>::max();  // how far the path may leave the diagonal
};

// Row r owns the tokens from offsets[r] to offsets[r + 1], group g the rows from groups[g] to
// groups[g + 1]; `kinds` has one entry for each code.
struct TokenGroups {
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> codes;
  std::span<const std::int64_t> groups;
  std::span<const std::uint8_t> kinds;
};

struct Alignment {
  std::vector<std::int32_t> columns;  // of each token, in the consensus of its group
  std::vector<std::int32_t> widths;   // columns of each group's consensus
  std::vector<double> scores;         // of the last two sequences that were aligned in each group
};

// Progressive alignment of each group: the best pair becomes one sequence, until there is one.
// Throws where an offset or a code is out of range.
[[nodiscard]] Alignment align_groups(const TokenGroups& groups, const AlignOptions& options);

void require_token_groups(const TokenGroups& groups);

}  // namespace undust
