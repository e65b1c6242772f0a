// A program as the bytes of a file: mapped, it is ready at once, and processes share its memory.
//
//   header | excepted sites | shapes | slots of the sites | blocks | texts that the core does not read
//
// Each part begins on a line of the cache. The bytes are those that a program has in memory, so a file fits only
// undust of the same layout on a machine of the same byte order. A checksum finds damage; it does not make a file
// of a stranger safe.
#include <array>
#include <bit>
#include <cstring>

#include "hash.hpp"
#include "program.hpp"
#include "program_image.hpp"

namespace undust {
namespace {

using Kind = ImageProblem::Kind;

constexpr std::size_t kLine = FarMemory::kLine;

struct Part {
  std::uint64_t at = 0, size = 0;  // in bytes
};

struct ImageHeader {
  char mark[8] = {};
  std::uint32_t version = 0, layout = 0;
  std::uint64_t checksum = 0;  // of all bytes but these eight
  std::uint64_t size = 0, rule_count = 0;
  std::uint64_t shared = 0;  // the place of the block of all sites, from 1 on
  std::uint64_t has_keeps = 0;
  Part exceptions, shapes, slots, blocks, texts;
};
static_assert(std::has_unique_object_representations_v<ImageHeader>);

// What changes if the layout of a program does: sizes, the byte order and the hash.
[[nodiscard]] std::uint32_t layout_of_programs() {
  const std::uint32_t sizes[] = {sizeof(BlockHeader), sizeof(RuleHead),  sizeof(ParsedRule), sizeof(Pattern), sizeof(Piece),
                                 sizeof(GuardSlot),   sizeof(SiteIndex), sizeof(SiteTable::Slot), Block::kUnit,
                                 std::endian::native == std::endian::little};
  const std::string_view bytes(reinterpret_cast<const char*>(sizes), sizeof sizes);
  return static_cast<std::uint32_t>(hash_of(bytes));
}

// Eight lanes, so that the processor waits for memory only. Each step is a bijection of its word, so a change
// within one word is always found.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    std::size_t at = 0;
    for (; at + kStride <= bytes.size(); at += kStride) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) stir(lane, word(bytes.data() + at + 8 * lane));
    }
    std::array<std::byte, kStride> rest{};
    std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
    for (std::size_t lane = 0; lane < kLanes; ++lane) stir(lane, word(rest.data() + 8 * lane));
    stir(0, bytes.size());
  }
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (const std::uint64_t lane : lanes_) all = (std::rotl(all, 23) ^ lane) * kFactor;
    return all ^ (all >> 32);
  }

 private:
  static constexpr std::size_t kLanes = 8, kStride = 8 * kLanes;
  static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;

  [[nodiscard]] static std::uint64_t word(const std::byte* at) {
    std::uint64_t value;
    std::memcpy(&value, at, 8);
    return value;
  }
  void stir(std::size_t lane, std::uint64_t value) { lanes_[lane] = std::rotl((lanes_[lane] ^ value) * kFactor, 29); }

  std::array<std::uint64_t, kLanes> lanes_{1, 2, 3, 4, 5, 6, 7, 8};
};

[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> image) {
  constexpr std::size_t kStart = offsetof(ImageHeader, checksum), kBehind = kStart + sizeof(ImageHeader::checksum);
  Checksum checksum;
  checksum.add(image.first(kStart));
  checksum.add(image.subspan(kBehind));
  return checksum.sum();
}

class ImageWriter {
 public:
  ImageWriter() { bytes_.resize(sizeof(ImageHeader)); }

