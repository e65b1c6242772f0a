#include "program_signs.hpp"

#include <algorithm>
#include <bit>

#include "bytes.hpp"
#include "hash.hpp"
#include "program_write.hpp"

namespace undust {
namespace {

using namespace sign;

constexpr std::size_t kFewParameters = 8;  // of more, no two are compared

// What stands in a host, or before it, is no mark of a URL.
constexpr Signs kMarksOfHosts = mark_of('.') | mark_of('-') | mark_of('_') | mark_of(':') | mark_of('/') | mark_of('[') |
                                mark_of(']');

// Inside words these are common, so that it says little if one stands beside another mark.
constexpr Signs kPlainMarks = mark_of('-') | mark_of('.') | mark_of('_') | mark_of('~');

Signs pair_of(char second) { return second == '&' ? kPairWithAnd : kOtherPair; }

// Whether a byte counts in pairs.
bool is_paired(char c) { return !has(kWordBytes, c) && !(mark_of(c) & kPlainMarks); }

Signs marks_in(std::string_view text) {
  Signs marks = 0;
  for (const char c : text) {
    if (!has(kWordBytes, c)) marks |= mark_of(c);
  }
  return marks & kMarks;
}

template <typename Counts>
Signs pairs_in(std::string_view text, Counts&& counts) {
  Signs pairs = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (is_paired(text[i - 1]) && is_paired(text[i]) && counts(text[i - 1], text[i])) pairs |= pair_of(text[i]);
  }
  return pairs;
}

bool holds_upper(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return has(kUpper, c); });
}

// Literals of path and query, all of which a URL must have. One that begins or ends a segment has a mark beside it, or
// the end of the URL.
Signs marks_of(const Pattern& pattern, const PieceView& pieces) {
  Signs marks = 0;
  const Piece* const first = pieces.all + pattern.first + pattern.host_pieces;
  const Piece* const query = first + pattern.path_pieces;
  for (const Piece* piece = first; piece != query + pattern.query_pieces; ++piece) {
    if (piece->kind != PieceKind::kLiteral && piece->kind != PieceKind::kParameter) continue;
    const std::string_view text = pieces.text_of(*piece);
    marks |= marks_in(text) | pairs_in(text, [](char, char) { return true; });
    if (piece >= query || text.empty()) continue;
    const bool is_start = piece == first || (piece - 1)->ends || (piece - 1)->kind == PieceKind::kMany;
    if (is_start && is_paired(text.front())) marks |= pair_of(text.front());
    if (piece->ends && is_paired(text.back()) && text.back() != '&') marks |= kOtherPair;
  }
  return marks;
}

Signs size_of(const Pattern& pattern) {
  if (!pattern.has_path) return 0;
  return pattern.path_many ? segments_reach(pattern.segments) : segments_are(pattern.segments);
}

bool has_upper_literal(const Pattern& pattern, const PieceView& pieces) {
  const Piece* path = pieces.all + pattern.first + pattern.host_pieces;
  return std::any_of(path, path + pattern.path_pieces, [&](const Piece& piece) {
    return piece.kind == PieceKind::kLiteral && holds_upper(pieces.text_of(piece));
  });
}

// The event that a form waits for; 0 if none is known.
Signs event_in_path(Form form) {
  switch (form) {
    case Form::kLower: return kUpperInPath;
    case Form::kPlain: return kTripletInPath;
    default: return 0;
  }
}

Signs event_in_query(Form form) {
  switch (form) {
    case Form::kLower: return kUpperInQuery;
    case Form::kPlain: return kCodedInQuery;
    case Form::kAmp: return kSemicolonInQuery;
    case Form::kSorted: return kUnsorted;
    case Form::kUnique: return kRepeated;
    case Form::kFirst:
    case Form::kLast: return kNameRepeated;
    default: return 0;
  }
}

// The events of a path that is written as it was read, but for forms; none if it is not.
Signs events_of_path(const Pattern& from, const Pattern& to, const PieceView& pieces) {
  const Piece *read = pieces.all + from.first + from.host_pieces, *written = pieces.all + to.first + to.host_pieces;
  const Piece *read_end = read + from.path_pieces, *written_end = written + to.path_pieces;
  Signs events = kBareQuestion;
  for (; read != read_end && written != written_end; ++read, ++written) {
    while (read != read_end && read->kind == PieceKind::kItem) ++read;
    if (read == read_end) return 0;
    if (read->kind == PieceKind::kLiteral) {
      if (written->kind != PieceKind::kLiteral || read->ends != written->ends) return 0;
      if (pieces.text_of(*read) != pieces.text_of(*written)) return 0;
      continue;
    }
    const bool is_many = read->kind == PieceKind::kMany;
    const bool is_same = written->kind == PieceKind::kRun && read->slot != kForgotten && read->slot == written->slot &&
                         (is_many || read->ends == written->ends);
    const Signs event = event_in_path(written->form);
    if (!is_same || (!event && written->form != Form::kNone)) return 0;
    events |= event;
  }
  while (read != read_end && read->kind == PieceKind::kItem) ++read;
  return read == read_end && written == written_end ? events : 0;
}

