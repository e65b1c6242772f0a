// All that is known of one site alone, in one stretch of memory, so that a site which nobody asked
// for in a while costs few cache misses:
//
//   header | tags of the guards | site name | always | lists | slots of the guards | rules …
//   rule   = its head | its texts
//
// A URL that no rule guards against needs the beginning only; one that a rule is for, a slot and
// the rule besides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pattern_rule.hpp"
#include "program_follow.hpp"
#include "program_guards.hpp"
#include "program_index.hpp"
#include "program_memory.hpp"
#include "program_shapes.hpp"
#include "program_signs.hpp"

namespace undust {

struct RuleHead {
  Signs needs = 0;               // see program_signs.hpp
  std::uint32_t shape = 0;       // its place
  std::uint32_t number = 0;      // in the list that the program was made of
  std::uint32_t exceptions = 0;  // which list of excepted sites, from 1 on
  std::uint16_t size = 0;        // of the rule in its block, in units
  bool keeps_normal : 1 = false;  // with the same authority its result is in normal form
  bool is_final : 1 = false;      // no rule of the site sees its result (see program_follow.hpp)
  bool is_compared : 1 = false;   // for comparing only: keys see it, canonical forms do not
  bool unused : 1 = false;        // images of version 5 may have it
  bool keeps_front : 1 = false;     // it is about parameters alone
  bool puts_plain_host : 1 = false;  // what a replacement puts leaves a host one host (see program_replace.hpp)
  bool drops_only : 1 = false;       // see program_quiet.hpp, as for the next two
  bool stays_quiet : 1 = false;
  bool stays_quiet_anywhere : 1 = false;
  bool is_mask : 1 = false;
  bool is_keep : 1 = false;
  bool keeps_authority : 1 = false;  // it is about path and parameters alone
  std::uint8_t spare : 4 = 0;  // no bit of a rule is left to chance
};

// A rule, wherever it lies.
class StoredRule {
 public:
  StoredRule(const std::byte* at, const ShapeTable& shapes)
      : head_(reinterpret_cast<const RuleHead*>(at)), shape_(shapes[head_->shape]),
        pieces_{shape_.pieces(), reinterpret_cast<const char*>(head_ + 1)} {}

  [[nodiscard]] const RuleHead& head() const { return *head_; }
  [[nodiscard]] const ParsedRule* operator->() const { return &shape_.sides(); }
  [[nodiscard]] const Pattern* conditions() const { return shape_.conditions(); }
  [[nodiscard]] const PieceView& pieces() const { return pieces_; }

 private:
  const RuleHead* head_;
  RuleShape shape_;
  PieceView pieces_;
};

struct BlockHeader {
  SiteIndex index;
  Signs needs = 0;  // of all rules
  std::uint32_t site_size = 0;
  std::uint32_t first_rule = 0;  // its place
  bool has_masks = false;
  bool has_compared = false;  // rules for comparing only
  bool has_fetched = false;   // other rules, but for masks
  std::uint8_t unused[5] = {};
};
static_assert(std::has_unique_object_representations_v<BlockHeader> && std::has_unique_object_representations_v<RuleHead>);

// The block at an address, or none. Places in it are counted in units.
class Block {
 public:
  static constexpr std::size_t kUnit = 8;

  Block() = default;
  explicit Block(const std::byte* at) : header_(reinterpret_cast<const BlockHeader*>(at)) {
    const SiteIndex& index = header_->index;
    const std::byte* place = at + sizeof(BlockHeader);
    index_.site = &index;
    index_.tags = take<char>(place, index.group_count * kGroup);
    site_ = {take<char>(place, header_->site_size), header_->site_size};
    index_.always = take<std::uint32_t>(place, index.always_count);
    index_.lists = take<std::uint32_t>(place, index.list_size);
    index_.slots = take<GuardSlot>(place, index.group_count * kGroup);
  }

  explicit operator bool() const { return header_ != nullptr; }
  [[nodiscard]] std::string_view site() const { return site_; }
  [[nodiscard]] std::uint32_t rule_count() const { return header_->index.rule_count; }
  [[nodiscard]] std::uint32_t first_rule() const { return header_->first_rule; }
  [[nodiscard]] const std::byte* address(std::uint32_t place) const {
    return reinterpret_cast<const std::byte*>(header_) + std::size_t{place} * kUnit;
  }
  [[nodiscard]] const RuleHead& head(std::uint32_t place) const { return *reinterpret_cast<const RuleHead*>(address(place)); }
  [[nodiscard]] const IndexView& index() const { return index_; }
  [[nodiscard]] bool has_masks() const { return header_->has_masks; }
  [[nodiscard]] bool has_compared() const { return header_->has_compared; }
  [[nodiscard]] bool has_fetched() const { return header_->has_fetched; }
  [[nodiscard]] Signs needs() const { return header_->needs; }

  [[nodiscard]] static std::size_t padded(std::size_t size) { return (size + kUnit - 1) / kUnit * kUnit; }

