// The text of a rule, read once: each side and condition becomes a flat run of pieces.
//
//   {s}://{*:us|de}.php.net/{p**}/story_{id}.html?{**:utm_*|sid}&x={v}&{rest**}
//          ^run^item^item    ^many  ^lit ^run ^lit ^list ^item    ^parameter ^rest
//
// Pieces of one segment, label or parameter value stand together; the last one carries the
// `ends` mark. Literals are in normal form already, so matching compares bytes. A text that
// the language does not know is thrown as a PatternProblem: where, what, and the mend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace undust {

enum class PieceKind : std::uint8_t {
  kLiteral,    // these bytes
  kRun,        // one run inside a segment, label or value; on the right side any one capture
  kMany,       // {p**}: whole segments or labels
  kParameter,  // a parameter by name; how its value looks is in `value`
  kList,       // {**:utm_*|sid}: parameters by name, the names being the items that follow
  kRest,       // {rest**}: all other parameters; on the right side any captured parameters
  kItem,       // one alternative of the run or list before it
};

enum class RunClass : std::uint8_t { kAny, kInt, kAlpha, kHex, kWord, kUuid, kDate, kOneOf };

enum class Form : std::uint8_t { kNone, kLower, kCapital, kSorted, kUnique, kFirst, kLast, kAmp, kPlain, kMask };

enum class Value : std::uint8_t { kNoEquals, kEmpty, kText, kAnything };  // x  x=  x=text  x={**}

// What a capture holds, which decides where it may be written and how.
enum class Holds : std::uint8_t { kScheme, kHost, kSegmentRun, kSegments, kValue, kParameters };

inline constexpr std::uint8_t kForgotten = 255;   // the slot of {*} and {**}
inline constexpr std::size_t kMostCaptures = 100;  // of one side; keeps matching within its bound

struct Piece {
  PieceKind kind = PieceKind::kLiteral;
  union {
    std::uint8_t none = 0;
    RunClass run_class;  // kRun of a left side
    Form form;           // kRun and kRest of a right side
    Value value;         // kParameter
    bool is_prefix;      // kItem
  };
  std::uint8_t slot = kForgotten;
  bool ends = false;       // the last piece of its segment, label or value
  std::uint16_t at = 0;    // literals, names, items: the place in Pieces::text; right runs: what they hold
  std::uint16_t size = 0;  // literals, names, items: their bytes; left runs and lists: how many items follow
};
static_assert(sizeof(Piece) == 8);

// Where the pieces and literal bytes of one rule lie.
struct PieceView {
  const Piece* all;
  const char* text;

  [[nodiscard]] std::string_view text_of(const Piece& piece) const { return {text + piece.at, piece.size}; }
};

// The pieces and literal bytes of one rule: of its sides, then of its conditions. Small numbers
// keep a rule small; a rule that needs larger ones is refused.
inline constexpr std::size_t kMostBytes = 65535, kMostPieces = 65535;

struct Pieces {
  std::vector<Piece> all;
  std::string text;

  [[nodiscard]] std::string_view text_of(const Piece& piece) const { return view().text_of(piece); }
  [[nodiscard]] PieceView view() const { return {all.data(), text.data()}; }
};

enum class SchemeShape : std::uint8_t { kUnwritten, kHttp, kHttps, kCapture };
enum class HostShape : std::uint8_t {
  kUnwritten,
  kLiteral,   // one literal: the whole host
  kWithPort,  // {h} alone: the whole host with its port
  kWhole,     // {h}:port: the whole host
  kLabels,    // labels, each of literals and runs, at most one {h**} among them
};

inline constexpr std::int32_t kNoPort = -1, kEmptyPort = -2;  // "host:" is only written, on the right

struct Pattern {
  std::uint16_t first = 0;  // its pieces: those of the host, then of the path, then of the query
  std::uint16_t host_pieces = 0, path_pieces = 0, query_pieces = 0;
  std::uint16_t labels = 0, segments = 0;  // not counting {h**} and {p**}
  std::int32_t port = kNoPort;
  SchemeShape scheme = SchemeShape::kUnwritten;
  std::uint8_t scheme_slot = kForgotten;
  Form scheme_form = Form::kNone;
  HostShape host = HostShape::kUnwritten;
  bool host_many = false, path_many = false;  // {h**}, {p**} somewhere among them
  bool has_path = false;                      // written at all; only conditions may leave it out
  bool open_query = false;                    // parameters that no piece takes may be there
};

struct Capture {
  std::string_view name;  // a slice of the rule's text
  Holds holds;
};
using Captures = std::vector<Capture>;  // by slot

enum class Side { kLeft, kRight, kCondition };

// Texts one behind the other.
[[nodiscard]] std::string joined(std::initializer_list<std::string_view> texts);

class PatternProblem : public std::runtime_error {
 public:
  // `column` counts bytes from the start of the side.
  PatternProblem(std::size_t column, const std::string& message) : std::runtime_error(message), column(column) {}
  std::size_t column;
};

// Appends the pieces of one side or condition. A left side fills `captures`, a right side
// uses them, a condition starts from none. Throws PatternProblem and leaves `out` longer.
[[nodiscard]] Pattern parse_pattern(std::string_view text, Side side, Captures& captures, Pieces& out);

// A side of a replace rule: literal bytes, with "^" and "$" taken off as marks.
struct ReplaceText {
  std::uint16_t at = 0, size = 0;  // in Pieces::text
  bool starts = false, ends = false;
};
[[nodiscard]] ReplaceText parse_replace(std::string_view text, Pieces& out);

// How much of a pattern print_pattern writes: masks compare sides by their names alone.
enum class Detail { kAll, kNamesOnly };

// Appends the canonical text: parsed again it gives the same pattern.
void print_pattern(const Pattern& pattern, Side side, const Captures& captures, const Pieces& pieces, Detail detail,
                   std::string& out);
void print_replace(const ReplaceText& text, const Pieces& pieces, std::string& out);

[[nodiscard]] std::string_view name_of(RunClass run_class);
[[nodiscard]] std::string_view name_of(Form form);

}  // namespace undust
