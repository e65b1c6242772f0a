// Where the bytes of a URL stand that cut it into parts, found in one pass over the text, 64
// bytes at a time; whoever needs them goes from one to the next without looking at the others.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "byte_masks.hpp"
#include "bytes.hpp"

namespace undust {

// Of 64 bytes, those of each kind.
struct UrlKinds {
  std::uint64_t slashes, questions;
  std::uint64_t ands, equals;  // none where no "?" stands in these bytes or before them
  std::uint64_t words;     // letters and digits outside triplets
  std::uint64_t specials;  // what no path holds but "?", and a dot behind a slash
};

class UrlMasks {
 public:
  // `text` outlives the masks. Without `with_specials` or `with_words` those are not looked for.
  void read(std::string_view text, bool with_specials, bool with_words = true);

  // Those of the first `size` bytes.
  void cut(std::size_t size) {
    size_ = size;
    count_ = (size + kMaskBytes - 1) / kMaskBytes;
    if (const std::size_t used = size % kMaskBytes) {
      UrlKinds& last = chunks_[count_ - 1];
      for (std::uint64_t* kind : {&last.slashes, &last.questions, &last.ands, &last.equals, &last.words, &last.specials}) {
        *kind &= (std::uint64_t{1} << used) - 1;
      }
    }
  }
  void clear() { count_ = size_ = 0; }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const UrlKinds& operator[](std::size_t chunk) const { return chunks_[chunk]; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // The first place of a kind from `at` on, or the size of the text.
  template <std::uint64_t UrlKinds::*kKind>
  [[nodiscard]] std::size_t find(std::size_t at) const;

 private:
  std::vector<UrlKinds> chunks_;
  std::size_t count_ = 0, size_ = 0;
};

// The places of a kind from `at` on, one after the other, then the size of the text.
template <std::uint64_t UrlKinds::*kKind>
class Places {
 public:
  Places(const UrlMasks& masks, std::size_t at) : masks_(masks), chunk_(at / kMaskBytes) {
    if (chunk_ < masks.count()) bits_ = masks[chunk_].*kKind >> (at % kMaskBytes) << (at % kMaskBytes);
  }

  [[nodiscard]] std::size_t next() {
    while (!bits_) {
      if (++chunk_ >= masks_.count()) return masks_.size();
      bits_ = masks_[chunk_].*kKind;
    }
    const std::size_t place = chunk_ * kMaskBytes + static_cast<std::size_t>(std::countr_zero(bits_));
    bits_ &= bits_ - 1;
    return place;
  }

 private:
  const UrlMasks& masks_;
  std::size_t chunk_;
  std::uint64_t bits_ = 0;
};

template <std::uint64_t UrlKinds::*kKind>
std::size_t UrlMasks::find(std::size_t at) const {
  return Places<kKind>(*this, at).next();
}

inline void UrlMasks::read(std::string_view text, bool with_specials, bool with_words) {
  size_ = text.size();
  count_ = (size_ + kMaskBytes - 1) / kMaskBytes;
  if (chunks_.size() < count_) chunks_.resize(count_);
  std::uint64_t digits = 0, slash = 0;  // of a triplet, before a dot, that began in the bytes before
  bool has_query = false;
  for (std::size_t i = 0; i < count_; ++i) {
    const Chunk chunk(text, i * kMaskBytes);
    UrlKinds& kinds = chunks_[i];
    kinds.slashes = chunk.mask([](Bytes16 c) { return c == '/'; });
    kinds.questions = chunk.mask([](Bytes16 c) { return c == '?'; });
    has_query = has_query || kinds.questions;
    kinds.ands = has_query ? chunk.mask([](Bytes16 c) { return c == '&'; }) : 0;
    kinds.equals = has_query ? chunk.mask([](Bytes16 c) { return c == '='; }) : 0;
    if (!with_specials && !with_words) continue;
    const std::uint64_t words = chunk.mask([](Bytes16 c) { return ((c | 0x20) - 'a' < 26) | (c - '0' < 10); });
    std::uint64_t forbidden = ~std::uint64_t{0};  // a percent sign is too: where nothing is, none is looked for
    if (with_specials) {
      forbidden = chunk.mask([](Bytes16 c) {
        return (c - 0x21 > 0x5D) | ((c | 1) == '#') | (c == '%') | ((c & 0xFD) == '<') | (c - '[' < 4) | (c == '`') |
               (c - '{' < 3);
      });
      const std::uint64_t dots = chunk.mask([](Bytes16 c) { return c == '.'; });
      kinds.specials = forbidden | (dots & (kinds.slashes << 1 | slash));
    }
    const std::uint64_t percents = forbidden ? chunk.mask([](Bytes16 c) { return c == '%'; }) : 0;
    kinds.words = words & ~(digits | percents << 1 | percents << 2);
    digits = percents >> 63 | percents >> 62;
    slash = kinds.slashes >> 63;
  }
}

// Calls use(word) for each run of letters and digits outside triplets that is behind the scheme of
// a URL, has two to 64 bytes and of which starts(word) is true.
template <typename Starts, typename Use>
void for_each_word(std::string_view url, const UrlMasks& masks, Starts&& starts, Use&& use) {
  std::uint64_t before = 0x3F;  // the scheme is no word
  for (std::size_t i = 0; i < masks.count(); ++i) {
    const std::uint64_t words = masks[i].words;
    const std::uint64_t after = i + 1 < masks.count() ? masks[i + 1].words : 0;
    // Each place with a letter before which there is none, and behind which there is another.
    std::uint64_t firsts = words & ~(words << 1 | before) & (words >> 1 | after << 63);
    if (i == 0) firsts = firsts >> 6 << 6;
    for (; firsts; firsts &= firsts - 1) {
      const auto start = static_cast<std::size_t>(std::countr_zero(firsts));
      const char* word = url.data() + i * kMaskBytes + start;
      if (!starts(word)) continue;
      auto size = static_cast<std::size_t>(std::countr_one(words >> start));
      if (start + size == kMaskBytes) size += static_cast<std::size_t>(std::countr_one(after));
      if (size <= kMaskBytes) use(std::string_view(word, size));
    }
    before = words >> 63;
  }
}

// The word of at most 64 bytes that a URL with a path ends with, if it does.
[[nodiscard]] inline std::string_view last_word(std::string_view url, const UrlMasks& masks) {
  const std::size_t last = url.size() - 1, chunk = last / kMaskBytes, used = last % kMaskBytes + 1;
  auto size = static_cast<std::size_t>(std::countl_one(masks[chunk].words << (kMaskBytes - used)));
  if (size == used && chunk > 0) size += static_cast<std::size_t>(std::countl_one(masks[chunk - 1].words));
  return size > kMaskBytes ? std::string_view() : url.substr(url.size() - size);
}

}  // namespace undust
