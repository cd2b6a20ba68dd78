// What formulas on complex numbers are written in: arithmetic on their parts, which are real
// arrays of one shape in the graph that is being rewritten.
#pragma once

#include <initializer_list>

#include "passes/arithmetic.h"
#include "passes/rewrite.h"

namespace anabranch {

/// A real array (or a bool one, of conditions) with the operators of numbers.
struct Part {
  Rewriter* graph = nullptr;
  Value value;

  Dtype dtype() const { return graph->type(value).dtype; }
  /// `x` all over the same shape.
  Part number(double x) const {
    return {graph, graph->splat(Literal::scalar(dtype(), x), Shape(graph->type(value).shape))};
  }
  Part op(Op op) const { return {graph, graph->add(op, {value})}; }
  Part op(Op op, Part y) const { return {graph, graph->add(op, {value, y.value})}; }
  Part compare(Comparison direction, Part y) const {
    return {graph, graph->add(Op::compare, {value, y.value}, CompareAttributes{direction})};
  }
  Part as(Dtype to) const {
    if (dtype() == to) return *this;
    const Type type{to, graph->type(value).shape};
    return {graph, graph->add(Op::convert, {value}, NoAttributes{}, type)};
  }
  Part bits_as(Dtype to) const {
    const Type type{to, graph->type(value).shape};
    return {graph, graph->add(Op::bitcast_convert, {value}, NoAttributes{}, type)};
  }
};

// clang-format off
inline Part abs(Part x) { return x.op(Op::abs); }
inline Part sqrt(Part x) { return x.op(Op::sqrt); }
inline Part exp(Part x) { return x.op(Op::exponential); }
inline Part expm1(Part x) { return x.op(Op::exponential_minus_one); }
inline Part log(Part x) { return x.op(Op::log); }
inline Part log1p(Part x) { return x.op(Op::log_plus_one); }
inline Part sin(Part x) { return x.op(Op::sine); }
inline Part cos(Part x) { return x.op(Op::cosine); }
inline Part tan(Part x) { return x.op(Op::tan); }
inline Part asin(Part x) { return x.op(Op::asin); }
inline Part acos(Part x) { return x.op(Op::acos); }
inline Part sinh(Part x) { return x.op(Op::sinh); }
inline Part cosh(Part x) { return x.op(Op::cosh); }
inline Part atan2(Part y, Part x) { return y.op(Op::atan2, x); }
inline Part max(Part x, Part y) { return x.op(Op::maximum, y); }
inline Part min(Part x, Part y) { return x.op(Op::minimum, y); }
inline Part is_nan(Part x) { return x.compare(Comparison::ne, x); }
// clang-format on

inline Part select(Part condition, double yes, Part no) {
  return select(condition, no.number(yes), no);
}
Part is_infinite(Part x);
Part is_finite(Part x);
/// The magnitude of the first with the sign bit of the second.
Part with_sign_of(Part magnitude, Part sign);
/// The first, its sign turned where the second has its sign bit set.
Part times_sign_of(Part x, Part sign);

/// A complex array taken apart.
struct Parts {
  Part re, im;
};
Parts parts_of(Rewriter& graph, Value complex);
inline Value complex_of(const Parts& parts) {
  return parts.re.graph->add(Op::complex, {parts.re.value, parts.im.value});
}
inline Parts select(Part condition, const Parts& yes, const Parts& no) {
  return {select(condition, yes.re, no.re), select(condition, yes.im, no.im)};
}

}  // namespace anabranch
