// What the core needs of a C library: memory, and an end where nothing can go on. All of the C library of the
// compiler takes longer to compile than the core, and it would ask its host for functions that write messages.
//
// Memory is kept in blocks of 110 sizes, at most a quarter apart. A freed block waits for the next request of its
// size: an instance holds one rule set, whose requests repeat from URL to URL.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

extern "C" unsigned char __heap_base;
extern "C" void __wasm_call_ctors();

namespace {

constexpr std::size_t kWasmPage = 65536, kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kAlignment = 16, kLargestSmall = 128, kLists = 110;

// Stands right before the memory that is given out.
struct Mark {
  std::uint32_t list;
  std::uint32_t offset;  // from the start of the block to the memory
};

struct FreeBlock {
  FreeBlock* next;
};

FreeBlock* free_blocks[kLists];
std::uintptr_t unused = 0, limit = 0;

// The size of a block that holds so many bytes, and its list: multiples of 16, then four sizes to each doubling.
struct Class {
  explicit Class(std::size_t bytes) {
    if (bytes <= kLargestSmall) {
      size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
      list = size / kAlignment;
      return;
    }
    const int bits = std::bit_width(bytes - 1);
    const std::size_t step = std::size_t{1} << (bits - 3);
    size = (bytes + step - 1) / step * step;
    list = kLargestSmall / kAlignment + static_cast<std::size_t>(bits - 8) * 4 + (size / step - 4);
  }
  std::size_t size, list;
};

std::uintptr_t fresh_block(std::size_t size) {
  if (!unused) {
    unused = (reinterpret_cast<std::uintptr_t>(&__heap_base) + kAlignment - 1) / kAlignment * kAlignment;
    limit = __builtin_wasm_memory_size(0) * kWasmPage;
  }
  if (limit - unused < size) {
    const std::size_t pages = (size - (limit - unused) + kWasmPage - 1) / kWasmPage;
    if (__builtin_wasm_memory_grow(0, pages) == SIZE_MAX) __builtin_trap();
    limit += pages * kWasmPage;
  }
  const std::uintptr_t start = unused;
  unused += size;
  return start;
}

void* take(std::size_t bytes, std::size_t alignment = kAlignment) {
  if (bytes > kMostBytes) __builtin_trap();
  const Class wanted(bytes + alignment);  // the mark needs less than any alignment
  FreeBlock*& first = free_blocks[wanted.list];
  std::uintptr_t start = reinterpret_cast<std::uintptr_t>(first);
  if (first) {
    first = first->next;
  } else {
    start = fresh_block(wanted.size);
  }
  const std::uintptr_t given = (start + alignment) / alignment * alignment;
  *reinterpret_cast<Mark*>(given - sizeof(Mark)) = {static_cast<std::uint32_t>(wanted.list),
                                                   static_cast<std::uint32_t>(given - start)};
  return reinterpret_cast<void*>(given);
}

void give_back(void* memory) {
  if (!memory) return;
  const auto given = reinterpret_cast<std::uintptr_t>(memory);
  const Mark mark = *reinterpret_cast<const Mark*>(given - sizeof(Mark));
  auto* block = reinterpret_cast<FreeBlock*>(given - mark.offset);
  block->next = free_blocks[mark.list];
  free_blocks[mark.list] = block;
}

[[noreturn]] void stop() { __builtin_trap(); }

}  // namespace

const std::nothrow_t std::nothrow{};
void* operator new(std::size_t bytes) { return take(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }

// What the library for exceptions asks for.
namespace __cxxabiv1 {
void* __aligned_malloc_with_fallback(std::size_t bytes) { return take(bytes); }
void __aligned_free_with_fallback(void* memory) { give_back(memory); }
}  // namespace __cxxabiv1

extern "C" {

void (*__cxa_terminate_handler)() = stop;
void (*__cxa_unexpected_handler)() = stop;
__attribute__((noreturn)) void __abort_message(const char*, ...) { stop(); }
__attribute__((noreturn)) void abort() { stop(); }

void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return take(bytes, alignment); }
void free(void* memory) { give_back(memory); }

// An instance never ends, so nothing is destroyed at its end.
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }

std::size_t strlen(const char* text) {
  const char* end = text;
  while (*end) ++end;
  return static_cast<std::size_t>(end - text);
}

int strcmp(const char* left, const char* right) {
  for (; *left && *left == *right; ++left, ++right) {
  }
  return static_cast<unsigned char>(*left) - static_cast<unsigned char>(*right);
}

wchar_t* wmemchr(const wchar_t* text, wchar_t wanted, std::size_t size) {
  for (; size; --size, ++text) {
    if (*text == wanted) return const_cast<wchar_t*>(text);
  }
  return nullptr;
}

__attribute__((export_name("_initialize"), used)) void undust_initialize() { __wasm_call_ctors(); }

}  // extern "C"
