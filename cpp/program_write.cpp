#include "program_write.hpp"

#include <algorithm>

#include "bytes.hpp"

namespace undust {
namespace {

enum class Where { kScheme, kHost, kPath, kValue, kParameter };

constexpr ByteSet kLetter = kLower | kUpper;
constexpr ByteSet kLabelBytes = kLetter | kDigit | bytes_of("_-");
constexpr std::size_t kLongestLabel = 63;
constexpr ByteSet kPlainInPath = bytes_of("!$&'()*+,=:@");
constexpr ByteSet kPlainInName = bytes_of("!$'()*,:@/?");
constexpr ByteSet kPlainInValue = kPlainInName | bytes_of("=");

// Whether a text has characters that may mean something else where it goes.
bool is_escaped(Holds holds, Where where) {
  return (holds == Holds::kValue && where == Where::kPath) || (holds != Holds::kValue && where == Where::kValue);
}

void append_escaped(std::string_view text, Holds holds, Where where, std::string& out) {
  if (!is_escaped(holds, where)) {
    out.append(text);
    return;
  }
  const bool to_path = where == Where::kPath;
  for (const char c : text) {
    if (to_path && c == '+') {
      out.append("%20");
    } else if (to_path ? c == '?' : c == '&' || c == '+' || c == ';') {
      append_triplet(static_cast<unsigned char>(c), out);
    } else {
      out.push_back(c);
    }
  }
}

void lower_from(std::size_t start, std::string& out) {
  for (std::size_t at = start; at < out.size(); ++at) {
    if (out[at] == '%') {
      at += 2;
    } else {
      out[at] = lower(out[at]);
    }
  }
}

void append_plain(std::string_view text, const ByteSet& plain, bool in_query, std::string& out) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int byte = triplet_at(text, at);
    if (byte >= 0 && plain[static_cast<std::size_t>(byte)]) {
      out.push_back(static_cast<char>(byte));
      at += 2;
    } else if (in_query && text[at] == '+') {
      out.append("%20");
    } else {
      out.push_back(text[at]);
    }
  }
}

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= kLongestLabel &&
         std::all_of(text.begin(), text.end(), [](char c) { return has(kLabelBytes, c); });
}

// Whether one piece writes what another one took.
bool is_written_as_read(const Piece& read, const Piece& written) {
  return read.slot != kForgotten && read.slot == written.slot && written.kind == PieceKind::kRun && written.form == Form::kNone;
}

class Writer {
 public:
  Writer(const Pattern& to, const PieceView& pieces, const UrlView& url, const Match& match, WriteScratch& scratch,
         std::string& out)
      : to_(to), pieces_(pieces), url_(url), match_(match), scratch_(scratch), out_(out),
        piece_(pieces.all + to.first) {}

  [[nodiscard]] bool write() {
    out_.clear();
    write_scheme();
    put("://");
    return write_host() && write_rest();
  }

  [[nodiscard]] bool write_behind_authority() {
    start_with(url_.path.data());
    piece_ += to_.host_pieces;
    return write_rest();
  }

  void write_behind_path() {
    start_with(url_.path.data() + url_.path.size());
    piece_ += to_.host_pieces + to_.path_pieces;
    write_query();
    put_pending();
  }

 private:
  // The URL up to a place in it.
  void start_with(const char* end) {
    out_.clear();
    pending_ = {url_.url.data(), static_cast<std::size_t>(end - url_.url.data())};
  }

  [[nodiscard]] bool write_rest() {
    if (!write_path()) return false;
    write_query();
    put_pending();
    return true;
  }

  // Most of the result stands in the URL as it is, with the literals between its parts. What stands together there is
  // pending until something else comes, and then written as one text.
  void put_pending() {
    out_.append(pending_);
    pending_ = {};
  }

  // Of the URL.
  void put_part(std::string_view part) {
    if (part.empty()) return;
    if (part.data() == pending_.data() + pending_.size()) {
      pending_ = {pending_.data(), pending_.size() + part.size()};
      return;
    }
    put_pending();
    pending_ = part;
  }

