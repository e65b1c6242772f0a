// Scheme, host, path and query of one side; what stands in braces is in pattern_capture.cpp.
#include "pattern_parse.hpp"

#include <algorithm>

#include "host.hpp"
#include "pattern_literal.hpp"
#include "url.hpp"

namespace undust {
namespace {

constexpr const char* kEmptyCondition = "the condition is empty; write what to test, for instance ?lang={*}";

// The place of the last ":" outside braces and brackets.
std::size_t find_port_colon(std::string_view authority) {
  std::size_t found = kNowhere;
  bool is_inside = false;
  for (std::size_t at = 0; at < authority.size(); ++at) {
    const char c = authority[at];
    if (c == '{' || c == '[') is_inside = true;
    if (c == '}' || c == ']') is_inside = false;
    if (c == ':' && !is_inside) found = at;
  }
  return found;
}

}  // namespace

void PatternParser::fail(std::string_view place, const std::string& message) const {
  throw PatternProblem(static_cast<std::size_t>(place.data() - text_.data()), message);
}

// Braces must pair, and a fragment is never part of a rule.
void PatternParser::check_marks() const {
  std::size_t open = kNowhere;
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const char c = text_[at];
    if (c == '#') fail(text_.substr(at), "a fragment is never compared; write a literal '#' as %23");
    if (c == '{') {
      if (open != kNowhere) fail(text_.substr(open), "the brace '{' is not closed; write '}', or %7B for the character");
      open = at;
    } else if (c == '}') {
      if (open == kNowhere) fail(text_.substr(at), "the brace '}' closes nothing; write %7D for the character");
      open = kNowhere;
    }
  }
  if (open != kNowhere) fail(text_.substr(open), "the brace '{' is not closed; write '}', or %7B for the character");
}

std::size_t PatternParser::find_outside(std::string_view part, std::string_view marks) {
  for (std::size_t at = 0; at < part.size(); ++at) {
    if (part[at] == '{') {
      at = part.find('}', at);
    } else if (marks.find(part[at]) != kNowhere) {
      return at;
    }
  }
  return kNowhere;
}

bool PatternParser::is_one_capture(std::string_view part) const {
  return part.starts_with('{') && part.find('}') == part.size() - 1;
}

Pattern PatternParser::parse() {
  check_marks();
  if (text_.empty()) {
    fail(text_, side_ == Side::kCondition ? kEmptyCondition : "the side is empty, and so has no scheme; write the whole URL");
  }
  pattern_.first = static_cast<std::uint16_t>(out_.all.size());
  pattern_.open_query = side_ == Side::kCondition;
  std::string_view rest = text_;
  if (side_ != Side::kCondition || !(rest.starts_with('/') || rest.starts_with('?'))) {
    const auto colon = find_outside(rest, ":");
    if (colon == kNowhere || rest.substr(colon, 3) != "://") {
      fail(text_, side_ == Side::kCondition ? "a condition starts with a scheme, '/' or '?'; write {s}://{h}/… or ?name={*}"
                                            : "the scheme and '://' are missing; write the whole URL, for instance {s}://{h}/{p**}");
    }
    parse_scheme(rest.substr(0, colon));
    rest.remove_prefix(colon + 3);
    const auto end = find_outside(rest, "/?");
    parse_authority(rest.substr(0, end));
    rest.remove_prefix(end == kNowhere ? rest.size() : end);
  }
  const auto mark = find_outside(rest, "?");
  const std::string_view path = rest.substr(0, mark);
  const std::string_view query = mark == kNowhere ? rest.substr(rest.size()) : rest.substr(mark + 1);
  if (!path.empty() || side_ != Side::kCondition) parse_path(path);
  if (!query.empty()) parse_query(query);
  if (pattern_.scheme == SchemeShape::kUnwritten && !pattern_.has_path && query.empty()) {
    fail(text_, kEmptyCondition);
  }
  return pattern_;
}

