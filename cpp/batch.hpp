// One function over the rows of a column, on one thread or several, with the same answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
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
  std::vector<std::jthread> others;
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
  others.clear();
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

// A text column made row by row: append_row(text, out, counts) appends the new text and counts.
template <typename Counts, typename AppendRow>
Column map_texts(const TextColumn& column, int threads, Counts& counts, AppendRow&& append_row) {
  const std::size_t parts = parts_of(column.size(), threads);
  std::vector<TextBuilder> builders(parts);
  std::vector<Counts> part_counts(parts);
  in_parts(column.size(), parts, [&](std::int64_t begin, std::int64_t end, std::size_t part) {
    TextBuilder& builder = builders[part];
    builder.reserve(end - begin, static_cast<std::size_t>(end - begin) * 64);
    for (std::int64_t row = begin; row < end; ++row) {
      if (column.is_null(row)) {
        builder.append_null();
      } else {
        append_row(column[row], builder.text(), part_counts[part]);
        builder.end_row();
      }
    }
  });
  for (std::size_t part = 0; part < parts; ++part) {
    counts += part_counts[part];
    if (part) builders[0].append_all(builders[part]);
  }
  return std::move(builders[0]).finish(column.output_format());
}

// Lines made from lines, in order: each ends as it ended before ("\n", "\r\n" or, for the
// last one, not at all). append_row as above. Returns how many lines there were.
template <typename Counts, typename AppendRow>
std::int64_t map_lines(std::string_view data, int threads, Counts& counts, std::string& out,
                       AppendRow&& append_row) {
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
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size());
      const std::string_view text = line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
      append_row(text, part.text, part.counts);
      part.text.append(line.substr(text.size()));
      if (!rest.empty()) {
        part.text.push_back('\n');
        rest.remove_prefix(1);
      }
      ++part.lines;
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
