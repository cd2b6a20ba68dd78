#include "frontend/ops/promote.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/trace/record.h"
#include "ir/literal.h"
#include "ir/scalar.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

enum class Kind : std::uint8_t { boolean, integer, floating, complex_number };

Kind kind_of(Dtype dtype) {
  if (dtype == bool_) return Kind::boolean;
  if (is_complex(dtype)) return Kind::complex_number;
  return is_float(dtype) ? Kind::floating : Kind::integer;
}

bool takes(Takes what, Dtype dtype) {
  switch (what) {
    case Takes::anything:
      return true;
    case Takes::numbers:
      return dtype != bool_;
    case Takes::real_numbers:
      return dtype != bool_ && !is_complex(dtype);
    case Takes::floats:
      return is_float(dtype);
    case Takes::floats_or_complex:
      return is_float(dtype) || is_complex(dtype);
    case Takes::integers:
      return is_integer(dtype);
    case Takes::integers_or_bool:
      return is_integer(dtype) || dtype == bool_;
    case Takes::bool_only:
      return dtype == bool_;
  }
  return false;
}

// What a function takes, and how to get there.
constexpr const char* wanted[] = {
    "anything",
    "numbers, not bool; convert with .astype(ab::i32)",
    "real numbers, not bool; real, imag and abs make them of complex ones",
    "floating-point numbers; convert with .astype(ab::f32)",
    "floating-point or complex numbers; convert with .astype(ab::f32)",
    "integers; convert with .astype(ab::i32)",
    "integers or bool; convert with .astype(ab::i32)",
    "bool; compare with 0 first",
};

const char* wanted_instead_of(Dtype dtype, Takes what) {
  if (what == Takes::real_numbers && dtype == bool_) {
    return "real numbers, not bool; convert with .astype(ab::i32)";
  }
  if (what == Takes::floats && is_complex(dtype)) {
    return "floating-point numbers; real, imag and abs make them of complex ones";
  }
  return wanted[static_cast<int>(what)];
}

// Takes a visitor's number apart: whether T can stand for it.
template <class T, class From>
bool stands_for(From value) {
  if constexpr (is_complex_storage<From>)
    return is_complex_storage<T>;
  else if constexpr (std::is_same_v<T, bool>)
    return std::is_same_v<From, bool>;
  else if constexpr (std::is_same_v<From, bool>)
    return true;
  else if constexpr (is_float_storage<T> || is_complex_storage<T>)
    return true;
  else if constexpr (std::is_same_v<From, double>)
    return false;
  else
    return std::in_range<T>(value);
}

bool is_weak(const Operand& operand) {
  return operand.is_number() || operand.array().expression()->weak;
}

Dtype dtype_of_operand(const Operand& operand) {
  return operand.is_number() ? operand.number().dtype : operand.array().expression()->type.dtype;
}

// The dtype of two operands made from numbers alone: the float, the wider of a kind.
Dtype promoted_weak(Dtype a, Dtype b) {
  if (auto both = promoted(a, b)) return *both;
  return kind_of(a) > kind_of(b) ? a : b;
}

}  // namespace

double real_number(const Number& number) {
  return visit_number(number, [](auto value) { return convert_scalar<double>(value); });
}

std::string to_string(const Number& number) {
  return visit_number(number, []<class T>(T value) -> std::string {
    if constexpr (std::is_same_v<T, bool>)
      return value ? "true" : "false";
    else
      return element_to_string(Literal::scalar(value), 0);
  });
}

std::string describe(const Operand& operand) {
  if (operand.is_number()) return to_string(operand.number());
  if (!operand.array().expression()) return "an empty Array";
  return to_string(operand.array().expression()->type);
}

Array number_as(const char* function, const Number& number, Dtype dtype, SourceLocation where,
                const char* remedy) {
  return visit_number(number, [&]<class From>(From value) {
    return visit_any_dtype(dtype, [&]<class T>() -> Array {
      if (!stands_for<T>(value)) {
        fail(std::string(function) + ": " + std::string(name(dtype)) +
                 " cannot stand for the number " + to_string(number) + "; " + remedy,
             where);
      }
      return array_of(dtype, ElementBits::of(convert_scalar<T>(value)), where);
    });
  });
}

