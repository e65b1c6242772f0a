#include "program_replace.hpp"

#include <string>

#include "bytes.hpp"
#include "url.hpp"

namespace undust {
namespace {

constexpr ByteSet kWordBytes = kLower | kUpper | kDigit;

bool is_triplet_before(std::string_view url, std::size_t at) { return at >= 3 && url[at - 3] == '%'; }

// Whether the path with `to` in place of `from` loses just its dot segments to become the
// old path again. Only the segments that the replacement touches, and those that its ".."
// climb over, are looked at: a rule that finds thousands of such places stays linear.
bool is_same_path(const Replacement& rule, std::string_view path, std::size_t place) {
  const std::size_t start = path.rfind('/', place - 1);
  const std::size_t end = std::min(path.find('/', place + rule.from.size()), path.size());
  const std::string_view kept = path.substr(0, start), old = path.substr(start, end - start);
  const bool is_last = end == path.size();

  std::string changed(path.substr(start, place - start));
  changed.append(rule.to);
  changed.append(path.substr(place + rule.from.size(), end - place - rule.from.size()));

  std::string result;
  std::size_t kept_size = kept.size();
  std::string_view rest = changed;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(segment.size());
    if (segment == "..") {
      if (!result.empty()) {
        result.resize(result.rfind('/'));
      } else if (kept_size > 0) {
        kept_size = kept.rfind('/', kept_size - 1);
      }
    } else if (segment != ".") {
      result.push_back('/');
      result.append(segment);
      continue;
    }
    if (rest.empty() && is_last) result.push_back('/');
  }
  const std::string_view climbed = kept.substr(kept_size);
  return result.size() == climbed.size() + old.size() && result.starts_with(climbed) && result.ends_with(old);
}

}  // namespace

bool is_token_edge(std::string_view url, std::size_t at) {
  if (at == 0 || at == url.size()) return true;
  if (url[at - 1] == '%' || (at >= 2 && url[at - 2] == '%')) return false;
  return !has(kWordBytes, url[at - 1]) || !has(kWordBytes, url[at]) || is_triplet_before(url, at);
}

Reach reach_of(const Replacement& rule, const UrlView& url, std::size_t place) {
  const auto path_at = static_cast<std::size_t>(url.path.data() - url.url.data());
  const std::size_t path_end = path_at + url.path.size();
  if (place > path_end) return Reach::kQuery;
  if (place <= path_at) return Reach::kAuthority;
  const bool is_inside = place + rule.from.size() <= path_end && rule.to.find('?') == std::string_view::npos;
  if (is_inside && is_same_path(rule, url.path, place - path_at)) return Reach::kNothing;
  return Reach::kPath;
}

}  // namespace undust
