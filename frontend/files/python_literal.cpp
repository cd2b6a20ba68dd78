#include "frontend/files/python_literal.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "anabranch/error.h"

namespace anabranch {
namespace {

using Kind = PythonLiteral::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_quote(char c) { return c == '\'' || c == '"'; }

class Parser {
 public:
  Parser(std::string_view text, bool python2) : text_(text), python2_(python2) {}

  PythonLiteral whole() {
    PythonLiteral literal = value();
    if (at_ < text_.size()) fail("nothing more after the literal");
    return literal;
  }

 private:
  static constexpr int deepest = 32;

  [[noreturn]] void fail(const std::string& expected) const {
    throw Error("expected " + expected + " at character " + std::to_string(at_));
  }

  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // Spaces, line ends (behind a backslash too) and comments.
  void skip_space() {
    while (at_ < text_.size()) {
      if (next() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("\\\n")) {
        at_ += 2;
      } else if (std::string_view(" \t\n\r\f").find(next()) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool take(char wanted) {
    if (at_ == text_.size() || next() != wanted) return false;
    ++at_;
    skip_space();
    return true;
  }

  // The letters and digits from here on.
  std::string_view word() {
    const std::size_t begin = at_;
    while (is_letter(next()) || is_digit(next())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  PythonLiteral value() {
    skip_space();
    if (++depth_ > deepest) fail("brackets nested at most " + std::to_string(deepest) + " deep");
    PythonLiteral literal = any();
    --depth_;
    skip_space();
    return literal;
  }

  PythonLiteral any() {
    if (take('{')) return dictionary();
    if (take('[')) return {Kind::list, 0, {}, items(']').first};
    if (take('(')) return tuple();
    if (is_digit(next()) || next() == '-' || next() == '+') return integer();
    const std::size_t begin = at_;
    const std::string_view name = word();
    if (is_quote(next())) return strings(name);
    if (name == "True" || name == "False") return {Kind::boolean, name == "True" ? 1 : 0};
    at_ = begin;
    fail("a value: a dictionary, a tuple, a string, an integer, True or False");
  }

  // What is in the brackets, and whether a comma follows the last.
  std::pair<std::vector<PythonLiteral>, bool> items(char close) {
    std::vector<PythonLiteral> found;
    bool comma = false;
    while (!take(close)) {
      if (!found.empty() && !comma) fail(std::string("',' or '") + close + "'");
      found.push_back(value());
      comma = take(',');
    }
    return {std::move(found), comma};
  }

  // Or a value in brackets.
  PythonLiteral tuple() {
    auto [found, comma] = items(')');
    if (found.size() == 1 && !comma) return std::move(found[0]);
    return {Kind::tuple, 0, {}, std::move(found)};
  }

  PythonLiteral dictionary() {
    PythonLiteral literal{Kind::dictionary};
    for (bool comma = true; !take('}'); comma = take(',')) {
      if (!comma) fail("',' or '}'");
      literal.items.push_back(value());
      if (!take(':')) fail("':'");
      literal.items.push_back(value());
    }
    return literal;
  }

  PythonLiteral integer() {
    const std::size_t begin = at_;
    std::string digits = next() == '-' ? "-" : "";
    if (next() == '-' || next() == '+') ++at_;
    skip_space();
    std::string_view written = word();
    if (python2_ && (written.ends_with('L') || written.ends_with('l'))) written.remove_suffix(1);
    int base = 10;
    if (written.size() > 2 && written[0] == '0') {
      const char letter = static_cast<char>(written[1] | 0x20);
      base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    }
    bool legal = base != 10 || !written.starts_with('0') ||
                 written.find_first_not_of("0_") == std::string_view::npos;
    if (base != 10) written.remove_prefix(written[2] == '_' ? 3 : 2);
    bool after_digit = false;  // an underscore has a digit on either side
    for (char c : written) {
      legal = legal && (c != '_' || after_digit);
      after_digit = c != '_';
      if (after_digit) digits += c;
    }
    PythonLiteral literal{Kind::integer};
    const char* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, literal.number, base);
    if (legal && after_digit && error == std::errc{} && rest == end) return literal;
    at_ = begin;
    fail("an integer of 64 bits");
  }

  // One string, or several side by side that are one; `prefix` precedes the first.
  PythonLiteral strings(std::string_view prefix) {
    PythonLiteral literal{Kind::text};
    while (true) {
      const bool raw = prefix == "r" || prefix == "R";
      if (!raw && !prefix.empty() && prefix != "u" && prefix != "U") fail("a string of characters");
      literal.text += string(raw);
      skip_space();
      const std::size_t begin = at_;
      prefix = word();
      if (is_quote(next())) continue;
      at_ = begin;
      return literal;
    }
  }

  std::string string(bool raw) {
    const char quote = text_[at_++];
    std::string read;
    while (at_ < text_.size() && next() != quote && next() != '\n') {
      if (next() != '\\') {
        read += text_[at_++];
      } else if (raw) {
        read += text_.substr(at_, 2);
        at_ = std::min(at_ + 2, text_.size());
      } else {
        ++at_;
        read += escaped();
      }
    }
    if (at_ == text_.size() || next() == '\n') fail(std::string("the quote ") + quote);
    ++at_;
    return read;
  }

  char escaped() {
    constexpr std::string_view letters = "\\'\"nrt", meanings = "\\'\"\n\r\t";
    const auto known = letters.find(next());
    if (at_ < text_.size() && known != letters.npos) return ++at_, meanings[known];
    unsigned code = 0;
    const char* digits = text_.data() + at_ + 1;
    if (next() != 'x' || at_ + 3 > text_.size() ||
        std::from_chars(digits, digits + 2, code, 16).ptr != digits + 2) {
      fail("one of the escapes \\\\ \\' \\\" \\n \\r \\t \\xhh");
    }
    at_ += 3;
    return static_cast<char>(code);
  }

  std::string_view text_;
  bool python2_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

PythonLiteral parse_python_literal(std::string_view text, bool python2) {
  return Parser(text, python2).whole();
}

}  // namespace anabranch
