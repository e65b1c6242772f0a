// Lines of any bytes as URLs of one page: each difference says what it captured, and both sides are told.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "differences.hpp"
#include "promise.hpp"

namespace {

using namespace undust;

constexpr std::size_t kMostUrls = 6;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 400));
  std::vector<std::string_view> urls{"http://example.com/a/12?id=3", "http://www.example.com/show?id=12"};
  while (!rest.empty() && urls.size() < kMostUrls) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    urls.push_back(line);
  }
  std::vector<SamePage> pairs;
  for (std::size_t left = 0; left < urls.size(); ++left) {
    for (std::size_t right = 0; right < urls.size(); ++right) {
      if (left != right) pairs.push_back({static_cast<std::int64_t>(left), static_cast<std::int64_t>(right), 0});
    }
  }
  const std::vector<Difference> found = differences(urls, pairs, {6, 14, 5, 1, 1000});
  for (const Difference& one : found) {
    promise(one.source.starts_with("{s}://") && one.source.ends_with("{rest**}"), "the left side is a whole URL, left open");
    promise(one.target.starts_with("{s}://") && one.target.ends_with("{rest}"), "the right side is a whole URL");
    for (const auto& values : one.values) promise(!values.empty() && values.size() <= 5, "some texts, no more than asked for");
  }
  promise(differences(urls, pairs, {6, 14, 5, 2, 1000}).empty(), "one page is not two");
  return 0;
}
