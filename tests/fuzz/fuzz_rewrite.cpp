// Maps of any keys and values, to the rules of all their pairs.
#include <cstdint>
#include <map>
#include <vector>

#include "pair_rules.hpp"
#include "promise.hpp"

namespace {

using namespace undust;
using Map = std::map<std::int32_t, std::int32_t>;

constexpr std::int32_t kKeys = 6, kValues = 5;

// Two bytes an entry; a row ends where a byte is large.
std::vector<Map> rows_of(const std::uint8_t* data, std::size_t size) {
  std::vector<Map> rows(1);
  for (std::size_t i = 0; i + 1 < size && rows.size() < 12; i += 2) {
    if (data[i] > 200) rows.emplace_back();
    rows.back()[data[i] % kKeys] = data[i + 1] % kValues;
  }
  return rows;
}

// What the rule in entries `start` to `end` makes of a map; its context must be the map itself.
Map applied(const PairRules& rules, std::size_t start, std::size_t end, const Map& source) {
  Map image, context;
  for (std::size_t e = start; e < end; ++e) {
    const std::int32_t action = rules.action[e];
    if (rules.context[e] != kAbsent) context[rules.keys[e]] = rules.context[e];
    if (action == kAbsent) continue;
    image[rules.keys[e]] = action >= 0 ? action : source.at(kFirstReference - action);
  }
  promise(context == source, "the context is the source");
  return image;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<Map> rows = rows_of(data, size);
  std::vector<std::int64_t> offsets{0}, left, right;
  std::vector<std::int32_t> keys, values;
  for (const Map& row : rows) {
    for (const auto& [key, value] : row) keys.push_back(key), values.push_back(value);
    offsets.push_back(static_cast<std::int64_t>(keys.size()));
  }
  for (std::size_t u = 0; u < rows.size(); ++u) {
    for (std::size_t v = 0; v < rows.size(); ++v) {
      left.push_back(static_cast<std::int64_t>(u));
      right.push_back(static_cast<std::int64_t>(v));
    }
  }
  const std::vector<std::uint8_t> linked{0, 1, 1, 1, 1};
  const PairRules rules = pair_rules({offsets, keys, values, linked}, left, right);
  const auto hashes = entry_hashes(rules.keys, rules.context, rules.action);
  promise(hashes.size() == rules.keys.size(), "a number for each entry");
  for (std::size_t pair = 0; pair < left.size(); ++pair) {
    const auto start = static_cast<std::size_t>(rules.offsets[pair]);
    const auto end = static_cast<std::size_t>(rules.offsets[pair + 1]);
    const Map& source = rows[static_cast<std::size_t>(left[pair])];
    promise(applied(rules, start, end, source) == rows[static_cast<std::size_t>(right[pair])], "the image is the target");
    for (std::size_t e = start + 1; e < end; ++e) promise(rules.keys[e - 1] < rules.keys[e], "keys ascend");
  }
  return 0;
}
