// The stages of a URL before the first rule is tried. Each ends where memory is waited for that
// was asked for just now: between two stages the other lanes have their turn.
//
//   locate   the host and its site                 → its slot in the table of sites
//   fetch    the site's block                      → the block
//   read     normal form, its parts, its guards    → the slots of guards
//   gather   the rules that may match              → the rules
#include <algorithm>
#include <span>

#include "hash.hpp"
#include "host.hpp"
#include "program.hpp"
#include "url.hpp"

namespace undust {
namespace {

// What is the host of a text if the text is in normal form already, as most are. Known early,
// it lets the rules of its site come from memory while the text is normalized.
void find_likely_host(Lane& lane) {
  const std::string_view text = lane.text;
  lane.host = {};
  lane.host_at = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  if (lane.host_at == 0 || text.size() > kLongestUrl) return;
  lane.view.masks.read(text, true);
  lane.host = text.substr(lane.host_at, lane.view.masks.find<&UrlKinds::slashes>(lane.host_at) - lane.host_at);
}

// Asks the memory for the rules that will be tried.
void fetch_rules(const Lane& lane) {
  constexpr std::size_t kLikely = 56;  // most rules are no longer
  for (const std::uint32_t place : lane.candidates) {
    const std::byte* rule = lane.rules.own.address(place);
    __builtin_prefetch(rule);
    __builtin_prefetch(rule + kLikely);
  }
}

}  // namespace

void Program::name_site(std::string_view host, Lane& lane) const {
  lane.rules.site = suffixes_.site_of_host(host);
  lane.site_hash = hash_of(lane.rules.site);
}

void Program::locate(Lane& lane, const HostMemo& memo) const {
  lane.is_known = memo.find(lane);
  if (lane.is_known) {
    if (lane.expected) SiteTable::fetch(lane.expected);
  } else if (!lane.host.empty()) {
    name_site(lane.host, lane);
    sites_.fetch_slot(lane.site_hash);
  }
}

void Program::fetch(Lane& lane) const {
  if (lane.is_known) return;
  lane.expected = lane.host.empty() ? nullptr : sites_.expect(lane.site_hash);
}

void Program::read(Lane& lane, HostMemo& memo) const {
  const std::size_t path_at = lane.host_at + lane.host.size();
  const bool is_host_normal = lane.is_known || (!lane.host.empty() && is_plain_name(lane.host));
  lane.has_candidates = lane.is_front_kept = lane.is_authority_kept = lane.is_cut = false;
  lane.quiet.clear();
  if (is_host_normal && is_normal_from(lane.text, lane.view.masks, path_at)) {
    lane.normal = lane.text;
    lane.view.read_host(lane.normal, lane.host_at, path_at);
  } else if (!read_any(lane)) {
    return;
  }
  if (lane.is_known) {
    lane.rules.own = lane.expected ? Block(lane.expected) : Block();
  } else {
    lane.rules.own = sites_.find(lane.rules.site, lane.site_hash, lane.expected);
    if (is_host_normal) memo.keep(lane, lane.rules.own ? lane.rules.own.address(0) : nullptr);
  }
  lane.rules.shared = &shared_;
  lane.outcome = Outcome::kResolved;
  if (!lane.rules.has_any()) return;
  lane.view.read_rest();
  if (lane.rules.own) find_suspects(lane.rules.own.index(), lane.view, lane.suspects);
}

// The normal form of a text of any look. False if that is all: no URL, too long, or with a user name.
bool Program::read_any(Lane& lane) const {
  lane.normal.clear();
  lane.outcome = Outcome::kNotUrl;
  if (!normalize_url(lane.text, kAllSteps, lane.normal)) return false;
  lane.outcome = Outcome::kSkipped;
  if (lane.normal.size() > kLongestUrl) return false;
  lane.view.masks.read(lane.normal, false);
  lane.view.read_authority(lane.normal);
  if (lane.view.has_userinfo) return false;
  if (lane.view.host == lane.host) return true;
  name_site(lane.view.host, lane);
  lane.expected = sites_.expect(lane.site_hash);
  lane.is_known = false;
  return true;
}

void Program::gather(Lane& lane) const {
  if (lane.outcome != Outcome::kResolved || !lane.rules.own) return;
  find_candidates(lane.rules.own.index(), lane.suspects, lane.candidates);
  lane.has_candidates = true;
}

void Program::begin(std::string_view url, Scratch& scratch) const {
  Lane& lane = scratch.lane;
  scratch.memo.serve(identity_);
  lane.text = url;
  find_likely_host(lane);
  lane.host_hash = lane.host.empty() ? 0 : hash_inside(lane.host);
  locate(lane, scratch.memo);
  fetch(lane);
  read(lane, scratch.memo);
  gather(lane);
}

void Program::begin(std::span<const std::string_view> urls, Lanes& lanes) const {
  const std::span<Lane> used(lanes.all.data(), urls.size());
  for (std::size_t i = 0; i < urls.size(); ++i) {
    Lane& lane = used[i];
    lane.text = urls[i];
    find_likely_host(lane);
    lane.host_hash = lane.host.empty() ? 0 : hash_inside(lane.host);
    lanes.memo.expect(lane);
  }
  for (Lane& lane : used) locate(lane, lanes.memo);
  for (Lane& lane : used) fetch(lane);
  for (Lane& lane : used) read(lane, lanes.memo);
  for (Lane& lane : used) {
    gather(lane);
    if (lane.has_candidates) fetch_rules(lane);
  }
}

Course::Course(const Program& program, std::span<const std::string_view> urls, Lanes& lanes)
    : program_(program), urls_(urls), lanes_(lanes) {
  lanes.memo.serve(program.identity_);
}

Lane& Course::next() {
  const std::size_t number = done_++ % Lanes::kCount;
  if (number == 0) {
    const std::size_t count = std::min(urls_.size(), Lanes::kCount);
    program_.begin(urls_.first(count), lanes_);
    urls_ = urls_.subspan(count);
  }
  return lanes_.all[number];
}

}  // namespace undust
