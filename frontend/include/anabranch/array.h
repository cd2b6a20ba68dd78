// Array: an immutable n-dimensional value that may still be on its way.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "anabranch/detail/any_function.h"
#include "anabranch/devices.h"
#include "anabranch/dtype.h"
#include "anabranch/export.h"
#include "anabranch/failure.h"
#include "anabranch/future.h"
#include "anabranch/type.h"

namespace anabranch {
struct Expression;  // what an Array stands for, not exported: frontend/array/expression.h
}

namespace ANABRANCH_API anabranch {

/// A position along an axis, and the line where the user wrote it.
struct Position {
  std::int64_t value;
  std::source_location where;

  template <std::integral T>
  requires(!std::same_as<T, bool>)
      Position(T position, std::source_location written = std::source_location::current())
      : value(static_cast<std::int64_t>(position)), where(written) {}
};

class Subscript;  // what picks positions of an axis: anabranch/indexing.h

/// A small handle, copied freely and usable from any thread. It stands for memory of a device, for
/// an operation recorded but not yet run, or for a value of a function that is being traced. One
/// that was default-made stands for nothing, and every use of it throws Error.
///
/// The value never changes: x[0] is another array, so `x[0] = y` does not compile. To update x,
/// assign to it an array that differs:
///
///     x = ab::at(x, 0).set(y);                         // x[0] is y
///     x = ab::dynamic_update_slice(x, block, {i, j});  // the block that begins at [i, j]
///     x = ab::where(x < 0, 0, x);                      // wherever a condition holds
class Array {
 public:
  Array() = default;
  explicit Array(std::shared_ptr<Expression> expression) : expression_(std::move(expression)) {}
  Array(const Array&) = default;
  Array(Array&&) noexcept = default;
  ~Array() = default;
  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & noexcept = default;
  // x[0] = y changes nothing: write x = ab::at(x, 0).set(y), see above.
  Array& operator=(const Array&) && = delete;

  const Type& type(std::source_location where = std::source_location::current()) const;
  const Shape& shape(std::source_location where = std::source_location::current()) const;
  Dtype dtype(std::source_location where = std::source_location::current()) const;
  /// The number of elements.
  std::int64_t size(std::source_location where = std::source_location::current()) const;
  /// The number of axes.
  int rank(std::source_location where = std::source_location::current()) const;
  /// Where it lives, or will live once it has run.
  Device device(std::source_location where = std::source_location::current()) const;

  /// Runs what is recorded and blocks until the value is there; throws the error that stopped it.
  void wait(std::source_location where = std::source_location::current()) const;
  /// Whether reading would not wait. Never waits, and starts nothing.
  bool ready() const;

  /// The one element; waits. `T` must store the dtype: nothing is converted. Throws Error
  /// otherwise.
  template <class T>
  T item(std::source_location where = std::source_location::current()) const {
    check_read("item", dtype_of<T>, 1, where);
    T value;
    read(
        "item",
        [&value](std::span<const std::byte> all) {
          value = *reinterpret_cast<const T*>(all.data());
        },
        where);
    return value;
  }

  /// All elements in row-major order; waits. `T` must store the dtype.
  template <class T>
  std::vector<T> to_vector(std::source_location where = std::source_location::current()) const {
    check_read("to_vector", dtype_of<T>, any_count, where);
    std::vector<T> values;
    read("to_vector", appender(values, size(where)), where);
    return values;
  }

  /// Copies all elements in row-major order; waits. The span has exactly size() elements.
  template <class T>
  void copy_to(std::span<T> to,
               std::source_location where = std::source_location::current()) const {
    check_read("copy_to", dtype_of<T>, static_cast<std::int64_t>(to.size()), where);
    copy_bytes(std::as_writable_bytes(to), where);
  }