// The events of a rule that writes what it reads, but for forms of the path and of all parameters.
Signs events_of_forms(const ParsedRule& rule, const PieceView& pieces) {
  const Pattern &from = rule.from, &to = rule.to;
  if (rule.is_mask) return 0;
  if (from.scheme != SchemeShape::kCapture || to.scheme != SchemeShape::kCapture) return 0;
  if (from.scheme_slot != to.scheme_slot || to.scheme_form != Form::kNone) return 0;
  if (from.host != HostShape::kWithPort || to.port != kNoPort) return 0;
  if (from.host_pieces != 1 || to.host_pieces != 1 || from.query_pieces != 1 || to.query_pieces != 1) return 0;
  const auto is_kept = [&](const Piece& read, const Piece& written, PieceKind kind) {
    return read.slot != kForgotten && read.slot == written.slot && read.kind == kind && written.kind == kind;
  };
  const Piece &host = pieces.all[to.first], &rest = pieces.all[to.first + 1 + to.path_pieces];
  if (!is_kept(pieces.all[from.first], host, PieceKind::kRun) || host.form != Form::kNone) return 0;
  if (!is_kept(pieces.all[from.first + 1 + from.path_pieces], rest, PieceKind::kRest)) return 0;
  const Signs in_path = events_of_path(from, to, pieces), in_query = event_in_query(rest.form);
  return in_path && (in_query || rest.form == Form::kNone) ? in_path | in_query : 0;
}

// Two slashes that become slashes. Those behind the scheme stay whatever is written there.
bool is_about_slashes(const ParsedRule& rule, const PieceView& pieces) {
  const std::string_view put(pieces.text + rule.put.at, rule.put.size);
  return std::string_view(pieces.text + rule.find.at, rule.find.size) == "//" && !rule.find.starts && !rule.find.ends &&
         put.find_first_not_of('/') == std::string_view::npos;
}

// What is replaced may stand anywhere, so marks of hosts say nothing.
Signs needs_of_replace(const ParsedRule& rule, const PieceView& pieces) {
  if (is_about_slashes(rule, pieces)) return kTwoSlashes;
  const std::string_view text(pieces.text + rule.find.at, rule.find.size);
  const auto is_behind_host = [](char a, char b) { return ((mark_of(a) | mark_of(b)) & ~kMarksOfHosts) != 0; };
  const bool ends_with_and = rule.find.ends && text.ends_with('&');
  return (marks_in(text) & ~kMarksOfHosts) | pairs_in(text, is_behind_host) | (ends_with_and ? kPairWithAnd : 0);
}

// Of the bytes that are no words, from one place on to another one.
Signs marks_between(const UrlView& url, std::size_t start, std::size_t end) {
  Signs marks = 0, pairs = 0;
  std::uint64_t before = 0;  // whether a mark stands before the chunk
  for (std::size_t chunk = start / kMaskBytes; chunk * kMaskBytes < end; ++chunk) {
    const std::size_t first = chunk * kMaskBytes;
    std::uint64_t others = ~url.masks[chunk].words;
    if (first < start) others = others >> (start - first) << (start - first);
    if (end - first < kMaskBytes) others &= (std::uint64_t{1} << (end - first)) - 1;
    const char* const text = url.url.data() + first;
    for (std::uint64_t beside = others & (others << 1 | before); beside; beside &= beside - 1) {
      const char* const second = text + std::countr_zero(beside);
      if (!((mark_of(second[-1]) | mark_of(*second)) & kPlainMarks)) pairs |= pair_of(*second);
    }
    before = others >> 63;
    if (others & url.masks[chunk].slashes) marks |= mark_of('/');
    for (others &= ~url.masks[chunk].slashes; others; others &= others - 1) marks |= mark_of(text[std::countr_zero(others)]);
  }
  return (marks & kMarks) | pairs;
}

Signs marks_of(UrlView& url) {
  const auto host_at = static_cast<std::size_t>(url.authority.data() - url.url.data());
  const std::size_t path_at = host_at + url.authority.size();
  Signs marks = marks_between(url, path_at, url.url.size());
  if (!url.has_plain_authority) {
    if (const Signs odd = marks_between(url, host_at, path_at) & kMarks & ~kMarksOfHosts) {
      marks |= odd | kPairWithAnd | kOtherPair;
    } else {
      url.has_plain_authority = true;
    }
  }
  const bool may_move = !url.query.empty();  // then it may come to stand before "&"
  const bool is_pair = is_paired(url.url.back()) && (may_move || url.url.back() != '/');
  return is_pair ? marks | kPairWithAnd | kOtherPair : marks;
}

