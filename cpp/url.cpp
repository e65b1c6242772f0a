#include "url.hpp"

#include <bit>

#include "byte_masks.hpp"
#include "bytes.hpp"
#include "host.hpp"

namespace undust {
namespace {

constexpr ByteSet kPathBytes = kUnreserved | kSubDelims | bytes_of(":@/");
constexpr ByteSet kQueryBytes = kPathBytes | bytes_of("?");
constexpr ByteSet kUserinfoBytes = kUnreserved | kSubDelims | bytes_of(":");

constexpr const ByteSet& allowed_in(Component component) {
  switch (component) {
    case Component::kUserinfo: return kUserinfoBytes;
    case Component::kPath: return kPathBytes;
    default: return kQueryBytes;  // RFC 3986 allows the same in query and fragment
  }
}

constexpr bool is_removed(char c) { return c == '\t' || c == '\n' || c == '\r'; }
constexpr bool is_slash(char c) { return c == '/' || c == '\\'; }
constexpr bool is_white(char c) { return static_cast<unsigned char>(c) <= 0x20; }

// Takes `expected` (lower case) from `text` at `at`, past any removed characters.
bool take(std::string_view text, std::size_t& at, char expected) {
  while (at < text.size() && is_removed(text[at])) ++at;
  if (at == text.size() || lower(text[at]) != expected) return false;
  ++at;
  return true;
}

// Where the scheme "http" or "https" and its colon begin and end in `text`.
bool split_scheme(std::string_view text, UrlParts& parts, std::size_t& at) {
  for (const char c : {'h', 't', 't', 'p'}) {
    if (!take(text, at, c)) return false;
  }
  std::size_t scheme_end = at;
  if (take(text, at, 's')) scheme_end = at;
  parts.scheme = text.substr(0, scheme_end);
  at = scheme_end;
  if (!take(text, at, ':')) return false;
  while (at < text.size() && (is_slash(text[at]) || is_removed(text[at]))) ++at;
  parts.separator = text.substr(scheme_end, at - scheme_end);
  return true;
}

// At most 65535, in digits; the empty port is a port too.
bool is_port(std::string_view port) {
  unsigned value = 0;
  for (const char c : port) {
    if (is_removed(c)) continue;
    if (!has(kDigit, c)) return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 65535) return false;
  }
  return true;
}

bool split_authority(std::string_view authority, UrlParts& parts) {
  if (const auto sign = authority.rfind('@'); sign != std::string_view::npos) {
    parts.has_userinfo = true;
    parts.userinfo = authority.substr(0, sign);
    authority.remove_prefix(sign + 1);
  }
  std::size_t search_from = 0;
  if (authority.find('[') != std::string_view::npos) {
    search_from = authority.find(']');
    if (search_from == std::string_view::npos) return false;
  }
  const auto colon = authority.find(':', search_from);
  parts.host = authority.substr(0, colon);
  if (colon != std::string_view::npos) {
    parts.has_port = true;
    parts.port = authority.substr(colon + 1);
  }
  return is_port(parts.port);
}

void trim_end(std::string_view& text) {
  while (!text.empty() && is_white(text.back())) text.remove_suffix(1);
}

// Cuts `text` before its first `mark`; true, with what follows in `rest`, if there is one.
bool cut_at(std::string_view& text, char mark, std::string_view& rest) {
  const auto place = text.find(mark);
  if (place == std::string_view::npos) return false;
  rest = text.substr(place + 1);
  text = text.substr(0, place);
  return true;
}

void append_scheme(std::string_view scheme, unsigned steps, std::string& out) {
  if (steps & kCase) {
    out.append(scheme.size() == 5 ? "https" : "http");
  } else {
    out.append(scheme);
  }
}

void append_port(const UrlParts& parts, unsigned steps, std::string& out) {
  std::string_view port = parts.port;
  if (steps & kPort) {
    while (port.size() > 1 && port.front() == '0') port.remove_prefix(1);
    if (port.empty() || port == (parts.scheme.size() == 5 ? "443" : "80")) return;
  }
  out.push_back(':');
  out.append(port);
}

void append_path(std::string_view path, unsigned steps, std::string& out) {
  if (path.empty()) {
    if (steps & kEmptyPath) out.push_back('/');
    return;
  }
  const std::size_t start = out.size();
  append_normal(path, Component::kPath, steps, out);
  if ((steps & kDots) && out.find("/.", start) != std::string::npos) {
    const std::string dotted(out, start);
    out.resize(start);
    append_without_dots(dotted, out);
  }
}

// The text without the characters that browsers delete, in `scratch` if there are any.
std::string_view without_removed(std::string_view text, std::string& scratch) {
  bool found = false;
  for (const char c : text) found |= is_removed(c);
  if (!found) return text;
  scratch.clear();
  for (const char c : text) {
    if (!is_removed(c)) scratch.push_back(c);
  }
  return scratch;
}

bool is_normal_triplet(std::string_view text, std::size_t at) {
  const int byte = triplet_at(text, at);
  return byte >= 0 && !kUnreserved[static_cast<std::size_t>(byte)] && !has(kLower, text[at + 1]) &&
         !has(kLower, text[at + 2]);
}

// All that is not in kPathBytes, as a comparison of many bytes at once.
constexpr auto is_special = [](Bytes16 c) {
  return (c - 0x21 > 0x5D) | (c == '"') | (c == '#') | (c == '%') | (c == '<') | (c == '>') | (c == '?') | (c - '[' < 4) |
         (c == '`') | (c - '{' < 3);
};

// Where the path and query that start at `at` end: at a fragment or with the text. Not found if
// something in them has to change.
std::size_t normal_end(std::string_view text, std::size_t at) {
  bool in_query = false;
  std::uint64_t after_slash = 0;
  for (; at < text.size(); at += kMaskBytes) {
    const Chunk chunk(text, at);
    const std::uint64_t slashes = chunk.mask([](Bytes16 c) { return c == '/'; });
    const std::uint64_t dots = chunk.mask([](Bytes16 c) { return c == '.'; }) & (slashes << 1 | after_slash);
    after_slash = slashes >> 63;
    for (std::uint64_t marks = chunk.mask(is_special) | dots; marks; marks &= marks - 1) {
      const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(marks));
      const char c = text[place];
      if (c == '.') {
        if (!in_query) return std::string_view::npos;
      } else if (c == '?') {
        in_query = true;
      } else if (c == '#') {
        return place;
      } else if (!is_normal_triplet(text, place)) {
        return std::string_view::npos;
      }
    }
  }
  return text.size();
}

