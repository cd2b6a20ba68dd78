#include "anabranch/losses.h"

#include "anabranch/manipulate.h"
#include "anabranch/nn.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/special_terms.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

// The losses of single examples in the dtype that `given` is computed in, reduced, in its own.
Array reduced_losses(const Term& given, const Term& losses, LossReduction reduction) {
  const SourceLocation at = given.where();
  switch (reduction) {
    case LossReduction::mean:
      return rounded_as(given, {mean(losses), at});
    case LossReduction::sum:
      return rounded_as(given, sum_in_own_dtype(losses, {}));
    case LossReduction::none:
      break;
  }
  return rounded_as(given, losses);
}

}  // namespace

Array mse_loss(const Operand& predictions, const Operand& targets, LossReduction reduction) {
  const auto [x, t] = terms_of("mse_loss", predictions, targets);
  return reduced_losses(x, square(widened(x) - widened(t)), reduction);
}

Array l1_loss(const Operand& predictions, const Operand& targets, LossReduction reduction) {
  const auto [x, t] = terms_of("l1_loss", predictions, targets);
  return reduced_losses(x, abs(widened(x) - widened(t)), reduction);
}

Array huber_loss(const Operand& predictions, const Operand& targets, double delta,
                 LossReduction reduction) {
  const auto [x, t] = terms_of("huber_loss", predictions, targets);
  if (!(delta > 0)) {
    fail("huber_loss: delta is " + std::to_string(delta) + "; give more than 0",
         predictions.where());
  }
  // The square is not that of |difference|, which has no second derivative at 0.
  const Term difference = widened(x) - widened(t), distance = abs(difference);
  const Term losses =
      where(distance <= delta, 0.5 * square(difference), delta * (distance - 0.5 * delta));
  return reduced_losses(x, losses, reduction);
}

Array hinge_loss(const Operand& predictions, const Operand& targets, LossReduction reduction) {
  const auto [x, t] = terms_of("hinge_loss", predictions, targets);
  return reduced_losses(x, maximum(1 - widened(x) * widened(t), 0), reduction);
}

Array binary_cross_entropy_with_logits(const Operand& logits, const Operand& targets,
                                       LossReduction reduction) {
  const auto [x, t] = terms_of("binary_cross_entropy_with_logits", logits, targets);
  const Term y = widened(x);
  // softplus(y) - y t, the great parts first; see softplus for its second derivative at 0.
  const Term above = where(y < 0, 0, y), rest = log1p(exp(-magnitude(y)));
  return reduced_losses(x, above - y * widened(t) + rest, reduction);
}

Array cross_entropy_loss(const Operand& logits, const Operand& targets, Axis axis,
                         LossReduction reduction) {
  return cross_entropy_loss(logits, targets, CrossEntropyOptions{axis, reduction});
}

namespace {

constexpr const char* cross_entropy = "cross_entropy_loss";

// Where each example's class is along the axis of classes, and whether it is one of them.
struct Labels {
  Term is_class, is_in_range;
};

Labels labels_of(const Operand& logits, const Operand& targets, const Array& wanted,
                 const Shape& shape, std::int64_t along) {
  const SourceLocation at = logits.where();
  std::vector<std::int64_t> examples(shape.begin(), shape.end());
  examples.erase(examples.begin() + along);
  if (type_of(wanted).shape != Shape(examples)) {
    fail(std::string(cross_entropy) + ": classes " + describe(targets) + " for logits " +
             describe(logits) + "; give one for each example",
         at);
  }
  const std::int64_t classes = shape[static_cast<int>(along)];
  std::vector<std::int64_t> along_axis(examples.size() + 1, 1);
  along_axis[static_cast<std::size_t>(along)] = classes;
  const Term numbers = {record(Op::iota, {}, at, AxisAttributes{static_cast<int>(along)},
                               Type{i64, Shape(along_axis)}),
                        at};
  const Term labels = {expand_dims({astype({wanted, at}, i64), at}, along), at};
  return {labels == numbers, (labels >= 0) & (labels < classes)};
}

}  // namespace

Array cross_entropy_loss(const Operand& logits, const Operand& targets,
                         const CrossEntropyOptions& options) {
  const SourceLocation at = logits.where();
  const Term x = term(cross_entropy, logits);
  const Shape& shape = type_of(x.array()).shape;
  const std::int64_t along = axis_of(cross_entropy, options.axis, shape, at);
  const double smoothing = options.label_smoothing;
  if (!(smoothing >= 0 && smoothing <= 1)) {
    fail(std::string(cross_entropy) + ": label_smoothing is " + to_string(Number(smoothing)) +
             "; give at least 0 and at most 1",
         at);
  }
  const double share = smoothing / static_cast<double>(shape[static_cast<int>(along)]);
  const Term likelihoods = {log_softmax(widened(x), along), at};
  const Array wanted = as_array(cross_entropy, targets);
  if (is_integer(type_of(wanted).dtype)) {
    const auto [is_class, is_in_range] = labels_of(logits, targets, wanted, shape, along);
    Term parts = where(is_class, likelihoods, 0);
    if (smoothing > 0) {
      parts = where(is_in_range, (1 - smoothing) * parts + share * likelihoods, 0);
    }
    return reduced_losses(x, -sum_in_own_dtype(parts, along), options.reduction);
  }
  const auto [y, t] = terms_of(cross_entropy, x, targets);
  if (type_of(t.array()).shape != shape) {
    fail(std::string(cross_entropy) + ": targets " + describe(targets) + " for logits " +
             describe(logits) +
             "; give a probability for each class, or an integer for each example",
         at);
  }
  const Term wide = widened(t), spread = smoothing > 0 ? (1 - smoothing) * wide + share : wide;
  return reduced_losses(x, -sum_in_own_dtype(likelihoods * spread, along), options.reduction);
}

Array kl_div_loss(const Operand& log_predictions, const Operand& targets, LossReduction reduction) {
  const auto [x, t] = terms_of("kl_div_loss", log_predictions, targets);
  const Term y = widened(t);
  return reduced_losses(x, where(y == 0, 0, y * (log(y) - widened(x))), reduction);
}

Array cosine_similarity(const Operand& a, const Operand& b, Axis axis, double epsilon) {
  const auto [x, y] = terms_of("cosine_similarity", a, b);
  const Axes along = folded_axes("cosine_similarity", x, axis);
  const Term p = widened(x), q = widened(y);
  const auto length = [&](const Term& z) {
    const Term squares = sum_in_own_dtype(z * z, along), is_long = squares > epsilon * epsilon;
    return where(is_long, sqrt(where(is_long, squares, 1)), epsilon);
  };
  return rounded_as(x, sum_in_own_dtype(p * q, along) / (length(p) * length(q)));
}

}  // namespace anabranch
