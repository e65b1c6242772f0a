// Envelopes of pieces, and the buckets of those that share one.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "substrings.hpp"
#include "substrings_hash.hpp"

namespace undust {

struct Envelope {
  TokenHash hash;
  Place piece;
};

// Knows envelopes whose bucket is too large already, as far as a table that stays in the cache can know them.
// More than half of all that are worth comparing are of few such buckets. What it drops nobody will miss: more
// than the most of that bucket were let through before, and so it is still too large.
class Overflowing {
 public:
  explicit Overflowing(std::size_t most) : most_(most), slots_(kSlots) {}

  [[nodiscard]] bool drops(const TokenHash& hash) {
    Slot& slot = slots_[hash.b >> (64 - kBits)];
    if (slot.hash == hash) {
      if (slot.passed > most_) return true;
      ++slot.passed;
    } else if (slot.passed > 1) {
      slot.passed -= 1;
    } else {
      slot = {hash, 1};
    }
    return false;
  }

 private:
  static constexpr int kBits = 14;
  static constexpr std::size_t kSlots = std::size_t{1} << kBits;
  struct Slot {
    TokenHash hash{0, 0};
    std::size_t passed = 0;  // of this hash, at least so many
  };
  std::size_t most_;
  std::vector<Slot> slots_;
};

// Envelopes with equal hashes, found by a table over few envelopes. Most have none beside them.
class Buckets {
 public:
  // Finds the buckets of at least two and at most `most` envelopes.
  void find(std::span<const Envelope> envelopes, std::size_t most) {
    const std::size_t mask = std::bit_ceil(envelopes.size() * 2) - 1;
    firsts_.assign(mask + 1, kNone);
    members_.clear();
    members_.reserve(envelopes.size());
    several_.clear();
    for (std::uint32_t i = 0; i < envelopes.size(); ++i) {
      members_.push_back({kNone, 1});
      std::size_t slot = envelopes[i].hash.b & mask;
      while (firsts_[slot] != kNone && envelopes[firsts_[slot]].hash != envelopes[i].hash) slot = (slot + 1) & mask;
      if (firsts_[slot] == kNone) {
        firsts_[slot] = i;
        continue;
      }
      Member& first = members_[firsts_[slot]];
      if (first.count++ == 1) several_.push_back(firsts_[slot]);
      members_[i].next = first.next;
      first.next = i;
    }
    pieces_.clear();
    ends_.clear();
    for (const std::uint32_t first : several_) {
      if (members_[first].count > most) continue;
      for (std::uint32_t i = first; i != kNone; i = members_[i].next) pieces_.push_back(envelopes[i].piece);
      ends_.push_back(pieces_.size());
    }
  }

  // The pieces of all buckets, one bucket after the other, and where each bucket ends.
  [[nodiscard]] std::span<const Place> pieces() const { return pieces_; }
  [[nodiscard]] std::span<const std::size_t> ends() const { return ends_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  struct Member {
    std::uint32_t next, count;  // the count is that of the first alone
  };
  std::vector<std::uint32_t> firsts_, several_;
  std::vector<Member> members_;
  std::vector<Place> pieces_;
  std::vector<std::size_t> ends_;
};

}  // namespace undust
