// The URL model under the fuzzer: every promise of cpp/ that can be said of one input alone.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrow.hpp"
#include "batch.hpp"
#include "exported.hpp"
#include "host.hpp"
#include "idna.hpp"
#include "promise.hpp"
#include "suffixes.hpp"
#include "url.hpp"
#include "views.hpp"

namespace {

using namespace undust;

// ---- one URL

std::string written(const UrlParts& parts) {
  std::string text(parts.before);
  text.append(parts.scheme).append(parts.separator);
  if (parts.has_userinfo) text.append(parts.userinfo).append("@");
  text.append(parts.host);
  if (parts.has_port) text.append(":").append(parts.port);
  text.append(parts.path);
  if (parts.has_query) text.append("?").append(parts.query);
  if (parts.has_fragment) text.append("#").append(parts.fragment);
  return text.append(parts.after);
}

void check_split(std::string_view text) {
  UrlParts parts;
  if (split_url(text, parts)) promise(written(parts) == text, "splitting loses nothing");
}

// One step set: once more changes nothing, and what is no URL leaves `out` alone.
bool check_normalize(std::string_view text, unsigned steps) {
  constexpr std::string_view kBefore = "before ";
  std::string out(kBefore), again;
  if (!normalize_url(text, steps, out)) {
    promise(out == kBefore, "what is no URL appends nothing");
    return false;
  }
  const std::string once = out.substr(kBefore.size());
  promise(normalize_url(once, steps, again), "a normalized URL is a URL");
  if (again != once) std::fprintf(stderr, "steps %u: '%s' then '%s'\n", steps, once.c_str(), again.c_str());
  promise(again == once, "normalize is idempotent");
  return true;
}

void check_normal_form(std::string_view text, const SuffixList& suffixes) {
  std::string url, spaced;
  const bool is_url = normalize_url(text, kAllSteps, url);
  // A space in front also keeps the core from recognising a normal form at first sight.
  promise(normalize_url(" " + std::string(text), kAllSteps, spaced) == is_url && spaced == url,
          "white space around does not count");
  if (!is_url) return;
  for (const char c : url) promise(c > 0x20 && c < 0x7F, "a normal form is visible ASCII");
  UrlParts tolerant;
  const UrlParts plain = split_normal(url);
  promise(split_url(url, tolerant), "a normal form splits");
  promise(written(plain) == url && plain.host == tolerant.host && plain.port == tolerant.port &&
              plain.userinfo == tolerant.userinfo && plain.path == tolerant.path && plain.query == tolerant.query,
          "both ways to split a normal form agree");
  const std::string_view site = suffixes.site_of_host(plain.host);
  std::string_view host = plain.host;
  promise(!site.empty() && host.find(site) != std::string_view::npos, "a site is part of the host");
  promise(suffixes.site_of_host(site) == site, "a site is its own site");
}

// Each step alone and each step left out; all 256 sets for one input in sixteen, since they take long.
void check_steps(std::string_view text) {
  const bool is_url = check_normalize(text, kAllSteps);
  if (!is_url) return promise(!check_normalize(text, 0), "no step decides what a URL is");
  const bool is_thorough = std::hash<std::string_view>{}(text) % 16 == 0;
  for (unsigned steps = 0; steps < kAllSteps; ++steps) {
    const int count = std::popcount(steps);
    if (!is_thorough && count > 1 && count < 7) continue;
    promise(check_normalize(text, steps), "no step decides what a URL is");
  }
}

// ---- columns

// Rows of the input, cut at line breaks, laid out as an Arrow column with room before the slice.
struct Rows {
  std::vector<std::string> texts;
  std::vector<bool> is_null;
};

Rows rows_of(std::string_view data) {
  Rows rows;
  while (true) {
    const auto end = data.find('\n');
    rows.texts.emplace_back(data.substr(0, end));
    rows.is_null.push_back(rows.texts.size() % 3 == 0);
    if (end == std::string_view::npos) return rows;
    data.remove_prefix(end + 1);
  }
}

template <typename T>
std::unique_ptr<T[]> exact(const std::vector<T>& items) {
  std::unique_ptr<T[]> copy(new T[items.size()]);
  std::copy(items.begin(), items.end(), copy.get());
  return copy;
}

// Calls work(column) with the rows as a slice that begins after `skipped` rows of somebody else.
template <typename Offset, typename Work>
void with_offsets(const Rows& rows, const char* format, std::size_t skipped, Work&& work) {
  std::vector<Offset> offsets{0};
  std::vector<std::uint8_t> valid((rows.texts.size() + skipped + 7) / 8, 0xFF);
  std::vector<char> bytes;
  for (std::size_t i = 0; i < skipped; ++i) {
    bytes.push_back('x');
    offsets.push_back(static_cast<Offset>(bytes.size()));
  }
  for (std::size_t i = 0; i < rows.texts.size(); ++i) {
    const std::size_t at = i + skipped;
    bytes.insert(bytes.end(), rows.texts[i].begin(), rows.texts[i].end());
    offsets.push_back(static_cast<Offset>(bytes.size()));
    if (rows.is_null[i]) valid[at / 8] = static_cast<std::uint8_t>(valid[at / 8] & ~(1u << at % 8));
  }
  const auto held_valid = exact(valid);
  const auto held_offsets = exact(offsets);
  const auto held_bytes = exact(bytes);
  const void* buffers[3] = {held_valid.get(), held_offsets.get(), held_bytes.get()};
  ArrowSchema schema{};
  schema.format = format;
  ArrowArray array{};
  array.length = static_cast<std::int64_t>(rows.texts.size());
  array.offset = static_cast<std::int64_t>(skipped);
  array.n_buffers = 3;
  array.buffers = buffers;
  work(TextColumn(schema, array));
}

template <typename Work>
void with_views(const Rows& rows, std::size_t skipped, Work&& work) {
  struct View {
    char bytes[16];
  };
  std::vector<View> views(skipped, View{});
  std::vector<char> data;
  for (const std::string& text : rows.texts) {
    View view{};
    const auto size = static_cast<std::int32_t>(text.size());
    std::memcpy(view.bytes, &size, 4);
    if (size <= 12) {
      std::memcpy(view.bytes + 4, text.data(), text.size());
    } else {
      const auto place = static_cast<std::int32_t>(data.size());
      std::memcpy(view.bytes + 4, text.data(), 4);
      std::memcpy(view.bytes + 12, &place, 4);
      data.insert(data.end(), text.begin(), text.end());
    }
    views.push_back(view);
  }
  const auto held_views = exact(views);
  const auto held_data = exact(data);
  const void* buffers[3] = {nullptr, held_views.get(), held_data.get()};
  ArrowSchema schema{};
  schema.format = "vu";
  ArrowArray array{};
  array.length = static_cast<std::int64_t>(rows.texts.size());
  array.offset = static_cast<std::int64_t>(skipped);
  array.n_buffers = 3;
  array.buffers = buffers;
  work(TextColumn(schema, array));
}

void check_map(const Rows& rows, const TextColumn& column, bool has_nulls) {
  BatchCounts counts;
  const auto append_normal_form = [](std::string_view text, std::string& out, BatchCounts& seen) {
    if (normalize_url(text, kAllSteps, out)) return;
    ++seen.not_urls;
    out.append(text);
  };
  const Column mapped = map_texts(column, 2, counts, row_by_row(append_normal_form));
  with_exported(mapped, [&](const TextColumn& result) {
    promise(result.size() == column.size(), "as many rows out as in");
    for (std::size_t i = 0; i < rows.texts.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      const bool is_null = has_nulls && rows.is_null[i];
      promise(result.is_null(row) == is_null && column.is_null(row) == is_null, "nulls stay nulls");
      if (is_null) continue;
      promise(column[row] == rows.texts[i], "a column gives its texts");
      std::string expected;
      if (!normalize_url(rows.texts[i], kAllSteps, expected)) expected = rows.texts[i];
      promise(result[row] == expected, "a batch equals one at a time");
    }
  });
}

void check_tokens(const TextColumn& column, TokenStyle style) {
  const TokenCodes view = token_codes(column, style);
  with_exported(view.vocabulary, [&](const TextColumn& vocabulary) {
    for (std::int64_t row = 0; row < column.size(); ++row) {
      const auto begin = static_cast<std::size_t>(view.offsets[static_cast<std::size_t>(row)]);
      const auto end = static_cast<std::size_t>(view.offsets[static_cast<std::size_t>(row) + 1]);
      promise((begin == end) == column.is_null(row), "a null has no tokens");
      std::string text;
      for (std::size_t i = begin + 1; i + 1 < end; ++i) text.append(vocabulary[view.codes[i]]);
      if (begin != end) promise(text == column[row], "tokens give their URL back");
    }
    for (std::int64_t code = 3; code < vocabulary.size(); ++code) {
      promise(vocabulary[code - 1] < vocabulary[code], "codes are ranks");
    }
  });
}

void check_key_values(const TextColumn& column, bool semicolons) {
  const KeyValueCodes view = key_value_codes(column, semicolons);
  promise(view.keys.size() == view.values.size() && view.keys.size() == view.separators.size(), "three equal columns");
  promise(view.offsets.size() == static_cast<std::size_t>(column.size()) + 1, "an offset more than rows");
  for (const auto key : view.keys) promise(key < view.key_names.length, "each key has a name");
  for (const auto value : view.values) promise(value < view.value_texts.length, "each value has a text");
  with_exported(view.value_texts, [&](const TextColumn& texts) {
    for (std::int64_t code = 2; code < texts.size(); ++code) promise(texts[code - 1] < texts[code], "codes are ranks");
  });
}

void check_columns(std::string_view data) {
  const Rows rows = rows_of(data);
  const std::size_t skipped = data.size() % 11;
  const auto check = [&](const TextColumn& column) {
    check_map(rows, column, true);
    check_key_values(column, data.size() % 2 == 0);
    for (const auto style : {TokenStyle::kTriplets, TokenStyle::kWords, TokenStyle::kRuns, TokenStyle::kTypes}) {
      check_tokens(column, style);
    }
  };
  with_offsets<std::int32_t>(rows, "u", skipped, check);
  with_offsets<std::int64_t>(rows, "Z", skipped, check);
  with_views(rows, skipped, [&](const TextColumn& column) { check_map(rows, column, false); });
}

// ---- lines

void check_lines(std::string_view data) {
  const auto copy = [](std::string_view line, std::string& out, BatchCounts& seen) {
    promise(line.find('\n') == std::string_view::npos, "a line has no line break");
    ++seen.changed;
    out.append(line);
  };
  // Long enough that two threads share it, whatever is repeated.
  std::string text(data);
  if (data.size() % 16 == 7) {
    while (text.size() < 3 * static_cast<std::size_t>(kRowsWorthAThread)) text.append(data);
  }
  BatchCounts counts;
  std::string out;
  const std::int64_t lines = map_lines(text, 3, counts, out, row_by_row(copy));
  const auto breaks = std::count(text.begin(), text.end(), '\n');
  promise(out == text, "copied lines are the same lines");
  promise(lines == breaks + (!text.empty() && text.back() != '\n') && counts.changed == lines, "lines are counted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SuffixList kSuffixes("com\nuk\nco.uk\n*.ck\n!www.ck\ngithub.io\n\xe4\xb8\xad\xe5\x9b\xbd\n");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_split(text);
  check_steps(text);
  check_normal_form(text, kSuffixes);
  check_columns(text);
  check_lines(text);
  std::string name, again;
  if (domain_to_ascii(text, name)) promise(domain_to_ascii(name, again) && again == name, "IDNA is idempotent");
  const SuffixList strange(text);
  const std::string_view site = strange.site_of_host("a.b.example.com");
  promise(std::string_view("a.b.example.com").ends_with(site) && !site.empty(), "any list gives a site");
  return 0;
}
