// An allocator for memory that is read at random places: where the system has large pages it asks for
// them, since a miss in the table of pages costs as much as one in the cache.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#elif defined(_WIN32)
#include <malloc.h>
#endif

namespace undust {

template <typename T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <typename Other>
  LargePages(const LargePages<Other>&) {}  // NOLINT: allocators convert

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* memory = nullptr;
    if (is_mapped(bytes)) {
#if defined(__linux__)
      // Fresh from the system, for memory that was in use before has its small pages already.
      memory = ::mmap(nullptr, rounded(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      ::madvise(memory, rounded(bytes), MADV_HUGEPAGE);  // where it is not heeded, all is the same but slower
#endif
    } else {
      memory = aligned((bytes / kLine + 1) * kLine);
      if (!memory) throw std::bad_alloc();
    }
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (is_mapped(bytes)) {
#if defined(__linux__)
      ::munmap(memory, rounded(bytes));
#endif
    } else {
      free_aligned(memory);
    }
  }

  friend bool operator==(const LargePages&, const LargePages&) { return true; }

 private:
  static constexpr std::size_t kLine = 64, kLargePage = std::size_t{2} << 20;

  // Windows has functions of its own for aligned memory.
  [[nodiscard]] static void* aligned(std::size_t bytes) {
#if defined(_WIN32)
    return ::_aligned_malloc(bytes, kLine);
#else
    return std::aligned_alloc(kLine, bytes);
#endif
  }
  static void free_aligned(void* memory) {
#if defined(_WIN32)
    ::_aligned_free(memory);
#else
    std::free(memory);
#endif
  }

  [[nodiscard]] static constexpr bool is_mapped([[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    return bytes >= kLargePage;
#else
    return false;
#endif
  }
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + kLargePage - 1) / kLargePage * kLargePage;
  }
};

}  // namespace undust
