// Operand: what an operation takes: an array or a C++ number, and the line where the user wrote it.
#pragma once

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/dtype.h"
#include "anabranch/export.h"
#include "anabranch/source_location.h"

namespace ANABRANCH_API anabranch {

template <class T>
concept NumberType = std::is_arithmetic_v<T> || is_float_storage<T> || is_complex_storage<T>;

/// A C++ number whose dtype its neighbours decide.
struct Number {
  std::variant<bool, std::int64_t, std::uint64_t, double, std::complex<double>> value;
  Dtype dtype = f64;  ///< of the C++ type, for where there is no array to follow

  template <NumberType T>
  explicit Number(T number) : dtype(dtype_of<T>) {
    if constexpr (std::is_same_v<T, bool>)
      value = number;
    else if constexpr (is_float_storage<T>)
      value = static_cast<double>(number);
    else if constexpr (is_complex_storage<T>)
      value = std::complex<double>(number);
    else if constexpr (std::is_signed_v<T>)
      value = static_cast<std::int64_t>(number);
    else
      value = static_cast<std::uint64_t>(number);
  }
};

std::string to_string(const Number& number);

/// Made implicitly at the place of the call, so that errors and dumps can name the user's line even
/// for operators, which cannot have default arguments.
class Operand {
 public:
  Operand(Array array, std::source_location where = std::source_location::current())
      : value_(std::move(array)), where_(where) {}
  template <NumberType T>
  Operand(T number, std::source_location where = std::source_location::current())
      : value_(Number(number)), where_(where) {}
  /// The same operand, written elsewhere.
  Operand(Array array, SourceLocation where) : value_(std::move(array)), where_(where) {}

  bool is_number() const { return std::holds_alternative<Number>(value_); }
  const Array& array() const { return std::get<Array>(value_); }
  const Number& number() const { return std::get<Number>(value_); }
  SourceLocation where() const { return where_; }

 private:
  std::variant<Array, Number> value_;
  SourceLocation where_;
};

/// The operand as an array, a number having the dtype of its C++ type. Throws Error if it is empty.
Array as_array(const char* function, const Operand& operand);

/// A list of operands: {a, b, 1.0f}, or a vector of arrays.
class Operands {
 public:
  Operands(std::initializer_list<Operand> list) : list_(list) {}
  Operands(const std::vector<Array>& arrays,
           std::source_location where = std::source_location::current()) {
    for (const Array& array : arrays) list_.emplace_back(array, where);
  }
  Operands(std::vector<Operand> list) : list_(std::move(list)) {}

  const std::vector<Operand>& list() const { return list_; }

 private:
  std::vector<Operand> list_;
};

}  // namespace anabranch
