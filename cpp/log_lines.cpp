#include "log_lines.hpp"

#include <array>
#include <optional>

#include "bytes.hpp"
#include "host.hpp"
#include "log_text.hpp"
#include "url.hpp"

namespace undust {
namespace {

constexpr std::size_t kFields = static_cast<std::size_t>(LogField::kMicroseconds) + 1;

// Numbers in the making, some of them unknown.
template <typename Number>
class NumberBuilder {
 public:
  void append(std::optional<std::int64_t> value) {
    if (numbers_.size() % 8 == 0) valid_.push_back('\0');
    if (value) valid_.back() |= static_cast<char>(1 << (numbers_.size() % 8));
    nulls_ += !value;
    numbers_.push_back(static_cast<Number>(value.value_or(0)));
  }
  [[nodiscard]] Column finish(const char* format) && {
    Column column = number_column(format, numbers_);
    column.null_count = nulls_;
    if (nulls_) column.buffers[0] = std::make_shared<const std::string>(std::move(valid_));
    return column;
  }

 private:
  std::vector<Number> numbers_;
  std::string valid_;
  std::int64_t nulls_ = 0;
};

// The first place of `until`, not behind a backslash if it starts with a quote.
std::size_t find_until(std::string_view line, std::size_t from, std::string_view until) {
  auto at = line.find(until, from);
  if (until.front() != '"') return at;
  for (; at != std::string_view::npos; at = line.find(until, at + 1)) {
    std::size_t backslashes = 0;
    while (at > from + backslashes && line[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) break;
  }
  return at;
}

bool starts_with_scheme(std::string_view text, std::string_view scheme) {
  if (text.size() < scheme.size()) return false;
  for (std::size_t at = 0; at < scheme.size(); ++at) {
    if (lower(text[at]) != scheme[at]) return false;
  }
  return true;
}

bool is_http_url(std::string_view text) {
  return starts_with_scheme(text, "http://") || starts_with_scheme(text, "https://");
}

bool is_unknown(std::string_view value) { return value.empty() || value == "-" || value == "_"; }

class LogReader {
 public:
  explicit LogReader(const LogFormat& format) : format_(format) {}

  void read(std::string_view data) {
    const char* const start = data.data();
    while (!data.empty()) {
      const auto feed = data.find('\n');
      std::string_view line = data.substr(0, feed);
      data.remove_prefix(feed == std::string_view::npos ? data.size() : feed + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      offset_ = line.data() - start;
      length_ = static_cast<std::int64_t>(line.size());
      if (!line.empty()) read_line(line);
      ++lines_;
    }
  }

  [[nodiscard]] LogColumns finish() && {
    return {std::move(urls_).finish("u"),
            std::move(statuses_).finish("s"),
            std::move(sizes_).finish("l"),
            std::move(times_).finish("tsu:UTC"),
            std::move(redirects_).finish("u"),
            number_column("C", events_),
            number_column("l", event_lines_),
            number_column("l", event_offsets_),
            number_column("l", event_lengths_),
            lines_};
  }

 private:
  void note(LogEvent event) {
    events_.push_back(static_cast<std::uint8_t>(event));
    event_lines_.push_back(lines_);
    event_offsets_.push_back(offset_);
    event_lengths_.push_back(length_);
  }

  [[nodiscard]] std::string_view field(LogField which) const { return fields_[static_cast<std::size_t>(which)]; }

  [[nodiscard]] bool split(std::string_view line) {
    if (!line.starts_with(format_.before)) return false;
    fields_.fill({});
    std::size_t at = format_.before.size();
    for (const LogPart& part : format_.parts) {
      auto end = part.until.empty() ? line.size() : find_until(line, at, part.until);
      const bool is_last = end == std::string_view::npos;
      if (is_last && !part.may_be_last) return false;
      if (is_last) end = line.size();
      fields_[static_cast<std::size_t>(part.field)] = line.substr(at, end - at);
      if (is_last) return true;
      at = end + (part.keeps_until ? 0 : part.until.size());
    }
    return at == line.size();
  }

  // The request line taken apart into method and target, which may hold spaces.
  [[nodiscard]] bool split_request() {
    const std::string_view request = field(LogField::kRequest);
    if (request.empty()) return !field(LogField::kTarget).empty();
    const auto method_end = request.find(' ');
    if (method_end == std::string_view::npos || method_end == 0) return false;
    std::string_view target = request.substr(method_end + 1);
    const auto protocol = target.rfind(' ');
    if (protocol != std::string_view::npos && target.substr(protocol + 1).starts_with("HTTP/")) {
      target = target.substr(0, protocol);
    }
    fields_[static_cast<std::size_t>(LogField::kMethod)] = request.substr(0, method_end);
    fields_[static_cast<std::size_t>(LogField::kTarget)] = target;
    return !target.empty();
  }

  void read_line(std::string_view line) {
    if (!split(line)) return note(LogEvent::kNoFit);
    const std::string_view status_text = field(LogField::kStatus);
    const auto status = whole_number(status_text);
    if (!is_unknown(status_text) && (!status || *status > 999)) return note(LogEvent::kNoFit);
    if (!split_request()) return note(LogEvent::kNoRequest);
    const std::string_view method = field(LogField::kMethod);
    for (const char c : method) {
      if (!has(kUpper, c) && !has(kLower, c) && c != '-' && c != '_') return note(LogEvent::kNoRequest);
    }
    if (!method.empty() && method != "GET" && method != "HEAD") return note(LogEvent::kOtherMethod);
    if (!append_url()) return;
    statuses_.append(status && *status >= 100 ? status : std::nullopt);
    // What was sent is then not the page: nothing, or a part of it.
    const bool has_size = method != "HEAD" && status != 206 && status != 304;
    sizes_.append(has_size ? read_size() : std::nullopt);
    times_.append(read_time());
    append_redirect();
  }

  [[nodiscard]] bool append_url() {
    std::string_view target = unescaped(field(LogField::kTarget), target_);
    std::string& out = urls_.text();
    if (target.starts_with('/')) {
      if (!find_origin()) {
        note(LogEvent::kNoHost);
        return false;
      }
      out.append(origin_);
    } else if (!is_absolute(target)) {
      note(LogEvent::kOddTarget);
      return false;
    }
    append_url_bytes(target, out);
    std::string_view query = field(LogField::kQuery);
    if (query.starts_with('?')) query.remove_prefix(1);
    if (!query.empty() && query != "-") {
      out.push_back('?');
      append_url_bytes(unescaped(query, target_), out);
    }
    urls_.end_row();
    return true;
  }

  // A proxy is asked for whole URLs; only http(s) ones that have a host are pages.
  [[nodiscard]] bool is_absolute(std::string_view target) {
    UrlParts parts;
    scratch_.clear();
    return is_http_url(target) && split_url(target, parts) && append_host(parts.host, kAllSteps, scratch_);
  }

  static std::string_view unescaped(std::string_view text, std::string& held) {
    if (text.find('\\') == std::string_view::npos) return text;
    held.clear();
    append_unescaped(text, held);
    return held;
  }

  // What stands before the path: from the line's host or, if it has none, from the base.
  [[nodiscard]] bool find_origin() {
    const std::string_view host = field(LogField::kHost);
    if (is_unknown(host)) {
      origin_ = format_.base;
      origin_host_.clear();
      return !origin_.empty();
    }
    const std::string_view port = field(LogField::kPort), scheme = field(LogField::kScheme);
    // Neighbouring lines mostly have one host.
    if (host == origin_host_ && port == origin_port_ && scheme == origin_scheme_) return !origin_.empty();
    origin_host_ = host;
    origin_port_ = port;
    origin_scheme_ = scheme;
    origin_.clear();
    if (append_origin(host, port, scheme)) return true;
    origin_ = format_.base;
    return !origin_.empty();
  }

  [[nodiscard]] bool append_origin(std::string_view host, std::string_view port, std::string_view scheme) {
    const auto colon = host.rfind(':');
    if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
      port = host.substr(colon + 1);
      host = host.substr(0, colon);
    }
    if (is_unknown(port)) port = {};
    if (!format_.scheme.empty()) {
      scheme = format_.scheme;
      port = format_.port;
    } else if (scheme != "http" && scheme != "https") {
      scheme = port == "443" ? "https" : "http";
    }
    const bool is_default = port == (scheme == "https" ? "443" : "80");
    scratch_.clear();
    if (!append_host(host, kAllSteps, scratch_) || (!port.empty() && whole_number(port).value_or(65536) > 65535)) {
      return false;
    }
    origin_.append(scheme).append("://").append(scratch_);
    if (!port.empty() && !is_default) origin_.append(":").append(port);
    return true;
  }

  void append_redirect() {
    const std::string_view target = unescaped(field(LogField::kRedirect), target_);
    std::string& out = redirects_.text();
    if (target.starts_with('/') && find_origin()) {
      out.append(origin_, 0, target.starts_with("//") ? origin_.find("//") : origin_.size());
    } else if (!is_http_url(target)) {
      return redirects_.append_null();
    }
    append_url_bytes(target, out);
    redirects_.end_row();
  }

  [[nodiscard]] std::optional<std::int64_t> read_size() {
    const std::string_view text = field(LogField::kSize);
    if (is_unknown(text)) return std::nullopt;
    const auto size = whole_number(text);
    if (!size) note(LogEvent::kLostSize);
    return size;
  }

  [[nodiscard]] std::optional<std::int64_t> read_time() {
    std::optional<std::int64_t> time;
    std::string_view text;
    const auto is_there = [&](LogField which) {
      text = field(which);
      return !text.empty();
    };
    if (is_there(LogField::kClfTime)) {
      if (time_ && text == time_text_) return time_;  // a busy second
      time = clf_time(text);
      time_text_ = text;
      time_ = time;
    } else if (is_there(LogField::kIsoTime)) {
      time = iso_time(text);
    } else if (is_there(LogField::kMicroseconds)) {
      time = epoch_time(text, 1);
    } else if (is_there(LogField::kMilliseconds)) {
      time = epoch_time(text, 1'000);
    } else if (is_there(LogField::kSeconds)) {
      time = epoch_time(text, 1'000'000);
    }
    if (!time && !is_unknown(text)) note(LogEvent::kLostTime);
    return time;
  }

  const LogFormat& format_;
  std::array<std::string_view, kFields> fields_{};
  std::string origin_, origin_host_, origin_port_, origin_scheme_, target_, scratch_;
  std::string_view time_text_;
  std::optional<std::int64_t> time_;
  TextBuilder urls_, redirects_;
  NumberBuilder<std::int16_t> statuses_;
  NumberBuilder<std::int64_t> sizes_, times_;
  std::vector<std::uint8_t> events_;
  std::vector<std::int64_t> event_lines_, event_offsets_, event_lengths_;
  std::int64_t lines_ = 0, offset_ = 0, length_ = 0;
};

}  // namespace

LogColumns read_log_lines(std::string_view data, const LogFormat& format) {
  LogReader reader(format);
  reader.read(data);
  return std::move(reader).finish();
}

}  // namespace undust
