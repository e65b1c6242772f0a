// The number of a text among many.
//
// A learner asks of each state of a site for a few texts or for nearly all. A table costs as much as going through
// all texts, so it is made for those who ask often; before that, texts that are in order are searched by halves.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hash.hpp"

namespace undust {

class NumberedTexts {
 public:
  // The texts are all different, and stay where they are.
  explicit NumberedTexts(const std::vector<std::string_view>& texts) : texts_(texts) {}

  // The number of a text, or -1.
  [[nodiscard]] std::int64_t find(std::string_view text) const {
    if (asked_.fetch_add(1, std::memory_order_relaxed) < texts_.size() / kFew && is_sorted()) {
      const auto found = std::lower_bound(texts_.begin(), texts_.end(), text);
      return found == texts_.end() || *found != text ? -1 : found - texts_.begin();
    }
    std::call_once(tabled_, [this] {
      table_.reserve(texts_.size());
      for (std::size_t i = 0; i < texts_.size(); ++i) table_.emplace(texts_[i], static_cast<std::int64_t>(i));
    });
    const auto found = table_.find(text);
    return found == table_.end() ? -1 : found->second;
  }

 private:
  // Of so many texts one may be asked for before there is a table.
  static constexpr std::size_t kFew = 16;

  struct Hash {
    [[nodiscard]] std::size_t operator()(std::string_view text) const { return hash_of(text); }
  };

  [[nodiscard]] bool is_sorted() const {
    std::call_once(compared_, [this] { is_sorted_ = std::is_sorted(texts_.begin(), texts_.end()); });
    return is_sorted_;
  }

  const std::vector<std::string_view>& texts_;
  mutable std::atomic<std::size_t> asked_ = 0;
  mutable std::once_flag compared_, tabled_;
  mutable bool is_sorted_ = false;
  mutable std::unordered_map<std::string_view, std::int64_t, Hash> table_;
};

}  // namespace undust
