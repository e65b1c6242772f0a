// The parts of one URL, token by token: what the forms of an alignment are cut at.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace undust {

enum class UrlPart : std::uint8_t { kScheme, kHost, kPath, kName, kValue };

// How one URL is built: which tokens separate its parts, and in which part each token stands.
class Reading {
 public:
  // False for what is no URL with a path.
  [[nodiscard]] bool read(const std::vector<std::string_view>& tokens) {
    places.assign(tokens.size(), UrlPart::kScheme);
    is_mark.assign(tokens.size(), false);
    UrlPart place = UrlPart::kScheme;
    int slashes = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const char c = tokens[i].size() == 1 ? tokens[i][0] : '\0';
      places[i] = place;
      switch (place) {
        case UrlPart::kScheme:
          is_mark[i] = c == ':' || c == '/';
          slashes += c == '/';
          if (slashes == 2) place = UrlPart::kHost;
          break;
        case UrlPart::kHost:
          if (c == '@') return false;
          is_mark[i] = c == '.' || c == ':' || c == '/';
          if (c == '/') place = UrlPart::kPath;
          break;
        case UrlPart::kPath:
          is_mark[i] = c == '/' || c == ';' || c == '?';
          if (c == '?') place = UrlPart::kName;
          break;
        case UrlPart::kName:
          is_mark[i] = c == '&' || c == '=' || c == ';';
          if (c == '=') place = UrlPart::kValue;
          break;
        case UrlPart::kValue:
          is_mark[i] = c == '&' || c == ';';
          if (c == '&') place = UrlPart::kName;
          break;
      }
    }
    return place >= UrlPart::kPath;
  }
  std::vector<UrlPart> places;
  std::vector<bool> is_mark;
};

}  // namespace undust
