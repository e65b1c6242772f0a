// One URL on its way through a program: from its text to the rules that may see it.
//
// Several lanes are led side by side, each some stages behind the one before it, so that while one
// waits for memory the others are at work (see program_stages.cpp).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "program_match.hpp"
#include "program_sites.hpp"

namespace undust {

enum class Outcome : std::uint8_t {
  kResolved,
  kCycle,       // a URL came back: the smallest of the cycle
  kNotUrl,      // the text itself
  kSkipped,     // user name, or too long: the normal form
  kUnresolved,  // no URL repeated within the bounds: the normal form
};

// The rules that may see a URL: those of its site, and those of all sites.
struct SiteRules {
  std::string_view site;
  Block own;
  const Block* shared = nullptr;

  [[nodiscard]] bool has_any() const { return own || *shared; }
  // Whether one of the blocks has rules of a kind.
  [[nodiscard]] bool have(bool (Block::*kind)() const) const {
    return (own && (own.*kind)()) || (*shared && (shared->*kind)());
  }
  [[nodiscard]] std::array<const Block*, 2> in_order() const { return {&own, shared}; }
};

// Rules that are known to leave the URL in the view as it is (see program_quiet.hpp), among the first candidates.
class QuietRules {
 public:
  void clear() {
    here_ = anywhere_ = 0;
    places_.clear();
  }
  [[nodiscard]] bool has(std::size_t candidate) const { return candidate < kMost && (here_ >> candidate & 1); }
  void add(std::size_t candidate, bool is_anywhere) {
    if (candidate >= kMost) return;
    here_ |= std::uint64_t{1} << candidate;
    anywhere_ |= std::uint64_t{is_anywhere} << candidate;
  }
  // Other candidates take the place of these.
  void leave(const std::vector<std::uint32_t>& candidates) {
    places_.clear();
    for (std::uint64_t left = anywhere_; left; left &= left - 1) {
      places_.push_back(candidates[static_cast<std::size_t>(std::countr_zero(left))]);
    }
    here_ = anywhere_ = 0;
  }
  void arrive(const std::vector<std::uint32_t>& candidates) {
    here_ = anywhere_ = 0;
    auto known = places_.begin();
    for (std::size_t i = 0; i < candidates.size() && known != places_.end(); ++i) {
      while (known != places_.end() && *known < candidates[i]) ++known;
      if (known != places_.end() && *known == candidates[i]) add(i, true);
    }
    places_.clear();
  }

 private:
  static constexpr std::size_t kMost = 64;
  std::uint64_t here_ = 0, anywhere_ = 0;  // a bit for each candidate
  std::vector<std::uint32_t> places_;      // of those that stay quiet until the next candidates are known
};

struct Lane {
  std::string_view text;  // as it was asked for
  Outcome outcome = Outcome::kNotUrl;
  SiteRules rules;
  std::string normal;
  UrlView view;  // first of the normal form, then of what the rules make of it
  std::vector<Suspect> suspects;
  std::vector<std::uint32_t> candidates;  // of the site's own rules, for the URL in the view
  bool has_candidates = false;            // whether they are known yet
  QuietRules quiet;
  bool is_front_kept = false;  // the next URL has the same candidates, and begins like this one up to the query
  bool is_authority_kept = false;  // the next URL has the authority of this one
  bool is_cut = false;  // the next URL is the beginning of this one, which has no "?"

  // What the look of the text promises, before it is normalized.
  std::string_view host;
  std::size_t host_at = 0;
  std::uint64_t host_hash = 0, site_hash = 0;
  const std::byte* expected = nullptr;  // the block
  bool is_known = false;                // host, site and block came from the memo
};

// Where the rules of a host are, for the hosts that were asked for lately. Nothing in it says
// more than suffix list and site table do; it says it sooner.
class HostMemo {
 public:
  // Forgets all if the program is another than the last time.
  void serve(std::uint64_t program) {
    if (program == program_) return;
    resize(kFewest);
    program_ = program;
  }

  void expect(const Lane& lane) const { __builtin_prefetch(&entry_of(lane)); }

  [[nodiscard]] bool find(Lane& lane) const {
    const Entry& entry = entry_of(lane);
    const std::string_view host = lane.host;
    if (host.empty() || entry.size != host.size() || std::memcmp(entry.host, host.data(), host.size()) != 0) return false;
    lane.rules.site = host.substr(entry.site_at, entry.site_size);
    lane.expected = entry.block;
    return true;
  }

  // The lane has a host in normal form with nothing beside it.
  void keep(const Lane& lane, const std::byte* block) {
    if (lane.host.size() > kLongest) return;
    if (++kept_ > entries_.size() && entries_.size() < kMost) resize(entries_.size() * 4);
    Entry& entry = entries_[lane.host_hash & (entries_.size() - 1)];
    entry.block = block;
    entry.size = static_cast<std::uint8_t>(lane.host.size());
    entry.site_at = static_cast<std::uint8_t>(lane.rules.site.data() - lane.host.data());
    entry.site_size = static_cast<std::uint8_t>(lane.rules.site.size());
    std::memcpy(entry.host, lane.host.data(), lane.host.size());
  }

 private:
  static constexpr std::size_t kFewest = 256, kMost = 16384;
  static constexpr std::size_t kLongest = FarMemory::kLine - sizeof(void*) - 3;
  struct Entry {
    const std::byte* block = nullptr;
    std::uint8_t size = 0, site_at = 0, site_size = 0;
    char host[kLongest];
  };

  [[nodiscard]] const Entry& entry_of(const Lane& lane) const { return entries_[lane.host_hash & (entries_.size() - 1)]; }
  void resize(std::size_t count) {
    entries_.assign(count, {});
    kept_ = 0;
  }

  std::vector<Entry> entries_;
  std::size_t kept_ = 0;
  std::uint64_t program_ = 0;
};

// Lanes side by side, and what they remember from batch to batch.
struct Lanes {
  static constexpr std::size_t kCount = 16;

  [[nodiscard]] Lane& operator[](std::size_t url) { return all[url % kCount]; }

  std::array<Lane, kCount> all;
  HostMemo memo;
};

}  // namespace undust