  /// The elements themselves in row-major order, of an array on a CPU; waits. Nothing is copied:
  /// the span is valid as long as this Array, or another one of the same value, lives and is not
  /// donated. `T` must store the dtype. Throws Error for another dtype or device.
  template <class T>
  std::span<const T> data(std::source_location where = std::source_location::current()) const& {
    check_read("data", dtype_of<T>, any_count, where);
    const std::span<const std::byte> bytes = bytes_in_place("data", where);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  // The elements of a temporary are gone with it: name it first, auto y = f(x); y.data<float>().
  template <class T>
  std::span<const T> data(std::source_location where = std::source_location::current()) const&& =
      delete;

  /// All elements in row-major order, copied by a core of the array's device once they are there,
  /// while the caller and other work continue. `get` of the result throws the error that stopped
  /// the array. `T` must store the dtype.
  template <class T>
  Future<std::vector<T>> to_vector_async(
      std::source_location where = std::source_location::current()) const {
    check_read("to_vector_async", dtype_of<T>, any_count, where);
    struct Reading {
      std::vector<T> values;
      Promise<std::vector<T>> promise;
    };
    auto reading = std::make_shared<Reading>();
    Future<std::vector<T>> future = reading->promise.get_future();
    read_async(
        "to_vector_async",
        [reading, append = appender(reading->values, size(where))](
            std::span<const std::byte> piece) { append(piece); },
        [reading](Failure failure) {
          if (failure) return reading->promise.set_failure(std::move(failure));
          reading->promise.set_value(std::move(reading->values));
        },
        where);
    return future;
  }

  /// The same value on another device: recorded as an operation, inside a traced function too, and
  /// copied on a stream of its own; the array itself where it is there already. Throws Error where
  /// there is no such device.
  Array to(const Device& device,
           std::source_location where = std::source_location::current()) const;
  /// Each element converted: float to integer truncates and saturates, NaN to 0; to bool, "not
  /// zero".
  Array astype(Dtype dtype, std::source_location where = std::source_location::current()) const;

  /// The slab at a position of the first axis, which goes: x[0], x[-1], x[1][2]. Error outside it.
  Array operator[](Position position) const;
  /// A part of it, as NumPy's brackets with several subscripts: x(ab::all, ab::range(1, -1), 3),
  /// x(rows, columns). See anabranch/indexing.h, where `at` makes such a part that can be updated.
  Array operator()(const Subscript& a) const;
  Array operator()(const Subscript& a, const Subscript& b) const;
  Array operator()(const Subscript& a, const Subscript& b, const Subscript& c) const;
  Array operator()(const Subscript& a, const Subscript& b, const Subscript& c,
                   const Subscript& d) const;
  Array operator()(const Subscript& a, const Subscript& b, const Subscript& c, const Subscript& d,
                   const Subscript& e) const;
  Array operator()(const Subscript& a, const Subscript& b, const Subscript& c, const Subscript& d,
                   const Subscript& e, const Subscript& f) const;

  const std::shared_ptr<Expression>& expression() const { return expression_; }

 private:
  static constexpr std::int64_t any_count = -1;

  Expression& get(const char* function, const std::source_location& where) const;
  void check_read(const char* function, Dtype as, std::int64_t count,
                  const std::source_location& where) const;
  // What it gets, in pieces of whole elements, goes to the end of `values`.
  template <class T>
  static auto appender(std::vector<T>& values, std::int64_t size) {
    return [&values, size](std::span<const std::byte> piece) {
      values.reserve(static_cast<std::size_t>(size));
      const auto* first = reinterpret_cast<const T*>(piece.data());
      values.insert(values.end(), first, first + piece.size() / sizeof(T));
    };
  }
  using ReadPiece = detail::AnyFunction<void(std::span<const std::byte> piece)>;
  void read_async(const char* function, ReadPiece read,
                  detail::AnyFunction<void(Failure failure)> done,
                  const std::source_location& where) const;
  std::span<const std::byte> bytes_in_place(const char* function,
                                            const std::source_location& where) const;
  void copy_bytes(std::span<std::byte> to, const std::source_location& where) const;
  void read(const char* function, const ReadPiece& read, const std::source_location& where) const;

  std::shared_ptr<Expression> expression_;
};

/// The elements as NumPy prints them; waits. A traced array prints its type and its place in the
/// trace.
std::string to_string(const Array& array);
std::ostream& operator<<(std::ostream& out, const Array& array);

}  // namespace anabranch
