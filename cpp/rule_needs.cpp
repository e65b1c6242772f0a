#include "rule_needs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "hash.hpp"

namespace undust {
namespace {

constexpr std::size_t kIdBytes = 8;
constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);
constexpr std::string_view kDigits = "0123456789abcdef";

// BLAKE2b (RFC 7693) without a key, of which the first eight bytes are kept.
class Blake2b {
 public:
  [[nodiscard]] static std::uint64_t of(std::string_view text) {
    Blake2b hash;
    std::uint64_t done = 0;
    while (text.size() > kBlock) {
      hash.add(text.substr(0, kBlock), done += kBlock, false);
      text.remove_prefix(kBlock);
    }
    hash.add(text, done + text.size(), true);
    return hash.state_[0];
  }

 private:
  static constexpr std::size_t kBlock = 128;
  static constexpr std::array<std::uint64_t, 8> kStart = {
      0x6A09E667F3BCC908u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu, 0xA54FF53A5F1D36F1u,
      0x510E527FADE682D1u, 0x9B05688C2B3E6C1Fu, 0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u};
  static constexpr std::uint8_t kOrders[10][16] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
  static constexpr int kRounds = 12;

  Blake2b() : state_(kStart) { state_[0] ^= 0x01010000u ^ kIdBytes; }

  [[nodiscard]] static std::uint64_t turned(std::uint64_t word, int by) { return word >> by | word << (64 - by); }

  // `done` is the number of bytes so far, these included.
  void add(std::string_view bytes, std::uint64_t done, bool is_last) {
    std::array<char, kBlock> block{};
    if (!bytes.empty()) std::memcpy(block.data(), bytes.data(), bytes.size());
    std::array<std::uint64_t, 16> words{}, v{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = hash_detail::load_8(block.data() + 8 * i);
    std::copy(state_.begin(), state_.end(), v.begin());
    std::copy(kStart.begin(), kStart.end(), v.begin() + 8);
    v[12] ^= done;
    if (is_last) v[14] = ~v[14];
    const auto mix = [&](int a, int b, int c, int d, std::uint64_t x, std::uint64_t y) {
      v[a] += v[b] + x;
      v[d] = turned(v[d] ^ v[a], 32);
      v[c] += v[d];
      v[b] = turned(v[b] ^ v[c], 24);
      v[a] += v[b] + y;
      v[d] = turned(v[d] ^ v[a], 16);
      v[c] += v[d];
      v[b] = turned(v[b] ^ v[c], 63);
    };
    for (int round = 0; round < kRounds; ++round) {
      const auto& order = kOrders[round % 10];
      for (int i = 0; i < 4; ++i) mix(i, i + 4, i + 8, i + 12, words[order[2 * i]], words[order[2 * i + 1]]);
      for (int i = 0; i < 4; ++i) {
        mix(i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, words[order[2 * i + 8]], words[order[2 * i + 9]]);
      }
    }
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] ^= v[i] ^ v[i + 8];
  }

  std::array<std::uint64_t, 8> state_;
};

// The code point at the start of `text`, which is removed; nothing if it is not UTF-8.
std::optional<std::uint32_t> take_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) < 0x80 ? 1 : byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (size == 0 || size > text.size()) return std::nullopt;
  std::uint32_t point = size == 1 ? byte(0) : byte(0) & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    point = point << 6 | (byte(i) & 0x3Fu);
  }
  const bool is_short = (size == 3 && point < 0x800) || (size == 4 && point < 0x10000);
  if (is_short || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF) return std::nullopt;
  text.remove_prefix(size);
  return point;
}

// The JSON of what a rule says, in ASCII: the text that its id is made from.
class Json {
 public:
  [[nodiscard]] std::optional<std::uint64_t> id_of(const RuleSource& rule) {
    text_.assign("[");
    bool is_sound = add(rule.site) && add(rule.text.kind) && add(rule.text.from);
    if (rule.text.to) {
      is_sound = is_sound && add(*rule.text.to);
    } else {
      text_ += "null,";
    }
    is_sound = is_sound && add(rule.text.when) && add(rule.text.unless);
    if (!is_sound) return std::nullopt;
    text_.back() = ']';
    return Blake2b::of(text_);
  }