Signs size_of(const UrlView& url) {
  const std::size_t count = url.segments.size();
  Signs size = segments_are(count);
  for (std::size_t least = 2; least <= std::min(count, kMostWantedSegments); ++least) size |= segments_reach(least);
  return size;
}

// Eight bytes at a time: all of them are below 128, so a sum carries into the top bit of its own byte alone. The last
// eight end where the part ends; at least so many stand before the end of a part of a URL.
bool has_upper(std::string_view part) {
  constexpr std::uint64_t kEach = 0x0101010101010101u;
  const auto uppers = [](std::uint64_t bytes) { return (bytes + kEach * (128 - 'A')) & ~(bytes + kEach * (127 - 'Z')); };
  if (part.empty()) return false;
  std::uint64_t found = 0;
  std::size_t at = 0;
  for (; at + 8 < part.size(); at += 8) found |= uppers(hash_detail::load_8(part.data() + at));
  const std::uint64_t last = hash_detail::load_8(part.data() + part.size() - 8);
  found |= uppers(last) >> (8 * (8 - (part.size() - at))) << (8 * (8 - (part.size() - at)));
  return (found & kEach << 7) != 0;
}

bool holds(std::string_view text, char c) { return text.find(c) != std::string_view::npos; }

template <typename Same>
bool are_different(const std::vector<UrlParameter>& parameters, Same&& same) {
  if (parameters.size() > kFewParameters) return false;
  for (std::size_t i = 1; i < parameters.size(); ++i) {
    for (std::size_t before = 0; before < i; ++before) {
      if (same(parameters[before]) == same(parameters[i])) return false;
    }
  }
  return true;
}

// Whether no two slashes stand together behind the scheme.
bool are_slashes_apart(const UrlView& url) {
  const unsigned behind_scheme = url.is_https ? 8 : 7;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < url.masks.count(); ++i) {
    std::uint64_t slashes = url.masks[i].slashes;
    if (i == 0) slashes = slashes >> behind_scheme << behind_scheme;
    if (slashes & (slashes << 1 | before)) return false;
    before = slashes >> 63;
  }
  return true;
}

Signs events_in_query(const UrlView& url, Signs asked) {
  const std::vector<UrlParameter>& all = url.parameters;
  if (url.query.empty()) return url.url.ends_with('?') ? asked & kBareQuestion : 0;
  Signs found = 0;
  if (asked & kUpperInQuery && has_upper(url.query)) found |= kUpperInQuery;
  if (asked & kCodedInQuery && (holds(url.query, '%') || holds(url.query, '+'))) found |= kCodedInQuery;
  if (asked & kSemicolonInQuery && holds(url.query, ';')) found |= kSemicolonInQuery;
  if (all.size() < 2) return found;
  if (asked & kUnsorted && !std::is_sorted(all.begin(), all.end(), is_written_before)) found |= kUnsorted;
  // Where all names are different, all parameters are.
  if (asked & (kRepeated | kNameRepeated) && !are_different(all, [](const UrlParameter& one) { return one.name(); })) {
    found |= asked & kNameRepeated;
    if (asked & kRepeated && !are_different(all, [](const UrlParameter& one) { return one.text; })) found |= kRepeated;
  }
  return found;
}

}  // namespace

Signs needs_of(const ParsedRule& rule, std::span<const Pattern> whens, const PieceView& pieces) {
  Signs marks = 0, events = 0;
  for (const Pattern& when : whens) marks |= marks_of(when, pieces) | size_of(when);
  if (rule.kind == RuleKind::kReplace) return marks | needs_of_replace(rule, pieces);
  marks |= marks_of(rule.from, pieces) | size_of(rule.from);
  if (rule.kind == RuleKind::kRewrite) events = events_of_forms(rule, pieces);
  if (!events && has_upper_literal(rule.from, pieces)) events = kUpperInPath;
  return events | marks;
}

Signs signs_of_beginning(UrlView& url, Signs asked) {
  return (url.signs & kEvents) | (asked & ~kEvents ? marks_of(url) | size_of(url) : 0);
}

Signs signs_of(UrlView& url, Signs asked) {
  Signs found = asked & ~kEvents ? marks_of(url) | size_of(url) : 0;
  if (!(asked & kEvents)) return found;
  if (asked & kTwoSlashes && !are_slashes_apart(url)) found |= kTwoSlashes;
  if (asked & kUpperInPath && has_upper(url.path)) found |= kUpperInPath;
  if (asked & kTripletInPath && holds(url.path, '%')) found |= kTripletInPath;
  return found | events_in_query(url, asked);
}

}  // namespace undust
