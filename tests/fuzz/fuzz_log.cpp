// Access log lines under the fuzzer: what cpp/log_lines.hpp promises of any bytes and several formats.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arrow.hpp"
#include "exported.hpp"
#include "log_lines.hpp"
#include "log_text.hpp"
#include "promise.hpp"

namespace {

using namespace undust;

std::vector<LogPart> stock_parts() {
  return {{LogField::kOther, " [", false, false}, {LogField::kClfTime, "] \"", false, false},
          {LogField::kRequest, "\" ", false, false}, {LogField::kStatus, " ", false, true},
          {LogField::kSize, " ", false, true}, {LogField::kOther, "", false, false}};
}

std::vector<LogFormat> formats() {
  std::vector<LogPart> with_host = stock_parts();
  with_host.insert(with_host.begin(), {LogField::kHost, " ", false, false});
  return {{"", stock_parts(), "https://shop.test", "https", ""},
          {"", with_host, "", "", ""},
          {"",
           {{LogField::kIsoTime, " ", false, false}, {LogField::kScheme, "://", false, false},
            {LogField::kHost, "/", true, false}, {LogField::kTarget, " ", false, false},
            {LogField::kQuery, " ", false, false}, {LogField::kPort, " ", false, true},
            {LogField::kRedirect, "", false, false}},
           "", "", ""},
          {"\"", {{LogField::kTarget, "\"", false, false}, {LogField::kMicroseconds, "", false, false}}, "", "", ""},
          {"", {{LogField::kSeconds, "|", false, false}, {LogField::kTarget, "", false, false}}, "http://a", "http", "8"}};
}

std::vector<std::string> texts(const Column& column) {
  std::vector<std::string> all;
  with_exported(column, [&](const TextColumn& rows) {
    for (std::int64_t row = 0; row < rows.size(); ++row) all.emplace_back(rows.is_null(row) ? "" : rows[row]);
  });
  return all;
}

bool is_clean(std::string_view url) {
  std::string again;
  append_url_bytes(url, again);
  return again == url;
}

void check_format(std::string_view data, const LogFormat& format) {
  const LogColumns all = read_log_lines(data, format);
  const std::vector<std::string> urls = texts(all.url), redirects = texts(all.redirect);
  const std::string& events = *all.events.buffers[1];
  std::int64_t without_row = 0, written = 0;
  for (const char event : events) without_row += event < static_cast<char>(LogEvent::kLostTime);
  for (std::size_t row = 0; row < urls.size(); ++row) {
    promise(is_clean(urls[row]) && is_clean(redirects[row]), "a URL holds no control, no space, and only UTF-8");
    promise(urls[row].find("://") != std::string::npos, "a URL has a scheme");
  }
  std::vector<std::string> one_by_one;
  std::int64_t lines = 0;
  while (!data.empty()) {
    const auto end = data.find('\n');
    const std::string_view line = data.substr(0, end);
    data.remove_prefix(end == std::string_view::npos ? data.size() : end + 1);
    const LogColumns one = read_log_lines(line, format);
    for (std::string& url : texts(one.url)) one_by_one.push_back(std::move(url));
    written += !line.empty() && line != "\r";
    ++lines;
  }
  promise(one_by_one == urls, "a line is read the same whatever stands beside it");
  promise(all.lines == lines, "lines are counted");
  promise(static_cast<std::int64_t>(urls.size()) + without_row == written, "a line is a row or has a reason");
  const auto rows = static_cast<std::int64_t>(urls.size());
  promise(all.status.length == rows && all.size.length == rows && all.time.length == rows, "columns are even");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<LogFormat> kFormats = formats();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const LogFormat& format : kFormats) check_format(text, format);
  std::string plain;
  append_unescaped(text, plain);
  promise(plain.size() <= text.size(), "what was escaped is never longer");
  return 0;
}
