#include "ir/text/print_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/text/text_form.h"

namespace anabranch {
namespace {

bool is_identifier(std::string_view name) {
  return !name.empty() && starts_identifier(name[0]) &&
         std::all_of(name.begin(), name.end(), continues_identifier);
}

}  // namespace

std::string quoted_name(std::string_view name) {
  if (is_identifier(name)) return std::string(name);
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text = "\"";
  for (unsigned char c : name) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += static_cast<char>(c);
    } else if (c < 0x20 || c == 0x7f) {
      ((text += "\\x") += hex[c >> 4]) += hex[c & 15];
    } else {
      text += static_cast<char>(c);
    }
  }
  return text + '"';
}

std::string field_text(double number) {
  char text[32];
  const bool is_plain = number == std::trunc(number) && std::fabs(number) < 1e15;
  const auto form = is_plain ? std::chars_format::fixed : std::chars_format::general;
  return {text, std::to_chars(text, text + sizeof text, number, form).ptr};
}

}  // namespace anabranch
