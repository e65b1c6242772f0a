#include "standing.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace undust {
namespace {

// A rule that grows without end takes all its steps with a URL, and is told by one of the first so many, or
// by so many of all.
constexpr std::size_t kFew = 8;

struct Move {
  std::int64_t image, target;
};

// What a candidate does to images, as far as it was asked.
struct Moves {
  std::vector<std::int64_t> touched;
  std::vector<Move> moved;
  std::size_t unresolved = 0;
  bool is_endless = false;

  void add(std::int64_t image, Outcome outcome) {
    if (outcome == Outcome::kUnresolved && (touched.size() < kFew || ++unresolved >= kFew)) {
      is_endless = true;
      moved.clear();
    }
    touched.push_back(image);
  }
};

// Numbers for texts: those of the images, and behind them new ones.
class Targets {
 public:
  explicit Targets(const Standing& standing) : standing_(standing), first_new_(static_cast<std::int64_t>(standing.columns().images.size())) {}

  [[nodiscard]] std::int64_t number_of(std::string_view text) {
    if (const std::int64_t known = standing_.find(text); known >= 0) return known;
    const auto found = new_.find(text);
    if (found != new_.end()) return found->second;
    return new_.emplace(text, first_new_ + static_cast<std::int64_t>(new_.size())).first->second;
  }

 private:
  struct Hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const { return hash_of(text); }
  };

  const Standing& standing_;
  std::int64_t first_new_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> new_;
};

// One page on one image that takes part, in the order of groups and pages.
struct Entry {
  std::int64_t group, page;
  std::size_t image;  // by place: first those that move, then those that are met
  std::int64_t urls;

  [[nodiscard]] bool operator<(const Entry& other) const {
    return group != other.group ? group < other.group : page < other.page;
  }
};

// Entries of one page in one group.
struct Share {
  std::span<const Entry> entries;
  std::int64_t weight = 0;

  [[nodiscard]] std::int64_t page() const { return entries.front().page; }
};

class Judge {
 public:
  explicit Judge(const Standing& standing)
      : standing_(standing), columns_(standing.columns()), image_count_(static_cast<std::int64_t>(columns_.images.size())),
        image_stamp_(columns_.images.size()), page_stamp_(columns_.speaks.size()) {}

  void add(const Moves& moves, Effects& effects) {
    if (!moves.is_endless) judge(moves.moved, effects);
    else effects.counts.emplace_back(), effects.met.push_back(0.0);
    effects.offsets.push_back(static_cast<std::int64_t>(effects.sources.size()));
    effects.touched.insert(effects.touched.end(), moves.touched.begin(), moves.touched.end());
    effects.touched_offsets.push_back(static_cast<std::int64_t>(effects.touched.size()));
    effects.vote_offsets.push_back(static_cast<std::int64_t>(effects.votes.size()));
  }

 private:
  void judge(const std::vector<Move>& moved, Effects& effects) {
    ++stamp_;
    CandidateCounts counts;
    counts.moved = static_cast<std::int64_t>(moved.size());
    is_lost_.assign(moved.size(), 0);
    failing_.assign(moved.size(), 0);
    merges_.assign(moved.size(), 0);
    double met = 0.0;
    if (meets_any(moved)) {
      gather(moved, counts);
      for (std::size_t start = 0; start < entries_.size();) start = judge_group(start, moved.size(), counts, effects.votes);
      counts.lost = std::max<std::int64_t>(counts.lost, 0);
      counts.lost_held = std::max<std::int64_t>(counts.lost_held, 0);
      met = share_met(moved);
      for (const Move& move : moved) {
        counts.against += is(columns_.is_preferred, move.image) && !is(columns_.is_preferred, move.target);
        counts.astray += is(columns_.is_served, move.image) && !is(columns_.is_served, move.target);
      }
    }
    effects.counts.push_back(counts);
    effects.met.push_back(met);
    for (const Move& move : moved) effects.sources.push_back(move.image);
    effects.failing.insert(effects.failing.end(), failing_.begin(), failing_.end());
    effects.blamed.insert(effects.blamed.end(), is_lost_.begin(), is_lost_.end());
    effects.merging.insert(effects.merging.end(), merges_.begin(), merges_.end());
  }

