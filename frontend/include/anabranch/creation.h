// Arrays from values, and arrays that are computed from nothing.
//
// What is computed (zeros, arange, linspace, eye ...) is recorded like any other operation, so
// inside a larger computation it takes no memory.
//
// Doubles that are written down (full({3}, 1.0), scalar(0.5), array({1.0, 2.0}), arange(0, 1, 0.1))
// make arrays of the default float, f32, as zeros does, since they would otherwise turn what they
// meet into f64; give the dtype, ab::f64, for more. Memory of doubles (a vector, a span, a pointer)
// stays f64, and other C++ numbers make arrays of their own type. A number beside an array, x *
// 0.5, or passed to a jitted function takes the array's dtype instead.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/detail/any_function.h"
#include "anabranch/devices.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// The dtype of what is made from no dtype, or from a C++ double.
inline constexpr Dtype default_float = f32;

/// A copy of `bytes` as an array; Error unless there are as many as the type takes.
Array array_of_bytes(Dtype dtype, const Sizes& sizes, std::span<const std::byte> bytes,
                     std::size_t count);

[[noreturn]] void refuse_ragged(std::size_t columns, std::size_t other, SourceLocation where);

/// A vector, span, std::array or C array of numbers.
template <class R>
concept HostValues = requires(const R& values) {
  std::span(std::data(values), std::size(values));
  requires NumberType<std::remove_cvref_t<decltype(*std::data(values))>>;
};

/// A copy of row-major `values` under a shape; Error unless the counts agree.
template <HostValues R>
Array array(const R& values, const Sizes& sizes) {
  using T = std::remove_cvref_t<decltype(*std::data(values))>;
  const std::span<const T> span(std::data(values), std::size(values));
  return array_of_bytes(dtype_of<T>, sizes, std::as_bytes(span), span.size());
}

/// The same of a vector of bools, which holds bits.
Array array(const std::vector<bool>& values, const Sizes& sizes);

namespace detail {

/// Throws Error where a finite one has none.
std::vector<float> default_floats(std::span<const double> values, SourceLocation where);

/// `values` as they are; doubles as default floats.
template <NumberType T>
auto written(std::span<const T> values, SourceLocation where) {
  static_assert(dtype_of<float> == default_float);
  if constexpr (std::same_as<T, double>)
    return default_floats(values, where);
  else
    return values;
}

}  // namespace detail

template <NumberType T>
Array array(std::initializer_list<T> values, const Sizes& sizes) {
  const std::span<const T> given(values.begin(), values.size());
  return array(detail::written(given, sizes.where()), sizes);
}

/// A copy of `values` along one axis.
template <class R>
requires(HostValues<R> || std::same_as<R, std::vector<bool>>) Array
    array(const R& values, std::source_location where = std::source_location::current()) {
  return array(values, Sizes(std::size(values), where));
}

template <NumberType T>
Array array(std::initializer_list<T> values,
            std::source_location where = std::source_location::current()) {
  return array(values, Sizes(values.size(), where));
}

/// A matrix of rows: array({{1, 2}, {3, 4}}). Error unless the rows are of one length.
template <NumberType T>
Array array(std::initializer_list<std::initializer_list<T>> rows,
            std::source_location where = std::source_location::current()) {
  const std::size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  const auto values = std::make_unique<T[]>(rows.size() * columns);  // bools, too, are elements
  T* next = values.get();
  for (const auto& row : rows) {
    if (row.size() != columns) refuse_ragged(columns, row.size(), where);
    next = std::copy(row.begin(), row.end(), next);
  }
  return array(detail::written(std::span<const T>(values.get(), next), where),
               Sizes({rows.size(), columns}, where));
}
template <NumberType T>
Array array(std::initializer_list<std::initializer_list<T>> rows, Dtype dtype,
            std::source_location where = std::source_location::current()) {
  return array(rows, where).astype(dtype, where);
}

/// The values converted to `dtype`, as astype converts.
template <HostValues R>
Array array(const R& values, Dtype dtype,
            std::source_location where = std::source_location::current()) {
  return array(values, where).astype(dtype, where);
}
template <NumberType T>
Array array(std::initializer_list<T> values, Dtype dtype,
            std::source_location where = std::source_location::current()) {
  return array(std::span<const T>(values.begin(), values.size()), dtype, where);
}
template <NumberType T>
Array array(std::initializer_list<T> values, const Sizes& sizes, Dtype dtype,
            std::source_location where = std::source_location::current()) {
  return array(std::span<const T>(values.begin(), values.size()), sizes).astype(dtype, where);
}

