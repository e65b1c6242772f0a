#include <algorithm>
#include <map>

#include "substrings.hpp"
#include "substrings_hash.hpp"

namespace undust {
namespace {

// One `name=value` of a query.
struct Given {
  TokenHash name, value, envelope;
  Place name_place, value_place;
};

template <typename Take>
void each_parameter(std::span<const std::uint32_t> tokens, const QueryMarks& marks, Take&& take) {
  const std::size_t end = tokens.empty() ? 0 : tokens.size() - 1;  // without the end of the URL
  const auto find = [&](std::size_t from, std::size_t to, std::uint32_t mark) {
    return static_cast<std::size_t>(
        std::find(tokens.begin() + static_cast<std::ptrdiff_t>(from), tokens.begin() + static_cast<std::ptrdiff_t>(to),
                  mark) -
        tokens.begin());
  };
  for (std::size_t at = find(0, end, marks.question); at < end;) {
    const std::size_t name = at + 1, next = find(name, end, marks.ampersand), equals = find(name, next, marks.equals);
    if (equals < next && equals > name) take(name, equals, equals + 1, next);
    at = next;
  }
}

std::vector<Given> parameters_of(const TokenRows& rows, const QueryMarks& marks) {
  std::vector<Given> found;
  RowHashes hashes;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto tokens = rows[row];
    bool has_hashes = false;
    each_parameter(tokens, marks, [&](std::size_t name, std::size_t equals, std::size_t value, std::size_t end) {
      // A piece has at most so many tokens; a longer name or value is no parameter that repeats.
      if (end - name > Place::kLongest) return;
      if (!has_hashes) hashes.take(tokens);
      has_hashes = true;
      found.push_back({hash_of_piece(tokens.subspan(name, equals - name)),
                       hash_of_piece(tokens.subspan(value, end - value)), hashes.envelope(value, end),
                       Place::of(row, name, equals - name), Place::of(row, value, end - value)});
    });
  }
  return found;
}

bool has_likely_pair(std::span<const Given> bucket, const RowEvidence& evidence, std::size_t compared) {
  const std::size_t count = std::min(bucket.size(), compared);
  const auto row = [&](std::size_t i) { return bucket[i * bucket.size() / count].name_place.row; };
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      if (evidence.may_be_one_page(row(i), row(j))) return true;
    }
  }
  return false;
}

bool is_before(const TokenRows& rows, const Place& one, const Place& other) {
  const auto left = one.tokens(rows), right = other.tokens(rows);
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
}

// Calls take(from, to) for each run of equal keys.
template <typename Key, typename Take>
void each_run(std::span<const Given> given, Key&& key, Take&& take) {
  for (std::size_t from = 0, to = 0; from < given.size(); from = to) {
    while (to < given.size() && key(given[to]) == key(given[from])) ++to;
    take(given.subspan(from, to - from));
  }
}

}  // namespace

std::vector<Parameter> parameter_supports(const TokenRows& rows, const RowEvidence& evidence,
                                          const QueryMarks& marks, std::size_t compared) {
  require_token_rows(rows);
  std::vector<Given> given = parameters_of(rows, marks);
  // A name may stand twice in a URL, so the row alone is no order.
  std::sort(given.begin(), given.end(), [](const Given& one, const Given& other) {
    if (one.envelope != other.envelope) return one.envelope < other.envelope;
    if (one.name_place.row != other.name_place.row) return one.name_place.row < other.name_place.row;
    return one.name_place.start() < other.name_place.start();
  });
  std::map<TokenHash, Parameter> found;
  std::map<TokenHash, std::vector<std::int32_t>> pages;
  std::vector<std::int32_t> in_bucket;
  each_run(given, [](const Given& each) { return each.envelope; }, [&](std::span<const Given> bucket) {
    if (bucket.size() < 2 || !has_likely_pair(bucket, evidence, compared)) return;
    Parameter& parameter = found[bucket[0].name];
    parameter.name = bucket[0].name_place;
    ++parameter.support;
    if (evidence.rows.empty()) return;
    in_bucket.clear();
    for (const Given& each : bucket) in_bucket.push_back(evidence.rows[each.name_place.row].page);
    std::sort(in_bucket.begin(), in_bucket.end());
    for (std::size_t i = 1; i < in_bucket.size(); ++i) {
      if (in_bucket[i] >= 0 && in_bucket[i] == in_bucket[i - 1]) pages[bucket[0].name].push_back(in_bucket[i]);
    }
  });
  for (auto& [name, numbers] : pages) {
    std::sort(numbers.begin(), numbers.end());
    found[name].pages = std::unique(numbers.begin(), numbers.end()) - numbers.begin();
  }
  std::sort(given.begin(), given.end(), [](const Given& one, const Given& other) {
    if (one.name != other.name) return one.name < other.name;
    return one.value < other.value;
  });
  each_run(given, [](const Given& each) { return each.name; }, [&](std::span<const Given> of_name) {
    const auto place = found.find(of_name[0].name);
    if (place == found.end()) return;
    std::int64_t last = 0;  // … less how often it is the first
    for (const Given& each : of_name) {
      const auto tokens = rows[each.name_place.row];
      last += each.value_place.start() + each.value_place.length() + 1 == tokens.size();
      last -= tokens[each.name_place.start() - 1] == marks.question;
    }
    place->second.ends_queries = last > 0;
    std::size_t most = 0;
    each_run(of_name, [](const Given& each) { return each.value; }, [&](std::span<const Given> of_value) {
      const Place value = of_value[0].value_place;
      if (of_value.size() < most || (of_value.size() == most && !is_before(rows, value, place->second.value))) return;
      most = of_value.size();
      place->second.value = value;
    });
  });
  std::vector<Parameter> sorted;
  for (const auto& [hash, parameter] : found) sorted.push_back(parameter);
  std::sort(sorted.begin(), sorted.end(), [&](const Parameter& one, const Parameter& other) {
    if (one.support != other.support) return one.support > other.support;
    return is_before(rows, one.name, other.name);
  });
  return sorted;
}

}  // namespace undust
