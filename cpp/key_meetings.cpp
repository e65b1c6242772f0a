#include "key_meetings.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>

namespace undust {
namespace {

using ImageRows = std::vector<std::int64_t>;

// URLs that tell whether a candidate ever comes to an end.
constexpr std::size_t kProbed = 8;

[[nodiscard]] std::size_t at(std::int64_t number) { return static_cast<std::size_t>(number); }

// A key on its way: where it is, where it will be, and whether an image on it stays.
struct Passage {
  std::int64_t before, after, page, urls, weight;
  bool stays;
};

class KeyJudge {
 public:
  explicit KeyJudge(const KeyIndex& index)
      : index_(index), columns_(index.columns()), key_count_(static_cast<std::int64_t>(columns_.keys.size())),
        moved_stamp_(columns_.images.size()), key_stamp_(columns_.keys.size()) {}

  void add(const Program& program, const ImageRows& rows, KeyMoves& found) {
    ++stamp_;
    const std::size_t first = found.image.size();
    if (!is_endless(program, rows)) move(program, rows, found);
    found.offsets.push_back(static_cast<std::int64_t>(found.image.size()));
    gather({found.image.data() + first, found.image.size() - first}, {found.target.data() + first, found.target.size() - first});
    meet(found);
    found.vote_offsets.push_back(static_cast<std::int64_t>(found.left.size()));
  }

 private:
  struct Hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const { return hash_of(text); }
  };

  // Whether rules change some of a few URLs again and again; such rules take all their steps.
  [[nodiscard]] bool is_endless(const Program& program, const ImageRows& rows) {
    const std::size_t step = 1 + rows.size() / kProbed;
    for (std::size_t i = 0; i < rows.size(); i += step) {
      if (program.canonical(columns_.images[at(rows[i])], scratch_).outcome == Outcome::kUnresolved) return true;
    }
    return false;
  }

  void move(const Program& program, const ImageRows& rows, KeyMoves& found) {
    new_.clear();
    for (const std::int64_t row : rows) {
      const std::string_view key = program.key(columns_.images[at(row)], scratch_).url;
      const std::int64_t target = number_of(key);
      if (target == columns_.key_of_image[at(row)]) continue;
      moved_stamp_[at(row)] = stamp_;
      found.image.push_back(row);
      found.target.push_back(target);
      found.is_gone.push_back(index_.is_gone(key));
    }
  }

  // The number of a key, or of a new one behind the last.
  [[nodiscard]] std::int64_t number_of(std::string_view key) {
    if (const std::int64_t known = index_.find(key); known >= 0) return known;
    if (const auto other = new_.find(key); other != new_.end()) return other->second;
    return new_.emplace(key, key_count_ + static_cast<std::int64_t>(new_.size())).first->second;
  }

  // All keys that take part: those of images that move, and those that stay where something moves to or from.
  void gather(std::span<const std::int64_t> images, std::span<const std::int64_t> targets) {
    passages_.clear();
    for (std::size_t i = 0; i < images.size(); ++i) take_part(columns_.key_of_image[at(images[i])], targets[i], false);
    for (std::size_t i = 0; i < images.size(); ++i) {
      stay(columns_.key_of_image[at(images[i])]);
      if (targets[i] < key_count_) stay(targets[i]);
    }
    const auto place = [](const Passage& one) { return std::tie(one.after, one.page, one.before); };
    std::sort(passages_.begin(), passages_.end(), [&](const Passage& a, const Passage& b) { return place(a) < place(b); });
    const auto last = std::unique(passages_.begin(), passages_.end(),
                                  [](const Passage& a, const Passage& b) { return a.after == b.after && a.before == b.before; });
    passages_.erase(last, passages_.end());
  }

  void take_part(std::int64_t before, std::int64_t after, bool stays) {
    passages_.push_back({before, after, columns_.page[at(before)], columns_.urls[at(before)], 0, stays});
  }

  void stay(std::int64_t key) {
    if (key_stamp_[at(key)] == stamp_) return;
    key_stamp_[at(key)] = stamp_;
    for (std::int64_t i = columns_.starts[at(key)]; i < columns_.starts[at(key) + 1]; ++i) {
      if (moved_stamp_[at(columns_.order[at(i)])] != stamp_) return take_part(key, key, true);
    }
  }

