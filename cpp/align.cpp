#include "align.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "align_sequence.hpp"
#include "bytes.hpp"

namespace undust {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::size_t kNoBand = std::numeric_limits<std::size_t>::max();

// Columns of a pair of sequences, side by side; kNothing where one has a gap.
using Pairing = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

class Aligner {
 public:
  explicit Aligner(const AlignOptions& options) : options_(options) {}

  [[nodiscard]] double score(const Sequence& x, const Sequence& y) {
    const Frame frame = frame_of(x, y);
    above_.assign(frame.height + 1, kNever);
    row_.assign(frame.height + 1, kNever);
    for (std::size_t i = 0; i <= frame.width; ++i) {
      fill(x, y, frame, i, above_.data(), row_.data());
      std::swap(above_, row_);
    }
    return above_[frame.height] + frame.matched;
  }

  // The same score with the way to it: diagonal before up before left, from the end.
  [[nodiscard]] double pairing(const Sequence& x, const Sequence& y, Pairing& out) {
    const Frame frame = frame_of(x, y);
    const std::size_t stride = frame.height + 1;
    table_.assign((frame.width + 1) * stride, kNever);
    for (std::size_t i = 0; i <= frame.width; ++i) {
      fill(x, y, frame, i, i ? &table_[(i - 1) * stride] : nullptr, &table_[i * stride]);
    }
    out.clear();
    for (std::size_t i = x.size(), j = y.size(); i > frame.start + frame.width; --i, --j) {
      out.emplace_back(static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(j - 1));
    }
    std::size_t i = frame.width, j = frame.height;
    while (i > 0 || j > 0) {
      const double here = table_[i * stride + j];
      const auto x_at = static_cast<std::uint32_t>(frame.start + i - 1);
      const auto y_at = static_cast<std::uint32_t>(frame.start + j - 1);
      if (i > 0 && j > 0 && here == table_[(i - 1) * stride + j - 1] + fit(x, x_at, y, y_at)) {
        out.emplace_back(x_at, y_at);
        --i, --j;
      } else if (i > 0 && here == table_[(i - 1) * stride + j]) {
        out.emplace_back(x_at, kNothing);
        --i;
      } else {
        out.emplace_back(kNothing, y_at);
        --j;
      }
    }
    for (std::size_t k = frame.start; k > 0; --k) {
      out.emplace_back(static_cast<std::uint32_t>(k - 1), static_cast<std::uint32_t>(k - 1));
    }
    std::reverse(out.begin(), out.end());
    return table_.back() + frame.matched;
  }

 private:
  // The part of both sequences that is not anchored.
  struct Frame {
    std::size_t start, width, height;
    double matched;
  };

  [[nodiscard]] Frame frame_of(const Sequence& x, const Sequence& y) const {
    std::size_t start = 0, end = 0;
    if (options_.anchored) {
      const std::size_t most = std::min(x.size(), y.size());
      while (start < most && fit(x, start, y, start) == 1.0) ++start;
      while (start + end < most && fit(x, x.size() - end - 1, y, y.size() - end - 1) == 1.0) ++end;
    }
    return {start, x.size() - start - end, y.size() - start - end, static_cast<double>(start + end)};
  }

  void fill(const Sequence& x, const Sequence& y, const Frame& frame, std::size_t i, const double* above,
            double* row) const {
    const std::size_t slack = frame.width > frame.height ? frame.width - frame.height : frame.height - frame.width;
    const std::size_t reach = options_.band > frame.width + frame.height ? frame.width + frame.height
                                                                         : options_.band + slack;
    const std::size_t first = i > reach ? i - reach : 0, last = std::min(frame.height, i + reach);
    std::fill(row, row + frame.height + 1, kNever);
    for (std::size_t j = first; j <= last; ++j) {
      if (i == 0 || j == 0) {
        row[j] = 0;
        continue;
      }
      // Columns without a common token are worth nothing: then the way straight on is no worse.
      const std::size_t x_at = frame.start + i - 1, y_at = frame.start + j - 1;
      row[j] = std::max(above[j], row[j - 1]);
      if (may_meet(x, x_at, y, y_at)) row[j] = std::max(row[j], above[j - 1] + fit(x, x_at, y, y_at));
    }
  }

