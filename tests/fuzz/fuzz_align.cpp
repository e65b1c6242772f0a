// Groups of any texts: every row can be read back from its consensus, and forms name what was seen.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "align.hpp"
#include "align_forms.hpp"
#include "arrow.hpp"
#include "exported.hpp"
#include "promise.hpp"
#include "views.hpp"

namespace {

using namespace undust;

// Rows end where a byte is a newline or very large; each is a URL of one host.
Column urls_of(std::string_view data) {
  TextBuilder rows;
  std::string row = "http://h.test/";
  int count = 0;
  for (const char c : data) {
    if (count == 7) break;
    if (c == '\n' || static_cast<unsigned char>(c) > 250) {
      rows.append(row);
      ++count;
      row = count % 3 == 0 ? "" : count % 3 == 1 ? "http://h.test/a?" : "https://www.h.test/";
    } else if (row.size() < 60) {
      row += c;
    }
  }
  rows.append(row);
  rows.append("http://h.test/x");
  return std::move(rows).finish("U");
}

void check_alignment(const TokenGroups& groups, const Alignment& aligned) {
  for (std::size_t row = 0; row + 1 < groups.offsets.size(); ++row) {
    std::int32_t before = -1;
    for (auto i = groups.offsets[row]; i < groups.offsets[row + 1]; ++i) {
      const std::int32_t column = aligned.columns[static_cast<std::size_t>(i)];
      promise(before < column && column < aligned.widths[0], "columns of a row rise within the consensus");
      before = column;
    }
  }
}

void check_forms(const GroupForms& forms) {
  promise(forms.skeleton_of.size() == 1, "a skeleton or a reason for each group");
  const auto skeletons = static_cast<std::int32_t>(forms.skeleton_offsets.size()) - 1;
  promise(forms.skeleton_of[0] < skeletons && forms.skeleton_of[0] >= kNoUrls, "the skeleton is there");
  std::int32_t slots = 0;
  for (const std::int32_t element : forms.skeletons) {
    slots += (element == kSlot) - (element == kEndSlot);
    promise(slots == 0 || slots == 1, "slots do not nest");
  }
  promise(forms.text_group.size() == forms.text_unit.size() && forms.text_unit.size() == forms.text_form.size() &&
              static_cast<std::size_t>(forms.texts.length) == forms.text_unit.size(),
          "columns are even");
}

void check(const TokenCodes& view, const TextColumn& vocabulary, std::uint8_t choice) {
  std::vector<std::uint8_t> kinds;
  for (std::int64_t code = 0; code < vocabulary.size(); ++code) {
    kinds.push_back(kind_of_token(vocabulary.is_null(code) ? std::string_view{} : vocabulary[code]));
  }
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint32_t> codes;
  for (std::size_t row = 0; row + 1 < view.offsets.size(); ++row) {
    for (auto i = view.offsets[row] + 1; i + 1 < view.offsets[row + 1]; ++i) codes.push_back(view.codes[static_cast<std::size_t>(i)]);
    offsets.push_back(static_cast<std::int64_t>(codes.size()));
  }
  const std::vector<std::int64_t> all{0, static_cast<std::int64_t>(offsets.size()) - 1};
  const TokenGroups groups{offsets, codes, all, kinds};
  AlignOptions options;
  options.scoring = choice & 1 ? Scoring::kJaccard : Scoring::kTyped;
  options.order = choice & 2 ? MergeOrder::kShare : MergeOrder::kScore;
  options.gaps_count = choice & 4;
  options.anchored = choice & 8;
  if (choice & 16) options.band = 1 + choice % 5;
  const Alignment aligned = align_groups(groups, options);
  check_alignment(groups, aligned);
  check_forms(group_forms(groups, aligned, vocabulary, {8, (choice & 32) != 0, (choice & 64) == 0}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::uint8_t choice = size ? data[size - 1] : 0;
  with_exported(urls_of(text), [&](const TextColumn& urls) {
    const TokenCodes view = token_codes(urls, choice & 128 ? TokenStyle::kRuns : TokenStyle::kTypes);
    with_exported(view.vocabulary, [&](const TextColumn& vocabulary) { check(view, vocabulary, choice); });
  });
  return 0;
}
