#include "pattern_literal.hpp"

#include "host.hpp"
#include "pattern.hpp"
#include "url.hpp"

namespace undust {

std::string joined(std::initializer_list<std::string_view> texts) {
  std::string all;
  for (const std::string_view text : texts) all.append(text);
  return all;
}

void append_literal(std::string_view text, const ByteSet& allowed, std::string& out) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (has(allowed, c)) {
      out.push_back(c);
      continue;
    }
    const int byte = triplet_at(text, at);
    if (byte < 0) {
      append_triplet(static_cast<unsigned char>(c), out);
      continue;
    }
    at += 2;
    if (kUnreserved[static_cast<std::size_t>(byte)]) {
      out.push_back(static_cast<char>(byte));
    } else {
      append_triplet(static_cast<unsigned char>(byte), out);
    }
  }
}

bool append_label(std::string_view label, std::string& out) {
  // With a name behind it, a label of digits is not taken for an address.
  constexpr std::string_view kName = ".a";
  const std::size_t start = out.size();
  std::string host(label);
  host.append(kName);
  if (!append_host(host, kAllSteps, out)) return false;
  out.resize(out.size() - kName.size());
  if (out.find('.', start) == std::string::npos) return true;
  out.resize(start);
  return false;
}

int port_number(std::string_view digits) {
  int number = 0;
  for (const char c : digits) {
    if (!has(kDigit, c)) return -1;
    number = number * 10 + (c - '0');
    if (number > 65535) return -1;
  }
  return digits.empty() ? -1 : number;
}

}  // namespace undust
