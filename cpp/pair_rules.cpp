#include "pair_rules.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace undust {

namespace {

// Where in a URL each of its values stands: the first key that has it.
class Sources {
 public:
  Sources(std::span<const std::int32_t> keys, std::span<const std::int32_t> values) {
    found_.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) found_.emplace_back(values[i], keys[i]);
    std::sort(found_.begin(), found_.end());
  }

  [[nodiscard]] std::int32_t key_with(std::int32_t value) const {
    const auto at = std::lower_bound(found_.begin(), found_.end(), std::pair{value, std::int32_t{0}});
    return at != found_.end() && at->first == value ? at->second : kAbsent;
  }

 private:
  std::vector<std::pair<std::int32_t, std::int32_t>> found_;
};

class Writer {
 public:
  explicit Writer(const ValueMaps& maps) : maps_(maps) {}

  void add(std::int64_t left, std::int64_t right, const Sources& sources) {
    auto [u, u_end] = entries(left);
    auto [v, v_end] = entries(right);
    while (u < u_end || v < v_end) {
      const bool in_left = u < u_end && (v == v_end || maps_.keys[u] <= maps_.keys[v]);
      const bool in_right = v < v_end && (u == u_end || maps_.keys[v] <= maps_.keys[u]);
      const std::int32_t key = in_left ? maps_.keys[u] : maps_.keys[v];
      const std::int32_t context = in_left ? maps_.values[u++] : kAbsent;
      const std::int32_t wanted = in_right ? maps_.values[v++] : kAbsent;
      rules_.keys.push_back(key);
      rules_.context.push_back(context);
      rules_.action.push_back(wanted == kAbsent  ? kAbsent
                              : wanted == context ? reference_to(key)
                                                  : from_elsewhere(wanted, sources));
    }
    rules_.offsets.push_back(static_cast<std::int64_t>(rules_.keys.size()));
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> entries(std::int64_t row) const {
    const auto at = static_cast<std::size_t>(row);
    return {static_cast<std::size_t>(maps_.offsets[at]), static_cast<std::size_t>(maps_.offsets[at + 1])};
  }

  [[nodiscard]] PairRules finish() && { return std::move(rules_); }

 private:
  [[nodiscard]] std::int32_t from_elsewhere(std::int32_t wanted, const Sources& sources) const {
    if (!maps_.linked[static_cast<std::size_t>(wanted)]) return wanted;
    const std::int32_t key = sources.key_with(wanted);
    return key == kAbsent ? wanted : reference_to(key);
  }

  const ValueMaps& maps_;
  PairRules rules_{{0}, {}, {}, {}};
};

void check(const ValueMaps& maps, std::span<const std::int64_t> left, std::span<const std::int64_t> right) {
  const auto count = static_cast<std::int64_t>(maps.keys.size());
  if (maps.offsets.empty() || maps.values.size() != maps.keys.size() || left.size() != right.size()) {
    throw std::invalid_argument("columns of one table must have the same length, and offsets at least one number");
  }
  if (maps.offsets.front() < 0 || maps.offsets.back() > count || !std::is_sorted(maps.offsets.begin(), maps.offsets.end())) {
    throw std::out_of_range("offsets must rise from 0 to the number of entries");
  }
  const auto is_value = [&](std::int32_t value) { return value >= 0 && static_cast<std::size_t>(value) < maps.linked.size(); };
  if (!std::all_of(maps.values.begin(), maps.values.end(), is_value)) {
    throw std::out_of_range("a value has no place in 'linked'");
  }
  const auto rows = static_cast<std::int64_t>(maps.offsets.size()) - 1;
  const auto is_row = [&](std::int64_t row) { return row >= 0 && row < rows; };
  if (!std::all_of(left.begin(), left.end(), is_row) || !std::all_of(right.begin(), right.end(), is_row)) {
    throw std::out_of_range("a pair names a row that is not there");
  }
}

}  // namespace

PairRules pair_rules(const ValueMaps& maps, std::span<const std::int64_t> left, std::span<const std::int64_t> right) {
  check(maps, left, right);
  Writer writer(maps);
  for (std::size_t i = 0; i < left.size();) {
    const auto [start, end] = writer.entries(left[i]);
    const Sources sources(maps.keys.subspan(start, end - start), maps.values.subspan(start, end - start));
    const std::int64_t source = left[i];
    for (; i < left.size() && left[i] == source; ++i) writer.add(source, right[i], sources);
  }
  return std::move(writer).finish();
}

std::vector<std::uint64_t> entry_hashes(std::span<const std::int32_t> keys, std::span<const std::int32_t> context,
                                        std::span<const std::int32_t> action) {
  if (keys.size() != context.size() || keys.size() != action.size()) {
    throw std::invalid_argument("columns of one table must have the same length");
  }
  const auto stirred = [](std::uint64_t hash, std::int32_t word) {
    hash = (hash + static_cast<std::uint32_t>(word) + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBu;
    return hash ^ (hash >> 31);
  };
  std::vector<std::uint64_t> hashes(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    hashes[i] = stirred(stirred(stirred(0, keys[i]), context[i]), action[i]);
  }
  return hashes;
}

}  // namespace undust
