#include "substrings.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "batch.hpp"
#include "substrings_hash.hpp"
#include "substrings_pairs.hpp"

namespace undust {

void require_token_rows(const TokenRows& rows) {
  if (rows.size() > 0xFFFFFFFFu) throw std::invalid_argument("there are more than 4 billion URLs; give a sample");
  if (!rows.offsets.empty() && (rows.offsets.front() < 0 ||
                                static_cast<std::size_t>(rows.offsets.back()) > rows.codes.size())) {
    throw std::invalid_argument("the offsets of the rows leave the codes; give those of one TokenView");
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t size = rows.offsets[row + 1] - rows.offsets[row];
    if (size < 0) throw std::invalid_argument("the offsets of the rows fall; give those of one TokenView");
    if (size > Place::kMostTokens) throw std::invalid_argument("a URL has more than a million tokens; leave it out");
  }
}

bool RowEvidence::may_be_one_page(std::size_t left, std::size_t right) const {
  if (rows.empty()) return true;
  const Row& one = rows[left];
  const Row& other = rows[right];
  if (one.page >= 0 && one.page == other.page) return true;
  if (one.label >= 0 && other.label >= 0) return one.label == other.label;
  if (one.is_known && other.is_known) {
    if (one.sketch < 0 || other.sketch < 0) return !(one.is_firm && other.is_firm);
    const auto* a = sketches.data() + static_cast<std::size_t>(one.sketch) * sketch_size;
    const auto* b = sketches.data() + static_cast<std::size_t>(other.sketch) * sketch_size;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < sketch_size; ++i) equal += a[i] == b[i];
    return equal >= agreeing;
  }
  if (one.size_max < 0 || other.size_max < 0) return true;
  return one.size_min <= other.size_max && other.size_min <= one.size_max;
}

namespace {

struct Envelope {
  TokenHash hash;
  Place piece;

  friend bool operator<(const Envelope& one, const Envelope& other) { return one.hash < other.hash; }
};

// Hashes in ranges of about equal number, small enough to be sorted in the cache.
constexpr std::int64_t kWantedInBin = 4096;

class Detection {
 public:
  Detection(const TokenRows& rows, const RowEvidence& evidence, const SubstringLimits& limits)
      : rows_(rows), evidence_(evidence), limits_(limits),
        threads_(static_cast<std::size_t>(std::max(1, limits.threads))),
        most_in_bucket_(std::max(limits.low_bucket, limits.high_bucket)) {}

  Detected run() {
    count_bins();
    plan_passes();
    std::vector<PairCounts> counts;
    for (std::size_t part = 0; part < threads_; ++part) {
      counts.emplace_back(limits_.memory_bytes / 2 / threads_, limits_.folder, std::to_string(part));
    }
    std::atomic<std::size_t> next{0};
    in_parts(static_cast<std::int64_t>(threads_), threads_, [&](std::int64_t, std::int64_t, std::size_t part) {
      std::vector<Envelope> envelopes;
      for (std::size_t pass = next++; pass + 1 < passes_.size(); pass = next++) {
        run_pass(passes_[pass], passes_[pass + 1], envelopes, counts[part]);
      }
    });
    Detected result;
    result.found = PairCounts::at_least(counts, limits_.min_support);
    result.envelopes = ends_.back();
    result.passes = static_cast<std::int64_t>(passes_.size()) - 1;
    for (const PairCounts& part : counts) result.spilled_bytes += part.spilled_bytes();
    sort(result.found);
    return result;
  }

 private:
  // Calls take(hash of the envelope, start, length) for each piece of a row: up to max_length tokens,
  // and the gaps between tokens, but nothing before the start or behind the end.
  template <typename Take>
  void each_piece(const RowHashes& hashes, std::size_t tokens, Take&& take) const {
    for (std::size_t start = 0; start < tokens; ++start) {
      const TokenHash before = hashes.before(start);
      const std::size_t last = std::min(tokens, start + limits_.max_length);
      for (std::size_t end = start + (start == 0); end <= last; ++end) {
        take(sum(before, hashes.behind(end)), start, end - start);
      }
    }
  }

  [[nodiscard]] std::size_t bin_of(const TokenHash& hash) const { return hash.a >> bin_shift_; }

