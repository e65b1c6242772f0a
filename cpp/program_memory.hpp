// Memory that is read at random places: where the system has large pages it asks for them,
// since a miss in the table of pages costs as much as one in the cache.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#if defined(__linux__)
#include <sys/mman.h>
#endif

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
  static constexpr std::size_t kLargePage = std::size_t{2} << 20;

  struct Release {
    std::size_t mapped;
    void operator()(std::byte* memory) const {
#if defined(__linux__)
      if (mapped) {
        ::munmap(memory, mapped);
        return;
      }
#endif
      std::free(memory);
    }
  };
  using Owned = std::unique_ptr<std::byte, Release>;

  [[nodiscard]] static Owned allocate(std::size_t bytes) {
#if defined(__linux__)
    // Fresh from the system, for memory that was in use before has its small pages already.
    if (bytes >= kLargePage) {
      const std::size_t mapped = (bytes + kLargePage - 1) / kLargePage * kLargePage;
      void* memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      ::madvise(memory, mapped, MADV_HUGEPAGE);  // where it is not heeded, all is the same but slower
      return {static_cast<std::byte*>(memory), Release{mapped}};
    }
#endif
    void* memory = std::aligned_alloc(kLine, (bytes / kLine + 1) * kLine);
    if (!memory) throw std::bad_alloc();
    return {static_cast<std::byte*>(memory), Release{0}};
  }

  Owned memory_{nullptr, Release{0}};
  std::size_t used_ = 0;
};

}  // namespace undust
