// What is left of a rule without its texts: the same for many rules of many sites, so it is kept
// once, and near.
//
//   shape = sides | conditions | pieces
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hash.hpp"
#include "pattern_rule.hpp"

namespace undust {

// A shape, wherever it lies.
class RuleShape {
 public:
  explicit RuleShape(const std::byte* at) : sides_(reinterpret_cast<const ParsedRule*>(at)) {}

  [[nodiscard]] const ParsedRule& sides() const { return *sides_; }
  [[nodiscard]] const Pattern* conditions() const { return reinterpret_cast<const Pattern*>(sides_ + 1); }
  [[nodiscard]] const Piece* pieces() const {
    return reinterpret_cast<const Piece*>(conditions() + sides_->when_count + sides_->unless_count);
  }

 private:
  const ParsedRule* sides_;
};

// All shapes, each once. Places in it are counted in units.
class ShapeTable {
 public:
  // The place of the shape, which may have been there before.
  [[nodiscard]] std::uint32_t add(const ParsedRule& sides, std::span<const Pattern> conditions, std::span<const Piece> pieces) {
    bytes_.clear();
    append(std::span(&sides, 1));
    append(conditions);
    append(pieces);
    if (++count_ * 2 > slots_.size()) grow();
    const std::uint64_t hash = hash_of(bytes_);
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].place; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].hash == hash && is_at(slots_[at].place - 1)) return --count_, slots_[at].place - 1;
    }
    const auto place = static_cast<std::uint32_t>(units_.size());
    units_.resize(place + bytes_.size() / sizeof(Unit));
    std::memcpy(units_.data() + place, bytes_.data(), bytes_.size());
    slots_[at] = {hash, place + 1};
    base_ = units_.data();
    size_ = units_.size();
    return place;
  }

  // Shapes that somebody else holds, as all() gave them; nothing can be added.
  [[nodiscard]] static ShapeTable mapped(std::span<const std::byte> all) {
    ShapeTable table;
    table.base_ = reinterpret_cast<const Unit*>(all.data());
    table.size_ = all.size() / sizeof(Unit);
    return table;
  }
  [[nodiscard]] std::span<const std::byte> all() const { return std::as_bytes(std::span(base_, size_)); }

  [[nodiscard]] RuleShape operator[](std::uint32_t place) const {
    return RuleShape(reinterpret_cast<const std::byte*>(base_ + place));
  }

  // Gives back what only add needs.
  void finish() {
    units_.shrink_to_fit();
    base_ = units_.data();
    slots_ = {};
    bytes_ = {};
  }

 private:
  using Unit = std::uint32_t;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t place = 0;  // from 1 on; 0: empty
  };

  template <typename T>
  void append(std::span<const T> items) {
    static_assert(std::has_unique_object_representations_v<T> && sizeof(T) % sizeof(Unit) == 0 && alignof(T) <= alignof(Unit));
    bytes_.append(reinterpret_cast<const char*>(items.data()), items.size_bytes());
  }

  [[nodiscard]] bool is_at(std::uint32_t place) const {
    const std::size_t left = (units_.size() - place) * sizeof(Unit);
    return bytes_.size() <= left && std::memcmp(units_.data() + place, bytes_.data(), bytes_.size()) == 0;
  }

  void grow() {
    std::vector<Slot> larger(std::max<std::size_t>(64, slots_.size() * 2));
    for (const Slot& slot : slots_) {
      if (!slot.place) continue;
      std::size_t at = slot.hash & (larger.size() - 1);
      while (larger[at].place) at = (at + 1) & (larger.size() - 1);
      larger[at] = slot;
    }
    slots_ = std::move(larger);
  }

  const Unit* base_ = nullptr;  // the units, here or in somebody else's memory
  std::size_t size_ = 0;
  std::vector<Unit> units_;
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
  std::string bytes_;  // of the shape that is added
};

}  // namespace undust