namespace detail {

/// A number, or a row of numbers, of any types.
struct MixedValues {
  template <NumberType... T>
  MixedValues(T...);
};

}  // namespace detail

/// What the others leave, like array({1.0f, 2}): a sentence instead of a list of all of them.
template <class... Never>
Array array(std::initializer_list<detail::MixedValues>, const Sizes& = {0}, Dtype = default_float) {
  static_assert(sizeof...(Never) != 0,
                "the values of an array are of several C++ types, or there are none: write them of "
                "one type, {1.0f, 2.0f} instead of {1.0f, 2}; zeros({0}) has no elements");
  return {};
}
template <class... Never>
Array array(std::initializer_list<detail::MixedValues> values, Dtype dtype) {
  return array<Never...>(values, {0}, dtype);
}

/// One number, rank 0, of the dtype of its C++ type; a double makes a default float. Throws Error
/// for a finite number that this has none for.
Array scalar(const Operand& number);
/// One number, rank 0, of the given dtype.
Array scalar(const Operand& number, Dtype dtype);

/// An array that reads foreign memory in place; `release` is called once nothing reads it
/// any more. The bytes must not change until then.
Array borrow_bytes(Dtype dtype, const Sizes& sizes, const void* data,
                   detail::AnyFunction<void()> release);

/// The same of a typed pointer; `deleter` takes the pointer, or nothing.
template <NumberType T, class Deleter>
Array borrow(const T* data, const Sizes& sizes, Deleter deleter) {
  return borrow_bytes(dtype_of<T>, sizes, data, [data, deleter]() mutable {
    if constexpr (std::is_invocable_v<Deleter&, const T*>)
      deleter(data);
    else if constexpr (std::is_invocable_v<Deleter&, T*>)
      deleter(const_cast<T*>(data));
    else
      deleter();
  });
}

/// Every element 0: zeros({3, 4}), zeros({3, 4}, i32).
Array zeros(const Sizes& sizes, Dtype dtype = default_float);
Array zeros(Dtype dtype, const Sizes& sizes);
/// Every element 1; see `zeros`.
Array ones(const Sizes& sizes, Dtype dtype = default_float);
Array ones(Dtype dtype, const Sizes& sizes);
/// Every element `value`: a scalar array, or a number as `scalar` takes it.
Array full(const Sizes& sizes, const Operand& value);
/// Every element `value`.
Array full(const Sizes& sizes, const Operand& value, Dtype dtype);
Array full(Dtype dtype, const Sizes& sizes, const Operand& value);
/// Zeros of the shape of x, and of its dtype unless one is given.
Array zeros_like(const Operand& x, std::optional<Dtype> dtype = {});
/// Ones of the shape of x; see `zeros_like`.
Array ones_like(const Operand& x, std::optional<Dtype> dtype = {});
/// Every element `value`, in the shape of x; see `zeros_like`.
Array full_like(const Operand& x, const Operand& value, std::optional<Dtype> dtype = {});

/// 0, 1, ... below `stop`, of the dtype of its C++ type; a double makes default floats.
Array arange(const Operand& stop);
Array arange(const Operand& stop, Dtype dtype);
/// start, start + step, ... before `stop`.
Array arange(const Operand& start, const Operand& stop, const Operand& step = 1);
Array arange(const Operand& start, const Operand& stop, Dtype dtype);
Array arange(const Operand& start, const Operand& stop, const Operand& step, Dtype dtype);

/// `count` floats evenly from `start` to `stop`, both included; without the endpoint, `stop` is
/// left out.
Array linspace(double start, double stop, std::int64_t count, Dtype dtype = default_float,
               bool endpoint = true, std::source_location where = std::source_location::current());

/// Ones where column - row = `diagonal`, zeros elsewhere; square where `columns` is -1.
Array eye(std::int64_t rows, std::int64_t columns = -1, std::int64_t diagonal = 0,
          Dtype dtype = default_float,
          std::source_location where = std::source_location::current());
Array eye(std::int64_t rows, Dtype dtype,
          std::source_location where = std::source_location::current());
/// x where column - row <= `diagonal`, else 0, of the last two axes.
Array tril(const Operand& x, std::int64_t diagonal = 0);
/// x where column - row >= `diagonal`, else 0, of the last two axes.
Array triu(const Operand& x, std::int64_t diagonal = 0);

}  // namespace anabranch
