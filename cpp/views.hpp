// A batch of URLs as integer codes: as tokens, and as keys with values.
//
// Codes are ranks in a sorted vocabulary, so they do not depend on the order of rows and
// comparing two codes compares their texts. Row r owns the entries from offsets[r] to
// offsets[r + 1].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrow.hpp"

namespace undust {

enum class TokenStyle {
  kTriplets,  // letters and digits, one percent triplet, or one other character
  kWords,     // letters and digits, or one other character (DustBuster as published)
  kRuns,      // letters, digits, or one other character (DUSTER)
  kTypes,     // letters, digits, one percent triplet, or one other character
};

struct TokenCodes {
  std::vector<std::int64_t> offsets;
  std::vector<std::uint32_t> codes;
  Column vocabulary;  // codes 0 and 1 are the sentinels ^ and $, null here: no text can be them
};

struct KeyValueCodes {
  std::vector<std::int64_t> offsets;  // a row without entries is no URL of the usual shape
  std::vector<std::uint32_t> keys, values;
  std::vector<std::uint8_t> separators;  // before a query pair: ? & or ;  (0 elsewhere)
  Column key_names;                      // "scheme", "host_0" (from the right), "path_0", "?name", "?name#2" …
  Column value_texts;                    // code 0 is "no equals sign", null here
};

[[nodiscard]] TokenCodes token_codes(const TextColumn& urls, TokenStyle style);

// `semicolons`: whether ";" separates query pairs too.
[[nodiscard]] KeyValueCodes key_value_codes(const TextColumn& urls, bool semicolons);

}  // namespace undust
