// Memory that is read at random places, filled part by part.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "large_pages.hpp"

namespace undust {

// Bytes that are filled once, part by part, and then only read.
class FarMemory {
 public:
  static constexpr std::size_t kLine = 64;

  FarMemory() = default;
  explicit FarMemory(std::size_t bytes) : memory_(allocate(bytes)) {}

  // Copies a part to where the last one ended, on a line of its own; the constructor was told
  // of the sum of all these sizes.
  template <typename T>
  const T* add(std::span<const T> items) {
    std::byte* place = memory_.get() + used_;
    if (!items.empty()) std::memcpy(place, items.data(), items.size_bytes());
    used_ += size_of(items);
    return reinterpret_cast<const T*>(place);
  }
  // All of it, for those who fill it in an order of their own.
  [[nodiscard]] std::byte* data() { return memory_.get(); }

  template <typename T>
  [[nodiscard]] static std::size_t size_of(std::span<const T> items) {
    return (items.size_bytes() + kLine - 1) / kLine * kLine;
  }

 private:
  struct Release {
    std::size_t bytes;
    void operator()(std::byte* memory) const { LargePages<std::byte>().deallocate(memory, bytes); }
  };
  using Owned = std::unique_ptr<std::byte, Release>;

  [[nodiscard]] static Owned allocate(std::size_t bytes) {
    return {LargePages<std::byte>().allocate(bytes), Release{bytes}};
  }

  Owned memory_{nullptr, Release{0}};
  std::size_t used_ = 0;
};

}  // namespace undust
