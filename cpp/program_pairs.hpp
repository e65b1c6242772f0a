// Which rules concern which URLs of a column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "arrow.hpp"
#include "batch.hpp"
#include "program.hpp"

namespace undust {

// The rows and rules of all pairs that `find` adds for a URL.
template <typename Find>
std::tuple<Column, Column> pairs_of(const TextColumn& texts, int threads, Find&& find) {
  struct Part {
    std::vector<std::int64_t> rows, rules;
  };
  std::vector<Part> parts(parts_of(texts.size(), threads));
  in_parts(texts.size(), parts.size(), [&](std::int64_t begin, std::int64_t end, std::size_t number) {
    Scratch scratch;
    std::vector<std::uint32_t> found;
    for (std::int64_t row = begin; row < end; ++row) {
      if (texts.is_null(row)) continue;
      found.clear();
      find(texts[row], scratch, found);
      parts[number].rows.insert(parts[number].rows.end(), found.size(), row);
      parts[number].rules.insert(parts[number].rules.end(), found.begin(), found.end());
    }
  });
  for (std::size_t i = 1; i < parts.size(); ++i) {
    parts[0].rows.insert(parts[0].rows.end(), parts[i].rows.begin(), parts[i].rows.end());
    parts[0].rules.insert(parts[0].rules.end(), parts[i].rules.begin(), parts[i].rules.end());
  }
  return {number_column("l", parts[0].rows), number_column("l", parts[0].rules)};
}

// Those in which the rule, alone, makes something else of the row's URL.
inline std::tuple<Column, Column> touched_pairs(const Program& program, const TextColumn& urls, int threads) {
  return pairs_of(urls, threads, [&](std::string_view url, Scratch& scratch, std::vector<std::uint32_t>& found) {
    program.touching(url, scratch, found);
  });
}

// Each rule on the way to the key once, one that closes a circle and a keep included: without any other rule
// the way is the same.
inline std::tuple<Column, Column> used_pairs(const Program& program, const TextColumn& urls, int threads) {
  return pairs_of(urls, threads, [&](std::string_view url, Scratch& scratch, std::vector<std::uint32_t>& found) {
    if (program.key(url, scratch).outcome == Outcome::kNotUrl) return;
    for (const Orbit* orbit : {&scratch.fetched, &scratch.compared}) {
      for (const auto& step : orbit->steps) found.push_back(step.rule);
    }
    for (const auto& mask : scratch.masks) found.push_back(mask.rule);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  });
}

}  // namespace undust
