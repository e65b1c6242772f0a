#include "substrings_pairs.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

namespace undust {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

bool is_free(const CountedPair& slot) { return slot.pair.low == 0 && slot.pair.high == 0; }

// The first bits of a hash name the file, so the slot comes from others.
std::size_t file_of(const TokenHash& hash, std::size_t files) { return (hash.a >> 32) * files >> 32; }

}  // namespace

PairCounts::PairCounts(std::size_t most_bytes, std::size_t expected, std::string folder, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)) {
  // While it grows, the old table and one twice as large are there at the same time.
  const std::size_t most = most_bytes / (sizeof(CountedPair) * 3 / 2);
  most_slots_ = std::max(kLeastSlots, std::bit_floor(most));
  slots_.resize(std::clamp(std::bit_ceil(expected * 10 / 7), kLeastSlots, most_slots_));
}

CountedPair& PairCounts::slot_of(const TokenHash& hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash.b & mask;; at = (at + 1) & mask) {
    if (is_free(slots_[at]) || slots_[at].hash == hash) return slots_[at];
  }
}

void PairCounts::add(const CountedPair& pair) {
  CountedPair& slot = slot_of(pair.hash);
  if (!is_free(slot)) {
    slot.pair.low += pair.pair.low;
    slot.pair.high += pair.pair.high;
    return;
  }
  slot = pair;
  ++used_;
  if (!is_full()) return;
  if (slots_.size() < most_slots_) {
    grow();
  } else {
    spill();
  }
}

void PairCounts::grow() {
  Slots old(slots_.size() * 2);
  old.swap(slots_);
  for (const CountedPair& slot : old) {
    if (!is_free(slot)) slot_of(slot.hash) = slot;
  }
}

void PairCounts::clear() {
  std::fill(slots_.begin(), slots_.end(), CountedPair{});
  used_ = 0;
}

std::string PairCounts::path_of(std::size_t file) const {
  return folder_ + "/" + name_ + "-" + std::to_string(file) + ".pairs";
}

void PairCounts::spill() {
  std::vector<std::size_t> ends(kFiles + 1, 0);
  for (const CountedPair& slot : slots_) {
    if (!is_free(slot)) ++ends[file_of(slot.hash, kFiles) + 1];
  }
  for (std::size_t file = 0; file < kFiles; ++file) ends[file + 1] += ends[file];
  std::vector<CountedPair> buffer;
  for (std::size_t file = 0; file < kFiles; ++file) {
    if (ends[file] == ends[file + 1]) continue;
    buffer.clear();
    for (const CountedPair& slot : slots_) {
      if (!is_free(slot) && file_of(slot.hash, kFiles) == file) buffer.push_back(slot);
    }
    const File out(std::fopen(path_of(file).c_str(), "ab"));
    if (!out || std::fwrite(buffer.data(), sizeof(CountedPair), buffer.size(), out.get()) != buffer.size() ||
        std::fflush(out.get()) != 0) {
      throw std::runtime_error("could not write to the folder for temporary files, " + folder_ +
                               "; free some space there, or give more memory");
    }
    spilled_bytes_ += static_cast<std::int64_t>(buffer.size() * sizeof(CountedPair));
  }
  clear();
}

void PairCounts::absorb(PairCounts& other) {
  for (const CountedPair& slot : other.slots_) {
    if (!is_free(slot)) add(slot);
  }
}

void PairCounts::absorb_file(const std::string& path) {
  const File in(std::fopen(path.c_str(), "rb"));
  if (!in) return;
  std::vector<CountedPair> buffer(1 << 14);
  while (const std::size_t count = std::fread(buffer.data(), sizeof(CountedPair), buffer.size(), in.get())) {
    for (std::size_t i = 0; i < count; ++i) add(buffer[i]);
  }
  std::remove(path.c_str());
}

void PairCounts::collect(std::uint32_t least, std::vector<Substitution>& found) const {
  for (const CountedPair& slot : slots_) {
    if (!is_free(slot) && slot.pair.low >= least) found.push_back(slot.pair);
  }
}

std::vector<Substitution> PairCounts::at_least(std::vector<PairCounts>& parts, std::uint32_t least) {
  std::vector<Substitution> found;
  const bool has_spilled = std::any_of(parts.begin(), parts.end(), [](auto& part) { return part.spilled_bytes_ > 0; });
  // The envelopes are gone by now, and each file is a small part of all: the tables may grow.
  if (!has_spilled) {
    parts[0].most_slots_ = std::numeric_limits<std::size_t>::max() / 2;
    for (std::size_t part = 1; part < parts.size(); ++part) parts[0].absorb(parts[part]);
    parts[0].collect(least, found);
    return found;
  }
  for (PairCounts& part : parts) {
    part.spill();
    part.slots_ = {};
  }
  for (std::size_t file = 0; file < kFiles; ++file) {
    PairCounts together(0, 0, "", "");
    together.most_slots_ = std::numeric_limits<std::size_t>::max() / 2;
    for (const PairCounts& part : parts) together.absorb_file(part.path_of(file));
    together.collect(least, found);
  }
  return found;
}

}  // namespace undust
