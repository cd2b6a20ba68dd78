#include "anabranch/initializers.h"

#include <cmath>
#include <string>

#include "anabranch/creation.h"
#include "anabranch/linalg.h"
#include "anabranch/manipulate.h"
#include "anabranch/random.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/random_key.h"
#include "frontend/ops/term.h"

namespace anabranch::init {
namespace {

struct Fans {
  double in, out;
};

Shape at_least_two(const char* function, const Sizes& sizes) {
  Shape shape = sizes.shape(function);
  if (shape.rank() < 2) {
    fail(std::string(function) + ": the shape is " + to_string(shape) +
             "; give a size for inputs and one for outputs",
         sizes.where());
  }
  return shape;
}

// Throws Error, as `function`, for what no floats can be drawn with.
void demand_draws(const char* function, const Operand& key, Dtype dtype) {
  random::checked_key(function, key);
  random::demand_float(function, dtype, key.where());
}

Fans fans_of(const char* function, const Operand& key, const Sizes& sizes, const FanAxes& axes,
             Dtype dtype) {
  demand_draws(function, key, dtype);
  const Shape shape = at_least_two(function, sizes);
  const std::int64_t in = axis_of(function, axes.in, shape, sizes.where());
  const std::int64_t out = axis_of(function, axes.out, shape, sizes.where());
  if (in == out) {
    fail(std::string(function) + ": axis " + std::to_string(in) +
             " is both the inputs' and the outputs'; give two",
         sizes.where());
  }
  double window = 1;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (axis != in && axis != out) window *= static_cast<double>(shape[static_cast<int>(axis)]);
  }
  const auto fan = [&](std::int64_t axis) {
    return std::max(window * static_cast<double>(shape[static_cast<int>(axis)]), 1.0);
  };
  return {fan(in), fan(out)};
}

Array uniform_of(const Operand& key, const Sizes& sizes, double variance, Dtype dtype) {
  const double bound = std::sqrt(3 * variance);
  return random::uniform(key, sizes, dtype, -bound, bound);
}

// Drawn in the dtype that `dtype` is computed in.
Array scaled(const Term& drawn, double factor, Dtype dtype) {
  return astype(drawn * factor, dtype);
}

Array normal_of(const Operand& key, const Sizes& sizes, double variance, Dtype dtype) {
  const Term drawn = {random::normal(key, sizes, computes_in(dtype)), key.where()};
  return scaled(drawn, std::sqrt(variance), dtype);
}

}  // namespace

Array glorot_uniform(const Operand& key, const Sizes& sizes, const FanAxes& axes, Dtype dtype) {
  const auto [in, out] = fans_of("init::glorot_uniform", key, sizes, axes, dtype);
  return uniform_of(key, sizes, 2 / (in + out), dtype);
}

Array glorot_normal(const Operand& key, const Sizes& sizes, const FanAxes& axes, Dtype dtype) {
  const auto [in, out] = fans_of("init::glorot_normal", key, sizes, axes, dtype);
  return normal_of(key, sizes, 2 / (in + out), dtype);
}

Array he_uniform(const Operand& key, const Sizes& sizes, const FanAxes& axes, Dtype dtype) {
  const Fans fans = fans_of("init::he_uniform", key, sizes, axes, dtype);
  return uniform_of(key, sizes, 2 / fans.in, dtype);
}

Array he_normal(const Operand& key, const Sizes& sizes, const FanAxes& axes, Dtype dtype) {
  const Fans fans = fans_of("init::he_normal", key, sizes, axes, dtype);
  return normal_of(key, sizes, 2 / fans.in, dtype);
}

Array lecun_uniform(const Operand& key, const Sizes& sizes, const FanAxes& axes, Dtype dtype) {
  const Fans fans = fans_of("init::lecun_uniform", key, sizes, axes, dtype);
  return uniform_of(key, sizes, 1 / fans.in, dtype);
}

Array lecun_normal(const Operand& key, const Sizes& sizes, const FanAxes& axes, Dtype dtype) {
  const Fans fans = fans_of("init::lecun_normal", key, sizes, axes, dtype);
  return normal_of(key, sizes, 1 / fans.in, dtype);
}

Array truncated_normal(const Operand& key, const Sizes& sizes, double stddev, Dtype dtype) {
  demand_draws("init::truncated_normal", key, dtype);
  const Sizes whole(sizes.shape("init::truncated_normal"));
  const Term drawn = {random::truncated_normal(key, whole, -2, 2, computes_in(dtype)), key.where()};
  return scaled(drawn, stddev, dtype);
}

Array orthogonal(const Operand& key, const Sizes& sizes, double gain, Dtype dtype) {
  const SourceLocation at = key.where();
  demand_draws("init::orthogonal", key, dtype);
  const Shape shape = at_least_two("init::orthogonal", sizes);
  const std::int64_t columns = shape[shape.rank() - 1];
  const std::int64_t rows = columns == 0 ? 0 : shape.size() / columns;
  const std::int64_t longer = std::max(rows, columns), shorter = std::min(rows, columns);
  const Sizes matrix(std::vector<std::int64_t>{longer, shorter}, at);
  const Array drawn = random::normal(key, matrix, computes_in(dtype));
  const linalg::QrResult factors = linalg::qr({drawn, at});
  // With the signs of r's diagonal, q is as likely as any other orthogonal matrix.
  const Term diagonal = {linalg::diagonal({factors.r, at}), at};
  const Term one = {ones_like(diagonal), at}, signs = where(diagonal < 0, -one, one);
  const Term q = Term(factors.q, at) * signs;
  const Array turned = rows < columns ? matrix_transpose(q) : q.array();
  return scaled({reshape({turned, at}, Sizes(shape)), at}, gain, dtype);
}

}  // namespace anabranch::init
