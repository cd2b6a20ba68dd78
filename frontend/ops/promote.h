// Bringing operands together: one dtype, then one shape.
//
// Numbers take the dtype of the arrays beside them. Arrays of one kind meet at the smaller dtype
// that holds both (f32 and f64: f64; i32 and i64: i64; u8 and i16: i16; u8 and i8: i16; f16 and
// bf16: f32); floats and complex numbers meet at a complex dtype (f32 and c64: c64; f64 and c64:
// c128). Arrays of other different kinds (bool, integer, float) do not meet: the Python Array API
// standard leaves it open, and a silent conversion is the wrong answer as often as the right one.
#pragma once

#include <complex>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "anabranch/operand.h"
#include "anabranch/shape.h"
#include "anabranch/sizes.h"

namespace anabranch {

/// The kinds of element that a function takes.
enum class Takes : std::uint8_t {
  anything,
  numbers,
  real_numbers,
  floats,
  floats_or_complex,
  integers,
  integers_or_bool,
  bool_only
};

/// Calls `visitor` with the number as the widest C++ type of its kind.
template <class Visitor>
auto visit_number(const Number& number, Visitor&& visitor) {
  switch (number.kind) {
    case Number::Kind::boolean:
      return visitor(number.integer != 0);
    case Number::Kind::signed_integer:
      return visitor(static_cast<std::int64_t>(number.integer));
    case Number::Kind::unsigned_integer:
      return visitor(number.integer);
    case Number::Kind::real:
      return visitor(number.real);
    case Number::Kind::complex:
      break;
  }
  return visitor(std::complex<double>(number.real, number.imag));
}

/// The number as a double, a complex one's real part.
double real_number(const Number& number);

/// "f32[3]", or the number.
std::string describe(const Operand& operand);

/// As `as_array`, and Error unless `function` takes its dtype.
Array as_array(const char* function, const Operand& operand, Takes takes);

/// The dtype that arrays of both come to; nothing if their kinds differ or nothing holds both.
std::optional<Dtype> promoted(Dtype a, Dtype b);

/// All operands as arrays of one dtype. Throws Error, with the remedy, where two of them do not
/// meet.
std::vector<Array> promote(const char* function, std::initializer_list<const Operand*> operands,
                           Takes takes);
std::vector<Array> promote(const char* function, const std::vector<Operand>& operands, Takes takes);

/// Error where `axis` is none that both have: they broadcast from the last axis on, so that one
/// counted from the first is two where their ranks differ.
void demand_axis_of_both(const char* function, Axis axis, const Array& a, const Array& b,
                         SourceLocation where);

/// All arrays broadcast to one shape, by NumPy's rule. Throws Error if two sizes differ, neither 1.
void broadcast(const char* function, std::span<Array> arrays, SourceLocation where);

/// One array as `shape`; the array itself where it has it. Throws Error where it does not fit.
Array broadcast_to_shape(const char* function, const Array& array, const Shape& shape,
                         SourceLocation where);

/// A number as a scalar array of a dtype. Throws Error if the dtype cannot stand for it: a fraction
/// for an integer, a number out of range, a number for a bool.
Array number_as(const char* function, const Number& number, Dtype dtype, SourceLocation where,
                const char* remedy = "convert the array with .astype(...) first");

}  // namespace anabranch
