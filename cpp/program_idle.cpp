#include "program_idle.hpp"

#include <algorithm>

#include "bytes.hpp"
#include "hash.hpp"
#include "program_write.hpp"

namespace undust {
namespace {

constexpr std::size_t kFewParameters = 8;  // of more, no two are compared

// Eight bytes at a time: all of them are below 128, so a sum carries into the top bit of its own byte alone.
bool has_upper(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101010101010101u;
  std::size_t at = 0;
  std::uint64_t found = 0;
  for (; at + 8 <= text.size(); at += 8) {
    const std::uint64_t bytes = hash_detail::load_8(text.data() + at);
    found |= (bytes + kEach * (128 - 'A')) & ~(bytes + kEach * (127 - 'Z'));
  }
  bool is_any = (found & kEach << 7) != 0;
  for (; at < text.size(); ++at) is_any |= static_cast<unsigned char>(text[at] - 'A') < 26;
  return is_any;
}

bool holds(std::string_view text, char c) { return text.find(c) != std::string_view::npos; }

bool is_idle_in_path(Form form, std::string_view path) {
  switch (form) {
    case Form::kNone: return true;
    case Form::kLower: return !has_upper(path);
    case Form::kPlain: return !holds(path, '%');
    default: return false;
  }
}

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

bool is_idle_in_query(Form form, const UrlView& url) {
  const std::vector<UrlParameter>& all = url.parameters;
  switch (form) {
    case Form::kNone: return true;
    case Form::kLower: return !has_upper(url.query);
    case Form::kPlain: return !holds(url.query, '%') && !holds(url.query, '+');
    case Form::kAmp: return !holds(url.query, ';');
    case Form::kSorted: return std::is_sorted(all.begin(), all.end(), is_written_before);
    case Form::kUnique: return are_different(all, [](const UrlParameter& parameter) { return parameter.text; });
    case Form::kFirst:
    case Form::kLast: return are_different(all, [](const UrlParameter& parameter) { return parameter.name(); });
    default: return false;
  }
}

// Two slashes that become slashes. Those behind the scheme stay whatever is written there.
bool is_about_slashes(const ParsedRule& rule, const PieceView& pieces) {
  const std::string_view put(pieces.text + rule.put.at, rule.put.size);
  return std::string_view(pieces.text + rule.find.at, rule.find.size) == "//" && !rule.find.starts && !rule.find.ends &&
         put.find_first_not_of('/') == std::string_view::npos;
}

// Whether no two slashes stand together behind the scheme.
bool are_slashes_apart(const UrlView& url) {
  const unsigned behind_scheme = url.is_https ? 8 : 7;
  if (!url.has_masks) return url.url.find("//", behind_scheme) == std::string_view::npos;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < url.masks.count(); ++i) {
    std::uint64_t slashes = url.masks[i].slashes;
    if (i == 0) slashes = slashes >> behind_scheme << behind_scheme;
    if (slashes & (slashes << 1 | before)) return false;
    before = slashes >> 63;
  }
  return true;
}

bool is_about_forms(const ParsedRule& rule, const PieceView& pieces) {
  const Pattern &from = rule.from, &to = rule.to;
  if (rule.is_mask) return false;
  if (from.scheme != SchemeShape::kCapture || to.scheme != SchemeShape::kCapture) return false;
  if (from.scheme_slot != to.scheme_slot || to.scheme_form != Form::kNone) return false;
  if (from.host != HostShape::kWithPort || to.port != kNoPort) return false;
  for (const Pattern* side : {&from, &to}) {
    if (side->host_pieces != 1 || side->path_pieces != 1 || side->query_pieces != 1) return false;
  }
  const Piece *read = pieces.all + from.first, *written = pieces.all + to.first;
  const auto is_same = [&](std::size_t i) { return read[i].slot != kForgotten && read[i].slot == written[i].slot; };
  return is_same(0) && is_same(1) && is_same(2) && written[0].kind == PieceKind::kRun && written[0].form == Form::kNone &&
         read[1].kind == PieceKind::kMany && written[1].kind == PieceKind::kRun && read[2].kind == PieceKind::kRest &&
         written[2].kind == PieceKind::kRest;
}

}  // namespace

bool may_idle(const ParsedRule& rule, const PieceView& pieces) {
  switch (rule.kind) {
    case RuleKind::kReplace: return is_about_slashes(rule, pieces);
    case RuleKind::kRewrite: return is_about_forms(rule, pieces);
    default: return false;
  }
}

bool is_idle(const ParsedRule& rule, const PieceView& pieces, const UrlView& url) {
  if (rule.kind == RuleKind::kReplace) return are_slashes_apart(url);
  if (url.query.empty() && url.url.ends_with('?')) return false;  // it is not written
  const Piece* written = pieces.all + rule.to.first;
  return is_idle_in_path(written[1].form, url.path) && is_idle_in_query(written[2].form, url);
}

}  // namespace undust