  // Whether an image ends where another is: most candidates lead each image to a form of its own.
  [[nodiscard]] bool meets_any(const std::vector<Move>& moved) {
    targets_.clear();
    for (const Move& move : moved) {
      if (move.target < image_count_) return true;
      targets_.push_back(move.target);
    }
    std::sort(targets_.begin(), targets_.end());
    return std::adjacent_find(targets_.begin(), targets_.end()) != targets_.end();
  }

  // The pages of all images that take part: those that move, and those that stay and are met.
  void gather(const std::vector<Move>& moved, CandidateCounts& counts) {
    entries_.clear();
    images_ = 0;
    for (const Move& move : moved) image_stamp_[static_cast<std::size_t>(move.image)] = stamp_;
    for (const Move& move : moved) counts.moved_urls += take_part(move.image, move.target, counts);
    for (const Move& move : moved) {
      if (move.target >= image_count_ || image_stamp_[static_cast<std::size_t>(move.target)] == stamp_) continue;
      image_stamp_[static_cast<std::size_t>(move.target)] = stamp_;
      take_part(move.target, move.target, counts);
    }
    std::sort(entries_.begin(), entries_.end());
    counts.saved = static_cast<std::int64_t>(images_);
  }

  // Adds an image to a group; what is lost on it already is not to be held against anybody.
  std::int64_t take_part(std::int64_t image, std::int64_t group, CandidateCounts& counts) {
    const auto first = static_cast<std::size_t>(columns_.first_pair[static_cast<std::size_t>(image)]);
    const auto end = static_cast<std::size_t>(columns_.first_pair[static_cast<std::size_t>(image) + 1]);
    std::int64_t urls = 0;
    std::size_t main = first;
    for (std::size_t pair = first; pair < end; ++pair) {
      entries_.push_back({group, columns_.page[pair], images_, columns_.urls[pair]});
      urls += columns_.urls[pair];
      if (columns_.urls[pair] > columns_.urls[main]) main = pair;
    }
    for (std::size_t pair = first; end - first > 1 && pair < end; ++pair) {
      if (!standing_.buries(columns_.page[main], columns_.page[pair])) continue;
      --counts.lost;
      counts.lost_held -= columns_.is_held[static_cast<std::size_t>(columns_.page[pair])];
    }
    ++images_;
    return urls;
  }

  // Judges the group that starts at an entry; where the next one starts.
  std::size_t judge_group(std::size_t start, std::size_t moved, CandidateCounts& counts, std::vector<double>& votes) {
    std::size_t end = start;
    shares_.clear();
    while (end < entries_.size() && entries_[end].group == entries_[start].group) {
      const std::size_t from = end;
      std::int64_t weight = 0;
      for (; end < entries_.size() && !(entries_[from] < entries_[end]); ++end) weight += entries_[end].urls;
      shares_.push_back({{entries_.data() + from, end - from}, weight});
    }
    --counts.saved;
    const Share* main = &shares_.front();
    for (const Share& share : shares_) {
      if (share.weight > main->weight) main = &share;
    }
    bool is_bad = false, is_told = false;
    for (const Share& share : shares_) {
      note_merge(share, moved, counts);
      if (columns_.evidence && &share != main && !have_met(*main, share)) note_vote(*main, share, moved, counts, votes);
      if (!standing_.buries(main->page(), share.page())) continue;
      is_bad = true;
      ++counts.lost;
      counts.lost_held += columns_.is_held[static_cast<std::size_t>(share.page())];
      for (const Entry& entry : share.entries) {
        if (entry.image < moved) is_lost_[entry.image] = is_told = true;
      }
    }
    for (std::size_t i = start; is_bad && i < end; ++i) {
      if (entries_[i].image >= moved) continue;
      failing_[entries_[i].image] = true;
      // If the page of one that stays is lost, all who come to it are to blame.
      if (!is_told) is_lost_[entries_[i].image] = true;
    }
    return end;
  }

  // Whether two pages stood on one image before.
  [[nodiscard]] static bool have_met(const Share& left, const Share& right) {
    return std::any_of(right.entries.begin(), right.entries.end(), [&left](const Entry& theirs) {
      return std::any_of(left.entries.begin(), left.entries.end(), [&theirs](const Entry& ours) { return ours.image == theirs.image; });
    });
  }

