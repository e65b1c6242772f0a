#include "program_match.hpp"

#include <algorithm>
#include <optional>

#include "bytes.hpp"
#include "pattern_literal.hpp"
#include "program_mixture.hpp"

namespace undust {
namespace {

// The pieces of one side, read one after the other.
struct Cursor {
  const PieceView& pieces;
  const Piece* at;

  [[nodiscard]] std::string_view text_of(const Piece& piece) const { return pieces.text_of(piece); }
};

const Piece* after(const Piece* piece) { return piece + 1 + (piece->kind == PieceKind::kRun ? piece->size : 0); }

void take(const Piece& run, std::string_view text, Match& match) {
  if (run.slot != kForgotten) match.texts[run.slot] = text;
}

// The last place of a text that begins at `most` or before it. Most bytes differ from its first one.
std::size_t find_last(std::string_view text, std::string_view wanted, std::size_t most) {
  if (wanted.size() > text.size()) return std::string_view::npos;
  std::size_t place = std::min(most, text.size() - wanted.size()) + 1;
  while (place-- > 0) {
    if (text[place] == wanted[0] && text.substr(place).starts_with(wanted)) return place;
  }
  return std::string_view::npos;
}

// Whether two runs with a literal between them are all of a text, if a few places of the literal tell. The first run
// takes as much as it can, so the last place comes first.
std::optional<bool> match_around(const Piece* left, const Cursor& cursor, std::string_view text, Match& match) {
  constexpr std::size_t kFew = 4, kShort = 32;
  const Piece* const between = after(left);
  const std::string_view literal = cursor.text_of(*between);
  if (literal.size() > kShort) return std::nullopt;
  std::size_t place = find_last(text, literal, text.size());
  if (place == std::string_view::npos) return false;
  const Piece* const right = after(between);
  for (std::size_t tried = 0; tried < kFew; ++tried) {
    const std::string_view before = text.substr(0, place), behind = text.substr(place + literal.size());
    if (match_whole_run(*right, cursor.pieces, behind) && match_whole_run(*left, cursor.pieces, before)) {
      // No run starts or ends inside a triplet.
      if (is_inside_triplet(text, place) || is_inside_triplet(text, place + literal.size())) return std::nullopt;
      take(*left, before, match);
      take(*right, behind, match);
      return true;
    }
    if (place == 0) return false;
    place = find_last(text, literal, place - 1);
    if (place == std::string_view::npos) return false;
  }
  return std::nullopt;
}

// Literals and runs that must be all of `text`; moves the cursor behind them.
bool match_mixture(Cursor& cursor, std::string_view text, Match& match) {
  const Piece* first = cursor.at;
  if (first->ends) {
    cursor.at = after(first);
    if (first->kind == PieceKind::kLiteral) return cursor.text_of(*first) == text;
    if (!match_whole_run(*first, cursor.pieces, text)) return false;
    take(*first, text, match);
    return true;
  }
  const Piece* last = first;
  while (!last->ends) last = after(last);
  cursor.at = after(last);

  if (first->kind == PieceKind::kLiteral) {
    const std::string_view literal = cursor.text_of(*first++);
    if (!text.starts_with(literal)) return false;
    text.remove_prefix(literal.size());
  }
  const bool has_suffix = last->kind == PieceKind::kLiteral;
  if (has_suffix) {
    const std::string_view literal = cursor.text_of(*last);
    if (!text.ends_with(literal) || is_inside_triplet(text, text.size() - literal.size())) return false;
    text.remove_suffix(literal.size());
  }
  const Piece* end = has_suffix ? last : after(last);
  if (after(first) == end) {
    if (!match_whole_run(*first, cursor.pieces, text)) return false;
    take(*first, text, match);
    return true;
  }
  const Piece* const second = after(first);
  if (second->kind == PieceKind::kLiteral && after(second) != end && after(after(second)) == end) {
    if (const std::optional<bool> found = match_around(first, cursor, text, match)) return *found;
  }
  Mixture mixture(cursor.pieces, text, match.rows);
  for (; first != end; first = after(first)) mixture.add(*first);
  return mixture.match(match.texts);
}

bool match_scheme(const Pattern& pattern, const UrlView& url, Match& match) {
  switch (pattern.scheme) {
    case SchemeShape::kHttp: return !url.is_https && !url.is_scheme_masked;
    case SchemeShape::kHttps: return url.is_https && !url.is_scheme_masked;
    case SchemeShape::kCapture:
      if (pattern.scheme_slot != kForgotten) match.texts[pattern.scheme_slot] = url.url.substr(0, url.is_https ? 5 : 4);
      return true;
    default: return true;
  }
}

void split_at(std::string_view text, char separator, std::vector<std::string_view>& parts) {
  parts.clear();
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != separator) continue;
    parts.push_back(text.substr(start, at - start));
    start = at + 1;
  }
  parts.push_back(text.substr(start));
}

