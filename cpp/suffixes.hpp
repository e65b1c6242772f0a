// The public suffix list: which part of a host name somebody registered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace undust {

class SuffixList {
 public:
  // Reads the list as published (one rule a line, "//" comments, private section included).
  explicit SuffixList(std::string_view text);

  // The registered domain inside a normalized host, as a slice of it. The host itself
  // where nothing is registered below a suffix: IP addresses, single labels, suffixes.
  [[nodiscard]] std::string_view site_of_host(std::string_view host) const;

 private:
  enum Kind : std::uint8_t { kListed = 1, kWildcard = 2, kException = 4, kInner = 8 };  // inner: a longer rule ends with it
  // Open addressing, so that a name which no rule has (nearly every one) costs one look.
  struct Slot {
    std::uint32_t at = 0;  // its place in names_
    std::uint16_t size = 0;
    std::uint8_t kind = 0;
  };

  void insert(std::string_view name, std::uint8_t kind);
  [[nodiscard]] std::uint8_t kind_of(std::string_view name, std::uint64_t hash) const;

  std::string names_;
  std::vector<std::uint16_t> marks_;  // of each slot some bits of the hash, 0 if it is empty: small enough to stay near
  std::vector<Slot> slots_;
};

}  // namespace undust
