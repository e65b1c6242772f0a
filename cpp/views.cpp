#include "views.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "bytes.hpp"
#include "host.hpp"
#include "url.hpp"

namespace undust {
namespace {

// Texts numbered as they come, then renumbered by rank. The texts must outlive it.
template <typename Text, typename Hash = std::hash<Text>>
class Vocabulary {
 public:
  std::uint32_t code(const Text& text) {
    const auto [place, is_new] = codes_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return place->second;
  }
  // Sorts the texts and answers the rank, counted from `first`, of each code given so far.
  std::vector<std::uint32_t> sort(std::uint32_t first) {
    std::vector<std::uint32_t> order(texts_.size()), ranks(texts_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [this](auto a, auto b) { return texts_[a] < texts_[b]; });
    std::vector<Text> sorted;
    sorted.reserve(texts_.size());
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
      ranks[order[rank]] = rank + first;
      sorted.push_back(texts_[order[rank]]);
    }
    texts_.swap(sorted);
    return ranks;
  }
  [[nodiscard]] const std::vector<Text>& texts() const { return texts_; }

 private:
  std::unordered_map<Text, std::uint32_t, Hash> codes_;
  std::vector<Text> texts_;
};

constexpr ByteSet kLetters = kLower | kUpper;
constexpr ByteSet kWord = kLetters | kDigit;

// The length of the UTF-8 character at the start of `text`; 1 where it is damaged.
std::size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 1;
  if (size > text.size()) return 1;
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  }
  return size;
}

std::size_t run_size(std::string_view text, const ByteSet& set) {
  std::size_t size = 0;
  while (size < text.size() && has(set, text[size])) ++size;
  return size;
}

std::size_t token_size(std::string_view text, TokenStyle style) {
  if (style == TokenStyle::kRuns || style == TokenStyle::kTypes) {
    if (has(kDigit, text[0])) return run_size(text, kDigit);
    if (has(kLetters, text[0])) return run_size(text, kLetters);
  } else if (has(kWord, text[0])) {
    return run_size(text, kWord);
  }
  const bool has_triplets = style == TokenStyle::kTriplets || style == TokenStyle::kTypes;
  if (has_triplets && triplet_at(text, 0) >= 0) return 3;
  return character_size(text);
}

// What a key is, in the order in which keys are sorted and URLs are written.
enum class Part : std::uint8_t { kScheme, kUserinfo, kHost, kPort, kPath, kSlash, kQuery, kFragment };

struct Key {
  Part part;
  std::uint32_t index = 0;  // place in host (from the right) or path; how often the name came before
  std::string_view name = {};  // of a query pair

  friend bool operator==(const Key&, const Key&) = default;
  friend bool operator<(const Key& a, const Key& b) {
    return std::tie(a.part, a.name, a.index) < std::tie(b.part, b.name, b.index);
  }
};

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    return std::hash<std::string_view>{}(key.name) * 31 + key.index * 8 + static_cast<std::size_t>(key.part);
  }
};

std::string readable(const Key& key) {
  switch (key.part) {
    case Part::kScheme: return "scheme";
    case Part::kUserinfo: return "userinfo";
    case Part::kHost: return "host_" + std::to_string(key.index);
    case Part::kPort: return "port";
    case Part::kPath: return "path_" + std::to_string(key.index);
    case Part::kSlash: return "slash";
    case Part::kFragment: return "fragment";
    case Part::kQuery: break;
  }
  std::string name = "?" + std::string(key.name);
  if (key.index > 0) name += "#" + std::to_string(key.index + 1);
  return name;
}

class KeyValueBuilder {
 public:
  KeyValueBuilder(bool semicolons, std::string format) : semicolons_(semicolons), format_(std::move(format)) {
    codes_.offsets.push_back(0);
  }

  void add_row(std::string_view url) {
    UrlParts parts;
    if (split_url(url, parts) && has_usual_shape(parts)) add_parts(parts);
    codes_.offsets.push_back(static_cast<std::int64_t>(codes_.keys.size()));
  }

  KeyValueCodes finish() && {
    const auto key_ranks = keys_.sort(0);
    const auto value_ranks = values_.sort(1);
    for (auto& key : codes_.keys) key = key_ranks[key];
    for (auto& value : codes_.values) value = value == kNoEquals ? 0 : value_ranks[value];
    TextBuilder names, texts;
    for (const Key& key : keys_.texts()) names.append(readable(key));
    texts.append_null();
    for (const auto text : values_.texts()) texts.append(text);
    codes_.key_names = std::move(names).finish(format_);
    codes_.value_texts = std::move(texts).finish(format_);
    return std::move(codes_);
  }

 private:
  static constexpr std::uint32_t kNoEquals = 0xFFFFFFFFu;

