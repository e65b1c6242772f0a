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

// A copy of some trivial objects, never changed again.
template <typename T>
class FarMemory {
 public:
  FarMemory() = default;
  explicit FarMemory(std::span<const T> items) : items_(allocate(items.size_bytes())), size_(items.size()) {
    if (!items.empty()) std::memcpy(items_.get(), items.data(), items.size_bytes());
  }

  [[nodiscard]] const T* data() const { return items_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const T& operator[](std::size_t place) const { return items_.get()[place]; }

 private:
  static constexpr std::size_t kLargePage = std::size_t{2} << 20;

  struct Release {
    std::size_t mapped = 0;
    void operator()(T* items) const {
#if defined(__linux__)
      if (mapped) {
        ::munmap(items, mapped);
        return;
      }
#endif
      std::free(items);
    }
  };

  [[nodiscard]] static std::unique_ptr<T, Release> allocate(std::size_t bytes) {
#if defined(__linux__)
    // Fresh from the system, for memory that was in use before has its small pages already.
    if (bytes >= kLargePage) {
      const std::size_t mapped = (bytes + kLargePage - 1) / kLargePage * kLargePage;
      void* memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      ::madvise(memory, mapped, MADV_HUGEPAGE);  // where it is not heeded, all is the same but slower
      return {static_cast<T*>(memory), Release{mapped}};
    }
#endif
    void* memory = std::malloc(bytes + 1);
    if (!memory) throw std::bad_alloc();
    return {static_cast<T*>(memory), Release{}};
  }

  std::unique_ptr<T, Release> items_;
  std::size_t size_ = 0;
};

}  // namespace undust
