// Which pieces of URLs stand for each other: the counting part of DustBuster (Bar-Yossef, Keidar,
// Schonfeld, 2006).
//
// A piece of a URL (a run of tokens) and what stands around it, its envelope, make the URL. Pieces
// with a common envelope are a bucket; two pieces of a bucket are one instance of a substitution.
// Pieces are never copied: an envelope is a hash of 128 bits, made of rolling hashes of what stands
// before and behind, and a piece is a place in the tokens. 300 million envelopes do not fit into
// memory, so they are gone through in passes, each over the envelopes whose hashes lie in one
// range; counted pairs that do not fit are written to files by ranges of their own hash.
// Nothing depends on the number of passes, files or threads.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "large_pages.hpp"

namespace undust {

// Rows of token codes as views.hpp makes them: the first of a row is the start, the last the end.
struct TokenRows {
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> codes;

  [[nodiscard]] std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t row) const {
    const auto begin = static_cast<std::size_t>(offsets[row]);
    return codes.subspan(begin, static_cast<std::size_t>(offsets[row + 1]) - begin);
  }
};

// A piece of a row. In eight bytes, for there are many.
struct Place {
  static constexpr std::uint32_t kMostTokens = (1u << 20) - 1, kLongest = (1u << 12) - 1;

  std::uint32_t row = 0, start_and_length = 0;

  [[nodiscard]] static Place of(std::size_t row, std::size_t start, std::size_t length) {
    return {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(start << 12 | length)};
  }
  [[nodiscard]] std::size_t start() const { return start_and_length >> 12; }
  [[nodiscard]] std::size_t length() const { return start_and_length & kLongest; }
  [[nodiscard]] std::span<const std::uint32_t> tokens(const TokenRows& rows) const {
    return rows[row].subspan(start(), length());
  }
};

// What is known of each row's page; numbers below 0 are "not known".
struct RowEvidence {
  struct Row {
    std::int64_t size_min, size_max;
    std::int32_t page, label, sketch;
    bool is_known;  // content or label that can be compared with that of others
    bool is_firm;   // a digest that tells pages apart: different pages, different digests
  };
  std::vector<Row, LargePages<Row>> rows;  // empty: nothing is known of any
  std::span<const std::uint32_t> sketches;
  std::size_t sketch_size = 0;
  std::size_t agreeing = 0;  // minima that must be equal

  // Gives equal sketches one number, so that most are compared without being read. To be called once, when
  // all rows are there.
  void join_equal_sketches();

  // Answers no only for rows that are likely to be different pages (LikelySimilar of the paper).
  [[nodiscard]] bool may_be_one_page(std::size_t left, std::size_t right) const;
};

struct SubstringLimits {
  std::size_t max_length = 35;              // S, in tokens
  std::size_t low_bucket = 6;               // T_low: buckets that count for candidates
  std::size_t high_bucket = 11;             // T_high: those that count for comparing supports
  std::uint32_t min_support = 3;            // MS
  std::size_t memory_bytes = 1u << 30;      // for envelopes and counted pairs together
  int threads = 1;
  std::string folder;                       // for pairs that do not fit
};

// Two pieces that share envelopes; `longer` is the larger by length, then by tokens.
struct Substitution {
  Place longer, shorter;
  std::uint32_t low = 0, high = 0;  // shared envelopes in buckets up to low_bucket, up to high_bucket
};

struct Detected {
  std::vector<Substitution> found;  // by falling `low`, then longer pieces first, then by tokens
  std::int64_t envelopes = 0;  // of all pieces
  std::int64_t compared = 0;   // … less those that no other row can have
  std::int64_t passes = 0;
  std::int64_t spilled_bytes = 0;
};

// Phase 1: the pairs with `low` of at least min_support. Rows are distinct.
[[nodiscard]] Detected likely_substitutions(const TokenRows& rows, const RowEvidence& evidence,
                                            const SubstringLimits& limits);

// Phase 2: which of the pairs another one, with more context and about as much support, makes
// redundant. `found` is in the order of likely_substitutions; the supports compared are the `high` ones.
struct Deficiency {
  double relative = 0.05;     // MRD
  double absolute = 1;        // MAD
  std::size_t window = 1100;  // MW
};
[[nodiscard]] std::vector<std::uint8_t> redundant_substitutions(const TokenRows& rows,
                                                                std::span<const Substitution> found,
                                                                const Deficiency& allowed);

// How many pages have two URLs that a substitution turns into each other, in buckets of any size; `pages` has
// the page of each row, below 0 where it is not known.
[[nodiscard]] std::vector<std::uint32_t> pages_of_substitutions(const TokenRows& rows,
                                                                std::span<const std::int64_t> pages,
                                                                std::span<const Substitution> found);

// Phase 3: parameters, and in how many envelopes of their values some pair may be one page.
struct Parameter {
  Place name;
  Place value;  // the most frequent one; of equals the smallest
  std::int64_t support = 0;
  bool ends_queries = false;  // it stands more often last than first
  std::int64_t pages = 0;     // with two URLs that differ in its value alone
};
struct QueryMarks {
  std::uint32_t question, ampersand, equals;  // codes of these tokens
};
// A bucket of more than `compared` values is judged by as many of them, evenly spaced.
[[nodiscard]] std::vector<Parameter> parameter_supports(const TokenRows& rows, const RowEvidence& evidence,
                                                        const QueryMarks& marks, std::size_t compared);

// Throws where rows cannot be as views.hpp makes them, or are too long to have places.
void require_token_rows(const TokenRows& rows);

}  // namespace undust