  // The page with most URLs is the one that stays; of its keys, the one with most.
  void meet(KeyMoves& found) {
    weigh();
    const auto rank = [](const Passage& one) { return std::tuple(one.after, -one.weight, -one.urls, !one.stays, one.before); };
    std::sort(passages_.begin(), passages_.end(), [&](const Passage& a, const Passage& b) { return rank(a) < rank(b); });
    std::int64_t groups = 0;
    const Passage* main = nullptr;
    for (const Passage& one : passages_) {
      if (!main || main->after != one.after) {
        main = &one;
        ++groups;
        continue;
      }
      found.left.push_back(one.before);
      found.right.push_back(main->before);
      found.group.push_back(one.after);
    }
    found.saved.push_back(distinct_before() - groups);
  }

  void weigh() {
    for (std::size_t start = 0, end = 0; start < passages_.size(); start = end) {
      std::int64_t weight = 0;
      const auto is_same = [&](const Passage& one) { return one.after == passages_[start].after && one.page == passages_[start].page; };
      for (end = start; end < passages_.size() && is_same(passages_[end]); ++end) weight += passages_[end].urls;
      for (std::size_t i = start; i < end; ++i) passages_[i].weight = weight;
    }
  }

  [[nodiscard]] std::int64_t distinct_before() {
    keys_.clear();
    for (const Passage& one : passages_) keys_.push_back(one.before);
    std::sort(keys_.begin(), keys_.end());
    return std::unique(keys_.begin(), keys_.end()) - keys_.begin();
  }

  const KeyIndex& index_;
  const KeyColumns& columns_;
  std::int64_t key_count_;
  // What was seen for the candidate in hand has its number.
  std::vector<std::uint32_t> moved_stamp_, key_stamp_;
  std::uint32_t stamp_ = 0;
  std::vector<Passage> passages_;
  ImageRows keys_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> new_;
  Scratch scratch_;
};

void require_keys(bool holds, const char* problem) {
  if (!holds) throw std::invalid_argument(problem);
}

// Of each candidate the images that one of its rules alone would change.
[[nodiscard]] std::vector<ImageRows> touched_by(const Program& touching, std::span<const std::int64_t> owner, std::size_t count,
                                           const std::vector<std::string_view>& images, std::span<const std::int64_t> rows) {
  std::vector<ImageRows> touched(count);
  Scratch scratch;
  std::vector<std::uint32_t> rules;
  for (const std::int64_t row : rows) {
    rules.clear();
    touching.touching(images.at(at(row)), scratch, rules);
    for (const std::uint32_t rule : rules) {
      ImageRows& some = touched.at(at(owner[rule]));
      if (some.empty() || some.back() != row) some.push_back(row);
    }
  }
  return touched;
}

}  // namespace

KeyIndex::KeyIndex(KeyColumns columns) : columns_(std::move(columns)), number_of_(columns_.keys) {
  const auto& all = columns_;
  require_keys(all.key_of_image.size() == all.images.size() && all.order.size() == all.images.size(), "a column over images is of another length");
  require_keys(all.starts.size() == all.keys.size() + 1 && all.urls.size() == all.keys.size() && all.page.size() == all.keys.size(),
          "a column over keys is of another length");
  const auto images = static_cast<std::int64_t>(all.images.size()), keys = static_cast<std::int64_t>(all.keys.size());
  const auto within = [](std::span<const std::int64_t> numbers, std::int64_t end) {
    return std::all_of(numbers.begin(), numbers.end(), [end](std::int64_t one) { return 0 <= one && one < end; });
  };
  require_keys(within(all.key_of_image, keys) && within(all.order, images) && within(all.starts, images + 1), "a number is out of range");
  gone_.insert(all.gone.begin(), all.gone.end());
}

KeyMoves KeyIndex::moves(const Program& touching, std::span<const std::int64_t> owner, std::span<const Program* const> candidates,
                         std::span<const std::int64_t> rows) const {
  require_keys(owner.size() == touching.size(), "each rule needs the candidate that it belongs to");
  KeyMoves found;
  KeyJudge judge(*this);
  const std::vector<ImageRows> touched = touched_by(touching, owner, candidates.size(), columns_.images, rows);
  for (std::size_t i = 0; i < candidates.size(); ++i) judge.add(*candidates[i], touched[i], found);
  return found;
}

}  // namespace undust
