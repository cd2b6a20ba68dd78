#include <array>
#include <charconv>
#include <cmath>

#include "ir/scalar.h"
#include "ir/text/print.h"
#include "ir/text/text_form.h"

namespace anabranch {
namespace {

template <class T>
std::string shortest(T value) {
  std::array<char, 32> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

// The fewest significant digits that convert back; then the shortest way to write that decimal.
template <class Half>
std::string shortest_half(Half half) {
  const auto value = static_cast<double>(static_cast<float>(half));
  for (int digits = 1; digits < 9; ++digits) {
    std::array<char, 32> buffer;
    auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                             std::chars_format::scientific, digits - 1)
                   .ptr;
    double rounded = 0;
    std::from_chars(buffer.data(), end, rounded);
    if (convert_scalar<Half>(rounded).bits == half.bits) return shortest(rounded);
  }
  return shortest(value);
}

std::string nan_text(std::uint64_t bits, std::uint64_t quiet) {
  if (bits == quiet) return "nan";
  std::array<char, 16> digits;
  auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16).ptr;
  return "nan(0x" + std::string(digits.data(), end) + ")";
}

template <class T>
std::string element_text(T value, ElementBits bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    const auto wide = static_cast<double>(value);
    if (std::isnan(wide)) return nan_text(bits.low, quiet_nan_bits(dtype_of<T>));
    if (std::isinf(wide)) return wide < 0 ? "-inf" : "inf";
    if constexpr (std::is_floating_point_v<T>)
      return shortest(value);
    else
      return shortest_half(value);
  }
}

void append(std::string& text, const Literal& literal, int axis, std::int64_t& next) {
  if (axis == literal.type().rank()) {
    text += element_to_string(literal, next++);
    return;
  }
  text += '[';
  for (std::int64_t i = 0; i < literal.type().shape[axis]; ++i) {
    if (i) text += ", ";
    append(text, literal, axis + 1, next);
  }
  text += ']';
}

}  // namespace

std::string element_to_string(const Literal& literal, std::int64_t index) {
  return visit_any_dtype(literal.type().dtype, [&]<class T>() {
    const T value = literal.values<T>()[static_cast<std::size_t>(index)];
    if constexpr (is_complex_storage<T>) {
      const auto part = [](auto x) { return element_text(x, ElementBits::of(x)); };
      return "(" + part(value.real()) + ", " + part(value.imag()) + ")";
    } else {
      return element_text(value, literal.bits(index));
    }
  });
}

std::string to_string(const Literal& literal) {
  if (literal.type().size() == 0) return "[]";
  if (literal.is_splat() && literal.type().size() > 1) return element_to_string(literal, 0);
  std::string text;
  std::int64_t next = 0;
  append(text, literal, 0, next);
  return text;
}

}  // namespace anabranch
