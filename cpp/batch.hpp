// One function over the rows of a column, on one thread or several, with the same answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "arrow.hpp"

namespace undust {

// Below this many rows a second thread costs more than it brings.
inline constexpr std::int64_t kRowsWorthAThread = 4096;

// Into how many parts `rows` are cut for at most so many threads.
[[nodiscard]] inline std::size_t parts_of(std::int64_t rows, int threads) {
  const std::int64_t most = std::max<std::int64_t>(1, rows / kRowsWorthAThread);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(threads, 1, most));
}

// Calls work(begin, end, part) for consecutive parts of [0, rows), each on its own thread.
// The first exception is thrown again here.
template <typename Work>
void in_parts(std::int64_t rows, std::size_t parts, Work&& work) {
  std::vector<std::exception_ptr> failures(parts);
  const auto run = [&](std::size_t part) {
    const auto count = static_cast<std::int64_t>(parts), at = static_cast<std::int64_t>(part);
    try {
      work(rows * at / count, rows * (at + 1) / count, part);
    } catch (...) {
      failures[part] = std::current_exception();
    }
  };
  std::vector<std::thread> others;  // not jthread, which some C++20 libraries lack
  others.reserve(parts);
  std::size_t here = parts;
  for (std::size_t part = 1; part < parts; ++part) {
    try {
      others.emplace_back(run, part);
    } catch (const std::system_error&) {  // the system has no thread to give: do the rest here
      here = part;
      break;
    }
  }
  run(0);
  for (; here < parts; ++here) run(here);
  for (std::thread& other : others) other.join();
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

// What happened to the rows of a batch.
struct BatchCounts {
  std::int64_t changed = 0, not_urls = 0;

  BatchCounts& operator+=(const BatchCounts& other) {
    changed += other.changed;
    not_urls += other.not_urls;
    return *this;
  }
};

// So many rows are handed on together.
inline constexpr std::size_t kRowsTogether = 512;

// A rows function, as map_texts and map_lines take it, that goes row by row: append_row(text, out, counts)
// appends the new text and counts.
template <typename AppendRow>
[[nodiscard]] auto row_by_row(AppendRow append_row) {
  return [append_row](std::span<const std::string_view> texts, std::string& out, auto& counts, auto&& end_row) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      append_row(texts[i], out, counts);
      end_row(i);
    }
  };
}

// A text column made from one: append_rows(texts, out, counts, end_row) appends the new text of each
// row to `out` in order, calls end_row(i) behind it, and counts.
template <typename Counts, typename AppendRows>
Column map_texts(const TextColumn& column, int threads, Counts& counts, AppendRows&& append_rows) {
  const std::size_t parts = parts_of(column.size(), threads);
  std::vector<TextBuilder> builders(parts);
  std::vector<Counts> part_counts(parts);
  in_parts(column.size(), parts, [&](std::int64_t begin, std::int64_t end, std::size_t part) {
    TextBuilder& builder = builders[part];
    builder.reserve(end - begin, static_cast<std::size_t>(end - begin) * 64);
    std::vector<std::string_view> texts;
    const auto flush = [&] {
      append_rows(texts, builder.text(), part_counts[part], [&](std::size_t) { builder.end_row(); });
      texts.clear();
    };
    for (std::int64_t row = begin; row < end; ++row) {
      if (column.is_null(row)) {
        flush();
        builder.append_null();
      } else {
        texts.push_back(column[row]);
        if (texts.size() == kRowsTogether) flush();
      }
    }
    flush();
  });
  for (std::size_t part = 0; part < parts; ++part) {
    counts += part_counts[part];
    if (part) builders[0].append_all(builders[part]);
  }
  return std::move(builders[0]).finish(column.output_format());
}

// Some lines of a text, each as what it says and how it ends.
struct LineRun {
  std::vector<std::string_view> texts, ends;

  // Takes lines from the front of `rest`, as many as are handed on together.
  void take(std::string_view& rest) {
    texts.clear();
    ends.clear();
    while (!rest.empty() && texts.size() < kRowsTogether) {
      const std::size_t size = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, std::min(size + 1, rest.size()));
      rest.remove_prefix(line.size());
      const std::size_t text_size = size > 0 && line[size - 1] == '\r' ? size - 1 : size;
      texts.push_back(line.substr(0, text_size));
      ends.push_back(line.substr(text_size));
    }
  }
};

// Lines made from lines, in order: each ends as it ended before ("\n", "\r\n" or, for the
// last one, not at all). append_rows as above. Returns how many lines there were.
template <typename Counts, typename AppendRows>
std::int64_t map_lines(std::string_view data, int threads, Counts& counts, std::string& out,
                       AppendRows&& append_rows) {
  struct Part {
    std::string text;
    Counts counts;
    std::int64_t lines = 0;
  };
  // The line that a place lies in belongs to the part in which it starts.
  const auto line_start = [data](std::int64_t place) {
    if (place == 0) return std::size_t{0};
    const auto end = data.find('\n', static_cast<std::size_t>(place) - 1);
    return end == std::string_view::npos ? data.size() : end + 1;
  };
  const auto bytes = static_cast<std::int64_t>(data.size());
  std::vector<Part> results(parts_of(bytes, threads));
  in_parts(bytes, results.size(), [&](std::int64_t begin, std::int64_t end, std::size_t number) {
    Part& part = results[number];
    std::string_view rest = data.substr(line_start(begin), line_start(end) - line_start(begin));
    part.text.reserve(rest.size() + rest.size() / 8);
    LineRun run;
    while (!rest.empty()) {
      run.take(rest);
      append_rows(run.texts, part.text, part.counts, [&](std::size_t i) { part.text.append(run.ends[i]); });
      part.lines += static_cast<std::int64_t>(run.texts.size());
    }
  });
  std::int64_t lines = 0;
  for (const Part& part : results) {
    out.append(part.text);
    lines += part.lines;
    counts += part.counts;
  }
  return lines;
}

}  // namespace undust
