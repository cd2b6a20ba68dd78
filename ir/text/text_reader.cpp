#include "ir/text/text_reader.h"

#include <algorithm>
#include <charconv>

#include "anabranch/error.h"
#include "ir/text/text_form.h"

namespace anabranch {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

void TextReader::skip() {
  while (!at_end()) {
    if (is_space(text_[position_])) {
      ++position_;
    } else if (text_[position_] == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

template <class Predicate>
std::string_view TextReader::take_while(std::size_t start, Predicate belongs) const {
  std::size_t end = start;
  while (end < text_.size() && belongs(text_[end])) ++end;
  return text_.substr(start, end - start);
}

std::size_t TextReader::line_of(std::size_t position) const {
  return 1 + static_cast<std::size_t>(std::count(
                 text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

bool TextReader::at_identifier() const { return !at_end() && starts_identifier(text_[position_]); }

std::string_view TextReader::peek_identifier() const {
  return at_identifier() ? take_while(position_, continues_identifier) : std::string_view{};
}

bool TextReader::accept(char c) {
  if (!at(c)) return false;
  advance(1);
  return true;
}

void TextReader::expect(char c, std::string_view context) {
  if (!accept(c)) fail_expected("'" + std::string(1, c) + "' " + std::string(context));
}

bool TextReader::accept_word(std::string_view word) {
  if (peek_identifier() != word) return false;
  advance(word.size());
  return true;
}

std::string_view TextReader::identifier(std::string_view what) {
  const std::string_view word = peek_identifier();
  if (word.empty()) fail_expected(std::string(what));
  advance(word.size());
  return word;
}

std::string_view TextReader::value_name() {
  if (!at('%')) fail_expected("a value, such as %0");
  const std::size_t length = 1 + take_while(position_ + 1, continues_identifier).size();
  if (length == 1) fail("a name must follow '%'");
  const std::string_view name = text_.substr(position_, length);
  advance(length);
  return name;
}

std::int64_t TextReader::integer(std::string_view what) {
  std::int64_t value = 0;
  const char* first = text_.data() + position_;
  auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) {
    fail(std::string(what) + " does not fit in 64 bits");
  }
  if (error != std::errc{}) fail_expected(std::string(what));
  advance(static_cast<std::size_t>(end - first));
  return value;
}

std::string_view TextReader::number() {
  auto belongs = [](char c) { return continues_identifier(c) || c == '+' || c == '-'; };
  std::string_view token = take_while(position_, belongs);
  if (token.empty()) fail_expected("a number");
  std::size_t length = token.size();
  if (token == "nan" && position_ + length < text_.size() && text_[position_ + length] == '(') {
    const std::size_t close = text_.find(')', position_);
    if (close == text_.npos) fail("nan( needs its bits and a ')'");
    length = close + 1 - position_;
  }
  token = text_.substr(position_, length);
  advance(length);
  return token;
}

std::string TextReader::quoted() {
  const std::size_t start = position_;
  std::string result;
  std::size_t at = position_ + 1;
  auto next = [&] {
    if (at >= text_.size()) fail_at(start, "the string has no closing quote");
    return text_[at++];
  };
  for (char c = next(); c != '"'; c = next()) {
    if (c == '\\') {
      c = next();
      if (c == 'x') {
        const int high = hex_digit(next());
        const int low = hex_digit(next());
        if (high < 0 || low < 0) fail_at(start, "\\x needs two hexadecimal digits");
        c = static_cast<char>(16 * high + low);
      } else if (c != '"' && c != '\\') {
        fail_at(start, "only \\\", \\\\ and \\xHH may follow a backslash in a string");
      }
    }
    result += c;
  }
  advance(at - start);
  return result;
}

void TextReader::fail_at(std::size_t position, const std::string& message) const {
  const std::size_t line_start = position == 0 ? 0 : text_.rfind('\n', position - 1) + 1;
  throw Error("line " + std::to_string(line_of(position)) + ", column " +
              std::to_string(position - line_start + 1) + ": " + message);
}

void TextReader::fail_expected(const std::string& what) const {
  if (at_end()) fail("expected " + what + ", found the end of the text");
  constexpr std::size_t longest = 24;
  std::string_view found = text_.substr(position_, 1);
  auto belongs = [](char c) { return continues_identifier(c) || c == '-' || c == '+'; };
  if (found[0] == '%')
    found = text_.substr(position_, 1 + take_while(position_ + 1, belongs).size());
  if (belongs(found[0])) found = take_while(position_, belongs);
  fail("expected " + what + ", found '" + std::string(found.substr(0, longest)) +
       (found.size() > longest ? "...'" : "'"));
}

}  // namespace anabranch
