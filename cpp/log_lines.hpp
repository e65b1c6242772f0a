// Access logs: lines of a server, by a format that Python compiled, to columns.
//
// A line is read from left to right. Every part of the format ends where the text between it
// and the next part begins, which a backslash before a quote hides; nothing is tried twice.
//
//   203.0.113.7 - - [15/Nov/2026:00:23:57 +0000] "GET /a?b=1 HTTP/1.1" 200 512
//   kOther until " ["  kClfTime until "] \""     kRequest until "\" "  …
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arrow.hpp"

namespace undust {

enum class LogField : std::uint8_t {
  kOther,
  kRequest,  // method, target and protocol
  kMethod,
  kTarget,
  kQuery,  // with or without its "?"
  kHost,   // with or without a port
  kPort,
  kScheme,
  kStatus,
  kSize,
  kRedirect,
  kClfTime,  // 15/Nov/2026:00:23:57 +0000
  kIsoTime,  // 2026-11-15T00:23:57+00:00
  kSeconds,  // since 1970, with or without a fraction
  kMilliseconds,
  kMicroseconds,
};

struct LogPart {
  LogField field = LogField::kOther;
  std::string until;       // empty: the rest of the line
  bool keeps_until = false;  // it is the first byte of the next part
  bool may_be_last = false;  // the line may end instead
};

struct LogFormat {
  std::string before;  // what every line starts with
  std::vector<LogPart> parts;
  std::string base;          // put before a path where the line names no host; may be empty
  std::string scheme, port;  // what the base says of every host; empty without a base
};

// Why a line gave no row, or a row without one of its values.
enum class LogEvent : std::uint8_t {
  kNoFit,        // does not have the format
  kNoRequest,    // the client sent no request line
  kOtherMethod,  // not GET, not HEAD
  kOddTarget,    // neither a path nor an http(s) URL
  kNoHost,       // a path, and no host is known
  kLostTime,     // a row whose time cannot be read
  kLostSize,     // a row whose size cannot be read
};

struct LogColumns {
  Column url, status, size, time, redirect;
  // One entry for each event: what, and in which line (counted from 0) of the data.
  Column events, event_lines, event_offsets, event_lengths;
  std::int64_t lines = 0;
};

// Reads whole lines; empty ones count as lines and give nothing.
[[nodiscard]] LogColumns read_log_lines(std::string_view data, const LogFormat& format);

}  // namespace undust