  // A page that comes together with another: how likely they are one, and a merge where that is likely enough.
  void note_vote(const Share& main, const Share& share, std::size_t moved, CandidateCounts& counts, std::vector<double>& votes) {
    const double ratio = standing_.ratio(main.page(), share.page());
    const auto page = static_cast<std::size_t>(share.page());
    if (ratio != 0.0 || standing_.are_shown(main.page(), share.page())) votes.push_back(ratio);
    if (ratio < columns_.supports || !columns_.speaks[page]) return;
    if (page_stamp_[page] != stamp_) {
      page_stamp_[page] = stamp_;
      ++counts.pages;
      counts.pages_held += columns_.is_held[page];
    }
    for (const Share* each : {&main, &share}) {
      for (const Entry& entry : each->entries) {
        if (entry.image < moved) merges_[entry.image] = true;
      }
    }
  }

  void note_merge(const Share& share, std::size_t moved, CandidateCounts& counts) {
    const auto page = static_cast<std::size_t>(share.page());
    if (share.entries.size() < 2 || !columns_.speaks[page]) return;
    if (page_stamp_[page] != stamp_) {
      page_stamp_[page] = stamp_;
      ++counts.pages;
      counts.pages_held += columns_.is_held[page];
    }
    for (const Entry& entry : share.entries) {
      if (entry.image < moved) merges_[entry.image] = true;
    }
  }

  [[nodiscard]] double share_met(const std::vector<Move>& moved) const {
    std::int64_t merging = 0, known = 0;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      merging += merges_[i];
      known += merges_[i] && moved[i].target < image_count_;
    }
    return merging ? static_cast<double>(known) / static_cast<double>(merging) : 0.0;
  }

  [[nodiscard]] bool is(std::span<const bool> flags, std::int64_t image) const {
    return image < image_count_ && flags[static_cast<std::size_t>(image)];
  }

  const Standing& standing_;
  const StandingColumns& columns_;
  std::int64_t image_count_;
  // What was seen for the candidate in hand has its number.
  std::vector<std::uint32_t> image_stamp_, page_stamp_;
  std::uint32_t stamp_ = 0;
  std::vector<Entry> entries_;
  std::vector<Share> shares_;
  std::vector<std::int64_t> targets_;
  std::vector<std::uint8_t> is_lost_, failing_, merges_;
  std::size_t images_ = 0;
};

void require(bool holds, const char* problem) {
  if (!holds) throw std::invalid_argument(problem);
}

}  // namespace

Standing::Standing(StandingColumns columns) : columns_(std::move(columns)), row_of_(columns_.images) {
  const StandingColumns& all = columns_;
  const std::size_t images = all.images.size(), pages = all.speaks.size();
  require(all.first_pair.size() == images + 1 && all.is_served.size() == images && all.is_preferred.size() == images, "expected columns over images");
  require(all.is_held.size() == pages && all.is_silent.size() == pages && all.sketch.size() == pages,
          "expected columns over pages");
  require(all.page.size() == all.urls.size() && all.first_pair.front() == 0 &&
              all.first_pair.back() == static_cast<std::int64_t>(all.page.size()) &&
              std::is_sorted(all.first_pair.begin(), all.first_pair.end()),
          "expected pairs of images and pages");
  const auto is_page = [pages](std::int64_t page) { return page >= 0 && page < static_cast<std::int64_t>(pages); };
  require(std::all_of(all.page.begin(), all.page.end(), is_page), "expected numbers of pages");
  const auto is_row = [&all](std::int64_t row) { return row >= 0 && row < static_cast<std::int64_t>(all.evidence->size()); };
  require(!all.evidence || (all.row.size() == pages && std::all_of(all.row.begin(), all.row.end(), is_row)), "expected rows of evidence");
  const auto rows = static_cast<std::int64_t>(all.minima ? all.sketches.size() / all.minima : 0);
  require(std::all_of(all.sketch.begin(), all.sketch.end(), [rows](std::int64_t row) { return row < rows; }),
          "expected rows of sketches");
}

