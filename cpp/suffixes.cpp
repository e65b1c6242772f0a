#include "suffixes.hpp"

#include <bit>
#include <unordered_map>

#include "byte_masks.hpp"
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

std::uint16_t mark_of(std::uint64_t hash) { return static_cast<std::uint16_t>(hash >> 48 | 1); }

// The dots of a host, from the right. Hosts of up to 64 bytes, which is nearly all of them,
// are looked at once.
class Dots {
 public:
  explicit Dots(std::string_view name) : name_(name), is_short_(name.size() <= kMaskBytes) {
    if (is_short_) mask_ = Chunk(name, 0).mask([](Bytes16 c) { return c == '.'; });
  }

  [[nodiscard]] bool has_empty_label() const {
    if (is_short_) return (mask_ & 1) || (mask_ & (mask_ >> 1));
    return name_.starts_with('.') || name_.find("..") != std::string_view::npos;
  }

  // Where the label starts that ends at `end`.
  [[nodiscard]] std::size_t start_of_label(std::size_t end) const {
    if (!is_short_) return name_.rfind('.', end - 1) + 1;  // npos + 1 is 0
    const std::uint64_t before = end < kMaskBytes ? mask_ & ((std::uint64_t{1} << end) - 1) : mask_;
    return kMaskBytes - static_cast<std::size_t>(std::countl_zero(before));
  }

 private:
  std::string_view name_;
  std::uint64_t mask_ = 0;
  bool is_short_;
};

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
  marks_.resize(size);
  slots_.resize(size);
  for (const auto& [suffix, kind] : kinds) insert(suffix, kind);
}

void SuffixList::insert(std::string_view name, std::uint8_t kind) {
  const std::uint64_t hash = hash_of(name);
  std::size_t at = hash & (marks_.size() - 1);
  while (marks_[at]) at = (at + 1) & (marks_.size() - 1);
  marks_[at] = mark_of(hash);
  slots_[at] = {static_cast<std::uint32_t>(names_.size()), static_cast<std::uint16_t>(name.size()), kind};
  names_.append(name);
}

std::uint8_t SuffixList::kind_of(std::string_view name, std::uint64_t hash) const {
  const std::uint16_t mark = mark_of(hash);
  for (std::size_t at = hash & (marks_.size() - 1); marks_[at]; at = (at + 1) & (marks_.size() - 1)) {
    if (marks_[at] != mark) continue;
    const Slot& slot = slots_[at];
    if (std::string_view(names_.data() + slot.at, slot.size) == name) return slot.kind;
  }
  return 0;
}

std::string_view SuffixList::site_of_host(std::string_view host) const {
  std::string_view name = host;
  if (name.size() > 1 && name.back() == '.') name.remove_suffix(1);
  if (name.ends_with('.')) return host;  // two dots at the end: no name, and its own site
  const Dots dots(name);
  if (is_address(name) || dots.has_empty_label()) return name;

  // From the shortest suffix to the longest: `site` starts one label before the longest
  // suffix that a rule names. Without a rule the last label is the suffix.
  std::size_t site = name.size(), label = name.size(), suffix = name.size();
  bool below_wildcard = false;
  std::uint8_t kind = kInner;
  // Where no longer rule ends with the suffix, the label before it decides; nothing further is asked.
  while (label > 0 && (site == name.size() || below_wildcard || (kind & kInner))) {
    const std::size_t start = dots.start_of_label(label);
    const std::string_view longer = name.substr(start);
    if (kind & kInner) {
      kind = kind_of(longer, name.size() >= 8 ? hash_inside(longer) : hash_of(longer));
    } else {
      kind = 0;
    }
    if (below_wildcard && (kind & kException)) return name.substr(start);
    if (suffix == name.size() || below_wildcard || (kind & kListed)) {
      suffix = start;
      site = name.size();
    } else if (site == name.size()) {
      site = start;
    }
    below_wildcard = kind & kWildcard;
    label = start == 0 ? 0 : start - 1;
  }
  return name.substr(site == name.size() ? 0 : site);
}

}  // namespace undust
