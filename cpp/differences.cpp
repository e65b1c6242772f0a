#include "differences.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "difference_sides.hpp"
#include "hash.hpp"

namespace undust {
namespace {

using Views = std::vector<std::string_view>;

Views split(std::string_view text, char mark) {
  Views parts;
  for (;;) {
    const std::size_t size = text.find(mark);
    parts.push_back(text.substr(0, size));
    if (size == std::string_view::npos) return parts;
    text.remove_prefix(size + 1);
  }
}

struct UrlPieces {
  std::string_view scheme, host;
  Views segments, query;

  explicit UrlPieces(std::string_view url) {
    const std::size_t colon = std::min(url.find("://"), url.size());
    scheme = url.substr(0, colon);
    std::string_view rest = url.substr(std::min(colon + 3, url.size()));
    const std::size_t mark = rest.find('?');
    if (mark != std::string_view::npos && mark + 1 < rest.size()) query = split(rest.substr(mark + 1), '&');
    rest = rest.substr(0, mark);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    host = rest.substr(0, slash);
    segments = split(rest.substr(std::min(slash + 1, rest.size())), '/');
  }
};

bool is_plain(std::string_view parameter) {
  const std::string_view name = parameter.substr(0, parameter.find('='));
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.-[]%~").find(c) != std::string_view::npos;
  });
}

// Takes from both what they share, the first ones of each; the others keep their order.
void drop_common(Views& left, Views& right) {
  Views only_left;
  for (const std::string_view parameter : left) {
    const auto same = std::find(right.begin(), right.end(), parameter);
    if (same == right.end()) {
      only_left.push_back(parameter);
    } else {
      right.erase(same);
    }
  }
  left = std::move(only_left);
}

std::string joined(std::span<const std::string_view> segments) {
  std::string text;
  for (const std::string_view segment : segments) text.append(segment).push_back('/');
  if (!segments.empty()) text.pop_back();
  return text;
}

std::string with_slash(std::string left, const std::string& right) { return left.append("/").append(right); }

using Paths = std::pair<std::string, std::string>;

// The two paths with what they share at the start, or at the end, left open.
std::vector<Paths> paths_of(std::span<const std::string_view> left, std::span<const std::string_view> right, std::size_t longest) {
  const std::string open(kOpenPath);
  if (std::equal(left.begin(), left.end(), right.begin(), right.end())) return {{open, open}};
  const std::size_t shortest = std::min(left.size(), right.size());
  std::size_t head = 0, tail = 0;
  while (head < shortest && left[head] == right[head]) ++head;
  while (tail < shortest - head && left[left.size() - 1 - tail] == right[right.size() - 1 - tail]) ++tail;
  if (std::max(left.size(), right.size()) - head - tail > longest) return {};
  std::vector<Paths> found;
  if (tail) {
    const auto opened = [&](std::span<const std::string_view> path) {
      const std::size_t written = path.size() - tail;
      return written ? with_slash(joined(path.first(written)), open) : open;
    };
    found.emplace_back(opened(left), opened(right));
  }
  if (head) {
    const auto opened = [&](std::span<const std::string_view> path) {
      return path.size() > head ? with_slash(open, joined(path.subspan(head))) : open;
    };
    found.emplace_back(opened(left), opened(right));
  }
  found.emplace_back(joined(left), joined(right));
  return found;
}

// Whether a path says nothing beside what it leaves open.
bool is_bare(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    if (path.substr(at).starts_with(kOpenPath)) {
      at += kOpenPath.size();
    } else if (path[at++] != '/') {
      return false;
    }
  }
  return true;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

class Counter {
 public:
  explicit Counter(const DifferenceBounds& bounds) : bounds_(bounds) {}

  void add(const UrlPieces& left, const UrlPieces& right, std::int64_t page) {
    page_ = page;
    Views ours = left.query, theirs = right.query;
    drop_common(ours, theirs);
    // The order of parameters on the left side of a rule means nothing, so one order stands for all.
    std::sort(ours.begin(), ours.end());
    const bool are_plain = std::all_of(ours.begin(), ours.end(), is_plain) && std::all_of(theirs.begin(), theirs.end(), is_plain);
    if (left.scheme != right.scheme || std::max(ours.size(), theirs.size()) > bounds_.longest || !are_plain) return;
    const bool same_host = left.host == right.host;
    if (same_host && ours.size() == 1 && theirs.empty()) add_value_as_path(left, right, ours[0]);
    const std::string_view host = same_host ? "{h}" : left.host, new_host = same_host ? "{h}" : right.host;
    for (const auto& [path, new_path] : paths_of(left.segments, right.segments, bounds_.longest)) {
      // Without anything to tell when it applies a rule would never end; another host tells.
      if ((ours.empty() && is_bare(path)) == same_host) continue;
      Sides sides{CutSide(path, ours), CutSide(new_path, theirs), {}, {}};
      capture(sides);
      if (sides.right.has_word_of(bounds_.long_name)) continue;
      if (sides.captures.empty() && sides.right.has_words_in_path()) continue;  // one page's path for another's
      const std::string target = url_of(new_host, sides.right, "{rest}");
      note(url_of(host, sides.left, "{rest**}"), target, sides.captures);
      if (!forget(sides)) continue;
      std::vector<std::string> texts = sides.captures;
      texts.insert(texts.end(), sides.forgotten.begin(), sides.forgotten.end());
      note(url_of(host, sides.left, "{rest**}"), target, texts);
    }
  }

