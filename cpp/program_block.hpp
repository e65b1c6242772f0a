// All that is known of one site, in one stretch of memory, and in it each rule in one stretch,
// so that a site which nobody asked for in a while costs few cache misses:
//
//   header | site name | where each rule is | guards | directory | always | rules …
//   rule   = its head | conditions | pieces | text
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pattern_rule.hpp"
#include "program_index.hpp"

namespace undust {

struct RuleHead {
  ParsedRule parsed;
  std::uint16_t piece_count = 0;
  bool keeps_normal = false;     // with the same authority its result is in normal form
  std::uint32_t number = 0;      // in the list that the program was made of
  std::uint32_t exceptions = 0;  // which list of excepted sites, from 1 on
};

// A rule, wherever it lies.
class StoredRule {
 public:
  explicit StoredRule(const std::byte* at) : head_(reinterpret_cast<const RuleHead*>(at)) {
    const std::size_t condition_count = std::size_t{head_->parsed.when_count} + head_->parsed.unless_count;
    const std::byte* pieces = at + sizeof(RuleHead) + condition_count * sizeof(Pattern);
    pieces_ = {reinterpret_cast<const Piece*>(pieces),
               reinterpret_cast<const char*>(pieces + head_->piece_count * sizeof(Piece))};
  }

  [[nodiscard]] const RuleHead& head() const { return *head_; }
  [[nodiscard]] const ParsedRule* operator->() const { return &head_->parsed; }
  [[nodiscard]] const Pattern* conditions() const { return reinterpret_cast<const Pattern*>(head_ + 1); }
  [[nodiscard]] const PieceView& pieces() const { return pieces_; }

 private:
  const RuleHead* head_;
  PieceView pieces_;
};

struct BlockHeader {
  SiteIndex index;
  std::uint32_t site_size = 0;
  bool has_masks = false;
};

// The block at an address, or none.
class Block {
 public:
  Block() = default;
  explicit Block(const std::byte* at) : header_(reinterpret_cast<const BlockHeader*>(at)) {
    const std::byte* place = at + sizeof(BlockHeader);
    site_ = {reinterpret_cast<const char*>(place), header_->site_size};
    place += padded(header_->site_size);
    rules_ = take<std::uint32_t>(place, header_->index.rule_count);
    index_.site = &header_->index;
    index_.entries = take<GuardEntry>(place, header_->index.entry_count);
    index_.directory = take<std::uint32_t>(place, header_->index.directory_size);
    index_.always = take<std::uint32_t>(place, header_->index.always_count);
  }

  explicit operator bool() const { return header_ != nullptr; }
  [[nodiscard]] std::string_view site() const { return site_; }
  [[nodiscard]] std::uint32_t rule_count() const { return header_->index.rule_count; }
  [[nodiscard]] StoredRule rule(std::uint32_t place) const {
    return StoredRule(reinterpret_cast<const std::byte*>(header_) + rules_[place]);
  }
  [[nodiscard]] const IndexView& index() const { return index_; }
  [[nodiscard]] bool has_masks() const { return header_->has_masks; }

 private:
  friend class BlockBuilder;

  [[nodiscard]] static std::size_t padded(std::size_t size) { return (size + 7) / 8 * 8; }

  template <typename T>
  static const T* take(const std::byte*& place, std::size_t count) {
    const auto* first = reinterpret_cast<const T*>(place);
    place += count * sizeof(T);
    return first;
  }

  const BlockHeader* header_ = nullptr;
  std::string_view site_;
  const std::uint32_t* rules_ = nullptr;
  IndexView index_{};
};

// Takes the rules of a site one after the other, then appends the block of them.
class BlockBuilder {
 public:
  void clear() {
    rules_.clear();
    starts_.clear();
    has_masks_ = false;
  }
  [[nodiscard]] bool is_empty() const { return starts_.empty(); }

  void add_rule(RuleHead head, const Pieces& pieces, std::span<const Pattern> conditions) {
    head.piece_count = static_cast<std::uint16_t>(pieces.all.size());
    starts_.push_back(static_cast<std::uint32_t>(rules_.size()));
    append(std::span<const RuleHead>(&head, 1), rules_);
    append(conditions, rules_);
    append(std::span<const Piece>(pieces.all), rules_);
    append(std::span<const char>(pieces.text), rules_);
    rules_.resize(Block::padded(rules_.size()));
    index_.add_rule(head.parsed, pieces.view());
    has_masks_ |= head.parsed.is_mask;
  }

  // `memory` keeps a size that is a multiple of eight.
  void append_to(std::string_view site, std::vector<std::byte>& memory) {
    BlockHeader header;
    header.index = index_.finish();
    header.site_size = static_cast<std::uint32_t>(site.size());
    header.has_masks = has_masks_;
    const IndexTables& tables = index_.tables();
    const std::size_t size = sizeof header + Block::padded(site.size()) + starts_.size() * sizeof(std::uint32_t) +
                             tables.entries.size() * sizeof(GuardEntry) +
                             (tables.directory.size() + tables.always.size()) * sizeof(std::uint32_t);
    for (std::uint32_t& start : starts_) start += static_cast<std::uint32_t>(Block::padded(size));

    append(std::span<const BlockHeader>(&header, 1), memory);
    append(std::span<const char>(site), memory);
    memory.resize(Block::padded(memory.size()));
    append(std::span<const std::uint32_t>(starts_), memory);
    append(std::span<const GuardEntry>(tables.entries), memory);
    append(std::span<const std::uint32_t>(tables.directory), memory);
    append(std::span<const std::uint32_t>(tables.always), memory);
    memory.resize(Block::padded(memory.size()));
    append(std::span<const std::byte>(rules_), memory);
  }

 private:
  template <typename T>
  static void append(std::span<const T> items, std::vector<std::byte>& memory) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    const auto bytes = std::as_bytes(items);
    memory.insert(memory.end(), bytes.begin(), bytes.end());
  }

  std::vector<std::byte> rules_;
  std::vector<std::uint32_t> starts_;
  IndexBuilder index_;
  bool has_masks_ = false;
};

}  // namespace undust
