#include "substrings.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "batch.hpp"
#include "program_memory.hpp"
#include "substrings_buckets.hpp"
#include "substrings_hash.hpp"
#include "substrings_pairs.hpp"
#include "substrings_shared.hpp"

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

namespace {

// Hashes in ranges of about equal number, small enough to be grouped in the cache.
constexpr std::int64_t kWantedInBin = 16384;
constexpr std::size_t kTokensInLine = 16;
// On most sites so many envelopes have one pair among them that was not seen before.
constexpr std::size_t kEnvelopesOfPair = 8;
// So many pieces ahead of their turn memory is asked for what is needed of them.
constexpr std::size_t kAhead = 12;

class Detection {
 public:
  Detection(const TokenRows& rows, const RowEvidence& evidence, const SubstringLimits& limits)
      : offsets_(rows.offsets.begin(), rows.offsets.end()), codes_(rows.codes.begin(), rows.codes.end()),
        rows_{offsets_, codes_}, evidence_(evidence), limits_(limits),
        threads_(static_cast<std::size_t>(std::max(1, limits.threads))), shared_(rows_, limits.threads),
        most_in_bucket_(std::max(limits.low_bucket, limits.high_bucket)) {}

  Detected run() {
    count_bins();
    plan_passes();
    std::vector<PairCounts> counts;
    const std::size_t expected = static_cast<std::size_t>(ends_.back()) / kEnvelopesOfPair;
    for (std::size_t part = 0; part < threads_; ++part) {
      counts.emplace_back(limits_.memory_bytes / 2 / threads_, expected, limits_.folder, std::to_string(part));
    }
    std::atomic<std::size_t> next{0};
    in_parts(static_cast<std::int64_t>(threads_), threads_, [&](std::int64_t, std::int64_t, std::size_t part) {
      FarMemory memory(most_in_pass() * sizeof(Envelope));
      auto* const envelopes = reinterpret_cast<Envelope*>(memory.data());
      for (std::size_t pass = next++; pass + 1 < passes_.size(); pass = next++) {
        run_pass(passes_[pass], passes_[pass + 1], envelopes, counts[part]);
      }
    });
    Detected result;
    result.found = PairCounts::at_least(counts, limits_.min_support);
    result.envelopes = envelopes_;
    result.compared = compared_;
    result.passes = static_cast<std::int64_t>(passes_.size()) - 1;
    for (const PairCounts& part : counts) result.spilled_bytes += part.spilled_bytes();
    sort(result.found);
    return result;
  }

 private:
  // The first and the last end of the pieces of a row that start at a token: up to max_length tokens,
  // and the gap before it, but nothing before the start of the URL or behind its end.
  [[nodiscard]] std::pair<std::size_t, std::size_t> ends_of(std::size_t row, std::size_t start) const {
    return {std::max(start + (start == 0), shared_.first_end(row, start)),
            std::min(rows_[row].size(), start + limits_.max_length)};
  }

  // Calls take(hash of the envelope, row, start, length) for each piece of some rows whose envelope may be
  // shared, and not by too many.
  template <typename Take>
  void each_piece(std::size_t from, std::size_t to, Take&& take) const {
    Overflowing overflowing(most_in_bucket_);
    RowHashes hashes;
    for (std::size_t row = from; row < to; ++row) {
      hashes.take(rows_[row]);
      for (std::size_t start = 0; start < shared_.starts(row); ++start) {
        const TokenHash before = hashes.before(start);
        const auto [first, last] = ends_of(row, start);
        for (std::size_t end = first; end <= last; ++end) {
          const TokenHash hash = sum(before, hashes.behind(end));
          if (!overflowing.drops(hash)) take(hash, row, start, end - start);
        }
      }
    }
  }

  [[nodiscard]] std::size_t bin_of(const TokenHash& hash) const { return hash.a >> bin_shift_; }

