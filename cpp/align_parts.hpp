// The parts of one URL, token by token: what the forms of an alignment are cut at.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace undust {

enum class Place : std::uint8_t { kScheme, kHost, kPath, kName, kValue };

// How one URL is built: which tokens separate its parts, and in which part each token stands.
class Reading {
 public:
  // False for what is no URL with a path.
  [[nodiscard]] bool read(const std::vector<std::string_view>& tokens) {
    places.assign(tokens.size(), Place::kScheme);
    is_mark.assign(tokens.size(), false);
    Place place = Place::kScheme;
    int slashes = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const char c = tokens[i].size() == 1 ? tokens[i][0] : '\0';
      places[i] = place;
      switch (place) {
        case Place::kScheme:
          is_mark[i] = c == ':' || c == '/';
          slashes += c == '/';
          if (slashes == 2) place = Place::kHost;
          break;
        case Place::kHost:
          if (c == '@') return false;
          is_mark[i] = c == '.' || c == ':' || c == '/';
          if (c == '/') place = Place::kPath;
          break;
        case Place::kPath:
          is_mark[i] = c == '/' || c == ';' || c == '?';
          if (c == '?') place = Place::kName;
          break;
        case Place::kName:
          is_mark[i] = c == '&' || c == '=' || c == ';';
          if (c == '=') place = Place::kValue;
          break;
        case Place::kValue:
          is_mark[i] = c == '&' || c == ';';
          if (c == '&') place = Place::kName;
          break;
      }
    }
    return place >= Place::kPath;
  }
  std::vector<Place> places;
  std::vector<bool> is_mark;
};

}  // namespace undust
