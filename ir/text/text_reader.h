// A cursor over the text of a graph, a kernel or a program that knows its line and column, for the
// parsers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/literal.h"

namespace anabranch {

struct Kernel;

/// Text that nests deeper is hostile or broken; real graphs, loops and programs nest a few levels.
inline constexpr std::size_t most_nested = 64;

/// Reads tokens from the front of a text; spaces and comments (from # to the end of the line)
/// between them do not count. Every failure is an Error "line 3, column 8: ...".
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) { skip(); }

  /// Where the next token starts, in bytes.
  std::size_t position() const { return position_; }
  std::size_t line_of(std::size_t position) const;
  std::string_view text() const { return text_; }

  bool at_end() const { return position_ == text_.size(); }
  bool at(char c) const { return !at_end() && text_[position_] == c; }
  bool at_identifier() const;
  /// The identifier at the cursor, not consumed; empty where there is none.
  std::string_view peek_identifier() const;

  /// Consumes `c` if it is next.
  bool accept(char c);
  /// Consumes `c`; `context` says what it is for ("after the parameters").
  void expect(char c, std::string_view context);
  /// Consumes the word if it is the next identifier.
  bool accept_word(std::string_view word);
  /// Consumes an identifier; `what` names it where there is none.
  std::string_view identifier(std::string_view what);
  /// Consumes "%name" and gives it with the percent sign.
  std::string_view value_name();
  /// Consumes a decimal integer.
  std::int64_t integer(std::string_view what);
  /// Consumes the characters of one number or word, "nan(0x7fc00001)" included.
  std::string_view number();
  /// Consumes a string in quotes.
  std::string quoted();
  /// Counts the bytes of a constant; whether all so far may be in one text: a few letters may claim
  /// any number of them.
  bool take_constant(std::size_t bytes) {
    if (bytes > constant_bytes_left_) return false;
    constant_bytes_left_ -= bytes;
    return true;
  }

  [[noreturn]] void fail(const std::string& message) const { fail_at(position_, message); }
  [[noreturn]] void fail_at(std::size_t position, const std::string& message) const;
  /// "expected WHAT, found 'x'"
  [[noreturn]] void fail_expected(const std::string& what) const;

 private:
  void skip();
  void advance(std::size_t count) {
    position_ += count;
    skip();
  }
  template <class Predicate>
  std::string_view take_while(std::size_t start, Predicate belongs) const;

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t constant_bytes_left_ = std::size_t{1} << 30;
};

/// Reads the value of a constant of this type.
Literal read_literal(TextReader& reader, const Type& type);
/// Reads a kernel and verifies it.
Kernel read_kernel(TextReader& reader);

}  // namespace anabranch