 private:
  template <typename T>
  static const T* take(const std::byte*& place, std::size_t count) {
    const auto* first = reinterpret_cast<const T*>(place);
    place += padded(count * sizeof(T));
    return first;
  }

  const BlockHeader* header_ = nullptr;
  std::string_view site_;
  IndexView index_{};
};

// Takes the rules of a site one after the other, then appends the block of them.
class BlockBuilder {
 public:
  explicit BlockBuilder(ShapeTable& shapes) : shapes_(shapes) {}

  void clear() {
    rules_.clear();
    index_.clear();
    rule_count_ = 0;
    has_masks_ = has_compared_ = has_fetched_ = false;
    needs_ = 0;
  }
  [[nodiscard]] bool is_empty() const { return rule_count_ == 0; }

  void add_rule(RuleHead head, const ParsedRule& rule, const Pieces& pieces, std::span<const Pattern> conditions) {
    const std::uint32_t start = units(rules_.size());
    head.shape = shapes_.add(rule, conditions, pieces.all);
    head.size = static_cast<std::uint16_t>(units(sizeof head + pieces.text.size()));
    index_.add_rule(rule, pieces.view(), conditions, start);
    append(std::span<const RuleHead>(&head, 1), rules_);
    append(std::span<const char>(pieces.text), rules_);
    ++rule_count_;
    has_masks_ |= rule.is_mask;
    has_compared_ |= head.is_compared;
    has_fetched_ |= !head.is_compared && !rule.is_mask;
    needs_ |= head.needs;
  }

  // `memory` keeps a size that is a whole number of lines.
  void append_to(std::string_view site, std::vector<std::byte>& memory) {
    BlockHeader header;
    header.index = index_.finish();
    header.site_size = static_cast<std::uint32_t>(site.size());
    header.has_masks = has_masks_;
    header.has_compared = has_compared_;
    header.has_fetched = has_fetched_;
    header.needs = needs_;
    const IndexTables& tables = index_.tables();
    header.first_rule = units(sizeof header + size_of(tables.tags) + Block::padded(site.size()) + size_of(tables.always) +
                              size_of(tables.lists) + size_of(tables.slots));
    index_.move_rules(header.first_rule);

    const std::size_t start = memory.size();
    append(std::span<const BlockHeader>(&header, 1), memory);
    append(std::span(tables.tags), memory);
    append(std::span(site), memory);
    append(std::span(tables.always), memory);
    append(std::span(tables.lists), memory);
    append(std::span(tables.slots), memory);
    append_bytes(rules_, memory);
    align(memory);
    // Sites with like rules have blocks of like sizes. An odd number of lines keeps their beginnings
    // from falling on the same few places of the cache.
    const std::size_t lines = (memory.size() - start) / FarMemory::kLine;
    if (lines % 2 == 0) memory.resize(memory.size() + FarMemory::kLine);
    mark_final(memory.data() + start);
  }

 private:
  void mark_final(std::byte* at) const {
    const Block block(at);
    std::byte* place = at + std::size_t{block.first_rule()} * Block::kUnit;
    for (std::uint32_t i = 0; i < block.rule_count(); ++i) {
      auto& head = *reinterpret_cast<RuleHead*>(place);
      const StoredRule rule(place, shapes_);
      const bool is_little = rule->kind == RuleKind::kReplace || head.keeps_normal;
      // What a condition asks for may still be there, so the rule would be found again.
      head.is_final = is_little && !index_.is_found_by_condition(i) && is_final(*rule.operator->(), rule.pieces(), block.index());
      place += std::size_t{head.size} * Block::kUnit;
    }
  }

  // Blocks begin on a line of the cache.
  [[nodiscard]] static std::size_t aligned(std::size_t size) {
    return (size + FarMemory::kLine - 1) / FarMemory::kLine * FarMemory::kLine;
  }
  static void align(std::vector<std::byte>& memory) { memory.resize(aligned(memory.size())); }
  [[nodiscard]] static std::uint32_t units(std::size_t bytes) {
    return static_cast<std::uint32_t>(Block::padded(bytes) / Block::kUnit);
  }
  template <typename T>
  [[nodiscard]] static std::size_t size_of(const std::vector<T>& items) {
    return Block::padded(items.size() * sizeof(T));
  }
  static void append_bytes(std::span<const std::byte> bytes, std::vector<std::byte>& memory) {
    memory.insert(memory.end(), bytes.begin(), bytes.end());
  }
  template <typename T>
  static void append(std::span<const T> items, std::vector<std::byte>& memory) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= Block::kUnit);
    append_bytes(std::as_bytes(items), memory);
    memory.resize(Block::padded(memory.size()));
  }

  ShapeTable& shapes_;
  std::vector<std::byte> rules_;
  IndexBuilder index_;
  std::size_t rule_count_ = 0;
  Signs needs_ = 0;
  bool has_masks_ = false, has_compared_ = false, has_fetched_ = false;
};

}  // namespace undust