  void count_bins() {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto tokens = static_cast<std::int64_t>(rows_[row].size());
      const auto longest = std::min(tokens, static_cast<std::int64_t>(limits_.max_length));
      envelopes_ += tokens * longest - longest * (longest - 1) / 2 + std::max<std::int64_t>(0, tokens - 1);
      for (std::size_t start = 0; start < shared_.starts(row); ++start) {
        const auto [first, last] = ends_of(row, start);
        compared_ += first <= last ? static_cast<std::int64_t>(last - first + 1) : 0;
      }
    }
    const auto bins = std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(2, compared_ / kWantedInBin)));
    bin_shift_ = 64 - std::countr_zero(bins);
    const auto count = static_cast<std::int64_t>(rows_.size());
    std::vector<std::vector<std::int64_t>> counted(parts_of(count, limits_.threads));
    parts_.resize(counted.size());
    in_parts(count, counted.size(), [&](std::int64_t begin, std::int64_t end, std::size_t part) {
      auto& bin = counted[part];
      bin.resize(bins);
      parts_[part] = {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
      each_piece(parts_[part].first, parts_[part].second,
                 [&](const TokenHash& hash, auto, auto, auto) { ++bin[bin_of(hash)]; });
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

  [[nodiscard]] std::size_t most_in_pass() const {
    std::int64_t most = 0;
    for (std::size_t i = 1; i < passes_.size(); ++i) most = std::max(most, ends_[passes_[i]] - ends_[passes_[i - 1]]);
    return static_cast<std::size_t>(most);
  }

  void run_pass(std::size_t first, std::size_t last, Envelope* envelopes, PairCounts& counts) const {
    const std::int64_t shift = ends_[first];
    std::vector<std::size_t> places;
    for (std::size_t bin = first; bin < last; ++bin) places.push_back(static_cast<std::size_t>(ends_[bin] - shift));
    for (const auto& [from, to] : parts_) {
      each_piece(from, to, [&](const TokenHash& hash, std::size_t row, std::size_t start, std::size_t length) {
        const std::size_t bin = bin_of(hash) - first;
        if (bin < last - first) envelopes[places[bin]++] = {hash, Place::of(row, start, length)};
      });
    }
    Bin work;
    for (std::size_t bin = first; bin < last; ++bin) {
      const auto begin = static_cast<std::size_t>(ends_[bin] - shift), end = places[bin - first];
      work.buckets.find({envelopes + begin, end - begin}, most_in_bucket_);
      find_likely(work);
      hash_pieces(work);
      pair_up(work);
      for (std::size_t i = 0; i < work.pairs.size() + kAhead; ++i) {
        if (i < work.pairs.size()) counts.prefetch(work.pairs[i].hash);
        if (i >= kAhead) counts.add(work.pairs[i - kAhead]);
      }
    }
  }

  // Two pieces of a bucket, by their numbers in the bin, whose pages may be one.
  struct Likely {
    std::uint32_t one, other;
    bool is_low, is_high;  // whether the bucket is small enough for either count
  };

  // What is at hand for one bin at a time. The rows of a bin lie anywhere, so all that are needed are asked
  // for before the first is read; and what is known of pages is looked at before their tokens are, for on
  // most sites most pieces have no likely partner.
  struct Bin {
    Buckets buckets;
    std::vector<Likely> likely;
    std::vector<std::uint8_t> has_partner;
    std::vector<std::uint32_t> partnered;
    std::vector<TokenHash> hashes;  // of pieces that have one
    std::vector<CountedPair> pairs;
  };

  void find_likely(Bin& work) const {
    const auto pieces = work.buckets.pieces();
    work.likely.clear();
    work.has_partner.assign(pieces.size(), 0);
    std::size_t from = 0, asked = 0;
    for (const std::size_t to : work.buckets.ends()) {
      for (; !evidence_.rows.empty() && asked < std::min(pieces.size(), to + kAhead); ++asked) {
        __builtin_prefetch(evidence_.rows.data() + pieces[asked].row);
      }
      const bool is_low = to - from <= limits_.low_bucket, is_high = to - from <= limits_.high_bucket;
      for (std::size_t i = from; i < to; ++i) {
        for (std::size_t j = i + 1; j < to; ++j) {
          if (!evidence_.may_be_one_page(pieces[i].row, pieces[j].row)) continue;
          work.likely.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), is_low, is_high});
          work.has_partner[i] = work.has_partner[j] = 1;
        }
      }
      from = to;
    }
  }

  void hash_pieces(Bin& work) const {
    const auto pieces = work.buckets.pieces();
    work.partnered.clear();
    for (std::uint32_t i = 0; i < pieces.size(); ++i) {
      if (work.has_partner[i]) work.partnered.push_back(i);
    }
    work.hashes.resize(pieces.size());
    const auto& partnered = work.partnered;
    for (std::size_t i = 0; i < partnered.size() + 2 * kAhead; ++i) {
      if (i < partnered.size()) __builtin_prefetch(rows_.offsets.data() + pieces[partnered[i]].row);
      if (i >= kAhead && i - kAhead < partnered.size()) {
        const auto tokens = pieces[partnered[i - kAhead]].tokens(rows_);
        for (std::size_t at = 0; at <= tokens.size(); at += kTokensInLine) __builtin_prefetch(tokens.data() + at);
      }
      if (i >= 2 * kAhead) {
        const std::uint32_t piece = partnered[i - 2 * kAhead];
        work.hashes[piece] = hash_of_piece(pieces[piece].tokens(rows_));
      }
    }
  }

  void pair_up(Bin& work) const {
    const auto pieces = work.buckets.pieces();
    work.pairs.clear();
    for (const Likely& each : work.likely) {
      if (work.hashes[each.one] == work.hashes[each.other]) continue;
      const bool is_ordered = is_larger(pieces[each.one], pieces[each.other]);
      const auto larger = is_ordered ? each.one : each.other, smaller = is_ordered ? each.other : each.one;
      work.pairs.push_back({sum(scaled(work.hashes[larger]), work.hashes[smaller]),
                            {pieces[larger], pieces[smaller], each.is_low, each.is_high}});
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

  // A copy: rows are read at random, and memory from elsewhere has small pages.
  std::vector<std::int64_t, LargePages<std::int64_t>> offsets_;
  std::vector<std::uint32_t, LargePages<std::uint32_t>> codes_;
  const TokenRows rows_;
  const RowEvidence& evidence_;
  const SubstringLimits& limits_;
  std::size_t threads_;
  SharedEnvelopes shared_;
  std::size_t most_in_bucket_;
  std::int64_t envelopes_ = 0, compared_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;  // of the rows, as they were counted: each part
                                                            // drops the same envelopes again
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
