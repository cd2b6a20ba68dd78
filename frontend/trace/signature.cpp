#include "anabranch/detail/signature.h"

#include <array>

#include "frontend/array/expression.h"

namespace anabranch {

const Type& scalar_type(Dtype dtype) {
  static const std::array<Type, dtype_count> types = [] {
    std::array<Type, dtype_count> types;
    for (int i = 0; i < dtype_count; ++i) types[static_cast<std::size_t>(i)] = {Dtype(i), {}};
    return types;
  }();
  return types[static_cast<std::size_t>(dtype)];
}

void Signature::add(const Array& array) {
  const Expression* expression = array.expression().get();
  leaves.push_back(
      {expression ? &expression->type : nullptr, &array, 0, expression && expression->weak});
}

bool Signature::any_traced() const {
  for (const Leaf& leaf : leaves) {
    if (leaf.array && leaf.array->expression() &&
        leaf.array->expression()->kind == Expression::Kind::traced) {
      return true;
    }
  }
  return false;
}

namespace detail {

std::string describe_weak(const Type& type) {
  return to_string(type) + " (weak: from C++ numbers)";
}

std::string describe(const Array& array) {
  if (!array.expression()) return "empty";
  const Expression& expression = *array.expression();
  std::string text = expression.weak ? describe_weak(expression.type) : to_string(expression.type);
  const Device device = expression.device_or_default();
  if (device != default_device()) text += " on " + to_string(device);
  return text;
}

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string hexadecimal(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "0x";
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte / 16];
    text += digits[byte % 16];
  }
  return text;
}

}  // namespace detail
}  // namespace anabranch