// Segments or labels, of which `count` are named one by one and the others go to {p**}.
// Between two of them in the URL there is one separator.
bool match_parts(Cursor& cursor, std::uint32_t count, const std::vector<std::string_view>& parts, Match& match,
                 std::uint32_t pieces) {
  const Piece* end = cursor.at + pieces;
  std::size_t part = 0;
  while (cursor.at != end) {
    if (cursor.at->kind != PieceKind::kMany) {
      if (!match_mixture(cursor, parts[part++], match)) return false;
      continue;
    }
    const std::size_t many = parts.size() - count;
    if (const std::uint8_t slot = cursor.at->slot; slot != kForgotten) {
      const char* start = many ? parts[part].data() : nullptr;
      const std::string_view stop = many ? parts[part + many - 1] : std::string_view();
      match.texts[slot] = many ? std::string_view(start, static_cast<std::size_t>(stop.data() + stop.size() - start)) : stop;
    }
    part += many;
    ++cursor.at;
  }
  return true;
}

bool match_host(const Pattern& pattern, Cursor& cursor, const UrlView& url, Match& match) {
  const Piece& piece = *cursor.at;
  const Piece* end = cursor.at + pattern.host_pieces;
  switch (pattern.host) {
    case HostShape::kUnwritten: return true;
    case HostShape::kLiteral: cursor.at = end; return url.port == pattern.port && url.host == cursor.text_of(piece);
    case HostShape::kLabels: {
      if (url.port != pattern.port) return false;
      const bool is_all = pattern.host_many && pattern.labels == 0;
      if (is_all) {
        if (piece.slot != kForgotten) match.texts[piece.slot] = url.host;
        cursor.at = end;
        return true;
      }
      split_at(url.host, '.', match.labels);
      const std::size_t labels = match.labels.size();
      if (pattern.host_many ? labels <= pattern.labels : labels != pattern.labels) return false;
      return match_parts(cursor, pattern.labels, match.labels, match, pattern.host_pieces);
    }
    default: break;
  }
  const bool with_port = pattern.host == HostShape::kWithPort;
  const std::string_view host = with_port ? url.authority : url.host;
  if (!with_port && url.port != pattern.port) return false;
  cursor.at = end;
  // Whole hosts of no class are never cut, so they may hold anything.
  if (piece.run_class != RunClass::kAny && !match_whole_run(piece, cursor.pieces, host)) return false;
  if (piece.slot != kForgotten) match.texts[piece.slot] = host;
  return true;
}

bool has_so_many_segments(const Pattern& pattern, const UrlView& url) {
  const std::size_t segments = url.segments.size();
  if (!pattern.has_path) return true;
  return pattern.path_many ? segments >= pattern.segments : segments == pattern.segments;
}

bool match_path(const Pattern& pattern, Cursor& cursor, const UrlView& url, Match& match) {
  return match_parts(cursor, pattern.segments, url.segments, match, pattern.path_pieces);
}

bool fits(const Piece& name, Cursor& cursor, const UrlParameter& parameter, Match& match) {
  switch (name.value) {
    case Value::kNoEquals: return !parameter.has_equals;
    case Value::kEmpty: return parameter.has_equals && parameter.value().empty();
    case Value::kAnything: return parameter.value().find(';') == std::string_view::npos;
    case Value::kText: break;
  }
  return parameter.has_equals && match_mixture(cursor, parameter.value(), match);
}

