// What stands in braces, and the pieces that come of it.
#include <algorithm>
#include <array>

#include "bytes.hpp"
#include "host.hpp"
#include "pattern_literal.hpp"
#include "pattern_parse.hpp"
#include "url.hpp"

namespace undust {
namespace {

constexpr ByteSet kNameStart = kLower | kUpper | bytes_of("_");
constexpr ByteSet kNameBytes = kNameStart | kDigit;

constexpr std::array<std::string_view, 8> kClassNames = {"", "int", "alpha", "hex", "word", "uuid", "date", ""};
constexpr std::array<std::string_view, 10> kFormNames = {"",      "lower", "capital", "sorted", "unique",
                                                         "first", "last",  "amp",     "plain",  "any"};

// The bytes that a run of a class can hold; captures beside each other may share none.
ByteSet bytes_of_class(RunClass run_class) {
  constexpr ByteSet kHexDigits = kDigit | bytes_of("ABCDEFabcdef");
  switch (run_class) {
    case RunClass::kInt: return kDigit;
    case RunClass::kAlpha: return kLower | kUpper;
    case RunClass::kHex: return kHexDigits;
    case RunClass::kWord: return kLower | kUpper | kDigit | bytes_of("_-");
    case RunClass::kUuid: return kHexDigits | bytes_of("-");
    case RunClass::kDate: return kDigit | bytes_of("-");
    case RunClass::kOneOf: return {};
    case RunClass::kAny: break;
  }
  ByteSet all{};
  all.fill(true);
  return all;
}

}  // namespace

std::string_view name_of(RunClass run_class) { return kClassNames[static_cast<std::size_t>(run_class)]; }
std::string_view name_of(Form form) { return kFormNames[static_cast<std::size_t>(form)]; }

Braces PatternParser::braces_at(std::string_view part) const {
  Braces braces;
  braces.whole = part.substr(0, part.find('}') + 1);
  std::string_view inside = braces.whole.substr(1, braces.whole.size() - 2);
  if (const auto colon = inside.find(':'); colon != kNowhere) {
    braces.has_argument = true;
    braces.argument = inside.substr(colon + 1);
    inside = inside.substr(0, colon);
    if (braces.argument.empty()) fail(braces.argument, "no class, list or form stands behind ':'; leave it out or name one");
  }
  braces.name = inside.substr(0, inside.find('*'));
  const std::string_view stars = inside.substr(braces.name.size());
  const bool is_name = !braces.name.empty() && has(kNameStart, braces.name[0]) &&
                       std::all_of(braces.name.begin(), braces.name.end(), [](char c) { return has(kNameBytes, c); });
  const bool is_capture = braces.name.empty() ? stars == "*" || stars == "**" : is_name && (stars.empty() || stars == "**");
  if (!is_capture) fail(braces.whole, joined({"the braces '", braces.whole, "' hold no capture; write {name}, {name**}, {*} or {**}"}));
  braces.is_many = stars == "**";
  return braces;
}

Piece& PatternParser::emit(PieceKind kind, std::string_view place) {
  const bool is_capture = kind == PieceKind::kRun || kind == PieceKind::kMany || kind == PieceKind::kList ||
                          kind == PieceKind::kRest;
  if (is_capture && ++capture_count_ > kMostCaptures) {
    fail(place, joined({"a side has at most ", std::to_string(kMostCaptures), " captures; write fewer"}));
  }
  if (out_.all.size() == kMostPieces) fail(place, "a rule has at most 65535 parts; write a shorter one");
  Piece& piece = out_.all.emplace_back();
  piece.kind = kind;
  return piece;
}

// The bytes of Pieces::text from `start` belong to `piece`.
void PatternParser::add_text(Piece& piece, std::size_t start) const {
  if (out_.text.size() > kMostBytes) fail(text_, "a rule has at most 64 KiB of text; write a shorter one");
  piece.at = static_cast<std::uint16_t>(start);
  piece.size = static_cast<std::uint16_t>(out_.text.size() - start);
}

void PatternParser::emit_literal(std::string_view literal, PatternPlace place, bool alone) {
  const std::size_t start = out_.text.size();
  Piece& piece = emit(PieceKind::kLiteral, literal);
  if (place == PatternPlace::kLabel) {
    // Beside a capture a label is compared as it is, so punycode and triplets would mean something else.
    const bool is_plain = std::all_of(literal.begin(), literal.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x80 && c != '%';
    });
    if ((!alone && !is_plain) || !append_label(literal, out_.text)) {
      fail(literal, "no host label has this text; write ASCII letters, digits and '-'");
    }
  } else {
    append_literal(literal, place == PatternPlace::kSegment ? kSegmentLiteral : kQueryLiteral, out_.text);
  }
  add_text(piece, start);
  const std::string_view text = out_.text_of(piece);
  if (place == PatternPlace::kSegment && alone && (text == "." || text == "..")) {
    fail(literal, joined({"no normalized URL has a segment '", text, "'; leave it out"}));
  }
}