// Whether a page is lost on an image, or under a form, whose main page is another.
bool Standing::buries(std::int64_t main, std::int64_t page) const {
  const auto left = static_cast<std::size_t>(main), right = static_cast<std::size_t>(page);
  if (left == right || columns_.is_silent[left] || columns_.is_silent[right]) return false;
  if (columns_.evidence) return ratio(main, page) <= columns_.against;
  const std::int64_t a = columns_.sketch[left], b = columns_.sketch[right];
  if (a < 0 || b < 0) return true;
  const std::uint32_t* ours = columns_.sketches.data() + static_cast<std::size_t>(a) * columns_.minima;
  const std::uint32_t* theirs = columns_.sketches.data() + static_cast<std::size_t>(b) * columns_.minima;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < columns_.minima; ++i) equal += ours[i] == theirs[i];
  return equal < columns_.needed;
}

bool Standing::are_shown(std::int64_t main, std::int64_t page) const {
  const auto left = static_cast<std::size_t>(main), right = static_cast<std::size_t>(page);
  if (columns_.is_silent[left] || columns_.is_silent[right]) return false;
  const auto row_of = [this](std::size_t each) { return static_cast<std::size_t>(columns_.row[each]); };
  return columns_.evidence->shows(row_of(left)) && columns_.evidence->shows(row_of(right));
}

double Standing::ratio(std::int64_t main, std::int64_t page) const {
  const auto left = static_cast<std::size_t>(main), right = static_cast<std::size_t>(page);
  if (columns_.is_silent[left] || columns_.is_silent[right]) return 0.0;
  return columns_.evidence->ratio(static_cast<std::size_t>(columns_.row[left]), static_cast<std::size_t>(columns_.row[right]));
}

std::int64_t Standing::lost() const {
  std::int64_t lost = 0;
  for (std::size_t image = 0; image < columns_.images.size(); ++image) {
    const auto first = static_cast<std::size_t>(columns_.first_pair[image]);
    const auto end = static_cast<std::size_t>(columns_.first_pair[image + 1]);
    if (end - first < 2) continue;
    std::size_t main = first;
    for (std::size_t pair = first; pair < end; ++pair) {
      if (columns_.urls[pair] > columns_.urls[main]) main = pair;
    }
    for (std::size_t pair = first; pair < end; ++pair) lost += buries(columns_.page[main], columns_.page[pair]);
  }
  return lost;
}

Effects Standing::apart(const Program& program, std::size_t first, std::span<const std::int64_t> rows) const {
  std::vector<bool> asked(program.size(), false);
  std::fill(asked.begin() + static_cast<std::ptrdiff_t>(std::min(first, program.size())), asked.end(), true);
  std::vector<Moves> moves(program.size() - std::min(first, program.size()));
  Targets targets(*this);
  Scratch scratch;
  for (const std::int64_t row : rows) {
    const std::string_view image = columns_.images.at(static_cast<std::size_t>(row));
    program.apart(image, asked, scratch, [&](std::uint32_t rule, const Result& result) {
      Moves& candidate = moves[rule - first];
      candidate.add(row, result.outcome);
      if (candidate.is_endless) {
        asked[rule] = false;
      } else if (result.url != image) {
        candidate.moved.push_back({row, targets.number_of(result.url)});
      }
    });
  }
  Judge judge(*this);
  Effects effects;
  for (const Moves& candidate : moves) judge.add(candidate, effects);
  return effects;
}

Effects Standing::together(const Program& program, std::size_t first, std::span<const std::int64_t> rows) const {
  Moves candidate;
  Targets targets(*this);
  Scratch scratch;
  std::vector<std::uint32_t> touching;
  for (const std::int64_t row : rows) {
    const std::string_view image = columns_.images.at(static_cast<std::size_t>(row));
    touching.clear();
    program.touching(image, scratch, touching);
    if (std::none_of(touching.begin(), touching.end(), [first](std::uint32_t rule) { return rule >= first; })) continue;
    const Result result = program.canonical(image, scratch);
    candidate.add(row, result.outcome);
    if (candidate.is_endless) break;
    if (result.url != image) candidate.moved.push_back({row, targets.number_of(result.url)});
  }
  Judge judge(*this);
  Effects effects;
  judge.add(candidate, effects);
  return effects;
}

}  // namespace undust