  [[nodiscard]] std::vector<Difference> finish() && {
    using Entry = std::pair<const Key, Seen>;
    std::vector<Entry*> ranked;
    for (Entry& entry : seen_) {
      if (entry.second.pages >= bounds_.least_pages) ranked.push_back(&entry);
    }
    std::sort(ranked.begin(), ranked.end(), [](const Entry* left, const Entry* right) {
      return std::tie(right->second.pages, left->first) < std::tie(left->second.pages, right->first);
    });
    ranked.resize(std::min(ranked.size(), bounds_.most));
    std::vector<Difference> found;
    for (Entry* entry : ranked) found.push_back({entry->first.first, entry->first.second, std::move(entry->second.values)});
    return found;
  }

 private:
  using Key = std::pair<std::string, std::string>;
  struct Hash {
    [[nodiscard]] std::size_t operator()(const Key& key) const { return hash_of(key.first, hash_of(key.second)); }
  };
  struct Seen {
    std::size_t pages = 0;
    std::int64_t last_page = -1;
    std::vector<std::vector<std::string>> values;
  };

  [[nodiscard]] static std::string url_of(std::string_view host, const CutSide& side, std::string_view rest) {
    std::string path = side.path();
    if (rest == "{rest}") replace_all(path, kOpenPath, "{p}");
    return std::string("{s}://").append(host).append("/").append(path).append("?").append(side.query()).append(rest);
  }

  // A value with slashes that is the path, or its end: ?q=node/7 and /node/7.
  void add_value_as_path(const UrlPieces& left, const UrlPieces& right, std::string_view parameter) {
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    const std::string_view name = parameter.substr(0, equals), value = parameter.substr(std::min(equals + 1, parameter.size()));
    const Views segments = split(value, '/');
    if (segments.size() < 2 || segments.size() > right.segments.size() || value.find(';') != std::string_view::npos) return;
    if (!std::equal(segments.rbegin(), segments.rend(), right.segments.rbegin())) return;
    Views path(right.segments.begin(), right.segments.end() - static_cast<std::ptrdiff_t>(segments.size()));
    path.push_back("{a}");
    std::string source = std::string("{s}://{h}/").append(joined(left.segments)).append("?").append(name);
    note(source.append("={a}&{rest**}"), std::string("{s}://{h}/").append(joined(path)).append("?{rest}"), {std::string(value)});
  }

  void note(std::string source, std::string target, const std::vector<std::string>& texts) {
    Seen& seen = seen_[{std::move(source), std::move(target)}];
    seen.pages += seen.last_page != page_;
    seen.last_page = page_;
    seen.values.resize(std::max(seen.values.size(), texts.size()));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::vector<std::string>& some = seen.values[i];
      if (some.size() < bounds_.kept_values && std::find(some.begin(), some.end(), texts[i]) == some.end()) some.push_back(texts[i]);
    }
  }

  const DifferenceBounds& bounds_;
  std::int64_t page_ = -1;
  std::unordered_map<Key, Seen, Hash> seen_;
};

}  // namespace

std::vector<Difference> differences(std::span<const std::string_view> urls, std::span<const SamePage> pairs,
                                    const DifferenceBounds& bounds) {
  std::vector<std::optional<UrlPieces>> pieces(urls.size());
  const auto pieces_of = [&](std::int64_t row) -> const UrlPieces& {
    const auto at = static_cast<std::size_t>(row);
    if (row < 0 || at >= urls.size()) throw std::out_of_range("expected rows of the URLs");
    if (!pieces[at]) pieces[at].emplace(urls[at]);
    return *pieces[at];
  };
  Counter counter(bounds);
  for (const SamePage& pair : pairs) counter.add(pieces_of(pair.left), pieces_of(pair.right), pair.page);
  return std::move(counter).finish();
}

}  // namespace undust
