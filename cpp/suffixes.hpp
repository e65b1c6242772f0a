// The public suffix list: which part of a host name somebody registered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace undust {

class SuffixList {
 public:
  // Reads the list as published (one rule a line, "//" comments, private section included).
  explicit SuffixList(std::string_view text);

  // The registered domain inside a normalized host, as a slice of it. The host itself
  // where nothing is registered below a suffix: IP addresses, single labels, suffixes.
  [[nodiscard]] std::string_view site_of_host(std::string_view host) const;

 private:
  enum Kind : std::uint8_t { kListed = 1, kWildcard = 2, kException = 4 };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::uint8_t, Hash, std::equal_to<>> rules_;
  std::size_t longest_ = 0;  // labels of the longest rule
};

}  // namespace undust
