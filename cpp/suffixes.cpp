#include "suffixes.hpp"

#include <algorithm>

#include "host.hpp"
#include "idna.hpp"

namespace undust {
namespace {

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line.substr(0, line.find_first_of(" \t\r"));  // the list says: a rule ends at white space
}

}  // namespace

SuffixList::SuffixList(std::string_view text) {
  rules_.reserve(text.size() / 16);
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
    if (!domain_to_ascii(rule, name)) continue;
    rules_[name] |= kind;
    const auto labels = static_cast<std::size_t>(std::count(name.begin(), name.end(), '.')) + 1;
    longest_ = std::max(longest_, labels);
  }
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
  // One label beyond the longest rule is enough, however many labels a hostile host has.
  for (std::size_t labels = 0; label > 0 && labels <= longest_ + 1; ++labels) {
    const auto dot = name.rfind('.', label - 1);
    const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
    const auto found = rules_.find(name.substr(start));
    const std::uint8_t kind = found == rules_.end() ? 0 : found->second;
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
