// The host of a URL: names, IPv4 and IPv6 addresses, each in its one form.
#pragma once

#include <string>
#include <string_view>

namespace undust {

// Appends the normal form of a host (no port). False, and `out` as before, if no browser
// would take it. `steps` as in url.hpp.
[[nodiscard]] bool append_host(std::string_view host, unsigned steps, std::string& out);

// Whether a host is a name in normal form by its bytes alone, as nearly every host is.
[[nodiscard]] bool is_plain_name(std::string_view host);

// Whether a normalized host is an IPv4 address or an IPv6 literal.
[[nodiscard]] bool is_address(std::string_view host);

// Whether a normalized host is an address or a name that could be registered: letters, digits, hyphens
// and underscores in labels of 1 to 63 bytes. Browsers take more, such as $(id).
[[nodiscard]] bool is_host_name(std::string_view host);

}  // namespace undust