RunClass PatternParser::class_of(const Braces& braces) const {
  if (!braces.has_argument) return RunClass::kAny;
  if (braces.argument.find('|') != kNowhere) return RunClass::kOneOf;
  for (std::size_t i = 1; i + 1 < kClassNames.size(); ++i) {
    if (braces.argument == kClassNames[i]) return static_cast<RunClass>(i);
  }
  fail(braces.argument, joined({"the class '", braces.argument,
                                "' is not known; write int, alpha, hex, word, uuid, date or a list a|b"}));
}

Form PatternParser::form_of(const Braces& braces, Holds holds) const {
  if (!braces.has_argument) return Form::kNone;
  const auto found = std::find(kFormNames.begin() + 1, kFormNames.end(), braces.argument);
  const bool is_parameters = holds == Holds::kParameters;
  if (found != kFormNames.end()) {
    const auto form = static_cast<Form>(found - kFormNames.begin());
    const bool is_general = form == Form::kLower || form == Form::kPlain || form == Form::kMask;
    if (is_general || (form == Form::kCapital) != is_parameters) return form;
  }
  fail(braces.argument, joined({"the form '", braces.argument, "' is not known here; write one of lower, ",
                                is_parameters ? "sorted, unique, first, last, amp, plain, any" : "capital, plain, any"}));
}

std::uint8_t PatternParser::bind(const Braces& braces, Holds holds) {
  if (braces.name.empty()) return kForgotten;
  for (const Capture& capture : captures_) {
    if (capture.name == braces.name) {
      fail(braces.whole, joined({"'", braces.name, "' is captured twice; give the second one another name, or {*}"}));
    }
  }
  captures_.push_back({braces.name, holds});
  return static_cast<std::uint8_t>(captures_.size() - 1);
}

std::uint8_t PatternParser::slot_of(const Braces& braces) const {
  if (braces.name.empty()) fail(braces.whole, "the right side cannot write what is forgotten; give it a name on the left");
  if (braces.is_many) fail(braces.whole, joined({"'**' has no place on the right side; write {", braces.name, "}"}));
  for (std::size_t slot = 0; slot < captures_.size(); ++slot) {
    if (captures_[slot].name == braces.name) return static_cast<std::uint8_t>(slot);
  }
  fail(braces.whole, joined({"the right side writes '{", braces.name, "}', which was never matched; add it to the left"}));
}

template <typename EmitItem>
void PatternParser::emit_items(std::string_view list, EmitItem&& emit_one) {
  const std::size_t parent = out_.all.size() - 1;
  std::uint16_t count = 0;
  for (bool more = true; more; ++count) {
    const auto bar = list.find('|');
    more = bar != kNowhere;
    const std::string_view item = list.substr(0, bar);
    if (item.empty()) fail(item, "an item of the list is empty; leave out a '|'");
    emit_one(item);
    if (more) list.remove_prefix(bar + 1);
  }
  out_.all[parent].size = count;
}

void PatternParser::emit_item(std::string_view item, PatternPlace place) {
  const std::string_view barred = place == PatternPlace::kLabel ? "*&;." : place == PatternPlace::kSegment ? "*&;/" : "*&;";
  if (const auto mark = item.find_first_of(barred); mark != kNowhere) {
    fail(item.substr(mark), joined({place == PatternPlace::kLabel ? "a label" : "an item", " of this list cannot hold '",
                                    item.substr(mark, 1), "'; leave it out or write it as a triplet"}));
  }
  const std::size_t start = out_.text.size();
  Piece& piece = emit(PieceKind::kItem, item);
  if (place == PatternPlace::kLabel) {
    if (!append_label(item, out_.text)) fail(item, "no host label has this text; write letters, digits and '-'");
  } else {
    append_literal(item, place == PatternPlace::kSegment ? kSegmentLiteral : kQueryLiteral, out_.text);
  }
  add_text(piece, start);
}

void PatternParser::emit_host_item(std::string_view item, bool has_port) {
  std::string_view host = item;
  int port = kNoPort;
  if (const auto colon = item.rfind(':'); colon != kNowhere && !item.ends_with(']')) {
    host = item.substr(0, colon);
    port = port_number(item.substr(colon + 1));
    if (port < 0 || has_port) fail(item.substr(colon), "a port is a number, and stands once; write it in the list or behind it");
    const int standard = pattern_.scheme == SchemeShape::kHttp ? 80 : pattern_.scheme == SchemeShape::kHttps ? 443 : -1;
    if (port == standard) port = kNoPort;
  }
  const std::size_t start = out_.text.size();
  Piece& piece = emit(PieceKind::kItem, item);
  if (host.find_first_of("*&;") != kNowhere || !append_host(host, kAllSteps, out_.text)) {
    fail(item, "no host has this name; write whole hosts in the list");
  }
  if (port != kNoPort) out_.text.append(":").append(std::to_string(port));
  add_text(piece, start);
}

