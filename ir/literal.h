// An array of known values on the host: the payload of a constant, the interpreter's currency.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "anabranch/detail/element_bits.h"
#include "anabranch/error.h"
#include "anabranch/type.h"

namespace anabranch {

/// A dense row-major array whose bytes are shared and never change once built.
/// Equality compares types and bits, so NaN equals the same NaN and 0 differs from -0.
class Literal {
 public:
  /// A rank-0 false.
  Literal();
  /// Takes over `bytes`; throws InternalError unless there are exactly type.bytes() of them.
  Literal(Type type, std::vector<std::byte> bytes);
  /// Of type.bytes() bytes that are already there, in place; they never change, and `bytes` keeps
  /// them.
  static Literal sharing(Type type, std::shared_ptr<const std::byte> bytes) {
    return Literal(std::move(bytes), std::move(type));
  }

  /// Row-major `values` of the given shape; throws Error if the counts differ.
  template <class T>
  static Literal of(std::span<const T> values, Shape shape);
  template <class T>
  static Literal scalar(T value) {
    return of(std::span<const T>(&value, 1), Shape{});
  }
  static Literal scalar(Dtype dtype, ElementBits bits);
  /// `value` converted to `dtype` as the op `convert` does, rank 0.
  static Literal scalar(Dtype dtype, double value);

  const Type& type() const { return type_; }
  std::span<const std::byte> bytes() const { return {bytes_.get(), type_.bytes()}; }

  /// The elements as their C++ type; throws InternalError unless `T` stores the dtype.
  template <class T>
  std::span<const T> values() const;

  /// Element 0 as a double or a std::int64_t, converted as the op `convert` does.
  template <class To>
  To first_as() const;

  /// The bits of element `index`, zero-extended.
  ElementBits bits(std::int64_t index) const;

  /// Whether every element has the same bits (true for a single element, false for none).
  bool is_splat() const;

  bool operator==(const Literal& other) const;
  std::uint64_t hash() const;

 private:
  Literal(std::shared_ptr<const std::byte> bytes, Type type)
      : type_(std::move(type)), bytes_(std::move(bytes)) {}

  Type type_;
  std::shared_ptr<const std::byte> bytes_;
};

template <class T>
Literal Literal::of(std::span<const T> values, Shape shape) {
  if (static_cast<std::int64_t>(values.size()) != shape.size()) {
    throw Error("array of shape " + to_string(shape) + " needs " + std::to_string(shape.size()) +
                " values, and " + std::to_string(values.size()) + " were given");
  }
  std::vector<std::byte> bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Literal(Type{dtype_of<T>, std::move(shape)}, std::move(bytes));
}

template <class T>
std::span<const T> Literal::values() const {
  if (type_.dtype != dtype_of<T>) {
    throw InternalError("literal", "read of " + to_string(type_) + " as another dtype");
  }
  return {reinterpret_cast<const T*>(bytes_.get()), static_cast<std::size_t>(type_.size())};
}

}  // namespace anabranch