  // Any other text.
  void put(std::string_view text) {
    if (behind_pending().starts_with(text)) {
      pending_ = {pending_.data(), pending_.size() + text.size()};
      return;
    }
    put_pending();
    out_.append(text);
  }
  void put(char c) {
    if (behind_pending().starts_with(c)) {
      pending_ = {pending_.data(), pending_.size() + 1};
      return;
    }
    put_pending();
    out_.push_back(c);
  }

  // What follows in the URL; nothing if nothing is pending.
  [[nodiscard]] std::string_view behind_pending() const {
    if (pending_.empty()) return {};
    const char* const next = pending_.data() + pending_.size();
    return {next, static_cast<std::size_t>(url_.url.data() + url_.url.size() - next)};
  }

  [[nodiscard]] std::size_t size() const { return out_.size() + pending_.size(); }

  // A masked scheme is still written: without it nothing could be normalized.
  void write_scheme() {
    const Form form = to_.scheme_form == Form::kMask ? Form::kNone : to_.scheme_form;
    switch (to_.scheme) {
      case SchemeShape::kHttp: put("http"); break;
      case SchemeShape::kHttps: put("https"); break;
      default: append_formed(match_.texts[to_.scheme_slot], Holds::kScheme, form, Where::kScheme);
    }
  }

  [[nodiscard]] bool write_host() {
    const Piece* end = piece_ + to_.host_pieces;
    for (bool is_first = true; piece_ != end; is_first = false) {
      if (!is_first) put('.');
      if (!write_mixture(Where::kHost)) return false;
    }
    if (to_.port != kNoPort) put(':');
    if (to_.port >= 0) put(std::to_string(to_.port));
    return true;
  }

  [[nodiscard]] bool write_path() {
    const std::size_t start = size();
    const Piece* end = piece_ + to_.path_pieces;
    bool has_runs = false;
    while (piece_ != end) {
      const bool is_run = piece_->kind == PieceKind::kRun;
      const bool is_segments = is_run && piece_->at == static_cast<std::uint16_t>(Holds::kSegments);
      const bool is_nothing = is_segments && piece_->form != Form::kMask && !match_.texts[piece_->slot].data();
      if (is_nothing) {
        ++piece_;
        continue;
      }
      has_runs |= (is_run && !is_segments) || !piece_->ends;
      put('/');
      (void)write_mixture(Where::kPath);
    }
    if (size() == start) put('/');
    if (!has_runs) return true;
    if (is_beginning()) return !is_dot_segment(pending_.substr(pending_.rfind('/') + 1));
    put_pending();
    return !has_dot_segment(std::string_view(out_).substr(start));
  }

  // Whether all that is written stands at the beginning of the URL, of which only the last segment may have been cut.
  [[nodiscard]] bool is_beginning() const { return out_.empty() && pending_.data() == url_.url.data(); }

  [[nodiscard]] static bool is_dot_segment(std::string_view segment) { return segment == "." || segment == ".."; }

  [[nodiscard]] static bool has_dot_segment(std::string_view path) {
    if (path.find('.') == std::string_view::npos) return false;
    for (auto at = path.find("/."); at != std::string_view::npos; at = path.find("/.", at + 1)) {
      std::string_view rest = path.substr(at + 2);
      if (rest.starts_with('.')) rest.remove_prefix(1);
      if (rest.empty() || rest.starts_with('/')) return true;
    }
    return false;
  }

  void write_query() {
    const Piece* end = piece_ + to_.query_pieces;
    if (piece_ == end) return;
    query_at_ = size();
    while (piece_ != end) {
      const Piece& piece = *piece_++;
      if (piece.kind == PieceKind::kRest) {
        write_parameters(piece);
        continue;
      }
      begin_parameter();
      put(pieces_.text_of(piece));
      if (piece.value != Value::kNoEquals) put('=');
      if (piece.value == Value::kText) (void)write_mixture(Where::kValue);
    }
    if (size() != query_at_ + 1) return;
    put_pending();  // "?" and nothing
    out_.pop_back();
  }

  void begin_parameter() {
    put(has_parameters_ ? '&' : '?');
    has_parameters_ = true;
  }