void PatternParser::emit_run(const Braces& braces, PatternPlace place) {
  if (braces.is_many) {
    fail(braces.whole, place == PatternPlace::kValue     ? "'**' is no part of a parameter's value; write {name}, or x={**} for any value"
                       : place == PatternPlace::kSegment ? "'**' is whole segments, alone between slashes; write {name} beside other text"
                                                  : "'**' is whole labels, alone between dots; write {name} beside other text");
  }
  const RunClass run_class = class_of(braces);
  Piece& piece = emit(PieceKind::kRun, braces.whole);
  piece.run_class = run_class;
  piece.slot = bind(braces, place == PatternPlace::kLabel     ? Holds::kHost
                            : place == PatternPlace::kSegment ? Holds::kSegmentRun
                                                       : Holds::kValue);
  if (run_class == RunClass::kOneOf) {
    emit_items(braces.argument, [&](std::string_view item) { emit_item(item, place); });
  }
}

void PatternParser::emit_whole_host(const Braces& braces, bool has_port) {
  const RunClass run_class = class_of(braces);
  Piece& piece = emit(PieceKind::kRun, braces.whole);
  piece.run_class = run_class;
  piece.slot = bind(braces, Holds::kHost);
  piece.ends = true;
  if (run_class == RunClass::kOneOf) {
    emit_items(braces.argument, [&](std::string_view item) { emit_host_item(item, has_port); });
  }
}

void PatternParser::emit_many(const Braces& braces, Holds holds) {
  if (braces.has_argument) fail(braces.argument, joined({"'**' takes no class here; write {", braces.name, "**}"}));
  Piece& piece = emit(PieceKind::kMany, braces.whole);
  piece.slot = bind(braces, holds);
  piece.ends = true;
}

void PatternParser::emit_reference(const Braces& braces, PatternPlace place, bool alone) {
  const std::uint8_t slot = slot_of(braces);
  const Holds holds = captures_[slot].holds;
  if (holds == Holds::kParameters) fail(braces.whole, "captured parameters stand alone in the query; write them between '&' signs");
  if (holds == Holds::kSegments && place == PatternPlace::kLabel) fail(braces.whole, "captured segments are no host; write a capture of one segment");
  if (holds == Holds::kSegments && place == PatternPlace::kSegment && !alone) {
    fail(braces.whole, "captured segments stand alone between slashes; write a single capture beside other text");
  }
  const Form form = form_of(braces, holds);
  Piece& piece = emit(PieceKind::kRun, braces.whole);
  piece.form = form;
  piece.slot = slot;
  piece.at = static_cast<std::uint16_t>(holds);
  piece.ends = alone;
}

void PatternParser::parse_parameters(const Braces& braces) {
  if (side_ == Side::kRight) {
    const std::uint8_t slot = slot_of(braces);
    if (captures_[slot].holds != Holds::kParameters) {
      fail(braces.whole, joined({"a parameter needs a name; write name={", braces.name, "}"}));
    }
    const Form form = form_of(braces, Holds::kParameters);
    Piece& piece = emit(PieceKind::kRest, braces.whole);
    piece.form = form;
    piece.slot = slot;
    return;
  }
  if (!braces.is_many) fail(braces.whole, "a parameter needs a name; write name={value}, or {rest**} for the others");
  if (!braces.has_argument) {
    for (std::size_t i = pattern_.first; i < out_.all.size(); ++i) {
      if (out_.all[i].kind == PieceKind::kRest) fail(braces.whole, "the other parameters are taken twice; leave one out");
    }
    emit(PieceKind::kRest, braces.whole).slot = bind(braces, Holds::kParameters);
    pattern_.open_query = true;
    return;
  }
  emit(PieceKind::kList, braces.whole).slot = bind(braces, Holds::kParameters);
  emit_items(braces.argument, [&](std::string_view item) {
    const bool is_prefix = item.ends_with('*');
    const std::string_view name = item.substr(0, item.size() - (is_prefix ? 1 : 0));
    if (name.empty()) fail(item, "a prefix of nothing lists every name; write {rest**} or a longer prefix");
    if (const auto mark = name.find_first_of("&;="); mark != kNowhere) {
      fail(name.substr(mark), joined({"a name of this list cannot hold '", name.substr(mark, 1), "'; leave it out"}));
    }
    const std::size_t start = out_.text.size();
    Piece& piece = emit(PieceKind::kItem, item);
    append_literal(name, kQueryLiteral, out_.text);
    piece.is_prefix = is_prefix;
    add_text(piece, start);
  });
}

void PatternParser::check_neighbours(std::size_t first, std::string_view part) const {
  const auto bytes_at = [&](std::size_t run) {
    ByteSet bytes = bytes_of_class(out_.all[run].run_class);
    for (std::uint32_t item = 1; item <= out_.all[run].size; ++item) {
      bytes = bytes | bytes_of(out_.text_of(out_.all[run + item]));
    }
    return bytes;
  };
  for (std::size_t run = first; run < out_.all.size(); ++run) {
    if (out_.all[run].kind != PieceKind::kRun) continue;
    const std::size_t next = run + 1 + out_.all[run].size;
    if (next >= out_.all.size() || out_.all[next].kind != PieceKind::kRun) continue;
    const ByteSet left = bytes_at(run), right = bytes_at(next);
    for (std::size_t byte = 0; byte < left.size(); ++byte) {
      if (left[byte] && right[byte]) {
        fail(part, "adjacent captures have characters in common; put a literal between them");
      }
    }
  }
}

}  // namespace undust