Array as_array(const char* function, const Operand& operand) {
  if (operand.is_number()) {
    Array array = number_as(function, operand.number(), operand.number().dtype, operand.where());
    array.expression()->weak = true;
    return array;
  }
  if (!operand.array().expression()) {
    fail(std::string(function) + ": an operand is an empty Array; give it a value first",
         operand.where());
  }
  return operand.array();
}

Array as_array(const char* function, const Operand& operand, Takes what) {
  Array array = as_array(function, operand);
  if (!takes(what, array.expression()->type.dtype)) {
    fail(std::string(function) + ": " + describe(operand) + " given to what takes " +
             wanted_instead_of(array.dtype(), what),
         operand.where());
  }
  return array;
}

std::optional<Dtype> promoted(Dtype a, Dtype b) {
  if (a == b) return a;
  if (is_complex(a) || is_complex(b)) {
    const bool meet = kind_of(a) >= Kind::floating && kind_of(b) >= Kind::floating;
    if (!meet) return {};
    return part_dtype(a) == f64 || part_dtype(b) == f64 ? c128 : c64;
  }
  if (kind_of(a) != kind_of(b) || a == bool_) return {};
  if (is_float(a)) {
    if (byte_size(a) == byte_size(b)) return f32;  // f16 and bf16
    return byte_size(a) > byte_size(b) ? a : b;
  }
  if (is_signed_integer(a) == is_signed_integer(b)) return byte_size(a) > byte_size(b) ? a : b;
  Dtype with_sign = is_signed_integer(a) ? a : b;
  Dtype without = is_signed_integer(a) ? b : a;
  if (byte_size(with_sign) > byte_size(without)) return with_sign;
  switch (without) {
    case u8:
      return i16;
    case u16:
      return i32;
    case u32:
      return i64;
    default:
      return {};  // no integer holds all of u64 and a sign
  }
}

namespace {

using OperandList = std::span<const Operand* const>;

std::string describe_all(OperandList operands) {
  std::string list;
  for (const Operand* operand : operands)
    list += (list.empty() ? "" : " and ") + describe(*operand);
  return list;
}

[[noreturn]] void refuse_mix(const char* function, Dtype a, Dtype b, OperandList operands) {
  fail(std::string(function) + ": dtypes do not mix: " + describe_all(operands) +
           "; convert one with " + astype_call(kind_of(a) < kind_of(b) ? b : a),
       operands[0]->where());
}

// What does not meet all arrays before it does not meet one of them.
[[noreturn]] void refuse_last(const char* function, OperandList operands) {
  const Operand* last = operands.back();
  const Dtype dtype = dtype_of_operand(*last);
  for (const Operand* before : operands) {
    const Dtype other = dtype_of_operand(*before);
    if (is_weak(*before) || promoted(other, dtype)) continue;
    const Operand* const both[] = {before, last};
    refuse_mix(function, other, dtype, both);
  }
  refuse_mix(function, dtype, dtype, operands);
}

// What the arrays among the operands agree on, or the numbers where there are only numbers.
Dtype common_dtype(const char* function, OperandList operands) {
  std::optional<Dtype> strong, weak;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = *operands[i];
    if (!operand.is_number()) as_array(function, operand);
    Dtype dtype = dtype_of_operand(operand);
    if (is_weak(operand)) {
      weak = weak ? promoted_weak(*weak, dtype) : dtype;
    } else {
      strong = strong ? promoted(*strong, dtype) : dtype;
      if (!strong) refuse_last(function, operands.first(i + 1));
    }
  }
  // A complex number beside an array of floats.
  if (strong && weak && is_complex(*weak) && is_float(*strong)) return complex_dtype(*strong);
  return strong ? *strong : *weak;
}