  // Literals and captures up to the one that ends; false for a bad host label.
  [[nodiscard]] bool write_mixture(Where where) {
    for (bool is_last = false; !is_last;) {
      const Piece& piece = *piece_++;
      is_last = piece.ends;
      if (piece.kind == PieceKind::kLiteral) {
        put(pieces_.text_of(piece));
        continue;
      }
      const auto holds = static_cast<Holds>(piece.at);
      const std::string_view text = match_.texts[piece.slot];
      if (where == Where::kHost && holds != Holds::kHost && !is_label(text)) return false;
      append_formed(text, holds, piece.form, where);
    }
    return true;
  }

  void append_formed(std::string_view text, Holds holds, Form form, Where where) {
    if (form == Form::kMask) {
      put('*');
      return;
    }
    if (form == Form::kNone && !is_escaped(holds, where)) {
      put_part(text);
      return;
    }
    put_pending();
    const std::size_t start = out_.size();
    append_escaped(text, holds, where, out_);
    if (form == Form::kLower) {
      lower_from(start, out_);
    } else if (form == Form::kCapital) {
      if (out_.size() > start && has(kLower, out_[start])) out_[start] = static_cast<char>(out_[start] ^ 0x20);
    } else if (form == Form::kPlain) {
      const bool in_query = where == Where::kValue;
      scratch_.text.assign(out_, start);
      out_.resize(start);
      append_plain(scratch_.text, in_query ? kPlainInValue : kPlainInPath, in_query, out_);
    }
  }

  void write_parameters(const Piece& piece) {
    if (piece.form == Form::kMask) {
      begin_parameter();
      put('*');
      return;
    }
    if (piece.form == Form::kNone) {
      write_unchanged(piece.slot);
      return;
    }
    auto& kept = scratch_.kept;
    kept.clear();
    const std::uint8_t* takers = match_.takers.begin();
    for (std::uint32_t i = 0; i < match_.takers.size(); ++i) {
      if (takers[i] == piece.slot) kept.push_back(i);
    }
    if (piece.form == Form::kSorted) sort(kept);
    if (piece.form == Form::kUnique || piece.form == Form::kFirst || piece.form == Form::kLast) drop_repeated(piece.form);
    for (const std::uint32_t i : kept) {
      begin_parameter();
      write_parameter(url_.parameters[i], piece.form);
    }
  }

  // Those that stand together in the URL are written as one text.
  void write_unchanged(std::uint8_t slot) {
    const std::uint8_t* takers = match_.takers.begin();
    const std::size_t count = match_.takers.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (takers[i] != slot) continue;
      const char* first = url_.parameters[i].text.data();
      while (i + 1 < count && takers[i + 1] == slot) ++i;
      const std::string_view last = url_.parameters[i].text;
      begin_parameter();
      put_part({first, static_cast<std::size_t>(last.data() + last.size() - first)});
    }
  }

  void write_parameter(const UrlParameter& parameter, Form form) {
    if (form != Form::kPlain && form != Form::kLower && form != Form::kAmp) {
      put_part(parameter.text);
      return;
    }
    put_pending();
    const std::size_t start = out_.size();
    if (form == Form::kPlain) {
      append_plain(parameter.name(), kPlainInName, true, out_);
      if (parameter.has_equals) out_.push_back('=');
      append_plain(parameter.value(), kPlainInValue, true, out_);
      return;
    }
    out_.append(parameter.text);
    if (form == Form::kLower) lower_from(start, out_);
    if (form == Form::kAmp) std::replace(out_.begin() + static_cast<std::ptrdiff_t>(start), out_.end(), ';', '&');
  }

  // By name and value; equal ones stay in order because their numbers decide.
  void sort(std::vector<std::uint32_t>& numbers) const {
    std::sort(numbers.begin(), numbers.end(), [this](std::uint32_t left, std::uint32_t right) {
      const UrlParameter &a = url_.parameters[left], &b = url_.parameters[right];
      return is_written_before(a, b) || (left < right && !is_written_before(b, a));
    });
  }

  // Keeps the first (or last) of the parameters of one name, or the first of equal ones.
  void drop_repeated(Form form) {
    auto& kept = scratch_.kept;
    auto& order = scratch_.order;
    const auto by = [this, form](std::uint32_t number) {
      const UrlParameter& parameter = url_.parameters[number];
      return form == Form::kUnique ? parameter.text : parameter.name();
    };
    order = kept;
    std::stable_sort(order.begin(), order.end(), [&by](std::uint32_t a, std::uint32_t b) { return by(a) < by(b); });
    kept.clear();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool is_first = i == 0 || by(order[i - 1]) != by(order[i]);
      const bool is_last = i + 1 == order.size() || by(order[i + 1]) != by(order[i]);
      if (form == Form::kLast ? is_last : is_first) kept.push_back(order[i]);
    }
    std::sort(kept.begin(), kept.end());
  }

  const Pattern& to_;
  const PieceView& pieces_;
  const UrlView& url_;
  const Match& match_;
  WriteScratch& scratch_;
  std::string& out_;
  const Piece* piece_;
  std::string_view pending_;  // of the URL, behind what is written
  std::size_t query_at_ = 0;
  bool has_parameters_ = false;
};

}  // namespace

