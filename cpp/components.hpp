// Connected components: which nodes hang together through given edges.
//
// The smallest member stands for its component, so the answer depends neither on the order
// of the edges nor on their direction.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace undust {

class Components {
 public:
  explicit Components(std::int64_t count) : parents_(static_cast<std::size_t>(count)) {
    std::iota(parents_.begin(), parents_.end(), std::int64_t{0});
  }

  void join(std::int64_t left, std::int64_t right) {
    const std::int64_t a = root(left), b = root(right);
    parent(a < b ? b : a) = a < b ? a : b;
  }

  // The smallest member of each node's component.
  [[nodiscard]] std::vector<std::int64_t> finish() && {
    // A parent is never larger than its child, so those before are final.
    for (auto& up : parents_) up = parent(up);
    return std::move(parents_);
  }

 private:
  [[nodiscard]] std::int64_t& parent(std::int64_t node) { return parents_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] std::int64_t root(std::int64_t node) {
    while (parent(node) != node) node = parent(node) = parent(parent(node));
    return node;
  }

  std::vector<std::int64_t> parents_;
};

// Edge i joins left[i] and right[i]; nodes are 0 to count - 1.
[[nodiscard]] inline std::vector<std::int64_t> components(std::span<const std::int64_t> left,
                                                          std::span<const std::int64_t> right, std::int64_t count) {
  if (count < 0 || left.size() != right.size()) {
    throw std::invalid_argument("an edge needs two ends: left and right must have the same length");
  }
  Components found(count);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] < 0 || left[i] >= count || right[i] < 0 || right[i] >= count) {
      throw std::out_of_range("an edge leads to a node that is not there; nodes are 0 to count - 1");
    }
    found.join(left[i], right[i]);
  }
  return std::move(found).finish();
}

}  // namespace undust
