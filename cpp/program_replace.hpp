// Replace rules: whole tokens of a URL, at the leftmost place that gives another URL.
#pragma once

#include <string_view>

#include "program_match.hpp"
#include "program_search.hpp"

namespace undust {

struct Replacement {
  std::string_view from, to;
  bool starts, ends;    // anchored to the start, the end of the URL
  bool has_plain_host;  // see is_plain_in_host
};

// Whether a text inside a host leaves it one host, of plain bytes.
[[nodiscard]] bool is_plain_in_host(std::string_view text);

// How far a replacement reaches, which says what must be looked at again.
enum class Reach {
  kNothing,    // the normal form would be the same URL, or one of another site
  kLittle,     // the result is in normal form
  kPath,       // the result may have dot segments
  kAuthority,  // anything may have happened
};

// Whether a token begins or ends at `at`: not inside a run of letters and digits, nor in a triplet.
[[nodiscard]] bool is_token_edge(std::string_view url, std::size_t at);

// What a replacement at a place can do. It may say more than is true, but never less; that is
// only so that a rule which finds thousands of useless places stays linear.
[[nodiscard]] Reach reach_of(const Replacement& rule, const UrlView& url, std::string_view site, std::size_t place);

// Calls found(place) for each place where whole tokens match, until it answers false.
template <typename Found>
void for_each_token_place(const Replacement& rule, std::string_view url, Found&& found) {
  const auto try_place = [&](std::size_t place) {
    const std::size_t end = place + rule.from.size();
    if (!is_token_edge(url, place) || !is_token_edge(url, end)) return true;
    if ((rule.starts && place != 0) || (rule.ends && end != url.size())) return true;
    return static_cast<bool>(found(place));
  };
  if (rule.from.size() > url.size()) return;
  if (!rule.starts && !rule.ends) {
    for_each_place(url, rule.from, try_place);
    return;
  }
  const std::size_t place = rule.starts ? 0 : url.size() - rule.from.size();
  if (url.substr(place, rule.from.size()) == rule.from) try_place(place);
}

}  // namespace undust
