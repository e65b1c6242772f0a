// What a URL is: split as browsers split, normalized as RFC 3986 says.
//
//    https :// user:pass @ example.com : 1234 /foo/bar ? baz # quux
//   |     |  |           |             |     |        |     |      |
//   |     |  userinfo    host          port  path     query fragment
//   |     separator                                                |
//   |     (as written: "://", ":\\", ":")                          |
//   before (white space)                                       after
//
// Everything works on bytes. A text that is no http(s) URL is not an error: the
// functions answer false and the caller keeps the text as it was.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "url_masks.hpp"

namespace undust {

// Slices of one text; written one after the other, with the delimiters that the flags
// promise, they give the text again.
struct UrlParts {
  std::string_view before, scheme, separator, userinfo, host, port, path, query, fragment, after;
  bool has_userinfo = false, has_port = false, has_query = false, has_fragment = false;
};

// The steps of standard normalization, each of which can be left out.
enum Step : unsigned {
  kCase = 1u << 0,       // scheme and host in lower case
  kHost = 1u << 1,       // IDN to punycode, IPv4 and IPv6 literals in their one form
  kTriplets = 1u << 2,   // decode triplets of unreserved characters, hex in upper case
  kForbidden = 1u << 3,  // characters that RFC 3986 forbids become triplets
  kDots = 1u << 4,       // remove dot segments
  kEmptyPath = 1u << 5,  // an empty path becomes "/"
  kPort = 1u << 6,       // remove an empty or default port, and leading zeros
  kFragment = 1u << 7,   // remove the fragment
  kAllSteps = (1u << 8) - 1,
};

// Where a piece of text stands, which decides the characters it may hold.
enum class Component { kUserinfo, kPath, kQuery, kFragment };

// Splits a text the way a browser reads it: white space around it does not count, nor
// do tabs and line breaks inside it, "\" before the query is "/", any number of slashes
// may follow "http:". False if it is no http(s) URL; the host is not examined yet.
[[nodiscard]] bool split_url(std::string_view text, UrlParts& parts);

// Appends the normal form of `text` to `out`. False, and `out` as before, if it is no
// http(s) URL.
[[nodiscard]] bool normalize_url(std::string_view text, unsigned steps, std::string& out);

// Whether a text is a URL in normal form, if all before the path at `path_at` is; `masks` are
// its own, with specials. False also where there is no path.
[[nodiscard]] bool is_normal_from(std::string_view text, const UrlMasks& masks, std::size_t path_at);

// Splits a URL that normalize_url wrote. Cheaper: nothing is checked.
[[nodiscard]] UrlParts split_normal(std::string_view url);

// Appends a piece of one component: triplets in normal form, forbidden bytes as triplets.
void append_normal(std::string_view piece, Component component, unsigned steps, std::string& out);

// Appends a path, which is empty or starts with "/", without its dot segments.
void append_without_dots(std::string_view path, std::string& out);

}  // namespace undust