  void count_bins() {
    std::int64_t total = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto tokens = static_cast<std::int64_t>(rows_[row].size());
      const auto longest = std::min(tokens, static_cast<std::int64_t>(limits_.max_length));
      total += tokens * (longest + 1) - longest * (longest - 1) / 2;
    }
    const auto bins = std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(2, total / kWantedInBin)));
    bin_shift_ = 64 - std::countr_zero(bins);
    const auto count = static_cast<std::int64_t>(rows_.size());
    std::vector<std::vector<std::int64_t>> counted(parts_of(count, limits_.threads));
    in_parts(count, counted.size(), [&](std::int64_t begin, std::int64_t end, std::size_t part) {
      auto& bin = counted[part];
      bin.resize(bins);
      RowHashes hashes;
      for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
        hashes.take(rows_[row]);
        each_piece(hashes, rows_[row].size(), [&](const TokenHash& hash, auto, auto) { ++bin[bin_of(hash)]; });
      }
    });
    ends_.assign(bins + 1, 0);
    for (std::size_t bin = 0; bin < bins; ++bin) {
      ends_[bin + 1] = ends_[bin];
      for (const auto& part : counted) ends_[bin + 1] += part[bin];
    }
  }

  // As many bins at a time as half of the memory holds, shared by the threads.
  void plan_passes() {
    const auto most = static_cast<std::int64_t>(
        std::max<std::size_t>(1, limits_.memory_bytes / 2 / threads_ / sizeof(Envelope)));
    passes_.push_back(0);
    for (std::size_t bin = 0; bin + 1 < ends_.size(); ++bin) {
      if (bin > passes_.back() && ends_[bin + 1] - ends_[passes_.back()] > most) passes_.push_back(bin);
    }
    passes_.push_back(ends_.size() - 1);
  }

  void run_pass(std::size_t first, std::size_t last, std::vector<Envelope>& envelopes, PairCounts& counts) const {
    const std::int64_t shift = ends_[first];
    envelopes.resize(static_cast<std::size_t>(ends_[last] - shift));
    std::vector<std::size_t> places;
    for (std::size_t bin = first; bin < last; ++bin) places.push_back(static_cast<std::size_t>(ends_[bin] - shift));
    RowHashes hashes;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      hashes.take(rows_[row]);
      each_piece(hashes, rows_[row].size(), [&](const TokenHash& hash, std::size_t start, std::size_t length) {
        const std::size_t bin = bin_of(hash) - first;
        if (bin < last - first) envelopes[places[bin]++] = {hash, Place::of(row, start, length)};
      });
    }
    std::vector<TokenHash> pieces(most_in_bucket_);
    for (std::size_t bin = first; bin < last; ++bin) {
      const auto begin = envelopes.begin() + (ends_[bin] - shift), end = envelopes.begin() + (ends_[bin + 1] - shift);
      std::sort(begin, end);
      for (auto from = begin; from != end;) {
        auto to = from + 1;
        while (to != end && to->hash == from->hash) ++to;
        count_bucket({from, to}, pieces, counts);
        from = to;
      }
    }
  }

  void count_bucket(std::span<const Envelope> bucket, std::vector<TokenHash>& pieces, PairCounts& counts) const {
    if (bucket.size() < 2 || bucket.size() > most_in_bucket_) return;
    const std::uint32_t low = bucket.size() <= limits_.low_bucket, high = bucket.size() <= limits_.high_bucket;
    for (std::size_t i = 0; i < bucket.size(); ++i) pieces[i] = hash_of_piece(bucket[i].piece.tokens(rows_));
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      for (std::size_t j = i + 1; j < bucket.size(); ++j) {
        const Place one = bucket[i].piece, other = bucket[j].piece;
        if (pieces[i] == pieces[j] || !evidence_.may_be_one_page(one.row, other.row)) continue;
        const bool is_ordered = is_larger(one, other);
        const TokenHash hash =
            is_ordered ? sum(scaled(pieces[i]), pieces[j]) : sum(scaled(pieces[j]), pieces[i]);
        counts.add({hash, {is_ordered ? one : other, is_ordered ? other : one, low, high}});
      }
    }
  }

  [[nodiscard]] bool is_larger(const Place& one, const Place& other) const {
    if (one.length() != other.length()) return one.length() > other.length();
    const auto left = one.tokens(rows_), right = other.tokens(rows_);
    return std::lexicographical_compare(right.begin(), right.end(), left.begin(), left.end());
  }

  void sort(std::vector<Substitution>& found) const {
    std::sort(found.begin(), found.end(), [this](const Substitution& one, const Substitution& other) {
      if (one.low != other.low) return one.low > other.low;
      if (one.longer.length() != other.longer.length()) return one.longer.length() > other.longer.length();
      const auto left = one.longer.tokens(rows_), right = other.longer.tokens(rows_);
      const auto order =
          std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end());
      if (order != 0) return order < 0;
      const auto first = one.shorter.tokens(rows_), second = other.shorter.tokens(rows_);
      return std::lexicographical_compare(first.begin(), first.end(), second.begin(), second.end());
    });
  }

  const TokenRows& rows_;
  const RowEvidence& evidence_;
  const SubstringLimits& limits_;
  std::size_t threads_, most_in_bucket_;
  int bin_shift_ = 63;
  std::vector<std::int64_t> ends_;    // envelopes in the bins before each bin, and in all
  std::vector<std::size_t> passes_;  // first bin of each pass, and the end
};

}  // namespace

Detected likely_substitutions(const TokenRows& rows, const RowEvidence& evidence, const SubstringLimits& limits) {
  require_token_rows(rows);
  if (limits.max_length > Place::kLongest) {
    throw std::invalid_argument("pieces of more than 4095 tokens are not looked at; give a smaller length");
  }
  return Detection(rows, evidence, limits).run();
}

}  // namespace undust
