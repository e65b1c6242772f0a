// What edits would do to the keys of a site: which images move, and which keys meet.
//
// The URLs of a site stand on images, and masks make keys of images. A candidate moves images to other keys. A key
// that comes under another one is a vote: somebody who knows the pages says whether both are one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hash.hpp"
#include "numbered_texts.hpp"
#include "program.hpp"

namespace undust {

// Columns that somebody else owns.
struct KeyColumns {
  std::vector<std::string_view> images, keys;   // all different
  std::vector<std::string_view> gone;           // URLs that the site was seen not to have
  std::span<const std::int64_t> key_of_image;
  std::span<const std::int64_t> order, starts;  // images by key; where those of each key begin, and behind the last
  std::span<const std::int64_t> urls, page;     // of each key: how many URLs, and which page most of them show
};

// Columns over all candidates, with where those of each begin.
struct KeyMoves {
  std::vector<std::int64_t> offsets{0}, image, target;  // targets behind the last key are new, for each candidate anew
  std::vector<std::uint8_t> is_gone;
  std::vector<std::int64_t> vote_offsets{0}, left, right, group, saved;
};

class KeyIndex {
 public:
  // Throws std::invalid_argument where columns do not fit together.
  explicit KeyIndex(KeyColumns columns);

  // `touching` has the rules of all candidates, `owner` the candidate of each rule; `candidates` are the programs
  // under which each one is judged. Only the images in `rows`, which ascend, are asked about.
  [[nodiscard]] KeyMoves moves(const Program& touching, std::span<const std::int64_t> owner,
                               std::span<const Program* const> candidates, std::span<const std::int64_t> rows) const;

  [[nodiscard]] const KeyColumns& columns() const { return columns_; }
  [[nodiscard]] std::int64_t find(std::string_view key) const { return number_of_.find(key); }
  [[nodiscard]] bool is_gone(std::string_view url) const { return !gone_.empty() && gone_.contains(url); }

 private:
  struct Hash {
    [[nodiscard]] std::size_t operator()(std::string_view text) const { return hash_of(text); }
  };

  KeyColumns columns_;
  NumberedTexts number_of_;
  std::unordered_set<std::string_view, Hash> gone_;
};

}  // namespace undust
