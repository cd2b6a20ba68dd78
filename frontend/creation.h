// Arrays from values, and arrays that are computed from nothing.
//
// What is computed (zeros, arange, linspace, eye ...) is recorded like any other operation, so
// inside a larger computation it takes no memory.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "frontend/array.h"
#include "frontend/operand.h"
#include "frontend/sizes.h"
#include "runtime/device.h"

namespace anabranch {

/// A copy of `bytes` as an array; Error unless there are as many as the type takes.
Array array_of_bytes(Dtype dtype, const Sizes& sizes, std::span<const std::byte> bytes,
                     std::size_t count);

/// A copy of row-major `values` under a shape; Error unless the counts agree.
template <NumberType T>
Array array(const std::vector<T>& values, const Sizes& sizes) {
  if constexpr (std::is_same_v<T, bool>) {  // whose vector holds bits
    std::vector<std::uint8_t> bytes(values.begin(), values.end());
    return array_of_bytes(bool_, sizes, std::as_bytes(std::span(bytes)), bytes.size());
  } else {
    return array_of_bytes(dtype_of<T>, sizes, std::as_bytes(std::span(values)), values.size());
  }
}

/// A copy of `values` along one axis.
template <NumberType T>
Array array(const std::vector<T>& values,
            std::source_location where = std::source_location::current()) {
  return array(values, Sizes({static_cast<std::int64_t>(values.size())}, where));
}

template <NumberType T>
Array array(std::span<const T> values, const Sizes& sizes) {
  return array_of_bytes(dtype_of<T>, sizes, std::as_bytes(values), values.size());
}

template <NumberType T>
Array array(std::initializer_list<T> values, const Sizes& sizes) {
  return array(std::vector<T>(values), sizes);
}

template <NumberType T>
Array array(std::initializer_list<T> values,
            std::source_location where = std::source_location::current()) {
  return array(std::vector<T>(values), where);
}

/// One number, rank 0, of the dtype of its C++ type.
Array scalar(const Operand& number);
/// One number, rank 0, of the given dtype.
Array scalar(const Operand& number, Dtype dtype);

/// An array that reads somebody else's memory in place; `release` is called once nothing reads it
/// any more. The bytes must not change until then.
Array borrow_bytes(Dtype dtype, const Sizes& sizes, const void* data,
                   std::function<void()> release);

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

Array zeros(Dtype dtype, const Sizes& sizes);
Array ones(Dtype dtype, const Sizes& sizes);
/// Every element `value`, of the dtype of its C++ type.
Array full(const Sizes& sizes, const Operand& value);
/// Every element `value`.
Array full(Dtype dtype, const Sizes& sizes, const Operand& value);
Array zeros_like(const Operand& x);
Array ones_like(const Operand& x);
Array full_like(const Operand& x, const Operand& value);

/// 0, 1, ... below `stop`, of the dtype of its C++ type.
Array arange(const Operand& stop);
Array arange(const Operand& stop, Dtype dtype);
/// start, start + step, ... before `stop`.
Array arange(const Operand& start, const Operand& stop, const Operand& step = 1);
Array arange(const Operand& start, const Operand& stop, const Operand& step, Dtype dtype);

/// `count` floats evenly from `start` to `stop`, both included; without the endpoint, `stop` is
/// left out.
Array linspace(double start, double stop, std::int64_t count, Dtype dtype = f32,
               bool endpoint = true, std::source_location where = std::source_location::current());

/// Ones where column - row = `diagonal`, zeros elsewhere; square unless `columns` is given.
Array eye(std::int64_t rows, std::int64_t columns = -1, std::int64_t diagonal = 0,
          Dtype dtype = f32, std::source_location where = std::source_location::current());
/// x where column - row <= `diagonal`, else 0, of the last two axes.
Array tril(const Operand& x, std::int64_t diagonal = 0);
/// x where column - row >= `diagonal`, else 0, of the last two axes.
Array triu(const Operand& x, std::int64_t diagonal = 0);

}  // namespace anabranch