Array to_dtype(const char* function, const Operand& operand, Dtype dtype, OperandList operands) {
  if (operand.is_number()) {
    Array array = number_as(function, operand.number(), dtype, operand.where());
    array.expression()->weak = true;
    return array;
  }
  const Array& array = operand.array();
  const Type& type = array.expression()->type;
  if (type.dtype == dtype) return array;
  if (kind_of(type.dtype) > kind_of(dtype)) refuse_mix(function, dtype, type.dtype, operands);
  return record(Op::convert, {array}, operand.where(), NoAttributes{}, Type{dtype, type.shape});
}

std::vector<Array> promote_all(const char* function, OperandList operands, Takes what) {
  Dtype dtype = common_dtype(function, operands);
  if (!takes(what, dtype)) {
    fail(std::string(function) + ": " + describe_all(operands) + " given to what takes " +
             wanted_instead_of(dtype, what),
         operands[0]->where());
  }
  std::vector<Array> arrays;
  arrays.reserve(operands.size());
  for (const Operand* operand : operands) {
    arrays.push_back(to_dtype(function, *operand, dtype, operands));
  }
  return arrays;
}

}  // namespace

std::vector<Array> promote(const char* function, std::initializer_list<const Operand*> operands,
                           Takes what) {
  return promote_all(function, {operands.begin(), operands.size()}, what);
}

std::vector<Array> promote(const char* function, const std::vector<Operand>& operands, Takes what) {
  std::vector<const Operand*> pointers;
  pointers.reserve(operands.size());
  for (const Operand& operand : operands) pointers.push_back(&operand);
  return promote_all(function, pointers, what);
}

void demand_axis_of_both(const char* function, Axis axis, const Array& a, const Array& b,
                         SourceLocation where) {
  if (axis.value < 0 || type_of(a).rank() == type_of(b).rank()) return;
  fail(std::string(function) + ": axis " + std::to_string(axis.value) + " is another one in " +
           to_string(type_of(a)) + " than in " + to_string(type_of(b)) +
           ", which broadcast from the last; count it from there, as -1",
       where);
}

void broadcast(const char* function, std::span<Array> arrays, SourceLocation where) {
  bool equal = true;
  std::size_t rank = 0;
  for (const Array& array : arrays) {
    const Shape& shape = array.expression()->type.shape;
    equal = equal && shape == arrays[0].expression()->type.shape;
    rank = std::max(rank, shape.sizes().size());
  }
  if (equal) return;
  std::vector<std::int64_t> sizes(rank, 1);
  for (const Array& array : arrays) {
    const Shape& shape = array.expression()->type.shape;
    std::size_t offset = rank - shape.sizes().size();
    for (std::size_t i = offset; i < rank; ++i) {
      std::int64_t size = shape.sizes()[i - offset];
      if (size == 1 || size == sizes[i]) continue;
      if (sizes[i] != 1) {
        std::string list;
        for (const Array& each : arrays) {
          list += (list.empty() ? "" : " and ") + to_string(each.expression()->type);
        }
        fail(std::string(function) + ": shapes do not broadcast: " + list + " (" +
                 std::to_string(sizes[i]) + " against " + std::to_string(size) + " on axis " +
                 std::to_string(i) + "); make one of them 1 or equal",
             where);
      }
      sizes[i] = size;
    }
  }
  Shape shape(std::move(sizes));
  for (Array& array : arrays) array = broadcast_to_shape(function, array, shape, where);
}

Array broadcast_to_shape(const char* function, const Array& array, const Shape& shape,
                         SourceLocation where) {
  const Type& type = array.expression()->type;
  if (type.shape == shape) return array;
  int offset = shape.rank() - type.rank();
  bool fits = offset >= 0;
  std::vector<std::int64_t> axes;
  for (int axis = 0; fits && axis < type.rank(); ++axis) {
    fits = type.shape[axis] == 1 || type.shape[axis] == shape[axis + offset];
    axes.push_back(axis + offset);
  }
  if (!fits) {
    fail(std::string(function) + ": " + to_string(type) + " does not broadcast to " +
             to_string(shape) + "; each of its sizes, counted from the right, must be equal or 1",
         where);
  }
  return record(Op::broadcast_in_dim, {array}, where, AxesAttributes{std::move(axes)},
                Type{type.dtype, shape});
}

}  // namespace anabranch
