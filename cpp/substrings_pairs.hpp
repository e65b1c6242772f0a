// Counted pairs of pieces in bounded memory: a table, and files for what it cannot hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "substrings.hpp"
#include "substrings_hash.hpp"

namespace undust {

struct CountedPair {
  TokenHash hash;
  Substitution pair;
};

class PairCounts {
 public:
  // Files are named by `name`, in `folder`; there are none while the table holds all. To begin with it has
  // room for the pairs that are expected.
  PairCounts(std::size_t most_bytes, std::size_t expected, std::string folder, std::string name);

  void add(const CountedPair& pair);
  // Says that a pair will be added soon.
  void prefetch(const TokenHash& hash) const {
    const CountedPair& slot = slots_[hash.b & (slots_.size() - 1)];
    __builtin_prefetch(&slot.hash);
    __builtin_prefetch(&slot.pair.high);
  }
  // Writes all to the files.
  void spill();
  [[nodiscard]] std::int64_t spilled_bytes() const { return spilled_bytes_; }

  // All pairs of several counters with `low` of at least `least`, each pair once.
  [[nodiscard]] static std::vector<Substitution> at_least(std::vector<PairCounts>& parts, std::uint32_t least);

 private:
  using Slots = std::vector<CountedPair, LargePages<CountedPair>>;
  static constexpr std::size_t kFiles = 64, kLeastSlots = 1024;

  [[nodiscard]] bool is_full() const { return used_ * 10 >= slots_.size() * 7; }
  [[nodiscard]] CountedPair& slot_of(const TokenHash& hash);
  void grow();
  void clear();
  [[nodiscard]] std::string path_of(std::size_t file) const;
  void absorb(PairCounts& other);
  void absorb_file(const std::string& path);
  void collect(std::uint32_t least, std::vector<Substitution>& found) const;

  Slots slots_;  // free where `high` and `low` are 0
  std::size_t used_ = 0, most_slots_;
  std::string folder_, name_;
  std::int64_t spilled_bytes_ = 0;
};

}  // namespace undust