 private:
  // A value and a comma.
  [[nodiscard]] bool add(std::string_view text) {
    text_ += '"';
    while (!text.empty()) {
      const auto is_odd = [](char c) { return c < 0x20 || c > 0x7E; };
      const std::size_t plain = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_odd) - text.begin());
      text_ += text.substr(0, plain);
      text.remove_prefix(plain);
      if (text.empty()) break;
      const auto point = take_point(text);
      if (!point) return false;
      if (*point > 0xFFFF) {
        add_unit(0xD800 + ((*point - 0x10000) >> 10));
        add_unit(0xDC00 + ((*point - 0x10000) & 0x3FF));
      } else {
        add_unit(*point);
      }
    }
    text_ += "\",";
    return true;
  }

  [[nodiscard]] bool add(const std::vector<std::string_view>& texts) {
    text_ += '[';
    for (const std::string_view text : texts) {
      if (!add(text)) return false;
    }
    if (!texts.empty()) text_.pop_back();
    text_ += "],";
    return true;
  }

  void add_unit(std::uint32_t unit) {
    text_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) text_ += kDigits[unit >> shift & 15];
  }

  std::string text_;
};

// The id that a rule wrote down; nothing if no rule has such an id.
std::optional<std::uint64_t> parsed_id(std::string_view text) {
  if (text.size() != 2 * kIdBytes) return std::nullopt;
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    id |= std::uint64_t{digit} << (8 * (i / 2) + (i % 2 ? 0 : 4));
  }
  return id;
}

using NeededPlaces = std::vector<std::pair<std::uint64_t, std::size_t>>;  // of rules, by id

NeededPlaces places_of(std::span<const RuleNeeds> needs) {
  NeededPlaces places;
  for (const RuleNeeds& each : needs) {
    for (const std::string_view text : each.ids) {
      if (const auto id = parsed_id(text)) places.emplace_back(*id, kNoPlace);
    }
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

NeededPlaces::iterator find_id(NeededPlaces& places, std::uint64_t id) {
  const auto found = std::lower_bound(places.begin(), places.end(), std::pair(id, std::size_t{0}));
  return found != places.end() && found->first == id ? found : places.end();
}

// Whether the needed rule is there on every site where the rule is.
bool covers(const RuleSource& needed, const RuleSource& rule) {
  if (needed.site != "*") return needed.site == rule.site;
  if (rule.site != "*") {
    return std::find(needed.except_sites.begin(), needed.except_sites.end(), rule.site) == needed.except_sites.end();
  }
  std::vector<std::string_view> own = rule.except_sites;
  std::sort(own.begin(), own.end());
  return std::all_of(needed.except_sites.begin(), needed.except_sites.end(),
                     [&](std::string_view site) { return std::binary_search(own.begin(), own.end(), site); });
}

}  // namespace

bool switch_off_unmet(std::vector<RuleSource>& rules, std::span<const RuleNeeds> needs) {
  if (needs.empty()) return true;
  NeededPlaces places = places_of(needs);
  Json json;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto id = json.id_of(rules[i]);
    if (!id) return false;
    if (const auto found = find_id(places, *id); found != places.end()) found->second = i;
  }
  std::vector<std::pair<std::size_t, std::size_t>> needed_by;
  std::vector<std::size_t> off;
  for (const RuleNeeds& each : needs) {
    if (!rules[each.rule].is_active) continue;
    const std::size_t first = needed_by.size();
    const bool is_met = std::all_of(each.ids.begin(), each.ids.end(), [&](std::string_view text) {
      const auto id = parsed_id(text);
      const std::size_t needed = id ? find_id(places, *id)->second : kNoPlace;
      if (needed == kNoPlace || !rules[needed].is_active || !covers(rules[needed], rules[each.rule])) return false;
      needed_by.emplace_back(needed, each.rule);
      return true;
    });
    if (is_met) continue;
    needed_by.resize(first);
    off.push_back(each.rule);
  }
  std::sort(needed_by.begin(), needed_by.end());
  while (!off.empty()) {
    const std::size_t rule = off.back();
    off.pop_back();
    if (!std::exchange(rules[rule].is_active, false)) continue;
    auto next = std::lower_bound(needed_by.begin(), needed_by.end(), std::pair(rule, std::size_t{0}));
    for (; next != needed_by.end() && next->first == rule; ++next) off.push_back(next->second);
  }
  return true;
}

}  // namespace undust
