// Lines as rows of tokens, whatever bytes they are made of: pairs, redundancy and parameters,
// against the plain counting of texts, in one pass and in many, with one thread and with two.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "promise.hpp"
#include "substrings.hpp"

namespace {

using namespace undust;

using Text = std::vector<std::uint32_t>;
using Counted = std::map<std::pair<Text, Text>, std::pair<std::uint32_t, std::uint32_t>>;

constexpr std::size_t kMostRows = 12, kMostTokens = 24, kLongest = 4;

struct Rows {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint32_t> codes;
  RowEvidence evidence;

  [[nodiscard]] TokenRows view() const { return {offsets, codes}; }
};

// One token a byte; the first byte of a line is also its page.
Rows rows_of(std::string_view text) {
  Rows rows;
  std::set<std::string_view> seen;
  while (!text.empty() && seen.size() < kMostRows) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view tokens = line.substr(0, kMostTokens);
    if (!seen.insert(tokens).second) continue;
    rows.codes.push_back(0);
    for (const char c : tokens) rows.codes.push_back(2u + static_cast<unsigned char>(c));
    rows.codes.push_back(1);
    rows.offsets.push_back(static_cast<std::int64_t>(rows.codes.size()));
    const int first = tokens.empty() ? 0 : static_cast<unsigned char>(tokens[0]);
    rows.evidence.rows.push_back({first % 5, first % 7, first % 3 - 1, first % 4 - 1, -1, first % 2 == 0, false});
  }
  return rows;
}

Counted counted_plainly(const Rows& rows, const SubstringLimits& limits) {
  std::map<std::pair<Text, Text>, std::vector<std::pair<Text, std::size_t>>> buckets;
  const TokenRows view = rows.view();
  for (std::size_t row = 0; row < view.size(); ++row) {
    const Text tokens(view[row].begin(), view[row].end());
    for (std::size_t start = 0; start < tokens.size(); ++start) {
      for (std::size_t size = start == 0; size <= limits.max_length && start + size <= tokens.size(); ++size) {
        const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(start);
        const auto to = from + static_cast<std::ptrdiff_t>(size);
        buckets[{Text(tokens.begin(), from), Text(to, tokens.end())}].push_back({Text(from, to), row});
      }
    }
  }
  Counted counts;
  for (const auto& [envelope, bucket] : buckets) {
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      for (std::size_t j = i + 1; j < bucket.size(); ++j) {
        if (!rows.evidence.may_be_one_page(bucket[i].second, bucket[j].second)) continue;
        const auto key = [](const Text& text) { return std::make_tuple(text.size(), text); };
        const bool is_ordered = key(bucket[i].first) > key(bucket[j].first);
        auto& count = counts[{bucket[is_ordered ? i : j].first, bucket[is_ordered ? j : i].first}];
        count.first += bucket.size() <= limits.low_bucket;
        count.second += bucket.size() <= limits.high_bucket;
      }
    }
  }
  std::erase_if(counts, [&](const auto& each) { return each.second.first < limits.min_support; });
  return counts;
}

Text text_of(const TokenRows& rows, const Place& place) {
  const auto tokens = place.tokens(rows);
  return Text(tokens.begin(), tokens.end());
}

void check(const Rows& rows, const SubstringLimits& limits, const Counted& expected) {
  const TokenRows view = rows.view();
  const Detected detected = likely_substitutions(view, rows.evidence, limits);
  Counted found;
  for (const Substitution& each : detected.found) {
    found[{text_of(view, each.longer), text_of(view, each.shorter)}] = {each.low, each.high};
  }
  promise(found.size() == detected.found.size(), "each pair is found once");
  promise(found == expected, "the pairs are those of plain counting");
  promise(std::is_sorted(detected.found.begin(), detected.found.end(),
                         [](const auto& one, const auto& other) { return one.low > other.low; }),
          "the best come first");
  const std::vector<std::int64_t> pages(view.size(), 0);
  for (const std::uint32_t count : pages_of_substitutions(view, pages, detected.found)) {
    promise(count == 1, "a pair that was found turns URLs of the only page into each other");
  }
  const auto gone = redundant_substitutions(view, detected.found, {0.05, 1, 50});
  promise(detected.found.empty() || std::count(gone.begin(), gone.end(), 0) > 0, "not all are redundant");
  promise(std::none_of(gone.begin(), gone.end(), [](auto each) { return each != 0; }) || detected.found.size() > 1,
          "one alone is not redundant");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Rows rows = rows_of({reinterpret_cast<const char*>(data), size});
  static const std::string folder = std::filesystem::temp_directory_path().string();
  SubstringLimits limits{kLongest, 3, 5, 1, 1u << 20, 1, folder};
  const Counted expected = counted_plainly(rows, limits);
  check(rows, limits, expected);
  limits.memory_bytes = 1;
  check(rows, limits, expected);
  limits.threads = 2;
  check(rows, limits, expected);
  const auto names = parameter_supports(rows.view(), rows.evidence, {2u + '?', 2u + '&', 2u + '='}, 3);
  for (const Parameter& each : names) {
    promise(each.support > 0 && each.name.length() > 0, "a parameter has a name and support");
  }
  return 0;
}