  [[nodiscard]] bool may_meet(const Sequence& x, std::size_t i, const Sequence& y, std::size_t j) const {
    if (options_.gaps_count) return true;  // for then two gaps are common
    if (!(x.kinds[i] & y.kinds[j])) return false;
    const bool both_single = x.starts[i + 1] - x.starts[i] == 1 && y.starts[j + 1] - y.starts[j] == 1;
    return !both_single || x.tokens[x.starts[i]] == y.tokens[y.starts[j]];
  }

  [[nodiscard]] double fit(const Sequence& x, std::size_t i, const Sequence& y, std::size_t j) const {
    const auto a = x.column(i), b = y.column(j);
    std::size_t common = 0;
    if (a.size() == 1 && b.size() == 1) {
      common = a[0] == b[0];
    } else {
      for (std::size_t p = 0, q = 0; p < a.size() && q < b.size();) {
        if (a[p] == b[q]) ++common, ++p, ++q;
        else if (a[p] < b[q]) ++p;
        else ++q;
      }
    }
    if (options_.scoring == Scoring::kTyped && common == 0) {
      if ((x.kinds[i] | y.kinds[j]) & kPunctuation) return kNever;
      if (!(x.kinds[i] & y.kinds[j])) return -1;
    }
    std::size_t all = a.size() + b.size() - common;
    if (options_.gaps_count) {
      common += x.gaps[i] && y.gaps[j];
      all += x.gaps[i] || y.gaps[j];
    }
    return static_cast<double>(common) / static_cast<double>(all);
  }

  const AlignOptions& options_;
  std::vector<double> above_, row_, table_;
};

Sequence merged(const Sequence& x, const Sequence& y, const Pairing& pairing) {
  Sequence out;
  for (const auto& [i, j] : pairing) {
    const auto a = i == kNothing ? std::span<const std::uint32_t>{} : x.column(i);
    const auto b = j == kNothing ? std::span<const std::uint32_t>{} : y.column(j);
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out.tokens));
    const auto kind = (i == kNothing ? 0 : x.kinds[i]) | (j == kNothing ? 0 : y.kinds[j]);
    const bool has_gap = i == kNothing || j == kNothing || x.gaps[i] || y.gaps[j];
    out.end_column(static_cast<std::uint8_t>(kind), has_gap);
  }
  return out;
}

// One group on its way to a single sequence.
class Group {
 public:
  Group(const TokenGroups& all, const AlignOptions& options, Aligner& aligner)
      : all_(all), options_(options), aligner_(aligner), common_(all.kinds.size()) {}

  void align(std::size_t group, Alignment& out) {
    first_ = static_cast<std::size_t>(all_.groups[group]);
    const auto count = static_cast<std::size_t>(all_.groups[group + 1]) - first_;
    sequences_.clear();
    members_.clear();
    waiting_ = {};
    rows_ = count;
    for (std::size_t row = 0; row < count; ++row) add_row(first_ + row, out);
    double score = 0;
    std::size_t left = count;
    while (left > 1) {
      const auto [rank, minus_x, minus_y] = waiting_.top();
      waiting_.pop();
      const auto x = static_cast<std::size_t>(-minus_x), y = static_cast<std::size_t>(-minus_y);
      if (members_[x].empty() || members_[y].empty()) continue;
      score = join(x, y, out);
      --left;
    }
    out.widths.push_back(count ? static_cast<std::int32_t>(sequences_.back().size()) : 0);
    out.scores.push_back(score);
  }

 private:
  void add_row(std::size_t row, Alignment& out) {
    Sequence sequence;
    const auto start = static_cast<std::size_t>(all_.offsets[row]);
    const auto end = static_cast<std::size_t>(all_.offsets[row + 1]);
    for (std::size_t i = start; i < end; ++i) {
      sequence.tokens.push_back(all_.codes[i]);
      sequence.end_column(all_.kinds[all_.codes[i]], false);
      out.columns[i] = static_cast<std::int32_t>(i - start);
    }
    add(std::move(sequence), {row});
  }

