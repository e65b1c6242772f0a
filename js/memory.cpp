// Copies and comparisons of bytes. The library that comes with the compiler goes byte by byte, and the instructions
// of WebAssembly that copy memory are calls into the engine: both are slow for texts as short as URLs. Here it is
// sixteen bytes at a time. Compiled with -fno-builtin, so that no loop becomes a call of the function it is in.
#include <wasm_simd128.h>

#include <cstddef>
#include <cstdint>

namespace {

constexpr std::size_t kBlock = sizeof(v128_t);

template <typename Word>
struct [[gnu::packed, gnu::may_alias]] Anywhere {
  Word word;
};

template <typename Word>
Word load(const unsigned char* at) {
  return reinterpret_cast<const Anywhere<Word>*>(at)->word;
}

template <typename Word>
void store(unsigned char* at, Word word) {
  reinterpret_cast<Anywhere<Word>*>(at)->word = word;
}

// Of sizeof(Word) to twice as many bytes: the first and the last ones, which may overlap. All is read before
// anything is written.
template <typename Word>
void move_ends(unsigned char* to, const unsigned char* from, std::size_t size) {
  const std::size_t last = size - sizeof(Word);
  const Word left = load<Word>(from), right = load<Word>(from + last);
  store(to, left);
  store(to + last, right);
}

void move_short(unsigned char* to, const unsigned char* from, std::size_t size) {
  if (size >= 8) {
    move_ends<std::uint64_t>(to, from, size);
  } else if (size >= 4) {
    move_ends<std::uint32_t>(to, from, size);
  } else if (size >= 2) {
    move_ends<std::uint16_t>(to, from, size);
  } else if (size) {
    *to = *from;
  }
}

// From the first byte to the last one. Right if `to` does not lie inside what is still to be read.
void move_up(unsigned char* to, const unsigned char* from, std::size_t size) {
  const v128_t last = wasm_v128_load(from + size - kBlock);
  for (std::size_t at = 0; at + kBlock < size; at += kBlock) wasm_v128_store(to + at, wasm_v128_load(from + at));
  wasm_v128_store(to + size - kBlock, last);
}

void move_down(unsigned char* to, const unsigned char* from, std::size_t size) {
  const v128_t first = wasm_v128_load(from);
  for (std::size_t end = size; end > kBlock; end -= kBlock) {
    wasm_v128_store(to + end - kBlock, wasm_v128_load(from + end - kBlock));
  }
  wasm_v128_store(to, first);
}

// Compares two words as the bytes they are made of.
template <typename Word>
int order(Word left, Word right) {
  if (left == right) return 0;
  const auto first = static_cast<unsigned>(__builtin_ctzll(left ^ right)) / 8 * 8;
  return static_cast<int>(left >> first & 0xFF) - static_cast<int>(right >> first & 0xFF);
}

template <typename Word>
int order_ends(const unsigned char* left, const unsigned char* right, std::size_t size) {
  if (const int first = order(load<Word>(left), load<Word>(right))) return first;
  const std::size_t last = size - sizeof(Word);
  return order(load<Word>(left + last), load<Word>(right + last));
}

int order_blocks(const unsigned char* left, const unsigned char* right) {
  const v128_t differ = wasm_i8x16_ne(wasm_v128_load(left), wasm_v128_load(right));
  if (!wasm_v128_any_true(differ)) return 0;
  const int place = __builtin_ctz(wasm_i8x16_bitmask(differ));
  return left[place] - right[place];
}

// The place of the first byte of this kind among sixteen; kBlock or more if there is none.
std::size_t find_in_block(const unsigned char* text, v128_t wanted) {
  const v128_t same = wasm_i8x16_eq(wasm_v128_load(text), wanted);
  return wasm_v128_any_true(same) ? static_cast<std::size_t>(__builtin_ctz(wasm_i8x16_bitmask(same))) : kBlock;
}

}  // namespace

extern "C" {

void* memcpy(void* __restrict to, const void* __restrict from, std::size_t size) {
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  size < kBlock ? move_short(target, source, size) : move_up(target, source, size);
  return to;
}

void* memmove(void* to, const void* from, std::size_t size) {
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  if (size < kBlock) {
    move_short(target, source, size);
  } else {
    target <= source ? move_up(target, source, size) : move_down(target, source, size);
  }
  return to;
}

void* memset(void* to, int value, std::size_t size) {
  auto* target = static_cast<unsigned char*>(to);
  if (size < kBlock) {
    for (std::size_t at = 0; at < size; ++at) target[at] = static_cast<unsigned char>(value);
    return to;
  }
  const v128_t block = wasm_i8x16_splat(static_cast<std::int8_t>(value));
  for (std::size_t at = 0; at + kBlock < size; at += kBlock) wasm_v128_store(target + at, block);
  wasm_v128_store(target + size - kBlock, block);
  return to;
}

int memcmp(const void* left, const void* right, std::size_t size) {
  const auto* first = static_cast<const unsigned char*>(left);
  const auto* second = static_cast<const unsigned char*>(right);
  if (size >= kBlock) {
    for (std::size_t at = 0; at + kBlock < size; at += kBlock) {
      if (const int found = order_blocks(first + at, second + at)) return found;
    }
    return order_blocks(first + size - kBlock, second + size - kBlock);
  }
  if (size >= 8) return order_ends<std::uint64_t>(first, second, size);
  if (size >= 4) return order_ends<std::uint32_t>(first, second, size);
  if (size >= 2) return order_ends<std::uint16_t>(first, second, size);
  return size ? *first - *second : 0;
}

void* memchr(const void* text, int value, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(text);
  const auto found = [bytes](std::size_t place) { return const_cast<unsigned char*>(bytes + place); };
  if (size < kBlock) {
    for (std::size_t at = 0; at < size; ++at) {
      if (bytes[at] == static_cast<unsigned char>(value)) return found(at);
    }
    return nullptr;
  }
  const v128_t wanted = wasm_i8x16_splat(static_cast<std::int8_t>(value));
  std::size_t at = 0;
  for (; at + kBlock < size; at += kBlock) {
    if (const std::size_t place = find_in_block(bytes + at, wanted); place < kBlock) return found(at + place);
  }
  at = size - kBlock;
  const std::size_t place = find_in_block(bytes + at, wanted);
  return place < kBlock ? found(at + place) : nullptr;
}

}  // extern "C"