void PatternParser::parse_scheme(std::string_view scheme) {
  if (!is_one_capture(scheme)) {
    std::string name;
    for (const char c : scheme) name.push_back(lower(c));
    if (name != "http" && name != "https") fail(scheme, "the scheme is not known; write http, https or {s}");
    pattern_.scheme = name == "https" ? SchemeShape::kHttps : SchemeShape::kHttp;
    return;
  }
  const Braces braces = braces_at(scheme);
  pattern_.scheme = SchemeShape::kCapture;
  if (braces.is_many) fail(scheme, "a scheme is one word; write {s} or {*}");
  if (side_ == Side::kRight) {
    pattern_.scheme_slot = slot_of(braces);
    const Holds holds = captures_[pattern_.scheme_slot].holds;
    if (holds != Holds::kScheme) fail(scheme, "a scheme comes from a scheme; write http, https or the {s} of the left side");
    pattern_.scheme_form = form_of(braces, holds);
  } else {
    if (braces.has_argument) fail(scheme, "a scheme takes no class; write {s}, http or https");
    pattern_.scheme_slot = bind(braces, Holds::kScheme);
  }
}

void PatternParser::parse_authority(std::string_view authority) {
  if (const auto sign = find_outside(authority, "@"); sign != kNowhere) {
    fail(authority.substr(sign), "URLs with userinfo are never rewritten; leave out what stands before '@'");
  }
  const auto colon = find_port_colon(authority);
  const std::string_view host = authority.substr(0, colon);
  if (host.empty()) fail(authority, "the host is missing; write it, or {h} for any");
  // On the right the colon is still written: behind a captured host with a port it makes no URL.
  const int without_port = side_ == Side::kRight && host.find('{') != kNowhere ? kEmptyPort : kNoPort;
  if (colon != kNowhere && colon + 1 == authority.size()) {
    pattern_.port = without_port;
  } else if (colon != kNowhere) {
    const std::string_view digits = authority.substr(colon + 1);
    pattern_.port = port_number(digits);
    if (pattern_.port < 0) fail(digits, "a port is a number up to 65535; write it, or {h} alone for any host with its port");
    const int standard = pattern_.scheme == SchemeShape::kHttp ? 80 : pattern_.scheme == SchemeShape::kHttps ? 443 : -1;
    if (pattern_.port == standard) pattern_.port = without_port;
  }
  const std::size_t first = out_.all.size();
  parse_host(host, colon != kNowhere);
  pattern_.host_pieces = static_cast<std::uint16_t>(out_.all.size() - first);
}

void PatternParser::parse_host(std::string_view host, bool has_port) {
  if (host.find('{') == kNowhere) {
    pattern_.host = HostShape::kLiteral;
    Piece& piece = emit(PieceKind::kLiteral, host);
    const std::size_t start = out_.text.size();
    if (!append_host(host, kAllSteps, out_.text)) fail(host, "no host has this name; write one, or {h} for any");
    add_text(piece, start);
    piece.ends = true;
    return;
  }
  if (const auto bracket = find_outside(host, "[]"); bracket != kNowhere) {
    fail(host.substr(bracket), "an IPv6 address stands alone; write it whole, or {h} for any host");
  }
  if (is_one_capture(host)) {
    const Braces braces = braces_at(host);
    if (!braces.is_many) {
      pattern_.host = has_port ? HostShape::kWhole : HostShape::kWithPort;
      if (side_ == Side::kRight) {
        emit_reference(braces, PatternPlace::kLabel, true);
      } else {
        emit_whole_host(braces, has_port);
      }
      return;
    }
  }
  pattern_.host = HostShape::kLabels;
  parse_labels(host);
}

void PatternParser::parse_labels(std::string_view host) {
  for (bool more = true; more;) {
    const auto dot = find_outside(host, ".");
    more = dot != kNowhere;
    const std::string_view label = host.substr(0, dot);
    if (side_ != Side::kRight && is_one_capture(label) && braces_at(label).is_many) {
      if (pattern_.host_many) fail(label, "'**' stands twice in the host; name the other labels one by one");
      pattern_.host_many = true;
      emit_many(braces_at(label), Holds::kHost);
    } else {
      parse_mixture(label, PatternPlace::kLabel);
      ++pattern_.labels;
    }
    if (more) host.remove_prefix(dot + 1);
  }
}

