#include "suffixes.hpp"

#include <unordered_map>

#include "hash.hpp"
#include "host.hpp"
#include "idna.hpp"

namespace undust {
namespace {

constexpr std::size_t kLongestName = 253;  // of a host, says the domain name system

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line.substr(0, line.find_first_of(" \t\r"));  // the list says: a rule ends at white space
}

}  // namespace

SuffixList::SuffixList(std::string_view text) {
  std::unordered_map<std::string, std::uint8_t> kinds;
  std::string name;
  while (!text.empty()) {
    std::string_view rule = take_line(text);
    if (rule.empty() || rule.starts_with("//")) continue;
    std::uint8_t kind = kListed;
    if (rule.starts_with('!')) {
      kind = kException;
      rule.remove_prefix(1);
    } else if (rule.starts_with("*.")) {
      kind = kWildcard | kListed;  // the list's linter and browsers take the base of "*.base" as listed
      rule.remove_prefix(2);
    }
    name.clear();
    if (!domain_to_ascii(rule, name) || name.size() > kLongestName) continue;
    kinds[name] |= kind;
    for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      kinds[name.substr(dot + 1)] |= kInner;
    }
  }
  std::size_t size = 2;
  while (size < kinds.size() * 2) size *= 2;
  slots_.resize(size);
  for (const auto& [suffix, kind] : kinds) insert(suffix, kind);
}

void SuffixList::insert(std::string_view name, std::uint8_t kind) {
  const std::uint64_t hash = hash_of(name);
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].kind) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(names_.size()),
                static_cast<std::uint16_t>(name.size()), kind};
  names_.append(name);
}

std::uint8_t SuffixList::kind_of(std::string_view name) const {
  const std::uint64_t hash = hash_of(name);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t at = hash & (slots_.size() - 1); slots_[at].kind; at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (slot.tag == tag && std::string_view(names_).substr(slot.at, slot.size) == name) return slot.kind;
  }
  return 0;
}

std::string_view SuffixList::site_of_host(std::string_view host) const {
  std::string_view name = host;
  if (name.size() > 1 && name.back() == '.') name.remove_suffix(1);
  if (name.ends_with('.')) return host;  // two dots at the end: no name, and its own site
  if (is_address(name) || name.starts_with('.') || name.find("..") != std::string_view::npos) return name;

  // From the shortest suffix to the longest: `site` starts one label before the longest
  // suffix that a rule names. Without a rule the last label is the suffix.
  std::size_t site = name.size(), label = name.size(), suffix = name.size();
  bool below_wildcard = false;
  std::uint8_t kind = kInner;
  // Where no longer rule ends with the suffix, the label before it decides; nothing further is asked.
  while (label > 0 && (site == name.size() || below_wildcard || (kind & kInner))) {
    const auto dot = name.rfind('.', label - 1);
    const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
    kind = kind & kInner ? kind_of(name.substr(start)) : std::uint8_t{0};
    if (below_wildcard && (kind & kException)) return name.substr(start);
    if (suffix == name.size() || below_wildcard || (kind & kListed)) {
      suffix = start;
      site = name.size();
    } else if (site == name.size()) {
      site = start;
    }
    below_wildcard = kind & kWildcard;
    label = dot == std::string_view::npos ? 0 : dot;
  }
  return name.substr(site == name.size() ? 0 : site);
}

}  // namespace undust
