// Batch normalization: an array less its mean, by its standard deviation, for each feature.
#include "frontend/array/expression.h"
#include "frontend/ops/term.h"
#include "frontend/stablehlo/site.h"
#include "frontend/stablehlo/types.h"

namespace anabranch::stablehlo {
namespace {

// What the operations have in common: arrays of the first operand's type, and vectors that hold a
// number for each place along its axis of features. f16 and bf16 are computed in f32.
class BatchNorm {
 public:
  explicit BatchNorm(const Site& site)
      : site_(site),
        type_(type_of(site.operand(0))),
        axis_(site.integer("feature_index")),
        epsilon_(site.number("epsilon", 0)) {
    if (!is_float(type_.dtype)) site.fail("takes floats, and has " + type_text(type_));
    if (axis_ >= 0 && axis_ < type_.rank()) return;
    site.fail("its feature_index, " + std::to_string(axis_) + ", is no axis of " +
              type_text(type_) + "; axes count from 0");
  }

  Term array(std::size_t index) const { return operand(index, type_); }
  /// An operand that is a vector, repeated to the arrays' shape.
  Term vector(std::size_t index) const {
    const std::int64_t features = type_.shape[static_cast<int>(axis_)];
    return repeated(operand(index, Type{type_.dtype, Shape({features})}));
  }

  Term repeated(const Term& x) const {
    const Type to{x.array().dtype(), type_.shape};
    return term(site_.record(Op::broadcast_in_dim, {x.array()}, AxesAttributes{{axis_}}, to));
  }
  /// The sum of each feature's elements.
  Term sum(const Term& x) const {
    const List axes = other_axes();
    return axes.empty() ? x : term(site_.record(Op::reduce_sum, {x.array()}, AxesAttributes{axes}));
  }
  Term mean(const Term& x) const {
    double count = 1;
    for (std::int64_t axis : other_axes()) {
      count *= static_cast<double>(type_.shape[static_cast<int>(axis)]);
    }
    return sum(x) / count;
  }
  Term deviation(const Term& variance) const { return sqrt(variance + epsilon_); }

  Array rounded(const Term& result) const { return site_.converted(result.array(), type_.dtype); }

 private:
  Term term(Array array) const { return {std::move(array), site_.where()}; }
  Term operand(std::size_t index, const Type& wanted) const {
    const Array given = site_.operand(index);
    if (type_of(given) != wanted) {
      site_.fail("operand " + std::to_string(index) + " is " + type_text(type_of(given)) +
                 ", and has to be " + type_text(wanted));
    }
    return widened(term(given));
  }
  List other_axes() const {
    List axes;
    for (std::int64_t axis = 0; axis < type_.rank(); ++axis) {
      if (axis != axis_) axes.push_back(axis);
    }
    return axes;
  }

  const Site& site_;
  const Type type_;
  const std::int64_t axis_;
  const double epsilon_;
};

Results batch_norm_inference_op(const Site& site) {
  site.expect_operands(5);
  const BatchNorm norm(site);
  const Term scale = norm.vector(1), offset = norm.vector(2);
  const Term away = norm.array(0) - norm.vector(3);
  return {norm.rounded(away / norm.deviation(norm.vector(4)) * scale + offset)};
}

Results batch_norm_training_op(const Site& site) {
  site.expect_operands(3);
  const BatchNorm norm(site);
  const Term x = norm.array(0), scale = norm.vector(1), offset = norm.vector(2);
  const Term mean = norm.mean(x), away = x - norm.repeated(mean);
  const Term variance = norm.mean(away * away);
  const Term normal = away / norm.deviation(norm.repeated(variance));
  return {norm.rounded(normal * scale + offset), norm.rounded(mean), norm.rounded(variance)};
}

// The derivative of training's first result: the mean and the variance depend on x, too.
Results batch_norm_grad_op(const Site& site) {
  site.expect_operands(5);
  const BatchNorm norm(site);
  const Term scale = norm.vector(1), deviation = norm.deviation(norm.vector(3));
  const Term normal = (norm.array(0) - norm.vector(2)) / deviation, change = norm.array(4);
  const Term by_mean = norm.repeated(norm.mean(change));
  const Term by_variance = normal * norm.repeated(norm.mean(change * normal));
  return {norm.rounded(scale / deviation * (change - by_mean - by_variance)),
          norm.rounded(norm.sum(change * normal)), norm.rounded(norm.sum(change))};
}

constexpr Translation rows_of_batch_norm[] = {
    {"batch_norm_inference", batch_norm_inference_op},
    {"batch_norm_training", batch_norm_training_op},
    {"batch_norm_grad", batch_norm_grad_op},
};

}  // namespace

std::span<const Translation> batch_norm_translations() { return rows_of_batch_norm; }

}  // namespace anabranch::stablehlo
