#include "host.hpp"

#include <array>
#include <cstdint>
#include <optional>

#include "bytes.hpp"
#include "idna.hpp"
#include "url.hpp"

namespace undust {
namespace {

constexpr ByteSet kNameBytes = kUnreserved | kSubDelims;           // RFC 3986 reg-name, decoded
constexpr ByteSet kPlainBytes = kLower | kDigit | bytes_of("-._");  // nearly every host there is

bool all_in(const ByteSet& set, std::string_view text) {
  for (const char c : text) {
    if (!has(set, c)) return false;
  }
  return true;
}

// One part of an IPv4 address as browsers read it: decimal, 0octal or 0xhex.
std::optional<std::uint64_t> ipv4_number(std::string_view part) {
  if (part.empty()) return std::nullopt;
  unsigned base = 10;
  if (part.size() >= 2 && part[0] == '0' && lower(part[1]) == 'x') {
    base = 16;
    part.remove_prefix(2);
  } else if (part.size() >= 2 && part[0] == '0') {
    base = 8;
    part.remove_prefix(1);
  }
  std::uint64_t value = 0;
  for (const char c : part) {
    const int digit = hex_value(c);
    if (digit < 0 || digit >= static_cast<int>(base)) return std::nullopt;
    value = value * base + static_cast<unsigned>(digit);
    if (value > 0xFFFFFFFFu) value = 0x100000000u;  // too large, and stays so
  }
  return value;
}

std::string_view last_label(std::string_view host) {
  if (host.size() > 1 && host.back() == '.') host.remove_suffix(1);
  const auto dot = host.rfind('.');
  return dot == std::string_view::npos ? host : host.substr(dot + 1);
}

// A name whose last label is a number is an address, or nothing.
bool ends_in_number(std::string_view host) {
  const std::string_view label = last_label(host);
  if (label.empty() || !has(kDigit, label[0])) return false;
  return all_in(kDigit, label) || ipv4_number(label).has_value();
}

bool append_ipv4(std::string_view host, std::string& out) {
  if (host.back() == '.') host.remove_suffix(1);
  std::array<std::uint64_t, 4> numbers{};
  std::size_t count = 0;
  for (bool more = true; more;) {
    const auto dot = host.find('.');
    more = dot != std::string_view::npos;
    const auto number = ipv4_number(host.substr(0, dot));
    if (!number || count == 4) return false;
    numbers[count++] = *number;
    if (more) host.remove_prefix(dot + 1);
  }
  const std::uint64_t last = numbers[count - 1];
  if (last >= (1ull << (8 * (5 - count)))) return false;
  std::uint64_t address = last;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (numbers[i] > 255) return false;
    address |= numbers[i] << (8 * (3 - i));
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.append(std::to_string((address >> shift) & 255));
    if (shift) out.push_back('.');
  }
  return true;
}

using Ipv6 = std::array<std::uint16_t, 8>;

// The dotted end of an IPv6 address ("::ffff:1.2.3.4"), strict decimal.
bool parse_dotted(std::string_view text, std::uint16_t* pieces) {
  for (int i = 0; i < 4; ++i) {
    const auto dot = text.find('.');
    if ((dot == std::string_view::npos) != (i == 3)) return false;
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || part.size() > 3 || !all_in(kDigit, part) || (part.size() > 1 && part[0] == '0')) return false;
    unsigned value = 0;
    for (const char c : part) value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 255) return false;
    pieces[i / 2] = static_cast<std::uint16_t>(pieces[i / 2] << 8 | value);
    if (i < 3) text.remove_prefix(dot + 1);
  }
  return true;
}

