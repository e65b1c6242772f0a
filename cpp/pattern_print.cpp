// The canonical text of a pattern: what parse_pattern reads back to the same pieces.
#include "pattern.hpp"

namespace undust {
namespace {

class Printer {
 public:
  Printer(const Pattern& pattern, Side side, const Captures& captures, const Pieces& pieces, Detail detail,
          std::string& out)
      : pattern_(pattern), side_(side), captures_(captures), pieces_(pieces), detail_(detail), out_(out),
        piece_(pieces.all.data() + pattern.first) {}

  void print() {
    if (pattern_.scheme != SchemeShape::kUnwritten) print_authority();
    if (pattern_.has_path) print_parts(pattern_.path_pieces, "/", "/");
    const Piece* end = piece_ + pattern_.query_pieces;
    for (bool is_first = true; piece_ != end; is_first = false) {
      out_.push_back(is_first ? '?' : '&');
      print_parameter();
    }
  }

 private:
  void print_authority() {
    switch (pattern_.scheme) {
      case SchemeShape::kHttp: out_.append("http"); break;
      case SchemeShape::kHttps: out_.append("https"); break;
      default: print_capture(pattern_.scheme_slot, "", name_of(pattern_.scheme_form));
    }
    out_.append("://");
    print_parts(pattern_.host_pieces, "", ".");
    // {h}: means a whole host without port, and {h} alone would not say so.
    const bool is_empty = pattern_.host == HostShape::kWhole || (pattern_.port == kEmptyPort && detail_ == Detail::kAll);
    if (pattern_.port >= 0 || is_empty) out_.push_back(':');
    if (pattern_.port >= 0) out_.append(std::to_string(pattern_.port));
  }

  // Segments or labels: `first` stands before the first one, `between` before the others.
  void print_parts(std::uint32_t count, std::string_view first, std::string_view between) {
    const Piece* end = piece_ + count;
    for (std::string_view separator = first; piece_ != end; separator = between) {
      out_.append(separator);
      print_mixture();
    }
  }

  void print_mixture() {
    for (bool is_last = false; !is_last;) {
      const Piece& piece = *piece_++;
      is_last = piece.ends;
      switch (piece.kind) {
        case PieceKind::kLiteral: out_.append(pieces_.text_of(piece)); break;
        case PieceKind::kMany: print_capture(piece.slot, "**", ""); break;
        default: print_run(piece);
      }
    }
  }

  void print_run(const Piece& run) {
    if (side_ == Side::kRight) {
      print_capture(run.slot, "", name_of(run.form));
    } else if (run.run_class == RunClass::kOneOf) {
      print_capture(run.slot, run.slot == kForgotten ? "*" : "", take_items(run));
    } else {
      print_capture(run.slot, run.slot == kForgotten ? "*" : "", name_of(run.run_class));
    }
  }

  std::string take_items(const Piece& parent) {
    std::string list;
    for (std::uint32_t i = 0; i < parent.size; ++i) {
      const Piece& item = *piece_++;
      if (i) list.push_back('|');
      list.append(pieces_.text_of(item));
      if (item.is_prefix) list.push_back('*');
    }
    return list;
  }

  void print_parameter() {
    const Piece& piece = *piece_++;
    if (piece.kind == PieceKind::kList) return print_capture(piece.slot, "**", take_items(piece));
    if (piece.kind == PieceKind::kRest) {
      return side_ == Side::kRight ? print_capture(piece.slot, "", name_of(piece.form)) : print_capture(piece.slot, "**", "");
    }
    out_.append(pieces_.text_of(piece));
    if (piece.value != Value::kNoEquals) out_.push_back('=');
    if (piece.value == Value::kAnything) out_.append("{**}");
    if (piece.value == Value::kText) print_mixture();
  }

  void print_capture(std::uint8_t slot, std::string_view stars, std::string_view argument) {
    out_.push_back('{');
    if (slot != kForgotten) out_.append(captures_[slot].name);
    if (detail_ == Detail::kAll || slot == kForgotten) {
      out_.append(stars);
      if (slot == kForgotten && stars.empty()) out_.push_back('*');
      if (!argument.empty()) out_.append(":").append(argument);
    }
    out_.push_back('}');
  }

  const Pattern& pattern_;
  Side side_;
  const Captures& captures_;
  const Pieces& pieces_;
  Detail detail_;
  std::string& out_;
  const Piece* piece_;
};

}  // namespace

void print_pattern(const Pattern& pattern, Side side, const Captures& captures, const Pieces& pieces, Detail detail,
                   std::string& out) {
  Printer(pattern, side, captures, pieces, detail, out).print();
}

void print_replace(const ReplaceText& text, const Pieces& pieces, std::string& out) {
  if (text.starts) out.push_back('^');
  out.append(pieces.text, text.at, text.size);
  if (text.ends) out.push_back('$');
}

}  // namespace undust
