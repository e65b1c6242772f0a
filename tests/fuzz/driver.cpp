// A byte fuzzer that needs no library: seeds, each of their prefixes, then mutations of them.
//
//   fuzz_x SEEDS COUNT SECONDS [FIRST]
//
// It stops after COUNT mutations or SECONDS, whichever comes first. Mutation number n is the same on
// every machine, so FIRST repeats a finding at once; a finding also prints its input. The seeds stand
// one a line, with \n, \t, \r, \\ and \xHH for what a line cannot hold.
#include <sanitizer/common_interface_defs.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// So that a failed promise (std::abort) reports its input too.
extern "C" const char* __asan_default_options() { return "handle_abort=1"; }

namespace {

const std::string* current_input = nullptr;
unsigned long long current_number = 0;

void print_current_input() {
  if (!current_input) return;
  std::fprintf(stderr, "the input, mutation %llu: \"", current_number);
  for (const char c : *current_input) {
    const auto byte = static_cast<unsigned char>(c);
    std::fprintf(stderr, byte < 0x20 || byte > 0x7E || c == '"' || c == '\\' ? "\\x%02x" : "%c", byte);
  }
  std::fprintf(stderr, "\"\n");
}

// The buffer has exactly the size of the input, so the sanitizer sees the first stray byte.
void run(const std::string& input) {
  current_input = &input;
  const std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[input.size()]);
  if (!input.empty()) std::memcpy(bytes.get(), input.data(), input.size());
  LLVMFuzzerTestOneInput(bytes.get(), input.size());
  current_input = nullptr;
}

std::string unescaped(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text.push_back(line[i]);
      continue;
    }
    const char code = line[++i];
    if (code == 'x' && i + 2 < line.size()) {
      text.push_back(static_cast<char>(std::stoi(line.substr(i + 1, 2), nullptr, 16)));
      i += 2;
    } else {
      text.push_back(code == 'n' ? '\n' : code == 't' ? '\t' : code == 'r' ? '\r' : code);
    }
  }
  return text;
}

std::vector<std::string> read_seeds(const char* path) {
  std::vector<std::string> seeds;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) seeds.push_back(unescaped(line));
  if (seeds.empty()) {
    std::fprintf(stderr, "%s holds no seeds; write one text a line\n", path);
    std::exit(2);
  }
  return seeds;
}

// Small, and the same everywhere, which the distributions of <random> are not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x1234567u) {}
  std::size_t below(std::size_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::size_t>((state_ >> 11) % bound);
  }

 private:
  std::uint64_t state_;
};

// Bytes that mean something to URLs, to UTF-8, or to neither.
constexpr char kByteList[] = "/\\:@?#&;=%.[]{}*| \t\r\n+-_~0189afAFxX\"<>^`'\0\x7f\x80\xbf\xc3\xe2\xed\xf0\xff";
constexpr std::string_view kBytes(kByteList, sizeof kByteList - 1);

void mutate(std::string& text, const std::vector<std::string>& seeds, Dice& dice) {
  constexpr std::size_t kLongest = 2048;
  const std::size_t at = dice.below(text.size() + 1);
  const std::size_t size = dice.below(std::min<std::size_t>(text.size() - at, 16) + 1);
  const std::string& other = seeds[dice.below(seeds.size())];
  const std::size_t from = dice.below(other.size() + 1);
  switch (dice.below(8)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8)));
      break;
    case 1:
      if (at < text.size()) text[at] = kBytes[dice.below(kBytes.size())];
      break;
    case 2: text.insert(at, 1, kBytes[dice.below(kBytes.size())]); break;
    case 3: text.insert(at, 1, static_cast<char>(dice.below(256))); break;
    case 4: text.erase(at, size); break;
    case 5: text.insert(at, std::string(text, at, size)); break;
    case 6: text.insert(at, other, from, dice.below(12)); break;
    default: text = text.substr(0, at) + other.substr(from);
  }
  if (text.size() > kLongest) text.resize(kLongest);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s SEEDS COUNT SECONDS [FIRST]\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> seeds = read_seeds(argv[1]);
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t first = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::strtod(argv[3], nullptr));
  __sanitizer_set_death_callback(print_current_input);

  for (const std::string& seed : seeds) {
    for (std::size_t size = 0; size <= seed.size(); ++size) run(seed.substr(0, size));
  }
  std::uint64_t done = 0;
  for (; done < count && std::chrono::steady_clock::now() < end; ++done) {
    current_number = first + done;
    Dice dice(current_number);
    std::string text = seeds[dice.below(seeds.size())];
    for (std::size_t times = 1 + dice.below(6); times > 0; --times) mutate(text, seeds, dice);
    run(text);
  }
  std::printf("%llu mutations of %zu seeds, no finding\n", static_cast<unsigned long long>(done), seeds.size());
  return 0;
}