  [[nodiscard]] Part add(std::span<const std::byte> part) {
    bytes_.resize((bytes_.size() + kLine - 1) / kLine * kLine);
    const Part place{bytes_.size(), part.size()};
    bytes_.append(reinterpret_cast<const char*>(part.data()), part.size());
    return place;
  }
  [[nodiscard]] std::string finish(ImageHeader header) && {
    header.size = bytes_.size();
    std::memcpy(bytes_.data(), &header, sizeof header);
    header.checksum = checksum_of(std::as_bytes(std::span(bytes_)));
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

[[noreturn]] void refuse(Kind kind, const char* message) { throw ImageProblem(kind, message); }

// Lists of sites as bytes: the size of each, then each site with a line feed behind it.
[[nodiscard]] std::string exceptions_as_bytes(const std::vector<std::vector<std::string>>& lists) {
  std::string bytes;
  for (const auto& sites : lists) {
    bytes += std::to_string(sites.size());
    bytes += '\n';
    for (const std::string& site : sites) {
      bytes += site;
      bytes += '\n';
    }
  }
  return bytes;
}

[[nodiscard]] std::vector<std::vector<std::string>> exceptions_from(std::string_view bytes) {
  std::vector<std::vector<std::string>> lists;
  const auto line = [&bytes] {
    const std::size_t size = bytes.find('\n');
    if (size == std::string_view::npos) refuse(Kind::kDamaged, "its excepted sites are cut off");
    const std::string text(bytes.substr(0, size));
    bytes.remove_prefix(size + 1);
    return text;
  };
  while (!bytes.empty()) {
    std::vector<std::string> sites(std::min<std::size_t>(std::strtoul(line().c_str(), nullptr, 10), bytes.size()));
    for (std::string& site : sites) site = line();
    lists.push_back(std::move(sites));
  }
  return lists;
}

[[nodiscard]] ImageHeader checked_header(std::span<const std::byte> image) {
  ImageHeader header;
  if (image.size() < kImageMark.size() || std::memcmp(image.data(), kImageMark.data(), kImageMark.size()) != 0) {
    refuse(Kind::kNotAnImage, "it does not begin like one");
  }
  if (image.size() < sizeof header) refuse(Kind::kDamaged, "it is cut off");
  std::memcpy(&header, image.data(), sizeof header);
  if (header.version != kImageVersion || header.layout != layout_of_programs()) {
    refuse(Kind::kOtherVersion, "another version of undust, or another kind of machine, wrote it");
  }
  if (header.size != image.size()) {
    refuse(Kind::kDamaged, header.size > image.size() ? "it is cut off" : "it is longer than it should be");
  }
  if (header.checksum != checksum_of(image)) refuse(Kind::kDamaged, "its checksum is wrong");
  for (const Part& part : {header.exceptions, header.shapes, header.slots, header.blocks, header.texts}) {
    if (part.at > header.size || part.size > header.size - part.at || part.at % kLine) {
      refuse(Kind::kDamaged, "a part of it lies outside");
    }
  }
  const std::uint64_t slots = header.slots.size / sizeof(SiteTable::Slot);
  if (!std::has_single_bit(slots) || header.shared > header.blocks.size) refuse(Kind::kDamaged, "its table is wrong");
  return header;
}

}  // namespace

std::string Program::image(std::string_view texts) const {
  ImageHeader header;
  std::memcpy(header.mark, kImageMark.data(), kImageMark.size());
  header.version = kImageVersion;
  header.layout = layout_of_programs();
  header.rule_count = rule_count_;
  header.has_keeps = has_keeps_;
  const std::string exceptions = exceptions_as_bytes(except_sites_);
  const std::span<const std::byte> blocks = sites_.blocks();
  if (shared_) header.shared = static_cast<std::uint64_t>(shared_.address(0) - blocks.data()) + 1;
  ImageWriter writer;
  header.exceptions = writer.add(std::as_bytes(std::span(exceptions)));
  header.shapes = writer.add(shapes_.all());
  header.slots = writer.add(std::as_bytes(sites_.slots()));
  header.blocks = writer.add(blocks);
  header.texts = writer.add(std::as_bytes(std::span(texts)));
  return std::move(writer).finish(header);
}

Program::Program(std::span<const std::byte> image, const SuffixList& suffixes)
    : suffixes_(suffixes), identity_(next_identity()) {
  if (reinterpret_cast<std::uintptr_t>(image.data()) % kLine) {
    copy_ = FarMemory(FarMemory::size_of(image));
    image = {copy_.add(image), image.size()};
  }
  const ImageHeader header = checked_header(image);
  const auto part = [image](const Part& place) { return image.subspan(place.at, place.size); };
  const auto exceptions = part(header.exceptions);
  rule_count_ = header.rule_count;
  has_keeps_ = header.has_keeps != 0;
  except_sites_ = exceptions_from({reinterpret_cast<const char*>(exceptions.data()), exceptions.size()});
  shapes_ = ShapeTable::mapped(part(header.shapes));
  const auto* slots = reinterpret_cast<const SiteTable::Slot*>(image.data() + header.slots.at);
  sites_ = SiteTable(std::span(slots, header.slots.size / sizeof(SiteTable::Slot)), part(header.blocks));
  if (header.shared) shared_ = sites_.block_at(header.shared - 1);
  texts_ = {header.texts.at, header.texts.size};
}

}  // namespace undust
