#include "frontend/stablehlo/scanner.h"

#include <charconv>
#include <vector>

namespace anabranch::stablehlo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_in_word(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }

// The length of what belongs to a word or number at the front.
template <class Belongs>
std::size_t length_while(std::string_view text, std::size_t from, Belongs belongs) {
  while (from < text.size() && belongs(text[from])) ++from;
  return from;
}

std::size_t length_of_number(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  if (at >= text.size() || !is_digit(text[at])) return 0;
  if (text.substr(at).starts_with("0x")) {
    const std::size_t end = length_while(text, at + 2, is_hex_digit);
    if (end > at + 2) return end;
  }
  at = length_while(text, at, is_digit);
  if (at >= text.size() || text[at] != '.') return at;
  at = length_while(text, at + 1, is_digit);
  if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return at;
  std::size_t exponent = at + 1;
  if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
  if (exponent >= text.size() || !is_digit(text[exponent])) return at;
  return length_while(text, exponent, is_digit);
}

char closing(char open) {
  switch (open) {
    case '(':
      return ')';
    case '[':
      return ']';
    case '{':
      return '}';
    default:
      return '>';
  }
}

}  // namespace

void Scanner::skip() {
  while (position_ < end_) {
    const char c = text()[position_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else if (rest().starts_with("//")) {
      const std::size_t newline = text().find('\n', position_);
      position_ = newline == std::string_view::npos ? end_ : std::min(newline, end_);
    } else {
      return;
    }
  }
}

std::string_view Scanner::take(std::size_t count) {
  const std::string_view taken = text().substr(position_, count);
  position_ += count;
  last_end_ = position_;
  skip();
  return taken;
}

bool Scanner::at_word() const { return !at_end() && is_letter(text()[position_]); }

bool Scanner::at_number() const { return length_of_number(rest()) > 0; }

std::string_view Scanner::peek_word() const {
  if (!at_word()) return {};
  return rest().substr(0, length_while(rest(), 0, is_in_word));
}

bool Scanner::accept(std::string_view token) {
  if (!at(token)) return false;
  take(token.size());
  return true;
}

bool Scanner::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  take(word.size());
  return true;
}

void Scanner::expect(std::string_view token, std::string_view context) {
  if (accept(token)) return;
  fail_expected("'" + std::string(token) + "' " + std::string(context));
}

std::string_view Scanner::word(std::string_view what) {
  const std::string_view found = peek_word();
  if (found.empty()) fail_expected(what);
  return take(found.size());
}

std::string Scanner::name_after(char mark, std::string_view what) {
  if (!at(mark)) fail_expected(what);
  const std::string_view after = rest().substr(1);
  if (mark == '@' && after.starts_with('"')) {
    take(1);
    return quoted();
  }
  const std::size_t length =
      length_while(after, 0, [](char c) { return is_in_word(c) || c == '-'; });
  // "%a->": the arrow is none of the name.
  std::string_view name = after.substr(0, length);
  while (name.ends_with('-')) name.remove_suffix(1);
  if (name.empty()) fail_expected(what);
  return std::string(take(1 + name.size()).substr(1));
}

std::size_t Scanner::end_of_string(std::size_t quote) const {
  for (std::size_t at = quote + 1; at < end_ && text()[at] != '\n'; ++at) {
    if (text()[at] == '\\') {
      ++at;
    } else if (text()[at] == '"') {
      return at;
    }
  }
  source_.fail(quote, "the string has no end; close it with '\"' on its line");
}

std::string Scanner::quoted() {
  if (!at('"')) fail_expected("a string in quotes");
  const std::size_t close = end_of_string(position_);
  std::string value;
  for (std::size_t at = position_ + 1; at < close; ++at) {
    if (text()[at] != '\\') {
      value += text()[at];
      continue;
    }
    ++at;
    const char c = text()[at];
    if (c == 'n') {
      value += '\n';
    } else if (c == 't') {
      value += '\t';
    } else if (is_hex_digit(c) && at + 1 < close && is_hex_digit(text()[at + 1])) {
      unsigned byte = 0;
      std::from_chars(text().data() + at, text().data() + at + 2, byte, 16);
      value += static_cast<char>(byte);
      ++at;
    } else {
      value += c;
    }
  }
  take(close + 1 - position_);
  return value;
}

std::string_view Scanner::number(std::string_view what) {
  const std::size_t length = length_of_number(rest());
  if (length == 0) fail_expected(what);
  return take(length);
}

std::int64_t Scanner::integer(std::string_view what) {
  const std::size_t at = position_;
  const std::string_view digits = number(what);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size()) {
    fail_at(at, "'" + std::string(digits) + "' is no 64-bit integer, and " + std::string(what) +
                    " has to be one");
  }
  return value;
}

std::optional<std::int64_t> Scanner::size_of_shape() {
  const std::size_t digits = length_while(rest(), 0, is_digit);
  if (digits == 0 || digits >= rest().size() || rest()[digits] != 'x') return {};
  std::int64_t size = 0;
  const char* begin = rest().data();
  if (std::from_chars(begin, begin + digits, size).ec != std::errc()) {
    fail("the size " + std::string(rest().substr(0, digits)) + " is above 2^63 - 1");
  }
  take(digits + 1);
  return size;
}

std::pair<std::size_t, std::size_t> Scanner::balanced(char open) {
  if (!at(open)) fail_expected("'" + std::string(1, open) + "'");
  const std::size_t begin = position_;
  std::vector<char> wanted;
  for (std::size_t at = begin; at < end_; ++at) {
    const char c = text()[at];
    if (c == '"') {
      at = end_of_string(at);
    } else if (c == '-' && at + 1 < end_ && text()[at + 1] == '>') {
      ++at;
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      wanted.push_back(closing(c));
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (c != wanted.back()) {
        source_.fail(at, "found '" + std::string(1, c) + "' where '" +
                             std::string(1, wanted.back()) + "' closes a bracket");
      }
      wanted.pop_back();
      if (!wanted.empty()) continue;
      position_ = at;
      take(1);
      return {begin + 1, at};
    }
  }
  source_.fail(begin, "'" + std::string(1, open) + "' is never closed; write the '" +
                          std::string(1, closing(open)) + "'");
}

void Scanner::fail_expected(std::string_view what) const {
  std::string found;
  if (at_end()) {
    found = "the end of the text";
  } else {
    std::string_view token = peek_word();
    if (token.empty()) token = rest().substr(0, std::max<std::size_t>(1, length_of_number(rest())));
    found = "'" + std::string(token.substr(0, 40)) + "'";
  }
  fail("expected " + std::string(what) + ", found " + found);
}

}  // namespace anabranch::stablehlo
