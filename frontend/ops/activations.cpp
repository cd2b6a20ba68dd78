#include "anabranch/activations.h"

#include <cmath>

#include "anabranch/arrange.h"
#include "anabranch/nn.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

// Where a function takes y itself above 0, the exponential of y could overflow there.
Term not_above_zero(const Term& y) { return where(y > 0, 0, y); }

// Its derivative is 0 at both ends, as in PyTorch, not one half as that of `maximum`.
Term held_between(const Term& x, double low, double high) {
  return where(x <= low, low, where(x >= high, high, x));
}

}  // namespace

Array relu6(const Operand& x) { return held_between(term("relu6", x), 0, 6); }

Array leaky_relu(const Operand& x, double slope) {
  const Term y = term("leaky_relu", x);
  return where(y >= 0, y, slope * y);
}

Array elu(const Operand& x, double alpha) {
  const Term given = term("elu", x), y = widened(given);
  return rounded_as(given, where(y > 0, y, alpha * expm1(not_above_zero(y))));
}

Array celu(const Operand& x, double alpha) {
  const Term given = term("celu", x), y = widened(given);
  if (!(alpha > 0))
    fail("celu: alpha is " + std::to_string(alpha) + "; give more than 0", x.where());
  return rounded_as(given, where(y > 0, y, alpha * expm1(not_above_zero(y) / alpha)));
}

Array selu(const Operand& x) {
  const Term given = term("selu", x), y = widened(given);
  // The fixed point of mean 0 and variance 1, appendix A1 of the paper.
  constexpr double scale = 1.0507009873554804934, alpha = 1.6732632423543772848;
  return rounded_as(given, where(y > 0, scale * y, scale * alpha * expm1(not_above_zero(y))));
}

Array mish(const Operand& x) {
  const Term given = term("mish", x), y = widened(given);
  return rounded_as(given, y * tanh(Term(softplus(y), x.where())));
}

Array soft_sign(const Operand& x) {
  const Term given = term("soft_sign", x), y = widened(given), a = abs(y);
  return rounded_as(given, y / (a + 1));
}

Array log_sigmoid(const Operand& x) {
  const Term given = term("log_sigmoid", x), y = widened(given);
  return rounded_as(given, -Term(softplus(-y), x.where()));
}

Array hard_sigmoid(const Operand& x) {
  const Term given = term("hard_sigmoid", x), y = widened(given);
  return rounded_as(given, held_between(y + 3, 0, 6) / 6);
}

Array hard_swish(const Operand& x) {
  const Term given = term("hard_swish", x), y = widened(given);
  return rounded_as(given, y * (held_between(y + 3, 0, 6) / 6));
}

Array hard_tanh(const Operand& x) { return held_between(term("hard_tanh", x), -1, 1); }

Array sparse_plus(const Operand& x) {
  const Term given = term("sparse_plus", x), y = widened(given);
  const Term between = 0.25 * (y + 1) * (y + 1);
  return rounded_as(given, where(y <= -1, 0, where(y >= 1, y, between)));
}

Array sparse_sigmoid(const Operand& x) {
  const Term given = term("sparse_sigmoid", x), y = widened(given);
  return rounded_as(given, 0.5 * held_between(y + 1, 0, 2));
}

Array squareplus(const Operand& x, double b) {
  const Term given = term("squareplus", x), y = widened(given);
  const Term root = {hypot(y, std::sqrt(b)), x.where()};
  // Below 0 the sum of y and the root would lose its digits.
  return rounded_as(given, where(y < 0, 0.5 * b / (root + magnitude(y)), 0.5 * y + 0.5 * root));
}

Array glu(const Operand& x, Axis axis) {
  const Term y = term("glu", x);
  const Shape& shape = type_of(y.array()).shape;
  const std::int64_t along = axis_of("glu", axis, shape, x.where());
  const std::int64_t size = shape[static_cast<int>(along)];
  if (size % 2 != 0) {
    fail("glu: " + describe(x) + " cannot be halved along axis " + std::to_string(along) +
             ", of size " + std::to_string(size),
         x.where());
  }
  const std::vector<Array> halves = split(y, 2, along);
  const Term gate = {sigmoid({halves[1], x.where()}), x.where()};
  return Term(halves[0], x.where()) * gate;
}

Array standardize(const Operand& x, const Axes& axes, double epsilon) {
  const Term y = term("standardize", x);
  return layer_norm(y, 1, 0, folded_axes("standardize", y, axes), epsilon);
}

}  // namespace anabranch