// Takes the first parameter that fits; false if there is none.
bool take_parameter(Cursor& cursor, const UrlView& url, Match& match) {
  const Piece& name = *cursor.at++;
  const Piece* value = cursor.at;
  const std::string_view wanted = cursor.text_of(name);
  std::uint8_t* takers = match.takers.begin();
  for (std::size_t i = 0; i < url.parameters.size(); ++i) {
    if (takers[i] != Takers::kUntaken || url.parameters[i].name() != wanted) continue;
    cursor.at = value;
    if (!fits(name, cursor, url.parameters[i], match)) continue;
    takers[i] = kForgotten;
    return true;
  }
  return false;
}

bool is_named(const Piece& list, const Cursor& cursor, std::string_view name) {
  return std::any_of(&list + 1, &list + 1 + list.size, [&](const Piece& item) {
    const std::string_view text = cursor.text_of(item);
    return item.is_prefix ? name.starts_with(text) : name == text;
  });
}

// Takes every parameter so named. What is forgotten must be there, and hold no ";".
bool take_listed(const Piece& list, const Cursor& cursor, const UrlView& url, Match& match) {
  bool is_any = false;
  std::uint8_t* takers = match.takers.begin();
  for (std::size_t i = 0; i < url.parameters.size(); ++i) {
    const UrlParameter& parameter = url.parameters[i];
    if (takers[i] != Takers::kUntaken || !is_named(list, cursor, parameter.name())) continue;
    if (list.slot == kForgotten && parameter.text.find(';') != std::string_view::npos) continue;
    takers[i] = list.slot;
    is_any = true;
  }
  return is_any || list.slot != kForgotten;
}

bool match_query(const Pattern& pattern, Cursor& cursor, const UrlView& url, Match& match) {
  if (pattern.query_pieces == 0) return pattern.open_query || url.parameters.empty();
  match.takers.start(url.parameters.size());
  const Piece* const first = cursor.at;
  if (url.parameters.empty() && pattern.query_pieces == 1 && first->kind == PieceKind::kRest) return true;
  const Piece* const end = first + pattern.query_pieces;
  std::uint8_t rest_slot = kForgotten;
  bool has_lists = false;
  // Parameters by name first, then lists, then the rest, wherever they stand.
  while (cursor.at != end) {
    if (cursor.at->kind == PieceKind::kParameter) {
      if (!take_parameter(cursor, url, match)) return false;
      continue;
    }
    if (cursor.at->kind == PieceKind::kRest) rest_slot = cursor.at->slot;
    if (cursor.at->kind == PieceKind::kList) has_lists = true, cursor.at += cursor.at->size;
    ++cursor.at;
  }
  for (const Piece* piece = first; has_lists && piece != end;) {
    if (piece->kind == PieceKind::kList && !take_listed(*piece, cursor, url, match)) return false;
    const bool has_items = piece->kind == PieceKind::kList || (piece->kind == PieceKind::kRun);
    piece += 1 + (has_items ? piece->size : 0);
  }
  for (std::uint8_t& taker : match.takers) {
    if (taker != Takers::kUntaken) continue;
    if (!pattern.open_query) return false;
    taker = rest_slot;
  }
  return true;
}

}  // namespace

bool match_query(const Pattern& pattern, const PieceView& pieces, const UrlView& url, Match& match) {
  Cursor cursor{pieces, pieces.all + pattern.first + pattern.host_pieces + pattern.path_pieces};
  return match_query(pattern, cursor, url, match);
}

void UrlView::read_host(std::string_view normal, std::size_t host_at, std::size_t path_at) {
  url = normal;
  has_signs = false;
  is_https = host_at == 8;
  is_scheme_masked = has_userinfo = has_plain_authority = false;
  authority = host = url.substr(host_at, path_at - host_at);
  path = url.substr(path_at);
  port = kNoPort;
}

void UrlView::read_authority(std::string_view normal) {
  const std::size_t start = normal[4] == 's' ? 8 : 7;
  const std::size_t end = masks.find<&UrlKinds::slashes>(start);
  read_host(normal, start, end);
  has_userinfo = authority.find('@') != std::string_view::npos;
  const auto colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.back() == ']') return;
  host = authority.substr(0, colon);
  port = port_number(authority.substr(colon + 1));
}

