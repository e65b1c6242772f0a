// Rules of any text, on a small site of any URLs: what is told of each rule adds up.
//
// The input is lines: what is a rule is one of site example.com, what is none is a URL, and the byte sum of
// a URL says which page it shows.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "promise.hpp"
#include "standing.hpp"
#include "url.hpp"

namespace {

using namespace undust;

constexpr std::size_t kMostRules = 8, kMostUrls = 12, kPages = 4, kMinima = 2;

struct Site {
  std::vector<std::string> images;
  std::vector<std::int64_t> first_pair{0}, page, urls;

  void add(std::string_view line) {
    std::string normal;
    if (images.size() == kMostUrls || !normalize_url(line, kAllSteps, normal)) return;
    if (std::find(images.begin(), images.end(), normal) != images.end()) return;
    const auto sum = std::accumulate(normal.begin(), normal.end(), 0u, [](unsigned all, char c) { return all + static_cast<unsigned char>(c); });
    page.push_back(sum % (kPages - 1));
    urls.push_back(1 + sum % 3);
    if (sum % 5 == 0) page.push_back(kPages - 1), urls.push_back(2);
    first_pair.push_back(static_cast<std::int64_t>(page.size()));
    images.push_back(std::move(normal));
  }
};

void check(const Effects& effects, std::size_t candidates, const Site& site) {
  promise(effects.counts.size() == candidates && effects.met.size() == candidates, "each candidate is told of");
  promise(effects.offsets.size() == candidates + 1 && effects.touched_offsets.size() == candidates + 1, "columns are cut");
  promise(effects.sources.size() == static_cast<std::size_t>(effects.offsets.back()), "a row for each move");
  promise(effects.failing.size() == effects.sources.size() && effects.blamed.size() == effects.sources.size() &&
              effects.merging.size() == effects.sources.size(),
          "columns are as long as each other");
  for (std::size_t i = 0; i < candidates; ++i) {
    const CandidateCounts& counts = effects.counts[i];
    promise(counts.moved == effects.offsets[i + 1] - effects.offsets[i], "what moves is told");
    promise(counts.moved <= effects.touched_offsets[i + 1] - effects.touched_offsets[i], "what moves was touched");
    promise(counts.saved >= 0 && counts.saved < static_cast<std::int64_t>(std::max<std::size_t>(site.images.size(), 1)), "some image is left");
    promise(counts.pages_held <= counts.pages && counts.lost >= 0 && counts.lost_held >= 0, "counts are counts");
    promise(effects.met[i] >= 0.0 && effects.met[i] <= 1.0, "a share is a share");
    promise(counts.pages == 0 || counts.saved > 0, "who merges saves");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SuffixList suffixes("com\norg\nco.uk\n");
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<RuleSource> rules;
  Site site;
  site.add("http://www.example.com/a/b/index.html?sid=1&x=2");
  site.add("http://example.com/a/b/");
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    try {
      const RuleSource rule{"example.com", split_rule_line(line), {}, true, true};
      check_source(rule);
      if (rules.size() < kMostRules) rules.push_back(rule);
    } catch (const RuleProblem&) {
      site.add(line);
    }
  }
  const bool speaks[] = {true, true, false, true}, is_held[] = {true, false, true, false}, is_silent[] = {false, false, false, true};
  const std::int64_t sketch[] = {0, 1, -1, 0};
  const std::uint32_t sketches[] = {1, 2, 1, 3};
  const auto no_flags = std::make_unique<bool[]>(site.images.size());
  const std::span<const bool> of_images(no_flags.get(), site.images.size());
  const Standing standing({{site.images.begin(), site.images.end()}, site.first_pair, site.page, site.urls,
                           of_images, of_images, speaks, is_held, is_silent, sketch, sketches, kMinima, 1, nullptr, {}, 0, 0});
  promise(standing.lost() >= 0, "a count is a count");
  const Program program(rules, suffixes);
  std::vector<std::int64_t> rows(site.images.size());
  std::iota(rows.begin(), rows.end(), 0);
  for (const std::size_t first : {std::size_t{0}, rules.size() / 2}) {
    check(standing.apart(program, first, rows), rules.size() - first, site);
    check(standing.together(program, first, rows), 1, site);
  }
  return 0;
}