void PatternParser::parse_path(std::string_view path) {
  const std::size_t first = out_.all.size();
  pattern_.has_path = true;
  path.remove_prefix(path.empty() ? 0 : 1);  // its first slash
  for (bool more = true; more;) {
    const auto slash = find_outside(path, "/");
    more = slash != kNowhere;
    const std::string_view segment = path.substr(0, slash);
    if (side_ != Side::kRight && is_one_capture(segment) && braces_at(segment).is_many) {
      if (pattern_.path_many) fail(segment, "'**' stands twice in the path; write {*} for single segments");
      pattern_.path_many = true;
      emit_many(braces_at(segment), Holds::kSegments);
    } else {
      parse_mixture(segment, PatternPlace::kSegment);
      ++pattern_.segments;
    }
    if (more) path.remove_prefix(slash + 1);
  }
  pattern_.path_pieces = static_cast<std::uint16_t>(out_.all.size() - first);
}

void PatternParser::parse_query(std::string_view query) {
  const std::size_t first = out_.all.size();
  for (bool more = true; more;) {
    const auto separator = find_outside(query, "&");
    more = separator != kNowhere;
    const std::string_view parameter = query.substr(0, separator);
    if (parameter.empty()) fail(query, "a parameter is empty; leave out the '&' too much");
    if (is_one_capture(parameter)) {
      parse_parameters(braces_at(parameter));
    } else {
      parse_parameter(parameter);
    }
    if (more) query.remove_prefix(separator + 1);
  }
  pattern_.query_pieces = static_cast<std::uint16_t>(out_.all.size() - first);
}

void PatternParser::parse_parameter(std::string_view parameter) {
  const auto equals = find_outside(parameter, "=");
  const std::string_view name = parameter.substr(0, equals);
  if (name.find('{') != kNowhere) {
    fail(name, "a parameter is found by its name; write the name, or {**:name|name} for several");
  }
  const std::size_t piece = out_.all.size();
  emit(PieceKind::kParameter, name);
  const std::size_t start = out_.text.size();
  append_literal(name, kQueryLiteral, out_.text);
  add_text(out_.all[piece], start);
  if (equals == kNowhere) {
    out_.all[piece].value = Value::kNoEquals;
    return;
  }
  const std::string_view value = parameter.substr(equals + 1);
  if (value.empty()) {
    out_.all[piece].value = Value::kEmpty;
  } else if (side_ != Side::kRight && value == "{**}") {
    out_.all[piece].value = Value::kAnything;
  } else {
    out_.all[piece].value = Value::kText;
    parse_mixture(value, PatternPlace::kValue);
  }
}

void PatternParser::parse_mixture(std::string_view part, PatternPlace place) {
  const std::size_t first = out_.all.size();
  std::size_t last = first;
  std::string_view rest = part;
  do {
    last = out_.all.size();
    std::size_t size = rest.find('{');
    if (size == 0) {
      const Braces braces = braces_at(rest);
      size = braces.whole.size();
      if (side_ == Side::kRight) {
        emit_reference(braces, place, size == part.size());
      } else {
        emit_run(braces, place);
      }
    } else {
      size = std::min(size, rest.size());
      emit_literal(rest.substr(0, size), place, size == part.size());
    }
    rest.remove_prefix(size);
  } while (!rest.empty());
  out_.all[last].ends = true;
  if (side_ != Side::kRight) check_neighbours(first, part);
}

Pattern parse_pattern(std::string_view text, Side side, Captures& captures, Pieces& out) {
  return PatternParser(text, side, captures, out).parse();
}

ReplaceText parse_replace(std::string_view text, Pieces& out) {
  ReplaceText result;
  if (const auto mark = text.find('#'); mark != kNowhere) {
    throw PatternProblem(mark, "a fragment is never compared; write a literal '#' as %23");
  }
  result.starts = text.starts_with('^');
  if (result.starts) text.remove_prefix(1);
  result.ends = text.ends_with('$');
  if (result.ends) text.remove_suffix(1);
  const std::size_t start = out.text.size();
  append_literal(text, kReplaceLiteral, out.text);
  if (out.text.size() > kMostBytes) throw PatternProblem(0, "a rule has at most 64 KiB of text; write a shorter one");
  result.at = static_cast<std::uint16_t>(start);
  result.size = static_cast<std::uint16_t>(out.text.size() - start);
  return result;
}

}  // namespace undust
