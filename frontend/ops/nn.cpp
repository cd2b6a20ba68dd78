#include "anabranch/nn.h"

#include <numbers>

#include "anabranch/manipulate.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

// x less its greatest element along the axis, so that no exponential overflows. An axis without
// elements stays as it is.
Term below_top(const char* function, const Term& x, Axis axis) {
  const Shape& shape = x.array().expression()->type.shape;
  std::int64_t along = axis_of(function, axis, shape, x.where());
  if (shape[static_cast<int>(along)] == 0) return x;
  return x - Term(max(x, axis, keepdims), x.where());
}

}  // namespace

Array relu(const Operand& x) {
  return maximum(Term(as_array("relu", x, Takes::numbers), x.where()), 0);
}

Array sigmoid(const Operand& x) {
  return record(Op::logistic, {term("sigmoid", x).array()}, x.where());
}

Array silu(const Operand& x) {
  Term y = term("silu", x);
  return y * Term(sigmoid(y), x.where());
}

Array softplus(const Operand& x) {
  Term y = term("softplus", x);
  return maximum(y, 0) + log1p(exp(-abs(y)));
}

Array gelu(const Operand& x, Gelu form) {
  Term y = term("gelu", x);
  if (form == Gelu::exact) return 0.5 * y * (1 + erf(y * (1 / std::numbers::sqrt2)));
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return 0.5 * y * (1 + tanh(scale * (y + 0.044715 * (y * y * y))));
}

Array softmax(const Operand& x, Axis axis) {
  const Term y = term("softmax", x);
  const Term e = exp(below_top("softmax", widened(y), axis));
  return rounded_as(y, e / sum_in_own_dtype(e, axis, keepdims));
}

Array log_softmax(const Operand& x, Axis axis) {
  const Term y = term("log_softmax", x);
  const Term z = below_top("log_softmax", widened(y), axis);
  return rounded_as(y, z - log(sum_in_own_dtype(exp(z), axis, keepdims)));
}

Array one_hot(const Operand& indices, std::int64_t count, Dtype dtype) {
  const SourceLocation at = indices.where();
  const Array array = as_array("one_hot", indices, Takes::integers);
  if (count < 0) fail("one_hot: a count of " + std::to_string(count) + " is negative", at);
  const Term position = {record(Op::iota, {}, at, AxisAttributes{0}, Type{i64, Shape({count})}),
                         at};
  const Term wanted = {expand_dims({astype({array, at}, i64), at}, -1), at};
  return astype(wanted == position, dtype);
}

Array layer_norm(const Operand& x, const Operand& scale, const Operand& shift, const Axes& axes,
                 double epsilon) {
  const SourceLocation at = x.where();
  const std::vector<Array> all = promote("layer_norm", {&x, &scale, &shift}, Takes::floats);
  const Term given = {all[0], at}, y = widened(given);
  const Term away = y - Term(mean(y, axes, keepdims), at);
  const Term spread = {mean(square(away), axes, keepdims), at};
  const Term normal = away * rsqrt(spread + epsilon);
  return rounded_as(given, normal * widened({all[1], at}) + widened({all[2], at}));
}

}  // namespace anabranch
