// Pairs of URLs as rewrite rules, in codes: the first step of learning rules by generalization.
//
// A URL is a map from keys to values. The rule of a pair (u, v) says for every key that either
// has: what u has there (the context), and how v gets its value (the action): as a constant, or
// from a key of u.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace undust {

// Between them is the wildcard, which no pair has: it comes with generalization.
inline constexpr std::int32_t kAbsent = -1, kFirstReference = -3;

// The action "what the source has at this key".
[[nodiscard]] inline constexpr std::int32_t reference_to(std::int32_t key) { return kFirstReference - key; }

// Row r owns the entries from offsets[r] to offsets[r + 1], keys ascending. `linked[value]` says
// whether an equal value elsewhere in the URL may be where this one comes from.
struct ValueMaps {
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> keys, values;
  std::span<const std::uint8_t> linked;
};

struct PairRules {
  std::vector<std::int64_t> offsets;  // of each pair's entries, keys ascending
  std::vector<std::int32_t> keys, context, action;
};

// Throws where a row, an offset or a value is out of range.
[[nodiscard]] PairRules pair_rules(const ValueMaps& maps, std::span<const std::int64_t> left,
                                   std::span<const std::int64_t> right);

// One number for each entry of a rule; their sum stands for the rule, whatever their order, and the
// sum less one of them for all rules that differ from it at that key only.
[[nodiscard]] std::vector<std::uint64_t> entry_hashes(std::span<const std::int32_t> keys,
                                                      std::span<const std::int32_t> context,
                                                      std::span<const std::int32_t> action);

}  // namespace undust
