// The inside of parse_pattern: a cursor over one side that appends pieces.
#pragma once

#include <string>
#include <string_view>

#include "pattern.hpp"

namespace undust {

inline constexpr auto kNowhere = std::string_view::npos;

// A capture as written: {name}, {*}, {**}, {name**}, each perhaps with ":argument".
struct Braces {
  std::string_view whole, name, argument;
  bool is_many = false, has_argument = false;
};

// Where a mixture of literals and captures stands.
enum class PatternPlace { kLabel, kSegment, kValue };

class PatternParser {
 public:
  PatternParser(std::string_view text, Side side, Captures& captures, Pieces& out)
      : text_(text), side_(side), captures_(captures), out_(out) {}
  [[nodiscard]] Pattern parse();

 private:
  [[noreturn]] void fail(std::string_view place, const std::string& message) const;
  void check_marks() const;
  [[nodiscard]] static std::size_t find_outside(std::string_view part, std::string_view marks);
  [[nodiscard]] Braces braces_at(std::string_view part) const;  // `part` starts with "{"
  [[nodiscard]] bool is_one_capture(std::string_view part) const;

  void parse_scheme(std::string_view scheme);
  void parse_authority(std::string_view authority);
  void parse_host(std::string_view host, bool has_port);
  void parse_labels(std::string_view host);
  void parse_path(std::string_view path);
  void parse_query(std::string_view query);
  void parse_parameter(std::string_view parameter);
  void parse_parameters(const Braces& braces);
  void parse_mixture(std::string_view part, PatternPlace place);

  void emit_literal(std::string_view literal, PatternPlace place, bool alone);
  void emit_run(const Braces& braces, PatternPlace place);
  void emit_reference(const Braces& braces, PatternPlace place, bool alone);
  void emit_many(const Braces& braces, Holds holds);
  void emit_whole_host(const Braces& braces, bool has_port);
  void emit_item(std::string_view item, PatternPlace place);
  void emit_host_item(std::string_view item, bool has_port);
  template <typename EmitItem>
  void emit_items(std::string_view list, EmitItem&& emit);
  Piece& emit(PieceKind kind, std::string_view place);
  void add_text(Piece& piece, std::size_t start) const;

  [[nodiscard]] RunClass class_of(const Braces& braces) const;
  [[nodiscard]] Form form_of(const Braces& braces, Holds holds) const;
  [[nodiscard]] std::uint8_t bind(const Braces& braces, Holds holds);
  [[nodiscard]] std::uint8_t slot_of(const Braces& braces) const;
  void check_neighbours(std::size_t first, std::string_view part) const;

  std::string_view text_;
  Side side_;
  Captures& captures_;
  Pieces& out_;
  Pattern pattern_;
  std::size_t capture_count_ = 0;
};

}  // namespace undust
