#include "anabranch/detail/signature.h"

#include <array>

#include "frontend/array/expression.h"

namespace anabranch {

const Type& scalar_type(Dtype dtype) {
  // Never destroyed: threads may call and compile while a process leaves main.
  static const auto& types = *new std::array<Type, dtype_count>([] {
    std::array<Type, dtype_count> types;
    for (int i = 0; i < dtype_count; ++i) types[static_cast<std::size_t>(i)] = {Dtype(i), {}};
    return types;
  }());
  return types[static_cast<std::size_t>(dtype)];
}

Description::Description() = default;
Description::Description(std::initializer_list<Line> lines) : lines_(lines) {}
Description::Description(const Description&) = default;
Description::Description(Description&&) noexcept = default;
Description::~Description() = default;
Description& Description::operator=(const Description&) = default;
Description& Description::operator=(Description&&) noexcept = default;
bool Description::operator==(const Description& other) const { return lines_ == other.lines_; }

void Description::add(std::string_view path, std::string_view text) {
  lines_.push_back({std::string(path), std::string(text)});
}

void Description::add(const Description& more) {
  lines_.insert(lines_.end(), more.lines_.begin(), more.lines_.end());
}

Signature::Signature() { leaves.reserve(8); }
Signature::~Signature() = default;

void Signature::add(const Leaf& leaf) { leaves.push_back(leaf); }

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

DescriptionVisitor::DescriptionVisitor(Description& filled, const char* root, int position)
    : description(filled), path(root) {
  if (position >= 0) path += " " + std::to_string(position);
}
DescriptionVisitor::~DescriptionVisitor() = default;

void DescriptionVisitor::leaf(const Array& array) { description.add(path, describe(array)); }
void DescriptionVisitor::static_leaf(const std::string& text) {
  description.add(path, "static " + text);
}
void DescriptionVisitor::length(std::size_t length) {
  description.add(path + ".size()", std::to_string(length));
}
void DescriptionVisitor::key(const std::string& key) {
  description.add(path + " key", quoted_text(key));
}
void DescriptionVisitor::enter(std::size_t position) {
  path += "[" + std::to_string(position) + "]";
}
void DescriptionVisitor::enter(tree::Field field) { path.append(".").append(field.name); }
void DescriptionVisitor::enter(std::string_view key) {
  path.append("[\"").append(key).append("\"]");
}

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