// The length of the normal form if it is the text itself, but for a fragment; else 0. Most URLs
// are like that, and one look is cheaper than taking them apart.
std::size_t normal_size(std::string_view text) {
  const std::size_t host_at = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  const auto path_at = text.find('/', host_at);
  if (host_at == 0 || path_at == std::string_view::npos) return 0;
  if (!is_plain_name(text.substr(host_at, path_at - host_at))) return 0;
  const auto end = normal_end(text, path_at);
  return end == std::string_view::npos ? 0 : end;
}

}  // namespace

bool split_url(std::string_view text, UrlParts& parts) {
  parts = {};
  std::size_t start = 0, end = text.size();
  while (start < end && is_white(text[start])) ++start;
  while (end > start && is_white(text[end - 1])) --end;
  parts.before = text.substr(0, start);
  parts.after = text.substr(end);

  std::string_view rest = text.substr(start, end - start);
  std::size_t at = 0;
  if (!split_scheme(rest, parts, at)) return false;
  rest.remove_prefix(at);
  parts.has_fragment = cut_at(rest, '#', parts.fragment);
  parts.has_query = cut_at(rest, '?', parts.query);

  const auto path_at = rest.find_first_of("/\\");
  if (path_at != std::string_view::npos) parts.path = rest.substr(path_at);
  return split_authority(rest.substr(0, path_at), parts);
}

bool is_normal_from(std::string_view text, const UrlMasks& masks, std::size_t path_at) {
  if (path_at >= text.size()) return false;
  Places<&UrlKinds::specials> specials(masks, path_at);
  for (std::size_t place = specials.next(); place < text.size(); place = specials.next()) {
    const bool is_fine = text[place] == '.' ? place > masks.find<&UrlKinds::questions>(path_at) : is_normal_triplet(text, place);
    if (!is_fine) return false;
  }
  return true;
}