void UrlView::read_same_authority(std::string_view normal) {
  const std::size_t start = normal[4] == 's' ? 8 : 7, host_size = host.size();
  const std::int32_t old_port = port;
  const bool was_plain = has_plain_authority;
  read_host(normal, start, start + authority.size());
  host = host.substr(0, host_size);
  port = old_port;
  has_plain_authority = was_plain;
}

void UrlView::read_beginning(std::string_view normal) {
  const char* const before = url.data();
  const auto move = [&](std::string_view part) {
    const auto start = static_cast<std::size_t>(part.data() - before);
    return normal.substr(start, part.size());
  };
  url = normal;
  masks.cut(normal.size());
  for (std::string_view* part : {&authority, &host, &path}) *part = move(*part);
  while (segments.back().data() > before + normal.size()) segments.pop_back();
  for (std::string_view& segment : segments) segment = move(segment);
}

void UrlView::read_rest() {
  const auto part = [this](std::size_t start, std::size_t end) { return std::string_view(url.data() + start, end - start); };
  const auto path_at = static_cast<std::size_t>(path.data() - url.data());
  const std::size_t path_end = masks.find<&UrlKinds::questions>(path_at);
  path = part(path_at, path_end);
  segments.clear();
  std::size_t start = path_at + 1;
  Places<&UrlKinds::slashes> slashes(masks, start);
  for (std::size_t place = slashes.next(); place < path_end; place = slashes.next()) {
    segments.push_back(part(start, place));
    start = place + 1;
  }
  segments.push_back(part(start, path_end));

  parameters.clear();
  query = path_end < url.size() ? part(path_end + 1, url.size()) : std::string_view();
  if (query.empty()) return;
  start = path_end + 1;
  Places<&UrlKinds::ands> ands(masks, start);
  Places<&UrlKinds::equals> signs(masks, start);
  std::size_t sign = signs.next();
  for (std::size_t end = start; start <= url.size(); start = end + 1) {
    end = ands.next();
    while (sign < start) sign = signs.next();
    const bool has_equals = sign < end;
    parameters.push_back({part(start, end), static_cast<std::uint32_t>((has_equals ? sign : end) - start), has_equals});
  }
}

void UrlView::read_behind_path(std::string_view normal) {
  const char* before = url.data();
  const auto move = [&](std::string_view& part) { part = {normal.data() + (part.data() - before), part.size()}; };
  url = normal;
  masks.clear();
  for (std::string_view* part : {&authority, &host, &path}) move(*part);
  for (std::string_view& segment : segments) move(segment);

  parameters.clear();
  const char* const end = url.data() + url.size();
  const char* at = path.data() + path.size();
  query = at == end ? std::string_view() : std::string_view(at + 1, static_cast<std::size_t>(end - at - 1));
  if (query.empty()) return;
  while (at != end) {
    const char* const start = ++at;  // behind "?" or "&"
    const char* sign = nullptr;
    for (; at != end && *at != '&'; ++at) {
      if (*at == '=' && !sign) sign = at;
    }
    parameters.push_back({{start, static_cast<std::size_t>(at - start)},
                          static_cast<std::uint32_t>((sign ? sign : at) - start),
                          sign != nullptr});
  }
}

bool match_behind_authority(const Pattern& pattern, const PieceView& pieces, const UrlView& url, Match& match) {
  if (!has_so_many_segments(pattern, url)) return false;
  Cursor cursor{pieces, pieces.all + pattern.first + pattern.host_pieces};
  return match_path(pattern, cursor, url, match) && match_query(pattern, cursor, url, match);
}

bool match_pattern(const Pattern& pattern, const PieceView& pieces, const UrlView& url, Match& match) {
  if (!has_so_many_segments(pattern, url)) return false;
  Cursor cursor{pieces, pieces.all + pattern.first};
  return match_scheme(pattern, url, match) && match_host(pattern, cursor, url, match) &&
         match_path(pattern, cursor, url, match) && match_query(pattern, cursor, url, match);
}

}  // namespace undust
