// How the text forms write a field's value: "attribute=VALUE".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "anabranch/device.h"
#include "anabranch/source_location.h"
#include "anabranch/type.h"
#include "ir/custom_call.h"
#include "ir/fields.h"
#include "ir/op.h"

namespace anabranch {

/// The name as it stands, or in quotes where it is no identifier.
std::string quoted_name(std::string_view name);

inline std::string field_text(const std::string& text) { return quoted_name(text); }
inline std::string field_text(const Type& type) { return to_string(type); }
inline std::string field_text(Op op) { return std::string(name(op)); }
inline std::string field_text(const Device& device) { return to_string(device); }
inline std::string field_text(const CustomFunctionHandle& function) {
  return std::to_string(function.number);
}
inline std::string field_text(const SourceLocation& location) {
  return quoted_name(to_string(location));
}
/// The shortest text that reads back to the same number.
std::string field_text(double number);

template <class Integer>
requires std::is_integral_v<Integer> std::string field_text(Integer number) {
  if constexpr (std::is_same_v<Integer, bool>)
    return number ? "true" : "false";
  else
    return std::to_string(number);
}

template <HasWords Enum>
std::string field_text(Enum value) {
  return std::string(name(value));
}

inline std::string field_text(std::optional<std::int64_t> number) {
  return field_text(number.value());
}

template <class T>
std::string field_text(const std::vector<T>& list) {
  std::string text = "[";
  for (const T& element : list) text += (text.size() > 1 ? "," : "") + field_text(element);
  return text + "]";
}

/// Whether a field says nothing, so that the text leaves it out: an empty list or string, nothing,
/// false, no place in a source.
template <class Field>
bool is_left_out(const Field& field) {
  if constexpr (requires { field.empty(); })
    return field.empty();
  else if constexpr (requires { field.has_value(); })
    return !field.has_value();
  else if constexpr (std::is_same_v<Field, bool> || std::is_same_v<Field, SourceLocation>)
    return !field;
  else
    return false;
}

}  // namespace anabranch
