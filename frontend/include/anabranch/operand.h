// Operand: what an operation takes: an array or a C++ number, and the line where the user wrote it.
#pragma once

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string>
#include <type_traits>
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
  /// Which member holds it; a complex number is in `real` and `imag`.
  enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, real, complex };

  Kind kind;
  Dtype dtype;                ///< of the C++ type, for where there is no array to follow
  std::uint64_t integer = 0;  ///< of a signed integer its two's complement, of a bool 0 or 1
  double real = 0, imag = 0;

  template <NumberType T>
  explicit Number(T number) : kind(kind_of_number<T>()), dtype(dtype_of<T>) {
    if constexpr (is_complex_storage<T>) {
      real = static_cast<double>(number.real());
      imag = static_cast<double>(number.imag());
    } else if constexpr (std::is_integral_v<T>) {
      integer = static_cast<std::uint64_t>(number);
    } else {
      real = static_cast<double>(number);
    }
  }

 private:
  template <class T>
  static constexpr Kind kind_of_number() {
    if (std::is_same_v<T, bool>) return Kind::boolean;
    if (is_complex_storage<T>) return Kind::complex;
    if (!std::is_integral_v<T>) return Kind::real;
    return std::is_signed_v<T> ? Kind::signed_integer : Kind::unsigned_integer;
  }
};

std::string to_string(const Number& number);

/// Made implicitly at the place of the call, so that errors and dumps can name the user's line even
/// for operators, which cannot have default arguments.
class Operand {
 public:
  Operand(Array array, std::source_location where = std::source_location::current())
      : array_(std::move(array)), where_(where) {}
  template <NumberType T>
  Operand(T number, std::source_location where = std::source_location::current())
      : number_(number), is_number_(true), where_(where) {}
  /// The same operand, written elsewhere.
  Operand(Array array, SourceLocation where) : array_(std::move(array)), where_(where) {}

  bool is_number() const { return is_number_; }
  const Array& array() const { return array_; }
  const Number& number() const { return number_; }
  SourceLocation where() const { return where_; }

 private:
  Array array_;
  Number number_{0};
  bool is_number_ = false;
  SourceLocation where_;
};

/// The operand as an array, a number having the dtype of its C++ type. Throws Error if it is empty.
Array as_array(const char* function, const Operand& operand);

/// A list of operands: {a, b, 1.0f}, or a vector of arrays.
class Operands {
 public:
  Operands(std::initializer_list<Operand> list,
           std::source_location where = std::source_location::current())
      : list_(list), where_(where) {}
  Operands(const std::vector<Array>& arrays,
           std::source_location where = std::source_location::current())
      : where_(where) {
    for (const Array& array : arrays) list_.emplace_back(array, where);
  }
  Operands(std::vector<Operand> list, std::source_location where = std::source_location::current())
      : list_(std::move(list)), where_(where) {}

  const std::vector<Operand>& list() const { return list_; }
  /// Where the first was written; of none, the list.
  SourceLocation where() const { return list_.empty() ? where_ : list_[0].where(); }

 private:
  std::vector<Operand> list_;
  SourceLocation where_;
};

}  // namespace anabranch
