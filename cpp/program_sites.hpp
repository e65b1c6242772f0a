// Where the block of a site is: a hash table with open addressing, in one memory with the blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "program_block.hpp"
#include "program_memory.hpp"

namespace undust {

class SiteTable {
 public:
  struct Slot {
    std::uint32_t tag = 0;    // of the site's hash
    std::uint32_t place = 0;  // in units, from 1 on; 0: empty
  };

  SiteTable() = default;
  // A table that somebody else holds, as slots() and blocks() gave it; the slots are a power of two.
  SiteTable(std::span<const Slot> slots, std::span<const std::byte> blocks)
      : slots_(slots.data()), blocks_(blocks.data()), last_(slots.size() - 1), block_bytes_(blocks.size()) {}
  // `sites`: the hash of each site and the place of its block in `blocks`.
  SiteTable(std::span<const std::pair<std::uint64_t, std::size_t>> sites, std::span<const std::byte> blocks) {
    std::size_t size = 2;
    while (size <= sites.size() + sites.size() / 4) size *= 2;  // one slot at least stays empty
    std::vector<Slot> slots(size);
    for (const auto& [hash, place] : sites) {
      std::size_t at = hash & (size - 1);
      while (slots[at].place) at = (at + 1) & (size - 1);
      slots[at] = {tag_of(hash), static_cast<std::uint32_t>(place / Block::kUnit + 1)};
    }
    const std::span<const Slot> all(slots);
    memory_ = FarMemory(FarMemory::size_of(all) + FarMemory::size_of(blocks));
    slots_ = memory_.add(all);
    blocks_ = memory_.add(blocks);
    last_ = size - 1;
    block_bytes_ = blocks.size();
  }

  [[nodiscard]] std::span<const Slot> slots() const { return slots_ ? std::span(slots_, last_ + 1) : std::span<const Slot>(); }
  [[nodiscard]] std::span<const std::byte> blocks() const { return {blocks_, block_bytes_}; }

  [[nodiscard]] Block block_at(std::size_t place) const { return Block(blocks_ + place); }

  // Asks the memory for a block, or for what says where it is, but does not wait.
  static void fetch(const std::byte* block) {
    constexpr std::size_t kLines = 5;  // all but the rules of a site of a hundred
    for (std::size_t line = 0; line < kLines; ++line) __builtin_prefetch(block + line * FarMemory::kLine);
  }
  void fetch_slot(std::uint64_t hash) const { __builtin_prefetch(slots_ + first(hash)); }

  // The place of the block that a site of this hash is likely to have, or nothing; it is fetched.
  [[nodiscard]] const std::byte* expect(std::uint64_t hash) const {
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t at = first(hash); slots_[at].place; at = next(at)) {
      if (slots_[at].tag != tag) continue;
      fetch(address(at));
      return address(at);
    }
    return nullptr;
  }

  // The block of the site, or none; `expected` is what expect said of its hash.
  [[nodiscard]] Block find(std::string_view site, std::uint64_t hash, const std::byte* expected) const {
    if (!expected) return {};
    if (const Block block(expected); block.site() == site) return block;
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t at = first(hash); slots_[at].place; at = next(at)) {
      if (slots_[at].tag != tag) continue;
      if (const Block block(address(at)); block.site() == site) return block;
    }
    return {};
  }

 private:
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  [[nodiscard]] std::size_t first(std::uint64_t hash) const { return hash & last_; }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & last_; }
  [[nodiscard]] const std::byte* address(std::size_t at) const {
    return blocks_ + std::size_t{slots_[at].place - 1} * Block::kUnit;
  }

  FarMemory memory_;
  const Slot* slots_ = nullptr;
  const std::byte* blocks_ = nullptr;
  std::size_t last_ = 0, block_bytes_ = 0;
};

}  // namespace undust