UrlParts split_normal(std::string_view url) {
  UrlParts parts;
  const std::size_t scheme_size = url.size() > 4 && url[4] == 's' ? 5 : 4;
  parts.scheme = url.substr(0, scheme_size);
  parts.separator = url.substr(scheme_size, 3);
  std::string_view rest = url.substr(scheme_size + 3);
  parts.has_query = cut_at(rest, '?', parts.query);

  const auto path_at = rest.find('/');
  parts.path = rest.substr(path_at);
  std::string_view authority = rest.substr(0, path_at);
  if (const auto sign = authority.rfind('@'); sign != std::string_view::npos) {
    parts.has_userinfo = true;
    parts.userinfo = authority.substr(0, sign);
    authority.remove_prefix(sign + 1);
  }
  const auto colon = authority.rfind(':');
  if (colon != std::string_view::npos && authority.back() != ']') {
    parts.has_port = true;
    parts.port = authority.substr(colon + 1);
    authority = authority.substr(0, colon);
  }
  parts.host = authority;
  return parts;
}

void append_normal(std::string_view piece, Component component, unsigned steps, std::string& out) {
  const ByteSet& allowed = allowed_in(component);
  // A stray "%" that stays raw must not meet decoded digits: "%%34%31" would become "%41",
  // and the next pass would decode that.
  std::size_t raw_percent = std::string::npos;
  std::size_t at = 0;
  while (at < piece.size()) {
    std::size_t run_end = at;
    while (run_end < piece.size() && has(allowed, piece[run_end])) ++run_end;
    out.append(piece, at, run_end - at);
    at = run_end;
    if (at == piece.size()) break;

    const char c = piece[at];
    if (const int byte = triplet_at(piece, at); byte >= 0) {
      const bool exposed = raw_percent != std::string::npos && out.size() - raw_percent <= 2;
      if (!(steps & kTriplets)) {
        out.append(piece, at, 3);
      } else if (kUnreserved[static_cast<std::size_t>(byte)] && !exposed) {
        out.push_back(static_cast<char>(byte));
      } else {
        append_triplet(static_cast<unsigned char>(byte), out);
      }
      at += 3;
      continue;
    }
    if (c == '\\' && component == Component::kPath) {
      out.push_back('/');
    } else if (steps & kForbidden) {
      append_triplet(static_cast<unsigned char>(c), out);
    } else {
      if (c == '%') raw_percent = out.size();
      out.push_back(c);
    }
    ++at;
  }
}

void append_without_dots(std::string_view path, std::string& out) {
  const std::size_t start = out.size();
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash before the segment
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const bool is_last = path.empty();
    if (segment == "..") {
      if (out.size() > start) out.resize(out.rfind('/'));
    } else if (segment != ".") {
      out.push_back('/');
      out.append(segment);
      continue;
    }
    if (is_last) out.push_back('/');
  }
}

bool normalize_url(std::string_view text, unsigned steps, std::string& out) {
  if (const std::size_t size = steps == kAllSteps ? normal_size(text) : 0) {
    out.append(text.substr(0, size));
    return true;
  }
  const std::size_t start = out.size();
  std::string scratch;
  UrlParts parts;
  if (!split_url(without_removed(text, scratch), parts)) return false;
  // White space before a fragment stands at the end of the URL once the fragment is gone.
  if (parts.has_fragment && (steps & kFragment) && !(steps & kForbidden)) {
    trim_end(parts.has_query ? parts.query : parts.path);
  }

  append_scheme(parts.scheme, steps, out);
  out.append("://");
  if (parts.has_userinfo) {
    append_normal(parts.userinfo, Component::kUserinfo, steps, out);
    out.push_back('@');
  }
  if (!append_host(parts.host, steps, out)) {
    out.resize(start);
    return false;
  }
  if (parts.has_port) append_port(parts, steps, out);
  append_path(parts.path, steps, out);
  if (parts.has_query) {
    out.push_back('?');
    append_normal(parts.query, Component::kQuery, steps, out);
  }
  if (parts.has_fragment && !(steps & kFragment)) {
    out.push_back('#');
    append_normal(parts.fragment, Component::kFragment, steps, out);
  }
  return true;
}

}  // namespace undust