bool parse_ipv6(std::string_view text, Ipv6& address) {
  address = {};
  std::size_t piece = 0;
  std::optional<std::size_t> gap;
  if (text.starts_with("::")) {
    text.remove_prefix(2);
    gap = 0;
  } else if (text.starts_with(':')) {
    return false;
  }
  while (!text.empty()) {
    if (piece == 8) return false;
    std::size_t digits = 0;
    unsigned value = 0;
    while (digits < text.size() && digits < 4 && hex_value(text[digits]) >= 0) {
      value = value * 16 + static_cast<unsigned>(hex_value(text[digits++]));
    }
    if (digits < text.size() && text[digits] == '.') {
      if (piece > 6 || !parse_dotted(text, &address[piece])) return false;
      piece += 2;
      break;
    }
    if (digits == 0) return false;
    address[piece++] = static_cast<std::uint16_t>(value);
    text.remove_prefix(digits);
    if (text.empty()) break;
    if (text[0] != ':' || text.size() == 1) return false;
    text.remove_prefix(1);
    if (text[0] == ':') {
      if (gap) return false;
      gap = piece;
      text.remove_prefix(1);
    }
  }
  if (!gap) return piece == 8;
  if (piece == 8) return false;
  for (std::size_t from = piece, to = 8; from > *gap;) {
    address[--to] = address[--from];
    address[from] = 0;
  }
  return true;
}

// RFC 5952: lower case, no leading zeros, the first longest run of zeros as "::".
void append_ipv6(const Ipv6& address, std::string& out) {
  std::size_t best = 8, best_size = 1;
  for (std::size_t i = 0; i < 8;) {
    std::size_t end = i;
    while (end < 8 && address[end] == 0) ++end;
    if (end - i > best_size) best = i, best_size = end - i;
    i = end + 1;
  }
  out.push_back('[');
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      out.append(i == 0 ? "::" : ":");
      i += best_size - 1;
      continue;
    }
    constexpr char kHex[] = "0123456789abcdef";
    for (int shift = 12; shift >= 0; shift -= 4) {
      if (shift == 0 || address[i] >> shift) out.push_back(kHex[(address[i] >> shift) & 15]);
    }
    if (i < 7) out.push_back(':');
  }
  out.push_back(']');
}

bool decode_triplets(std::string_view host, std::string& out) {
  for (std::size_t at = 0; at < host.size(); ++at) {
    if (host[at] != '%') {
      out.push_back(host[at]);
      continue;
    }
    const int byte = triplet_at(host, at);
    if (byte < 0) return false;
    out.push_back(static_cast<char>(byte));
    at += 2;
  }
  return true;
}

constexpr std::size_t kLabelBytes = 63, kHostBytes = 253;  // RFC 1035, 2.3.4

// The one form of a name or an IPv4 address that is not plain already.
bool append_name(std::string_view host, bool lower_case, std::string& out) {
  std::string decoded, name;
  if (!decode_triplets(host, decoded)) return false;
  bool is_ascii = true;
  for (const char c : decoded) is_ascii &= static_cast<signed char>(c) >= 0;
  if (!is_ascii) {
    if (!domain_to_ascii(decoded, name)) return false;
  } else {
    name = decoded;
    if (lower_case) {
      for (char& c : name) c = lower(c);
    }
  }
  if (name.empty() || !all_in(kNameBytes, name)) return false;
  if (ends_in_number(name)) return append_ipv4(name, out);
  out.append(name);
  return true;
}

}  // namespace

bool is_plain_name(std::string_view host) {
  return !host.empty() && all_in(kPlainBytes, host) && !ends_in_number(host);
}

bool append_host(std::string_view host, unsigned steps, std::string& out) {
  if (host.empty()) return false;
  const std::size_t start = out.size();
  if (is_plain_name(host)) {
    out.append(host);
    return true;
  }
  if (host.front() == '[') {
    Ipv6 address;
    if (host.back() != ']' || !parse_ipv6(host.substr(1, host.size() - 2), address)) return false;
    append_ipv6(address, out);
  } else if (!append_name(host, steps & kCase, out)) {
    return false;
  }
  if (!(steps & kHost)) {  // valid, which was worth knowing, but wanted as written
    out.resize(start);
    for (const char c : host) out.push_back(steps & kCase ? lower(c) : c);
  }
  return true;
}

bool is_address(std::string_view host) { return host.starts_with('[') || ends_in_number(host); }

bool is_host_name(std::string_view host) {
  if (is_address(host)) return true;
  std::size_t label = 0;  // bytes of it so far
  for (const char c : host) {
    if (c == '.') {
      if (label == 0) return false;
      label = 0;
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_') {
      if (++label > kLabelBytes) return false;
    } else {
      return false;
    }
  }
  return label > 0 && host.size() <= kHostBytes;
}

}  // namespace undust