bool is_written_before(const UrlParameter& left, const UrlParameter& right) {
  if (const int order = left.name().compare(right.name()); order != 0) return order < 0;
  if (left.has_equals != right.has_equals) return right.has_equals;
  return left.value() < right.value();
}

bool write_url(const Pattern& to, const PieceView& pieces, const UrlView& url, const Match& match, WriteScratch& scratch,
               std::string& out) {
  return Writer(to, pieces, url, match, scratch, out).write();
}

bool write_behind_authority(const Pattern& to, const PieceView& pieces, const UrlView& url, const Match& match,
                            WriteScratch& scratch, std::string& out) {
  return Writer(to, pieces, url, match, scratch, out).write_behind_authority();
}

void write_query(const Pattern& to, const PieceView& pieces, const UrlView& url, const Match& match, WriteScratch& scratch,
                 std::string& out) {
  Writer(to, pieces, url, match, scratch, out).write_behind_path();
}

bool keeps_authority(const Pattern& from, const Pattern& to, const PieceView& pieces) {
  const Piece &read = pieces.all[from.first], *written = pieces.all + to.first;
  if (from.scheme != SchemeShape::kCapture || to.scheme != SchemeShape::kCapture || to.scheme_form != Form::kNone) return false;
  if (from.scheme_slot == kForgotten || from.scheme_slot != to.scheme_slot) return false;
  if (from.host != HostShape::kWithPort || from.host_pieces != 1 || read.run_class != RunClass::kAny) return false;
  if (to.host_pieces != 1 || to.port != kNoPort || !is_written_as_read(read, *written)) return false;
  return std::none_of(written + 1, written + 1 + to.path_pieces + to.query_pieces, [](const Piece& piece) {
    const auto holds = static_cast<Holds>(piece.at);
    return piece.kind == PieceKind::kRun && (holds == Holds::kScheme || holds == Holds::kHost);
  });
}

bool keeps_front(const Pattern& from, const Pattern& to, const PieceView& pieces) {
  const Piece *read = pieces.all + from.first, *written = pieces.all + to.first;
  if (!keeps_authority(from, to, pieces) || from.path_pieces != 1 || to.path_pieces != 1) return false;
  if (read[1].kind != PieceKind::kMany || !is_written_as_read(read[1], written[1])) return false;
  return std::none_of(written + 2, written + 2 + to.query_pieces, [](const Piece& piece) {
    const auto holds = static_cast<Holds>(piece.at);
    return piece.kind == PieceKind::kRun && holds != Holds::kValue;
  });
}

bool moves_host(const Pattern& to, const PieceView& pieces) {
  const auto first = pieces.all + to.first + to.host_pieces;
  return std::any_of(first, first + to.path_pieces + to.query_pieces, [](const Piece& piece) {
    return piece.kind == PieceKind::kRun && piece.at == static_cast<std::uint16_t>(Holds::kHost);
  });
}

}  // namespace undust