  // Written with "://", a host and a path, nothing for a browser to repair: what can be written again.
  bool has_usual_shape(const UrlParts& parts) {
    scratch_.clear();
    return parts.before.empty() && parts.after.empty() && parts.separator == "://" && parts.path.starts_with('/') &&
           append_host(parts.host, kAllSteps, scratch_);
  }

  void add(const Key& key, std::uint32_t value, char separator = 0) {
    codes_.keys.push_back(keys_.code(key));
    codes_.values.push_back(value);
    codes_.separators.push_back(static_cast<std::uint8_t>(separator));
  }
  void add(const Key& key, std::string_view text) { add(key, values_.code(text)); }

  void add_parts(const UrlParts& parts) {
    add({Part::kScheme}, parts.scheme);
    if (parts.has_userinfo) add({Part::kUserinfo}, parts.userinfo);
    add_host(parts.host);
    if (parts.has_port) add({Part::kPort}, parts.port);
    add_path(parts.path.substr(1));
    if (parts.has_query) add_query(parts.query);
    if (parts.has_fragment) add({Part::kFragment}, parts.fragment);
  }

  // Counted from the right, so that "www" before a host moves no other label.
  void add_host(std::string_view host) {
    if (is_address(host)) return add({Part::kHost}, host);
    auto labels = static_cast<std::uint32_t>(std::count(host.begin(), host.end(), '.'));
    for (;; --labels) {
      const auto dot = host.find('.');
      add({Part::kHost, labels}, host.substr(0, dot));
      if (dot == std::string_view::npos) return;
      host.remove_prefix(dot + 1);
    }
  }

  void add_path(std::string_view path) {
    if (path.empty()) return;
    const bool slash = path.back() == '/';
    if (slash) path.remove_suffix(1);
    for (std::uint32_t index = 0;; ++index) {
      const auto end = path.find('/');
      add({Part::kPath, index}, path.substr(0, end));
      if (end == std::string_view::npos) break;
      path.remove_prefix(end + 1);
    }
    if (slash) add({Part::kSlash}, "1");
  }

  void add_query(std::string_view query) {
    seen_.clear();
    for (char separator = '?'; separator;) {
      const auto end = query.find_first_of(semicolons_ ? "&;" : "&");
      const std::string_view pair = query.substr(0, end);
      const auto equals = pair.find('=');
      const std::string_view name = pair.substr(0, equals);
      const Key key{Part::kQuery, seen_[name]++, name};
      if (equals == std::string_view::npos) {
        add(key, kNoEquals, separator);
      } else {
        add(key, values_.code(pair.substr(equals + 1)), separator);
      }
      separator = end == std::string_view::npos ? '\0' : query[end];
      if (separator) query.remove_prefix(end + 1);
    }
  }

  bool semicolons_;
  std::string format_;
  KeyValueCodes codes_;
  Vocabulary<Key, KeyHash> keys_;
  Vocabulary<std::string_view> values_;
  std::unordered_map<std::string_view, std::uint32_t> seen_;
  std::string scratch_;
};

}  // namespace

TokenCodes token_codes(const TextColumn& urls, TokenStyle style) {
  constexpr std::uint32_t kStart = 0, kEnd = 1, kFirst = 2;
  TokenCodes result;
  result.offsets.push_back(0);
  Vocabulary<std::string_view> vocabulary;
  // Every second token is a single byte; nobody need hash those.
  std::array<std::uint32_t, 256> singles{};
  const auto code_of = [&](std::string_view token) {
    if (token.size() > 1) return vocabulary.code(token) + kFirst;
    auto& code = singles[static_cast<unsigned char>(token[0])];
    if (code == 0) code = vocabulary.code(token) + kFirst;
    return code;
  };
  for (std::int64_t row = 0; row < urls.size(); ++row) {
    if (!urls.is_null(row)) {
      result.codes.push_back(kStart);
      for (std::string_view rest = urls[row]; !rest.empty();) {
        const std::size_t size = token_size(rest, style);
        result.codes.push_back(code_of(rest.substr(0, size)));
        rest.remove_prefix(size);
      }
      result.codes.push_back(kEnd);
    }
    result.offsets.push_back(static_cast<std::int64_t>(result.codes.size()));
  }
  const auto ranks = vocabulary.sort(kFirst);
  for (auto& code : result.codes) {
    if (code >= kFirst) code = ranks[code - kFirst];
  }
  TextBuilder texts;
  texts.append_null();
  texts.append_null();
  for (const auto text : vocabulary.texts()) texts.append(text);
  result.vocabulary = std::move(texts).finish(urls.large_format());
  return result;
}

KeyValueCodes key_value_codes(const TextColumn& urls, bool semicolons) {
  KeyValueBuilder builder(semicolons, urls.large_format());
  for (std::int64_t row = 0; row < urls.size(); ++row) builder.add_row(urls.is_null(row) ? "" : urls[row]);
  return std::move(builder).finish();
}

}  // namespace undust