  void add(Sequence sequence, std::vector<std::size_t> rows) {
    const auto y = static_cast<std::int64_t>(sequences_.size());
    sequences_.push_back(std::move(sequence));
    members_.push_back(std::move(rows));
    const bool are_rows = sequences_.size() <= rows_ && options_.band == kNoBand;
    if (are_rows) common_.set(sequences_.back());
    for (std::int64_t x = 0; x < y; ++x) {
      if (members_[static_cast<std::size_t>(x)].empty()) continue;
      const Sequence& other = sequences_[static_cast<std::size_t>(x)];
      double rank = are_rows ? common_.with(other) : aligner_.score(other, sequences_.back());
      if (options_.order == MergeOrder::kShare) {
        rank /= static_cast<double>(std::max<std::size_t>(1, std::max(other.size(), sequences_.back().size())));
      }
      // Among equals the pair that came first: the heap gives the largest of negated numbers.
      waiting_.emplace(rank, -x, -y);
    }
  }

  double join(std::size_t x, std::size_t y, Alignment& out) {
    const double score = aligner_.pairing(sequences_[x], sequences_[y], pairing_);
    for (const bool is_first : {true, false}) {
      moved_.assign(sequences_[is_first ? x : y].size(), 0);
      for (std::size_t column = 0; column < pairing_.size(); ++column) {
        const std::uint32_t old = is_first ? pairing_[column].first : pairing_[column].second;
        if (old != kNothing) moved_[old] = static_cast<std::int32_t>(column);
      }
      for (const std::size_t row : members_[is_first ? x : y]) {
        for (auto i = all_.offsets[row]; i < all_.offsets[row + 1]; ++i) {
          auto& column = out.columns[static_cast<std::size_t>(i)];
          column = moved_[static_cast<std::size_t>(column)];
        }
      }
    }
    auto rows = std::exchange(members_[x], {});
    rows.insert(rows.end(), members_[y].begin(), members_[y].end());
    members_[y].clear();
    Sequence both = merged(sequences_[x], sequences_[y], pairing_);
    sequences_[x] = sequences_[y] = {};
    add(std::move(both), std::move(rows));
    return score;
  }

  const TokenGroups& all_;
  const AlignOptions& options_;
  Aligner& aligner_;
  CommonTokens common_;
  std::size_t first_ = 0, rows_ = 0;
  std::vector<Sequence> sequences_;
  std::vector<std::vector<std::size_t>> members_;  // rows of each sequence; none once it is part of another
  std::priority_queue<std::tuple<double, std::int64_t, std::int64_t>> waiting_;
  Pairing pairing_;
  std::vector<std::int32_t> moved_;
};

[[nodiscard]] bool rises(std::span<const std::int64_t> offsets, std::size_t end) {
  return !offsets.empty() && offsets.front() >= 0 && offsets.back() <= static_cast<std::int64_t>(end) &&
         std::is_sorted(offsets.begin(), offsets.end());
}

}  // namespace

TokenKind kind_of_token(std::string_view token) {
  if (token.empty()) return kPunctuation;
  if (has(kDigit, token[0])) return kDigitRun;
  return has(kLower, token[0]) || has(kUpper, token[0]) ? kLetterRun : kPunctuation;
}

void require_token_groups(const TokenGroups& groups) {
  if (!rises(groups.offsets, groups.codes.size()) || !rises(groups.groups, groups.offsets.size() - 1)) {
    throw std::out_of_range("offsets must rise from 0 to the number of entries");
  }
  for (const std::uint32_t code : groups.codes) {
    if (code >= groups.kinds.size()) throw std::out_of_range("a token has no place in the vocabulary");
  }
}

Alignment align_groups(const TokenGroups& groups, const AlignOptions& options) {
  require_token_groups(groups);
  Alignment out;
  out.columns.assign(groups.codes.size(), 0);
  Aligner aligner(options);
  Group one(groups, options, aligner);
  for (std::size_t group = 0; group + 1 < groups.groups.size(); ++group) one.align(group, out);
  return out;
}

}  // namespace undust
