#include "program_replace.hpp"

#include <algorithm>
#include <string>

#include "bytes.hpp"
#include "url.hpp"

namespace undust {
namespace {

bool is_triplet_before(std::string_view url, std::size_t at) { return at >= 3 && url[at - 3] == '%'; }

// Whether a segment that begins with a dot can come of it; without one nothing is removed.
bool may_make_dots(const Replacement& rule, std::string_view path, std::size_t place) {
  const std::size_t end = place + rule.from.size();
  const bool is_dot_behind = end < path.size() && path[end] == '.';
  if (path[place - 1] == '/' && (rule.to.empty() ? is_dot_behind : rule.to.front() == '.')) return true;
  if (rule.to.ends_with('/') && is_dot_behind) return true;
  return rule.to.find("/.") != std::string_view::npos || path[path.rfind('/', place - 1) + 1] == '.';
}

// Whether the path with `to` in place of `from` loses just its dot segments to become the
// old path again. Only the segments that the replacement touches, and those that its ".."
// climb over, are looked at.
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

// Whether only the slashes behind the scheme change, and into slashes: however many there are, the URL is the same.
bool is_about_slashes(const Replacement& rule, std::size_t host_at, std::size_t place) {
  return place + 2 >= host_at && place + rule.from.size() <= host_at &&
         rule.to.find_first_not_of("/\\") == std::string_view::npos;
}

constexpr ByteSet kPlainHost = kLower | kUpper | kDigit | bytes_of("-._");

// Whether a host keeps its site, or becomes another host at all, when plain text `to` takes the
// place of the bytes from `place` to `end`: the new host must end with the site, as whole labels.
// A host may have 64 KiB, so only bytes near the place are compared until one differs.
bool may_keep_site(std::string_view host, std::string_view site, std::string_view to, std::size_t place, std::size_t end) {
  std::string_view behind = host.substr(end);
  if (behind.ends_with('.')) behind.remove_suffix(1);
  if (behind.size() >= site.size()) return true;
  const std::string_view wanted = site.substr(0, site.size() - behind.size());  // at the end of what stands before
  const std::size_t size = place + to.size();
  const auto byte_at = [&](std::size_t at) { return at < place ? host[at] : lower(to[at - place]); };
  if (wanted.size() > size) return false;
  const std::size_t start = size - wanted.size();
  if (start > 0 && byte_at(start - 1) != '.') return false;
  for (std::size_t i = wanted.size(); i-- > 0;) {
    if (byte_at(start + i) != wanted[i]) return false;
  }
  return !std::equal(to.begin(), to.end(), host.begin() + static_cast<std::ptrdiff_t>(place),
                     host.begin() + static_cast<std::ptrdiff_t>(end), [](char a, char b) { return lower(a) == b; });
}

}  // namespace

bool is_plain_in_host(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return has(kPlainHost, c); });
}

bool is_token_edge(std::string_view url, std::size_t at) {
  if (at == 0 || at == url.size()) return true;
  if (url[at - 1] == '%' || (at >= 2 && url[at - 2] == '%')) return false;
  return !has(kWordBytes, url[at - 1]) || !has(kWordBytes, url[at]) || is_triplet_before(url, at);
}

Reach reach_of(const Replacement& rule, const UrlView& url, std::string_view site, std::size_t place) {
  const auto path_at = static_cast<std::size_t>(url.path.data() - url.url.data());
  const auto host_at = static_cast<std::size_t>(url.host.data() - url.url.data());
  const std::size_t path_end = path_at + url.path.size();
  if (place > path_end) return Reach::kLittle;
  if (place <= path_at) {
    if (is_about_slashes(rule, host_at, place)) return Reach::kNothing;
    const std::size_t start = place - host_at, end = start + rule.from.size();
    const bool is_in_host = place >= host_at && end <= url.host.size() && rule.has_plain_host;
    return is_in_host && !may_keep_site(url.host, site, rule.to, start, end) ? Reach::kNothing : Reach::kAuthority;
  }
  const bool is_inside = place + rule.from.size() <= path_end && rule.to.find('?') == std::string_view::npos;
  if (is_inside && !may_make_dots(rule, url.path, place - path_at)) return Reach::kLittle;
  if (is_inside && is_same_path(rule, url.path, place - path_at)) return Reach::kNothing;
  return Reach::kPath;
}

}  // namespace undust
