#include "rule_file.hpp"

#include <algorithm>
#include <cstdint>

#include "byte_masks.hpp"
#include "bytes.hpp"
#include "hash.hpp"
#include "rule_needs.hpp"

namespace undust {
namespace {

constexpr int kDeepest = 16;
constexpr std::size_t kMostDigits = 18;
constexpr ByteSet kSpace = bytes_of(" \t\r\n");
constexpr ByteSet kPlainEscapes = bytes_of("\"\\/bfnrt");

// A number that is the same for equal rules, and hardly ever for others.
std::uint64_t hash_of_rule(const RuleSource& rule) {
  std::uint64_t hash = hash_of(rule.text.from, hash_of(rule.site, hash_of(rule.text.kind)));
  if (rule.text.to) hash = hash_of(*rule.text.to, hash + 1);
  for (const auto* texts : {&rule.text.when, &rule.text.unless}) {
    hash = hash_detail::stir(hash, texts->size());
    for (const std::string_view text : *texts) hash = hash_of(text, hash);
  }
  return hash;
}

bool are_different(const std::vector<RuleSource>& rules) {
  std::vector<std::uint64_t> hashes(rules.size());
  std::transform(rules.begin(), rules.end(), hashes.begin(), hash_of_rule);
  std::sort(hashes.begin(), hashes.end());
  return std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end();
}

class Reader {
 public:
  Reader(std::string_view text, std::size_t most) : text_(text), most_(most) {}

  [[nodiscard]] const std::vector<RuleNeeds>& needs() const { return needs_; }

  [[nodiscard]] bool run(PlainRuleFile& file) {
    bool is_found = false;
    const bool is_object = members([&](std::string_view name) {
      if (name != "rules") return any(kDeepest);
      if (is_found) return false;
      is_found = true;
      file.list_start = at_;
      if (!items(']', [&] { return rule(file); })) return false;
      file.list_end = at_;
      return true;
    });
    space();
    return is_object && is_found && at_ == text_.size();
  }

 private:
  [[nodiscard]] bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool take(char c) {
    if (!is_at(c)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void space() {
    while (at_ < text_.size() && has(kSpace, text_[at_])) ++at_;
  }

  // What stands between brackets or braces, the first of which is next.
  template <typename Item>
  [[nodiscard]] bool items(char close, Item&& item) {
    if (!take(close == ']' ? '[' : '{')) return false;
    space();
    if (take(close)) return true;
    while (true) {
      space();
      if (!item()) return false;
      space();
      if (take(close)) return true;
      if (!take(',')) return false;
    }
  }

  // Names have no escapes. value(name) reads what stands behind the colon.
  template <typename Value>
  [[nodiscard]] bool members(Value&& value) {
    return items('}', [&] {
      std::string_view name;
      if (!plain_text(name)) return false;
      space();
      if (!take(':')) return false;
      space();
      return value(name);
    });
  }

  [[nodiscard]] bool rule(PlainRuleFile& file) {
    if (file.rules.size() == most_) return false;
    RuleSource& rule = file.rules.emplace_back();
    bool is_limited = false;
    needed_.clear();
    const bool is_plain = members([&](std::string_view name) {
      if (name == "site") return plain_text(rule.site);
      if (name == "kind") return plain_text(rule.text.kind);
      if (name == "from") return plain_text(rule.text.from);
      if (name == "to") return take("null") ? (rule.text.to.reset(), true) : plain_text(rule.text.to.emplace());
      if (name == "when") return plain_texts(rule.text.when);
      if (name == "unless") return plain_texts(rule.text.unless);
      if (name == "except_sites") return plain_texts(rule.except_sites);
      if (name == "needs") return plain_texts(needed_);
      if (name == "status") {
        std::string_view status;
        if (!plain_text(status)) return false;
        rule.is_active = status == "active";
        is_limited |= status == "proposed";
        return rule.is_active || status == "disabled" || status == "proposed";
      }
      if (name == "fetch") {
        rule.is_fetched = take("true");
        is_limited |= !rule.is_fetched;
        return rule.is_fetched || take("false");
      }
      return any(kDeepest);
    });
    file.is_limited |= is_limited || !needed_.empty();
    if (!needed_.empty()) needs_.push_back({file.rules.size() - 1, needed_});
    return is_plain && rule.site.data() && rule.text.kind.data() && rule.text.from.data();
  }

  [[nodiscard]] bool plain_texts(std::vector<std::string_view>& texts) {
    texts.clear();
    return items(']', [&] { return plain_text(texts.emplace_back()); });
  }

  // A text without escapes, which stands for itself.
  [[nodiscard]] bool plain_text(std::string_view& text) {
    const std::size_t start = at_ + 1;
    if (!take('"')) return false;
    find_end();
    if (!is_at('"')) return false;
    text = text_.substr(start, at_++ - start);
    return true;
  }

  [[nodiscard]] bool any_text() {
    ++at_;
    for (find_end(); is_at('\\'); find_end()) {
      if (at_ + 1 >= text_.size() || !has(kPlainEscapes, text_[at_ + 1])) return false;
      at_ += 2;
    }
    return take('"');
  }

  // The first byte that may not be part of a text as it is.
  void find_end() {
    constexpr Bytes16 kZero{};
    for (; at_ + 16 <= text_.size(); at_ += 16) {
      Bytes16 bytes;
      std::memcpy(&bytes, text_.data() + at_, 16);
      const auto ends = reinterpret_cast<Bytes16>((bytes == '"') | (bytes == '\\') | (bytes < 0x20));
      if (std::memcmp(&ends, &kZero, 16) != 0) break;
    }
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) return;
      ++at_;
    }
  }

  [[nodiscard]] std::size_t digits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && has(kDigit, text_[at_])) ++at_;
    return at_ - start;
  }

  // One that is finite.
  [[nodiscard]] bool number() {
    (void)take('-');
    const std::size_t start = at_;
    if (!take('0') && digits() == 0) return false;
    if (take('.') && digits() == 0) return false;
    if (at_ - start > kMostDigits) return false;
    return !(take('e') || take('E')) || (take('-') && digits() > 0);
  }

  [[nodiscard]] bool any(int depth) {
    if (at_ >= text_.size()) return false;
    switch (text_[at_]) {
      case '"': return any_text();
      case 't': return take("true");
      case 'f': return take("false");
      case 'n': return take("null");
      case '[': return depth > 0 && items(']', [&] { return any(depth - 1); });
      case '{': return depth > 0 && members([&](std::string_view) { return any(depth - 1); });
      default: return number();
    }
  }

  std::string_view text_;
  std::size_t most_;
  std::size_t at_ = 0;
  std::vector<std::string_view> needed_;  // by the rule that is being read
  std::vector<RuleNeeds> needs_;
};

}  // namespace

std::optional<PlainRuleFile> plain_rule_file(std::string_view text, std::size_t most) {
  PlainRuleFile file{};
  Reader reader(text, most);
  if (!reader.run(file) || !are_different(file.rules)) return std::nullopt;
  if (!switch_off_unmet(file.rules, reader.needs())) return std::nullopt;
  return file;
}

}  // namespace undust
