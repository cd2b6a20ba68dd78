#include "anabranch/reduce.h"

#include "anabranch/complex.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

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
  const Term y = term(function, x, takes);
  return fold(op, y, folded_axes(function, y, axes), keep, x.where());
}

std::int64_t count_over(const Shape& shape, const std::vector<std::int64_t>& axes) {
  std::int64_t count = 1;
  for (std::int64_t axis : axes) count *= shape[static_cast<int>(axis)];
  return count;
}

Array extreme(const char* function, Op op, const Operand& x, const Axes& axes, bool keep) {
  const Term y = term(function, x, Takes::real_numbers);
  return fold(op, y, folded_axes_of_some(function, y, axes), keep, x.where());
}

Array position(const char* function, Op op, const Operand& x, const Axes& axes, bool keep) {
  Array array = as_array(function, x, Takes::anything);
  if (is_complex(array.expression()->type.dtype)) as_array(function, x, Takes::real_numbers);
  Shape shape = array.expression()->type.shape;
  const std::vector<std::int64_t> folded =
      folded_axes_of_position(function, Term(array, x.where()), axes);
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

double count_over(const char* function, const Term& x, const Axes& axes) {
  return static_cast<double>(count_over(type_of(x).shape, folded_axes(function, x, axes)));
}

Term mean_of(const char* function, const Term& x, const Axes& axes, bool keep) {
  const double count = count_over(function, x, axes);
  return sum_in_own_dtype(x, axes, keep) / count;
}

// |x|^2, which is real.
Term square_of_size(const Term& x) {
  if (!is_complex(x.array().dtype())) return square(x);
  const Term re = {real(x), x.where()}, im = {imag(x), x.where()};
  return square(re) + square(im);
}

Term variance(const char* function, const Term& x, const Axes& axes, bool keep, double correction) {
  const double count = count_over(function, x, axes);
  const Term away = x - mean_of(function, x, axes, keepdims);
  return sum_in_own_dtype(square_of_size(away), axes, keep) / std::max(count - correction, 0.0);
}

}  // namespace

std::vector<std::int64_t> folded_axes(const char* function, const Term& x, const Axes& axes) {
  return axes.of_rank(function, type_of(x).shape, x.where());
}

std::vector<std::int64_t> folded_axes_of_some(const char* function, const Term& x,
                                              const Axes& axes) {
  std::vector<std::int64_t> folded = folded_axes(function, x, axes);
  if (count_over(type_of(x).shape, folded) > 0) return folded;
  fail(std::string(function) + ": " + describe(x) +
           " has no elements along the folded axes; check the size before",
       x.where());
}

std::vector<std::int64_t> folded_axes_of_position(const char* function, const Term& x,
                                                  const Axes& axes) {
  const std::size_t count = folded_axes(function, x, axes).size();
  if (axes.all() || count == 1) return folded_axes_of_some(function, x, axes);
  fail(std::string(function) + ": takes one axis, or none for the flattened array, and was given " +
           std::to_string(count),
       x.where());
}

Term countable(const char* function, const Operand& x) {
  const Term y = {as_array(function, x), x.where()};
  const Dtype dtype = y.array().dtype();
  if (!is_integer(dtype) && dtype != bool_) return y;
  if (byte_size(dtype) == byte_size(i64)) return y;
  return converted(y, dtype == bool_ || is_signed_integer(dtype) ? i64 : u64);
}

Array sum(const Operand& x, const Axes& axes, bool keep) {
  return reduce("sum", Op::reduce_sum, countable("sum", x), axes, keep, Takes::numbers);
}

Term sum_in_own_dtype(const Term& x, const Axes& axes, bool keep) {
  return {reduce("sum", Op::reduce_sum, x, axes, keep, Takes::numbers), x.where()};
}

Array prod(const Operand& x, const Axes& axes, bool keep) {
  return reduce("prod", Op::reduce_product, countable("prod", x), axes, keep, Takes::numbers);
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
  return sum({astype(y, bool_), x.where()}, folded_axes("count_nonzero", y, axes), keep);
}

Array mean(const Operand& x, const Axes& axes, bool keep) {
  const Term y = term("mean", x, Takes::floats_or_complex);
  return rounded_as(y, mean_of("mean", widened(y), axes, keep));
}

Array var(const Operand& x, const Axes& axes, bool keep, double correction) {
  const Term y = term("var", x, Takes::floats_or_complex);
  return rounded_as(y, variance("var", widened(y), axes, keep, correction));
}

Array stddev(const Operand& x, const Axes& axes, bool keep, double correction) {
  const Term y = term("stddev", x, Takes::floats_or_complex);
  return rounded_as(y, sqrt(variance("stddev", widened(y), axes, keep, correction)));
}

Array norm(const Operand& x, const Axes& axes, bool keep) {
  const Term y = term("norm", x, Takes::floats_or_complex);
  const Axes folded = folded_axes("norm", y, axes);
  return rounded_as(y, sqrt(sum_in_own_dtype(square_of_size(widened(y)), folded, keep)));
}

Array logsumexp(const Operand& x, const Axes& axes, bool keep) {
  const Term given = term("logsumexp", x), y = widened(given);
  const std::vector<std::int64_t> folded = folded_axes_of_some("logsumexp", given, axes);
  Term top = {fold(Op::reduce_max, y, folded, keepdims, x.where()), x.where()};
  top = where(isfinite(top), top, 0);  // an infinite maximum would leave inf - inf
  Term total = {fold(Op::reduce_sum, exp(y - top), folded, keepdims, x.where()), x.where()};
  Term result = {rounded_as(given, log(total) + top), x.where()};
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
