#include "anabranch/creation.h"

#include <cmath>
#include <optional>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"
#include "ir/scalar.h"
#include "runtime/memory/buffer.h"
#include "runtime/memory/copy.h"

namespace anabranch {
namespace {

void check_count(const char* function, const Shape& shape, std::size_t count,
                 SourceLocation where) {
  if (static_cast<std::uint64_t>(shape.size()) == count) return;
  fail(std::string(function) + ": shape " + to_string(shape) + " needs " +
           std::to_string(shape.size()) + " values, and " + std::to_string(count) + " were given",
       where);
}

Array filled(const char* function, Dtype dtype, const Sizes& sizes, bool value) {
  Array number = number_as(function, Number(value), dtype, sizes.where());
  return broadcast_to_shape(function, number, sizes.shape(function), sizes.where());
}

Array iota(Dtype dtype, Shape shape, std::int64_t axis, SourceLocation where) {
  return record(Op::iota, {}, where, AxisAttributes{axis}, Type{dtype, std::move(shape)});
}

// column - row against `diagonal`, over the last two axes.
Array triangle(Comparison direction, const Shape& shape, std::int64_t diagonal,
               SourceLocation where) {
  Term row = {iota(i64, shape, shape.rank() - 2, where), where};
  Term column = {iota(i64, shape, shape.rank() - 1, where), where};
  Term above = column - row;
  switch (direction) {
    case Comparison::le:
      return above <= diagonal;
    case Comparison::ge:
      return above >= diagonal;
    default:
      return above == diagonal;
  }
}

Array keep_triangle(const char* function, Comparison direction, const Operand& x,
                    std::int64_t diagonal) {
  Term array = {as_array(function, x), x.where()};
  const Shape& shape = array.array().expression()->type.shape;
  if (shape.rank() < 2) {
    fail(std::string(function) + ": " + describe(x) + " has fewer than two axes", x.where());
  }
  Term mask = {triangle(direction, shape, diagonal, x.where()), x.where()};
  return where(mask, array, Term(zeros_like(array), x.where()));
}

// What an array made from a number alone has; see the header.
Dtype dtype_made_of(const Number& number) {
  if (number.dtype == c128) return complex_dtype(default_float);
  return number.dtype == f64 ? default_float : number.dtype;
}

// Nothing where it is out of range.
template <class T>
std::optional<T> in_range(double value) {
  const T converted = convert_scalar<T>(value);
  if (std::isfinite(value) && !std::isfinite(static_cast<double>(converted))) return std::nullopt;
  return converted;
}

[[noreturn]] void fail_range(const char* function, double number, SourceLocation where) {
  fail(std::string(function) + ": " + to_string(Number(number)) + " is beyond " +
           std::string(name(default_float)) +
           ", the default float; give the dtype, ab::f64, as the last argument",
       where);
}

// A number without a dtype.
Array made_of(const char* function, const Operand& operand) {
  const Number& number = operand.number();
  if (number.dtype == f64 && !in_range<float>(number.real)) {
    fail_range(function, number.real, operand.where());
  }
  return number_as(function, number, dtype_made_of(number), operand.where());
}

// The remedy where no array is there to convert.
constexpr const char* wider_dtype = "give a dtype that can";

// An array that is one.
Array one_number(const char* function, const Operand& operand) {
  const Array array = as_array(function, operand);
  if (type_of(array).rank() == 0) return array;
  fail(std::string(function) + ": " + describe(operand) +
           " is not one number; broadcast_to takes arrays",
       operand.where());
}

// A number, or a scalar array.
Array number_of(const char* function, const Operand& operand) {
  return operand.is_number() ? made_of(function, operand) : one_number(function, operand);
}

// The same in the dtype that was asked for.
Array number_of(const char* function, const Operand& operand, Dtype dtype) {
  if (!operand.is_number()) {
    return astype({one_number(function, operand), operand.where()}, dtype);
  }
  return number_as(function, operand.number(), dtype, operand.where(), wider_dtype);
}

Array filled_like(const char* function, const Operand& x, const Operand& value,
                  std::optional<Dtype> dtype) {
  const Array like = x.is_number() ? made_of(function, x) : as_array(function, x);
  const Type type = like.expression()->type;
  const Array number = number_of(function, value, dtype.value_or(type.dtype));
  return broadcast_to_shape(function, number, type.shape, x.where());
}

double value_of(const char* function, const Operand& operand) {
  if (!operand.is_number()) {
    fail(std::string(function) + ": " + describe(operand) +
             " decides the result's size, so it has to be a C++ number",
         operand.where());
  }
  if (is_complex(operand.number().dtype)) {
    fail(std::string(function) + ": " + describe(operand) + " is no real number", operand.where());
  }
  return real_number(operand.number());
}

bool is_whole(const Number& number) {
  return number.kind != Number::Kind::real && number.kind != Number::Kind::complex;
}

// Of one that is whole: every 64 bits, with and without a sign.
__extension__ using WideInteger = __int128;
WideInteger exact_integer(const Number& number) {
  return number.kind == Number::Kind::signed_integer
             ? WideInteger{static_cast<std::int64_t>(number.integer)}
             : WideInteger{number.integer};
}

// One that is whole, wrapped around where the dtype does not hold it.
Array wrapped(const Number& number, Dtype dtype, SourceLocation where) {
  return visit_any_dtype(dtype, [&]<class T>() {
    return array_of(dtype, ElementBits::of(convert_scalar<T>(number.integer)), where);
  });
}

/// How many elements lie between whole numbers, for a step that is not 0; else nothing.
std::optional<WideInteger> exact_count(const Number& start, const Number& stop,
                                       const Number& step) {
  if (!is_whole(start) || !is_whole(stop) || !is_whole(step)) return std::nullopt;
  const WideInteger by = exact_integer(step), way = exact_integer(stop) - exact_integer(start);
  if (by == 0) return std::nullopt;
  const bool leads_there = by > 0 ? way > 0 : way < 0;
  return leads_there ? (way + by + (by > 0 ? -1 : 1)) / by : 0;
}

}  // namespace

Array array(const std::vector<bool>& values, const Sizes& sizes) {
  const std::vector<std::uint8_t> bytes(values.begin(), values.end());
  return array_of_bytes(bool_, sizes, std::as_bytes(std::span(bytes)), bytes.size());
}

Array array_of_bytes(Dtype dtype, const Sizes& sizes, std::span<const std::byte> bytes,
                     std::size_t count) {
  Shape shape = sizes.shape("array");
  check_count("array", shape, count, sizes.where());
  Array array = array_of(Type{dtype, std::move(shape)}, copy_to_device(default_device(), bytes));
  array.expression()->location = sizes.where();
  return array;
}

std::vector<float> detail::default_floats(std::span<const double> values, SourceLocation where) {
  std::vector<float> floats;
  floats.reserve(values.size());
  for (double value : values) {
    const std::optional<float> converted = in_range<float>(value);
    if (!converted) fail_range("array", value, where);
    floats.push_back(*converted);
  }
  return floats;
}

void refuse_ragged(std::size_t columns, std::size_t other, SourceLocation where) {
  fail("array: a row of " + std::to_string(other) + " values after one of " +
           std::to_string(columns) + "; rows have one length",
       where);
}

Array borrow_bytes(Dtype dtype, const Sizes& sizes, const void* data,
                   detail::AnyFunction<void()> release) {
  Type type{dtype, sizes.shape("borrow")};
  if (data == nullptr && type.bytes() > 0) {
    fail("borrow: a null pointer to the " + std::to_string(type.bytes()) + " bytes of " +
             to_string(type),
         sizes.where());
  }
  Buffer memory = Buffer::borrow(Device(), data, type.bytes(), std::move(release));
  Array array = array_of(std::move(type), std::move(memory));
  array.expression()->location = sizes.where();
  return array;
}

Array scalar(const Operand& number) { return number_of("scalar", number); }

Array scalar(const Operand& number, Dtype dtype) { return number_of("scalar", number, dtype); }

Array zeros(const Sizes& sizes, Dtype dtype) { return zeros(dtype, sizes); }
Array ones(const Sizes& sizes, Dtype dtype) { return ones(dtype, sizes); }
Array zeros(Dtype dtype, const Sizes& sizes) { return filled("zeros", dtype, sizes, false); }
Array ones(Dtype dtype, const Sizes& sizes) { return filled("ones", dtype, sizes, true); }

Array full(const Sizes& sizes, const Operand& value) {
  return broadcast_to_shape("full", number_of("full", value), sizes.shape("full"), value.where());
}

Array full(const Sizes& sizes, const Operand& value, Dtype dtype) {
  return full(dtype, sizes, value);
}

Array full(Dtype dtype, const Sizes& sizes, const Operand& value) {
  const Array number = number_of("full", value, dtype);
  return broadcast_to_shape("full", number, sizes.shape("full"), value.where());
}

Array zeros_like(const Operand& x, std::optional<Dtype> dtype) {
  return filled_like("zeros_like", x, false, dtype);
}

Array ones_like(const Operand& x, std::optional<Dtype> dtype) {
  return filled_like("ones_like", x, true, dtype);
}

Array full_like(const Operand& x, const Operand& value, std::optional<Dtype> dtype) {
  return filled_like("full_like", x, value, dtype);
}

Array arange(const Operand& stop) {
  value_of("arange", stop);
  return arange(stop, dtype_made_of(stop.number()));
}

Array arange(const Operand& stop, Dtype dtype) { return arange(0, stop, 1, dtype); }

Array arange(const Operand& start, const Operand& stop, const Operand& step) {
  value_of("arange", start), value_of("arange", stop), value_of("arange", step);
  Dtype dtype = dtype_made_of(start.number());
  for (Dtype other : {dtype_made_of(stop.number()), dtype_made_of(step.number())}) {
    dtype = promoted(dtype, other).value_or(is_float(other) ? other : dtype);
  }
  return arange(start, stop, step, dtype);
}

Array arange(const Operand& start, const Operand& stop, Dtype dtype) {
  return arange(start, stop, 1, dtype);
}

Array arange(const Operand& start, const Operand& stop, const Operand& step, Dtype dtype) {
  if (dtype == bool_) {
    fail("arange: bool cannot count; make it of i32, and compare or convert", stop.where());
  }
  const double from = value_of("arange", start), to = value_of("arange", stop);
  const double by = value_of("arange", step);
  const auto exact = exact_count(start.number(), stop.number(), step.number());
  const double count = exact && by != 0 ? static_cast<double>(*exact) : std::ceil((to - from) / by);
  if (by == 0 || std::isnan(count) || count > static_cast<double>(Shape::max_size)) {
    fail("arange: " + describe(start) + ", " + describe(stop) + " in steps of " + describe(step) +
             " is no finite sequence; the step has to lead there",
         stop.where());
  }
  SourceLocation at = stop.where();
  const auto elements = static_cast<std::int64_t>(std::max(count, 0.0));
  if (exact && is_integer(dtype) && elements > 0) {
    // Refused where the dtype does not hold them.
    const auto last = exact_integer(start.number()) + (elements - 1) * exact_integer(step.number());
    number_of("arange", start, dtype);
    number_as("arange",
              last < 0 ? Number(static_cast<std::int64_t>(last))
                       : Number(static_cast<std::uint64_t>(last)),
              dtype, at, wider_dtype);
  }
  // Integers wrap around: a step that the dtype does not hold leads to elements that it does.
  const auto number = [&](const Operand& given) {
    const bool wraps = exact && is_integer(dtype);
    return Term(wraps ? wrapped(given.number(), dtype, at) : number_of("arange", given, dtype), at);
  };
  const Shape shape({elements});
  Term position = {iota(dtype, shape, 0, at), at};
  if (by != 1) position = position * number(step);
  if (from != 0) position = position + number(start);
  return position;
}

Array linspace(double start, double stop, std::int64_t count, Dtype dtype, bool endpoint,
               std::source_location where_) {
  const SourceLocation at(where_);
  if (!is_float(dtype)) {
    fail("linspace: gives floats, not " + std::string(name(dtype)) + "; use arange", at);
  }
  if (count < 0) fail("linspace: a count of " + std::to_string(count) + " is negative", at);
  for (double end : {start, stop}) {
    if (!visit_dtype(dtype, [&]<class T>() { return in_range<T>(end).has_value(); })) {
      fail("linspace: " + to_string(Number(end)) + " is beyond " + std::string(name(dtype)) + "; " +
               wider_dtype,
           at);
    }
  }
  const std::int64_t gaps = endpoint ? count - 1 : count;
  // In f64, so that the last of many f32 steps does not drift; the kernel rounds once.
  Term position = {iota(f64, Shape({count}), 0, at), at};
  double step = gaps > 0 ? (stop - start) / static_cast<double>(gaps) : 0;
  Term value = position * step + start;
  if (endpoint && count > 1) value = where(position == gaps, stop, value);
  return astype(value, dtype);
}

Array eye(std::int64_t rows, std::int64_t columns, std::int64_t diagonal, Dtype dtype,
          std::source_location where) {
  Shape shape = Sizes({rows, columns == -1 ? rows : columns}, where).shape("eye");
  return astype(Term(triangle(Comparison::eq, shape, diagonal, where), where), dtype);
}

Array eye(std::int64_t rows, Dtype dtype, std::source_location where) {
  return eye(rows, rows, 0, dtype, where);
}

Array tril(const Operand& x, std::int64_t diagonal) {
  return keep_triangle("tril", Comparison::le, x, diagonal);
}

Array triu(const Operand& x, std::int64_t diagonal) {
  return keep_triangle("triu", Comparison::ge, x, diagonal);
}

}  // namespace anabranch
