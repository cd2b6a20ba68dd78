// The interpreter's rules, one function per row of ops.def (a missing one fails the link), and the
// few loops they are written with.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/error.h"
#include "ir/graph/graph.h"
#include "ir/literal.h"
#include "ir/scalar.h"

namespace anabranch {

using Operands = std::span<const Literal>;
using Results = std::vector<Literal>;

/// rules::add(node, operands) gives the results of an `add` node, and so for every op.
namespace rules {
#define OP(name, arity, kind, attributes, flags, meaning) \
  Results name(const Node& node, Operands operands);
#include "ir/ops.def"
#undef OP
}  // namespace rules

/// The 128 random bits of one counter under a key (Salmon, Moraes, Dror and Shaw, "Parallel random
/// numbers: as easy as 1, 2, 3", SC 2011).
std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key);

/// The maximum and minimum of ops.def: NaN if either is NaN, -0 below 0. `T` is a float or an
/// integer.
template <class T>
T maximum_of(T x, T y) {
  if constexpr (std::floating_point<T>) {
    if (x != x || y != y) return std::numeric_limits<T>::quiet_NaN();
    if (x == y) return std::signbit(x) ? y : x;
  }
  return x < y ? y : x;
}
template <class T>
T minimum_of(T x, T y) {
  if constexpr (std::floating_point<T>) {
    if (x != x || y != y) return std::numeric_limits<T>::quiet_NaN();
    if (x == y) return std::signbit(x) ? x : y;
  }
  return y < x ? y : x;
}

/// The sum and product of ops.def: integers wrap, a bool's are "or" and "and".
template <class T>
T sum_of(T x, T y) {
  if constexpr (std::same_as<T, bool>) {
    return x || y;
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  } else {
    return x + y;
  }
}
template <class T>
T product_of(T x, T y) {
  if constexpr (std::same_as<T, bool>) {
    return x && y;
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
  } else if constexpr (is_complex_storage<T>) {
    // Without the recovery of infinities that C++ adds.
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  } else {
    return x * y;
  }
}

/// What one op computes in: f32 for the narrow floats, else the type itself.
template <class T>
using Computed = std::conditional_t<is_narrow_float<T>, float, T>;

/// What stands for exact arithmetic: sums and libm calls are done in it and rounded once.
template <class T>
using Exact = std::conditional_t<
    std::same_as<T, double>, long double,
    std::conditional_t<
        is_float_storage<T>, double,
        std::conditional_t<std::same_as<T, std::complex<float>>, std::complex<double>,
                           std::conditional_t<std::same_as<T, std::complex<double>>,
                                              std::complex<long double>, T>>>>;

/// A sum that keeps what its roundings lose (Neumaier, ZAMM 54, 1974): those of a million f64 in
/// long double would add up to more than a sum in blocks loses.
template <class Float>
struct CompensatedSum {
  Float total = 0, lost = 0;

  CompensatedSum operator+(Float x) const {
    const Float next = total + x;
    if (!std::isfinite(next)) return {next, 0};
    const bool is_larger = std::fabs(total) >= std::fabs(x);
    return {next, lost + (is_larger ? (total - next) + x : (x - next) + total)};
  }
  // Which keeps the sign of -0.
  explicit operator Float() const { return lost == 0 ? total : total + lost; }
};

/// A literal in the making.
template <class T>
class Elements {
 public:
  explicit Elements(Type type) : type_(std::move(type)), bytes_(type_.bytes()) {}

  std::int64_t size() const { return type_.size(); }
  T& operator[](std::int64_t index) { return reinterpret_cast<T*>(bytes_.data())[index]; }
  Results finish() && { return {Literal(std::move(type_), std::move(bytes_))}; }

 private:
  Type type_;
  std::vector<std::byte> bytes_;
};

/// An elementwise op that takes or gives complex numbers (ir/interpret/complex.cpp).
Results interpret_complex(const Node& node, Operands operands);
inline bool is_of_complex(const Node& node, Operands operands) {
  if (!is_elementwise(node.op) || node.op == Op::select) return false;
  return is_complex(node.types[0].dtype) || is_complex(operands.back().type().dtype);
}

/// Where `rules` meet a dtype that `infer` should have refused.
[[noreturn]] void refuse_dtype(const Node& node, Dtype dtype);

/// Each element of the result is `compute` of the operands' elements at the same place (a rank-0
/// operand has one place), as numbers of the type the op computes in. `compute` says by its
/// constraints which types it takes.
template <class Compute>
Results map_elements(const Node& node, Operands operands, Compute compute) {
  return visit_dtype(operands[0].type().dtype, [&]<class T>() -> Results {
    using C = Computed<T>;
    auto apply = [&]<std::size_t... k>(std::index_sequence<k...>)->Results {
      if constexpr (std::is_invocable_v<Compute, decltype((void)k, C{})...>) {
        using Returned = std::invoke_result_t<Compute, decltype((void)k, C{})...>;
        using R = std::conditional_t<std::same_as<Returned, C>, T, Returned>;
        const std::array<std::span<const T>, sizeof...(k)> from = {
            operands[k].template values<T>()...};
        Elements<R> result(node.types[0]);
        for (std::int64_t i = 0; i < result.size(); ++i) {
          auto at = static_cast<std::size_t>(i);
          result[i] = convert_scalar<R>(compute(static_cast<C>(from[k][at])...));
        }
        return std::move(result).finish();
      } else {
        refuse_dtype(node, operands[0].type().dtype);
      }
    };
    if (operands.size() == 1) return apply(std::make_index_sequence<1>());
    return apply(std::make_index_sequence<2>());
  });
}

/// Calls `visit(coordinates)` for each place of `shape` in row-major order.
template <class Visit>
void for_each_place(const Shape& shape, Visit visit) {
  std::vector<std::int64_t> place(static_cast<std::size_t>(shape.rank()), 0);
  for (std::int64_t i = 0; i < shape.size(); ++i) {
    visit(std::as_const(place));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      auto a = static_cast<std::size_t>(axis);
      if (++place[a] < shape[axis]) break;
      place[a] = 0;
    }
  }
}

/// `list[axes[i]]`, for each i.
inline std::vector<std::int64_t> pick(std::span<const std::int64_t> list,
                                      std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> picked;
  for (std::int64_t axis : axes) picked.push_back(list[static_cast<std::size_t>(axis)]);
  return picked;
}

/// The row-major position of `place`.
inline std::int64_t position_of(std::span<const std::int64_t> place,
                                std::span<const std::int64_t> strides) {
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < place.size(); ++axis) position += place[axis] * strides[axis];
  return position;
}

}  // namespace anabranch
