// The operators of numbers, for what formulas on values of a graph are written in: `Quantity` and
// `Part`.
#pragma once

#include <concepts>

#include "ir/attributes.h"
#include "ir/graph/graph.h"
#include "ir/op.h"

namespace anabranch {

/// A value of a graph that is being built: its ops give others, `number` one of its own type.
template <class X>
concept Arithmetic = requires(X x) {
  { x.value } -> std::same_as<Value&>;
  { x.op(Op::negate) } -> std::same_as<X>;
  { x.op(Op::add, x) } -> std::same_as<X>;
  { x.compare(Comparison::eq, x) } -> std::same_as<X>;
  { x.number(1.0) } -> std::same_as<X>;
};

// clang-format off
template <Arithmetic X> X operator+(X x, X y) { return x.op(Op::add, y); }
template <Arithmetic X> X operator-(X x, X y) { return x.op(Op::subtract, y); }
template <Arithmetic X> X operator*(X x, X y) { return x.op(Op::multiply, y); }
template <Arithmetic X> X operator/(X x, X y) { return x.op(Op::divide, y); }
template <Arithmetic X> X operator+(X x, double y) { return x + x.number(y); }
template <Arithmetic X> X operator-(X x, double y) { return x - x.number(y); }
template <Arithmetic X> X operator*(X x, double y) { return x * x.number(y); }
template <Arithmetic X> X operator/(X x, double y) { return x / x.number(y); }
template <Arithmetic X> X operator+(double x, X y) { return y.number(x) + y; }
template <Arithmetic X> X operator-(double x, X y) { return y.number(x) - y; }
template <Arithmetic X> X operator*(double x, X y) { return y.number(x) * y; }
template <Arithmetic X> X operator/(double x, X y) { return y.number(x) / y; }
template <Arithmetic X> X operator-(X x) { return x.op(Op::negate); }
template <Arithmetic X> X operator&(X x, X y) { return x.op(Op::and_, y); }
template <Arithmetic X> X operator|(X x, X y) { return x.op(Op::or_, y); }
template <Arithmetic X> X operator!(X x) { return x.op(Op::not_); }
template <Arithmetic X> X operator==(X x, X y) { return x.compare(Comparison::eq, y); }
template <Arithmetic X> X operator!=(X x, X y) { return x.compare(Comparison::ne, y); }
template <Arithmetic X> X operator<(X x, X y) { return x.compare(Comparison::lt, y); }
template <Arithmetic X> X operator<=(X x, X y) { return x.compare(Comparison::le, y); }
template <Arithmetic X> X operator>(X x, X y) { return x.compare(Comparison::gt, y); }
template <Arithmetic X> X operator>=(X x, X y) { return x.compare(Comparison::ge, y); }
template <Arithmetic X> X operator==(X x, double y) { return x == x.number(y); }
template <Arithmetic X> X operator<(X x, double y) { return x < x.number(y); }
template <Arithmetic X> X operator<=(X x, double y) { return x <= x.number(y); }
template <Arithmetic X> X operator>(X x, double y) { return x > x.number(y); }
template <Arithmetic X> X operator>=(X x, double y) { return x >= x.number(y); }
// clang-format on

template <Arithmetic X>
X select(X condition, X yes, X no) {
  return {yes.graph, yes.graph->add(Op::select, {condition.value, yes.value, no.value})};
}

}  // namespace anabranch
