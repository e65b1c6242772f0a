// How many different texts there were, in memory that does not grow with them.
//
// Each text becomes a hash of 64 bits, and the smallest hashes are kept (Bar-Yossef et al., 2002). As long as
// there are no more than are kept the count is exact; beyond that, their density tells about how many there were.
// Hashes wait unsorted, and are sorted when they are many: that costs the same for any texts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hash.hpp"

namespace undust {

class Distinct {
 public:
  explicit Distinct(std::size_t kept) : kept_(std::max<std::size_t>(kept, 2)) {}

  void add(std::string_view text) {
    const std::uint64_t hash = mixed(hash_of(text));
    if (hash > bound_) return;
    hashes_.push_back(hash);
    if (hashes_.size() == 4 * kept_) tidy();
  }

  [[nodiscard]] bool is_exact() {
    tidy();
    return !is_full_;
  }

  [[nodiscard]] double count() {
    tidy();
    if (!is_full_) return static_cast<double>(hashes_.size());
    return static_cast<double>(kept_ - 1) * 0x1p64 / static_cast<double>(bound_);
  }

 private:
  // The high bits decide which hashes are kept, so each bit of the text has to reach them.
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t hash) {
    hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDu;
    hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53u;
    return hash ^ (hash >> 33);
  }

  void tidy() {
    std::sort(hashes_.begin(), hashes_.end());
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
    if (hashes_.size() <= kept_ && !is_full_) return;
    is_full_ = true;
    if (hashes_.size() > kept_) hashes_.resize(kept_);
    bound_ = hashes_.back();
  }

  std::size_t kept_;
  std::uint64_t bound_ = ~std::uint64_t{0};
  bool is_full_ = false;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace undust
