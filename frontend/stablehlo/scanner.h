// Scanner: a cursor over MLIR's text that knows words, numbers, strings and brackets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/stablehlo/source_text.h"

namespace anabranch::stablehlo {

/// Spaces and comments (from // to the end of the line) between tokens do not count.
class Scanner {
 public:
  /// Reads `source` from `begin` to `end`.
  Scanner(const SourceText& source, std::size_t begin, std::size_t end)
      : source_(source), position_(begin), end_(end) {
    skip();
  }
  explicit Scanner(const SourceText& source) : Scanner(source, 0, source.text().size()) {}

  const SourceText& source() const { return source_; }
  /// Where the next token starts.
  std::size_t position() const { return position_; }
  /// Where the last token ended.
  std::size_t last_end() const { return last_end_; }
  void move_to(std::size_t position) {
    position_ = position;
    skip();
  }

  bool at_end() const { return position_ >= end_; }
  bool at(char c) const { return !at_end() && text()[position_] == c; }
  bool at(std::string_view token) const { return rest().starts_with(token); }
  bool at_word() const;
  bool at_word(std::string_view word) const { return peek_word() == word; }
  /// Whether a number starts here, with or without a sign.
  bool at_number() const;
  /// The word here, letters, digits, _, $ and dots; empty where there is none.
  std::string_view peek_word() const;

  /// Consumes these characters if they are next; `accept` of a word takes whole words alone.
  bool accept(std::string_view token);
  bool accept_word(std::string_view word);
  /// Consumes them; `context` says what for ("after the operands").
  void expect(std::string_view token, std::string_view context);
  std::string_view word(std::string_view what);
  /// The name after % ^ @ or another mark: digits or a word, in quotes for @"...".
  std::string name_after(char mark, std::string_view what);
  std::string quoted();
  /// The digits of an integer, a float or hexadecimal bits, with their sign.
  std::string_view number(std::string_view what);
  std::int64_t integer(std::string_view what);
  /// "4x" of a shape: the size, then the x; nothing where the next is no size.
  std::optional<std::int64_t> size_of_shape();
  /// Consumes from an opening bracket to the one that closes it; the offsets between the two.
  std::pair<std::size_t, std::size_t> balanced(char open);

  [[noreturn]] void fail(const std::string& message) const { source_.fail(position_, message); }
  [[noreturn]] void fail_at(std::size_t at, const std::string& message) const {
    source_.fail(at, message);
  }
  /// "expected WHAT, found 'x'"
  [[noreturn]] void fail_expected(std::string_view what) const;

 private:
  std::string_view text() const { return source_.text(); }
  std::string_view rest() const {
    return at_end() ? std::string_view() : text().substr(position_, end_ - position_);
  }
  void skip();
  std::string_view take(std::size_t count);
  std::size_t end_of_string(std::size_t quote) const;

  const SourceText& source_;
  std::size_t position_, end_;
  std::size_t last_end_ = 0;
};

}  // namespace anabranch::stablehlo
