#include "frontend/ops_reduce.h"

#include "frontend/expression.h"
#include "frontend/fail.h"
#include "frontend/ops_shape.h"
#include "frontend/promote.h"
#include "frontend/record.h"
#include "frontend/term.h"

namespace anabranch {
namespace {

// What an array's shape is once the folded axes are back with size 1.
Shape kept_shape(const Shape& shape, const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  for (std::int64_t axis : axes) sizes[static_cast<std::size_t>(axis)] = 1;
  return Shape(std::move(sizes));
}

Array reshaped(const Array& array, Shape shape, SourceLocation where) {
  Dtype dtype = array.expression()->type.dtype;
  return record(Op::reshape, {array}, where, NoAttributes{}, Type{dtype, std::move(shape)});
}

Array fold(Op op, const Array& array, std::vector<std::int64_t> axes, bool keep,
           SourceLocation where) {
  if (axes.empty()) return array;
  Shape kept = kept_shape(array.expression()->type.shape, axes);
  Array result = record(op, {array}, where, AxesAttributes{std::move(axes)});
  return keep ? reshaped(result, std::move(kept), where) : result;
}

Array reduce(const char* function, Op op, const Operand& x, const Axes& axes, bool keep,
             Takes takes) {
  Array array = as_array(function, x, takes);
  const Shape& shape = array.expression()->type.shape;
  return fold(op, array, axes.of_rank(function, shape, x.where()), keep, x.where());
}

std::int64_t count_over(const Shape& shape, const std::vector<std::int64_t>& axes) {
  std::int64_t count = 1;
  for (std::int64_t axis : axes) count *= shape[static_cast<int>(axis)];
  return count;
}

// An extreme of nothing has no value.
void refuse_empty(const char* function, const Operand& x, const Shape& shape,
                  const std::vector<std::int64_t>& axes) {
  if (count_over(shape, axes) > 0) return;
  fail(std::string(function) + ": " + describe(x) +
           " has no elements along the folded axes, and no elements have no " + function +
           "; check the size before",
       x.where());
}

Array extreme(const char* function, Op op, const Operand& x, const Axes& axes, bool keep) {
  Array array = as_array(function, x, Takes::numbers);
  const Shape& shape = array.expression()->type.shape;
  std::vector<std::int64_t> folded = axes.of_rank(function, shape, x.where());
  refuse_empty(function, x, shape, folded);
  return fold(op, array, std::move(folded), keep, x.where());
}

Array position(const char* function, Op op, const Operand& x, const Axes& axes, bool keep) {
  Array array = as_array(function, x, Takes::anything);
  Shape shape = array.expression()->type.shape;
  std::vector<std::int64_t> folded = axes.of_rank(function, shape, x.where());
  if (!axes.all() && folded.size() != 1) {
    fail(std::string(function) +
             ": takes one axis, or none for the flattened array, and was given " +
             std::to_string(folded.size()),
         x.where());
  }
  refuse_empty(function, x, shape, folded);
  Shape kept = kept_shape(shape, folded);
  std::int64_t axis = axes.all() ? 0 : folded[0];
  if (axes.all() && shape.rank() != 1) {
    shape = Shape({shape.size()});
    array = reshaped(array, shape, x.where());
  }
  std::vector<std::int64_t> rest(shape.begin(), shape.end());
  rest.erase(rest.begin() + axis);
  Array result = record(op, {array}, x.where(), AxisAttributes{axis}, Type{i64, Shape(rest)});
  return keep ? reshaped(result, std::move(kept), x.where()) : result;
}

}  // namespace

Array sum(const Operand& x, const Axes& axes, bool keep) {
  Array array = as_array("sum", x);
  if (array.expression()->type.dtype == bool_) array = astype({array, x.where()}, i64);
  return reduce("sum", Op::reduce_sum, {array, x.where()}, axes, keep, Takes::numbers);
}

Array prod(const Operand& x, const Axes& axes, bool keep) {
  return reduce("prod", Op::reduce_product, x, axes, keep, Takes::numbers);
}

Array max(const Operand& x, const Axes& axes, bool keep) {
  return extreme("max", Op::reduce_max, x, axes, keep);
}

Array min(const Operand& x, const Axes& axes, bool keep) {
  return extreme("min", Op::reduce_min, x, axes, keep);
}

Array any(const Operand& x, const Axes& axes, bool keep) {
  return reduce("any", Op::reduce_any, x, axes, keep, Takes::bool_only);
}

Array all(const Operand& x, const Axes& axes, bool keep) {
  return reduce("all", Op::reduce_all, x, axes, keep, Takes::bool_only);
}

Array count_nonzero(const Operand& x, const Axes& axes, bool keep) {
  Term y = {as_array("count_nonzero", x), x.where()};
  return sum({astype(y, bool_), x.where()}, axes, keep);
}

Array mean(const Operand& x, const Axes& axes, bool keep) {
  Array array = as_array("mean", x, Takes::floats);
  const Shape& shape = array.expression()->type.shape;
  std::int64_t count = count_over(shape, axes.of_rank("mean", shape, x.where()));
  return Term(sum({array, x.where()}, axes, keep), x.where()) / static_cast<double>(count);
}

Array var(const Operand& x, const Axes& axes, bool keep, double correction) {
  Term y = {as_array("var", x, Takes::floats), x.where()};
  const Shape& shape = y.array().expression()->type.shape;
  double count = static_cast<double>(count_over(shape, axes.of_rank("var", shape, x.where())));
  Term away = y - Term(mean(y, axes, keepdims), x.where());
  return Term(sum(square(away), axes, keep), x.where()) / std::max(count - correction, 0.0);
}

Array stddev(const Operand& x, const Axes& axes, bool keep, double correction) {
  Array array = as_array("stddev", x, Takes::floats);
  return sqrt(Term(var({array, x.where()}, axes, keep, correction), x.where()));
}

Array norm(const Operand& x, const Axes& axes, bool keep) {
  Term y = {as_array("norm", x, Takes::floats), x.where()};
  return sqrt(Term(sum(square(y), axes, keep), x.where()));
}

Array logsumexp(const Operand& x, const Axes& axes, bool keep) {
  Term y = {as_array("logsumexp", x, Takes::floats), x.where()};
  const Shape& shape = y.array().expression()->type.shape;
  std::vector<std::int64_t> folded = axes.of_rank("logsumexp", shape, x.where());
  refuse_empty("logsumexp", x, shape, folded);
  Term top = {fold(Op::reduce_max, y, folded, keepdims, x.where()), x.where()};
  top = where(isfinite(top), top, 0);  // an infinite maximum would leave inf - inf
  Term total = {fold(Op::reduce_sum, exp(y - top), folded, keepdims, x.where()), x.where()};
  Term result = log(total) + top;
  if (keep || folded.empty()) return result;
  return squeeze(result, Axes(folded));
}

Array argmax(const Operand& x, const Axes& axis, bool keep) {
  return position("argmax", Op::argmax, x, axis, keep);
}

Array argmin(const Operand& x, const Axes& axis, bool keep) {
  return position("argmin", Op::argmin, x, axis, keep);
}

}  // namespace anabranch
