#include "html.hpp"

#include <algorithm>
#include <array>

#include "bytes.hpp"
#include "html_text.hpp"

namespace undust {
namespace {

constexpr ByteSet kSpace = bytes_of("\t\n\f\r ");
constexpr ByteSet kEndOfName = kSpace | bytes_of("/>");
constexpr ByteSet kLetter = kLower | kUpper;
constexpr std::size_t kNone = std::string_view::npos;

// What an element does to the text around and inside it.
enum Trait : unsigned {
  kBlock = 1,          // separates words
  kRaw = 2,            // holds text up to its end tag, no tags
  kUnseen = 4,         // ... which is not shown
  kScript = 8,         // ... with its own way to find the end
  kHead = 16,          // may stand in the head
  kKept = 32,          // is handed over with its attributes
  kTemplate = 64,      // nothing inside is shown, templates nest
  kSelect = 128,       // options are not shown until chosen
  kEndsSelect = 256,   // a form field that cannot stand in a `select`
  kPlain = 512,        // all that follows is text
  kTitle = 1024,       // holds the title
  kField = 2048,       // shows its value
  kRoot = 4096,        // names the language
  kDecoded = 8192,     // raw text in which references are decoded
};

struct Element {
  std::string_view name;
  unsigned traits;
};

constexpr Element kElements[] = {
    {"address", kBlock},
    {"article", kBlock},
    {"aside", kBlock},
    {"base", kHead | kKept},
    {"basefont", kHead},
    {"bgsound", kHead},
    {"blockquote", kBlock},
    {"body", kBlock},
    {"br", kBlock},
    {"button", kBlock},
    {"caption", kBlock},
    {"center", kBlock},
    {"dd", kBlock},
    {"details", kBlock},
    {"dialog", kBlock},
    {"dir", kBlock},
    {"div", kBlock},
    {"dl", kBlock},
    {"dt", kBlock},
    {"fieldset", kBlock},
    {"figcaption", kBlock},
    {"figure", kBlock},
    {"footer", kBlock},
    {"form", kBlock},
    {"frameset", kBlock},
    {"h1", kBlock},
    {"h2", kBlock},
    {"h3", kBlock},
    {"h4", kBlock},
    {"h5", kBlock},
    {"h6", kBlock},
    {"head", kHead},
    {"header", kBlock},
    {"hgroup", kBlock},
    {"hr", kBlock},
    {"html", kHead | kRoot},
    {"iframe", kRaw | kUnseen},
    {"input", kBlock | kEndsSelect | kField},
    {"legend", kBlock},
    {"li", kBlock},
    {"link", kHead | kKept},
    {"listing", kBlock},
    {"main", kBlock},
    {"menu", kBlock},
    {"meta", kHead | kKept},
    {"nav", kBlock},
    {"noembed", kRaw | kUnseen},
    {"noframes", kRaw | kUnseen | kHead},
    {"noscript", kRaw | kUnseen | kHead},
    {"ol", kBlock},
    {"optgroup", kBlock},
    {"option", kBlock},
    {"p", kBlock},
    {"plaintext", kBlock | kPlain},
    {"pre", kBlock},
    {"script", kRaw | kUnseen | kScript | kHead},
    {"search", kBlock},
    {"section", kBlock},
    {"select", kBlock | kSelect},
    {"style", kRaw | kUnseen | kHead},
    {"summary", kBlock},
    {"table", kBlock},
    {"tbody", kBlock},
    {"td", kBlock},
    {"template", kTemplate | kHead},
    {"textarea", kBlock | kRaw | kDecoded | kEndsSelect},
    {"tfoot", kBlock},
    {"th", kBlock},
    {"thead", kBlock},
    {"title", kRaw | kUnseen | kHead | kTitle},
    {"tr", kBlock},
    {"ul", kBlock},
    {"xmp", kBlock | kRaw},
};
constexpr bool kIsSorted = std::is_sorted(std::begin(kElements), std::end(kElements),
                                          [](const Element& a, const Element& b) { return a.name < b.name; });
static_assert(kIsSorted);
constexpr std::size_t kLongestName = 10;

unsigned traits_of(std::string_view name) {
  if (name.size() > kLongestName) return 0;
  std::array<char, kLongestName> lowered{};
  std::transform(name.begin(), name.end(), lowered.begin(), lower);
  const std::string_view wanted(lowered.data(), name.size());
  const auto* found = std::lower_bound(std::begin(kElements), std::end(kElements), wanted,
                                       [](const Element& element, std::string_view n) { return element.name < n; });
  return found != std::end(kElements) && found->name == wanted ? found->traits : 0;
}

std::string lowered(std::string_view text) {
  std::string copy(text);
  std::transform(copy.begin(), copy.end(), copy.begin(), lower);
  return copy;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

// Fields whose value a reader sees; without a type, a field is for text. Hidden fields hold tokens, and the
// value of a check box is for the server.
constexpr std::string_view kShownFields[] = {
    "", "button", "date", "datetime-local", "email", "month", "number", "reset", "search", "submit", "tel", "text", "time",
    "url", "week",
};

std::string_view value_of(const HtmlTag& tag, std::string_view key) {
  for (const auto& [name, value] : tag.attributes) {
    if (name == key) return value;
  }
  return {};
}

class Reader {
 public:
  Reader(std::string_view html, std::size_t most_tags, HtmlPage& page)
      : html_(html), most_tags_(most_tags), page_(page), text_(page.text) {}

  void read() {
    while (at_ < html_.size()) {
      const std::size_t open = std::min(html_.find('<', at_), html_.size());
      show(html_.substr(at_, open - at_));
      at_ = open;
      if (at_ < html_.size()) read_markup();
    }
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead) const { return at_ + ahead < html_.size() ? html_[at_ + ahead] : '\0'; }

  void show(std::string_view text, bool is_raw = false) {
    if (templates_ || is_in_select_) return;
    if (is_in_head_ && std::all_of(text.begin(), text.end(), [](char c) { return has(kSpace, c); })) return;
    is_in_head_ = false;
    text_.add(text, is_raw);
  }

  // At a '<'.
  void read_markup() {
    const char next = peek(1);
    if (has(kLetter, next)) {
      read_tag(at_ + 1, false);
    } else if (next == '/' && has(kLetter, peek(2))) {
      read_tag(at_ + 2, true);
    } else if (html_.substr(at_, 4) == "<!--") {
      skip_comment();
    } else if (next == '!' || next == '?' || next == '/') {
      skip_past(">", at_ + 2);
    } else {
      show(html_.substr(at_, 1));
      ++at_;
    }
  }

  void end_block() {
    text_.end_word();
    if (page_.text.size() > (page_.block_ends.empty() ? 0 : page_.block_ends.back())) {
      page_.block_ends.push_back(page_.text.size());
    }
  }

  void show_field(const HtmlTag& tag) {
    const std::string type = lowered(value_of(tag, "type"));
    if (std::find(std::begin(kShownFields), std::end(kShownFields), type) == std::end(kShownFields)) return;
    show(value_of(tag, "value"));
    end_block();
  }

  void skip_past(std::string_view end, std::size_t from) {
    const std::size_t found = html_.find(end, from);
    at_ = found == kNone ? html_.size() : found + end.size();
  }

  void skip_comment() {
    const std::string_view rest = html_.substr(at_ + 4);
    if (rest.starts_with(">") || rest.starts_with("->")) return skip_past(">", at_ + 4);
    // "--!>" ends a comment too. Looking for the dashes finds both, and a run of dashes is left at once.
    for (std::size_t dashes = html_.find("--", at_ + 4); dashes != kNone; dashes = html_.find("--", dashes)) {
      dashes = std::min(html_.find_first_not_of('-', dashes), html_.size());
      const std::string_view after = html_.substr(dashes);
      if (after.starts_with(">")) return void(at_ = dashes + 1);
      if (after.starts_with("!>")) return void(at_ = dashes + 2);
    }
    at_ = html_.size();
  }

  void read_tag(std::size_t name_start, bool is_end) {
    const std::size_t name_end = end_of(name_start, kEndOfName);
    const std::string_view name = html_.substr(name_start, name_end - name_start);
    const unsigned traits = traits_of(name);
    const bool keeps = !is_end && traits & kKept && !templates_ && page_.tags.size() < most_tags_;
    const bool reads = keeps || (!is_end && traits & (kField | kRoot) && !templates_);
    if (!is_end && !templates_) is_in_head_ = is_in_head_ && traits & kHead;
    HtmlTag tag{lowered(keeps ? name : ""), is_in_head_, {}};
    at_ = name_end;
    if (!skip_attributes(reads ? &tag : nullptr)) return;
    if (reads && traits & kRoot && page_.language.empty()) page_.language = value_of(tag, "lang");
    if (traits & kTemplate) templates_ = is_end ? templates_ - (templates_ > 0) : templates_ + 1;
    if (traits & kSelect) is_in_select_ = !is_end && !is_in_select_;
    if (!is_end && traits & kEndsSelect) is_in_select_ = false;
    if (traits & kBlock) end_block();
    if (reads && traits & kField) show_field(tag);
    if (keeps) page_.tags.push_back(std::move(tag));
    if (!is_end && traits & kRaw) read_raw(name, traits);
    if (!is_end && traits & kPlain) {
      show(html_.substr(at_), true);
      at_ = html_.size();
    }
  }

  [[nodiscard]] std::size_t end_of(std::size_t from, const ByteSet& ends) const {
    while (from < html_.size() && !has(ends, html_[from])) ++from;
    return from;
  }

  [[nodiscard]] std::size_t past(std::size_t from, const ByteSet& members) const {
    while (from < html_.size() && has(members, html_[from])) ++from;
    return from;
  }

  // Moves behind the '>' of a tag; false, and to the end, where there is none.
  bool skip_attributes(HtmlTag* tag) {
    static constexpr ByteSet kBetween = kSpace | bytes_of("/");
    static constexpr ByteSet kEndOfKey = kEndOfName | bytes_of("=");
    static constexpr ByteSet kEndOfValue = kSpace | bytes_of(">");
    while ((at_ = past(at_, kBetween)) < html_.size()) {
      if (html_[at_] == '>') return ++at_, true;
      const std::size_t key = at_;
      // A name may begin with '='.
      at_ = end_of(at_ + 1, kEndOfKey);
      const std::size_t key_end = at_;
      std::string_view value;
      const std::size_t equals = past(at_, kSpace);
      if (equals < html_.size() && html_[equals] == '=') {
        at_ = past(equals + 1, kSpace);
        const char quote = peek(0);
        if (quote == '"' || quote == '\'') {
          const std::size_t close = std::min(html_.find(quote, at_ + 1), html_.size());
          value = html_.substr(at_ + 1, close - at_ - 1);
          at_ = std::min(close + 1, html_.size());
        } else {
          const std::size_t start = at_;
          at_ = end_of(at_, kEndOfValue);
          value = html_.substr(start, at_ - start);
        }
      }
      if (tag) keep_attribute(html_.substr(key, key_end - key), value, *tag);
    }
    return false;
  }

  static void keep_attribute(std::string_view key, std::string_view value, HtmlTag& tag) {
    constexpr std::size_t kMostAttributes = 32;
    if (tag.attributes.size() == kMostAttributes) return;
    std::string name = lowered(key);
    // Of two with one name the first counts.
    for (const auto& [known, _] : tag.attributes) {
      if (known == name) return;
    }
    tag.attributes.emplace_back(std::move(name), value);
  }

  // Behind the start tag of an element that holds raw text; moves behind its end tag.
  void read_raw(std::string_view name, unsigned traits) {
    const std::size_t start = at_;
    const std::size_t end = traits & kScript ? end_of_script(start) : end_tag(name, start);
    if (!(traits & kUnseen)) show(html_.substr(start, end - start), !(traits & kDecoded));
    if (traits & kTitle && page_.title.empty() && !templates_) ShownText(page_.title).add(html_.substr(start, end - start));
    at_ = end;
    if (at_ < html_.size()) {
      at_ += 2 + name.size();
      skip_attributes(nullptr);
    }
    if (traits & kBlock) end_block();
  }

  [[nodiscard]] bool is_tag(std::size_t at, std::string_view before, std::string_view name) const {
    const std::string_view rest = html_.substr(at);
    const std::size_t size = before.size() + name.size();
    return rest.size() > size && rest.starts_with(before) && has(kEndOfName, rest[size]) &&
           equals_ignoring_case(rest.substr(before.size(), name.size()), name);
  }

  [[nodiscard]] std::size_t end_tag(std::string_view name, std::size_t from) const {
    for (std::size_t at = html_.find('<', from); at != kNone; at = html_.find('<', at + 1)) {
      if (is_tag(at, "</", name)) return at;
    }
    return html_.size();
  }

  // Inside "<!--" a script may hold whole script elements (13.2.5.17 and on), as old pages do.
  [[nodiscard]] std::size_t end_of_script(std::size_t from) const {
    bool is_escaped = false, is_nested = false;
    for (std::size_t at = from; at < html_.size(); ++at) {
      at = is_escaped ? html_.find_first_of("<-", at) : html_.find('<', at);
      if (at == kNone) break;
      if (html_[at] == '-') {
        if (html_.substr(at, 3) == "-->") is_escaped = is_nested = false;
      } else if (html_.substr(at, 4) == "<!--") {
        is_escaped = true;
        ++at;  // its dashes may also be those of "-->"
      } else if (is_tag(at, "</", "script")) {
        if (!is_nested) return at;
        is_nested = false;
      } else if (is_escaped && is_tag(at, "<", "script")) {
        is_nested = true;
      }
    }
    return html_.size();
  }

  std::string_view html_;
  std::size_t most_tags_;
  HtmlPage& page_;
  ShownText text_;
  std::size_t at_ = 0;
  std::size_t templates_ = 0;
  bool is_in_select_ = false;
  bool is_in_head_ = true;
};

}  // namespace

void read_html(std::string_view html, std::size_t most_tags, HtmlPage& page) {
  page.text.clear();
  page.block_ends.clear();
  page.tags.clear();
  page.title.clear();
  page.language.clear();
  Reader(html, most_tags, page).read();
}

}  // namespace undust
