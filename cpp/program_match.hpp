// A normalized URL cut into what patterns speak of, and the match of one pattern with it.
//
// Nothing backtracks. Segments, labels and parameters are found by position or name; how the
// captures inside one of them share its text is in program_mixture.hpp. The time of one match is
//   O(bytes of the URL × (captures + list items + parameters of the pattern)).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pattern.hpp"
#include "url_masks.hpp"

namespace undust {

struct UrlParameter {
  std::string_view text;  // "name", "name=" or "name=value"
  std::uint32_t name_size = 0;
  bool has_equals = false;

  [[nodiscard]] std::string_view name() const { return text.substr(0, name_size); }
  [[nodiscard]] std::string_view value() const { return text.substr(name_size + (has_equals ? 1 : 0)); }
};

struct UrlView {
  std::string_view url, authority, host, path, query;
  std::int32_t port = kNoPort;
  bool is_https = false;
  bool has_userinfo = false;
  bool is_scheme_masked = false;  // a mask wrote it as "*": then no literal scheme matches
  std::vector<std::string_view> segments;
  std::vector<UrlParameter> parameters;

  UrlMasks masks;  // of the URL, until read_behind_path
  std::uint64_t signs = 0;  // see program_signs.hpp
  bool has_signs = false;   // whether somebody asked for them
  bool has_plain_authority = false;  // whether it is known to hold no marks but those of most hosts

  // Of a text in normal form, which outlives the view: scheme, host and port.
  void read_authority(std::string_view normal);
  // The same for a text that has the authority of this view; its masks are known.
  void read_same_authority(std::string_view normal);
  // The same where the masks are known, and that nothing but the host stands before the path.
  void read_host(std::string_view normal, std::size_t host_at, std::size_t path_at);
  // Segments and parameters of the same URL, which has no userinfo.
  void read_rest();
  // Of a text with which the URL of this view begins, up to its path at least. There is no "?" in that URL, and its
  // masks are known.
  void read_beginning(std::string_view normal);
  [[nodiscard]] bool may_be_cut() const { return masks.size() == url.size() && path.data() + path.size() == url.data() + url.size(); }
  // Of a text that is the URL of this view up to the end of the path and then has no parameter that this one has not,
  // so it has no other signs. There are no masks of it.
  void read_behind_path(std::string_view normal);
  void read(std::string_view normal, bool with_words = true) {
    masks.read(normal, false, with_words);
    read_authority(normal);
    read_rest();
  }
};

// For each parameter a slot, kForgotten or kUntaken. Most URLs have few, which need no memory of their own.
class Takers {
 public:
  static constexpr std::uint8_t kUntaken = 254;

  void start(std::size_t count) {
    size_ = count;
    few_.fill(kUntaken);
    if (count > few_.size()) many_.assign(count, kUntaken);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint8_t* begin() { return size_ > few_.size() ? many_.data() : few_.data(); }
  [[nodiscard]] std::uint8_t* end() { return begin() + size_; }
  [[nodiscard]] const std::uint8_t* begin() const { return size_ > few_.size() ? many_.data() : few_.data(); }

 private:
  std::array<std::uint8_t, 16> few_;
  std::vector<std::uint8_t> many_;
  std::size_t size_ = 0;
};

// What a pattern took, and the memory that matching needs.
struct Match {
  std::array<std::string_view, kMostCaptures> texts;  // by slot; no data() for {p**} of no segment
  Takers takers;                                      // by parameter
  std::vector<std::uint64_t> rows;                    // of one mixture at a time
  std::vector<std::string_view> labels;               // of the host, where a pattern asks for them
};

[[nodiscard]] bool match_pattern(const Pattern& pattern, const PieceView& pieces, const UrlView& url, Match& match);
// The same for a pattern that takes any scheme and host: these are not in the match.
[[nodiscard]] bool match_behind_authority(const Pattern& pattern, const PieceView& pieces, const UrlView& url, Match& match);
// The same for a pattern that takes any scheme, host and path: these are not in the match.
[[nodiscard]] bool match_query(const Pattern& pattern, const PieceView& pieces, const UrlView& url, Match& match);

}  // namespace undust
