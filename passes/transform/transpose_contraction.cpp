// Cotangents of the operands of dot and convolution, which are dots and convolutions themselves.
#include <algorithm>

#include "passes/transform/transpose_rules.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

// --- dot ---

struct Side {
  Axes batch, contracting, free;
};

Side side_of(int rank, const Axes& batch, const Axes& contracting) {
  Side side{batch, contracting, {}};
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::count(batch, axis) + std::ranges::count(contracting, axis) == 0) {
      side.free.push_back(axis);
    }
  }
  return side;
}

// The cotangent of the operand of which `own` are the axes: that of the result times the other
// operand, over the other's free axes. `first` is where those are in the result. Of the two orders
// of these factors it has the one, if there is one, whose product needs no transpose: that of a
// matrix product's right operand is lhs^T ct, not (ct^T lhs)^T.
Quantity dot_cotangent(const Side& own, const Side& other, Quantity ct, Quantity known,
                       std::size_t first) {
  Axes of_other = axes_up_to(static_cast<std::int64_t>(other.free.size()));
  for (std::int64_t& axis : of_other) axis += static_cast<std::int64_t>(first);
  // Where the operand's axes are in the product: the batch's, then its free ones and the other's
  // contracting ones, ascending, either first.
  Axes sorted = other.contracting;
  std::ranges::sort(sorted);
  const auto axes_of_product = [&](bool known_first) {
    const auto batch = static_cast<std::int64_t>(own.batch.size());
    std::int64_t free = batch, contracted = batch;
    (known_first ? free : contracted) +=
        static_cast<std::int64_t>(known_first ? sorted.size() : own.free.size());
    Axes axes(own.batch.size() + own.free.size() + sorted.size());
    for (std::int64_t i = 0; i < batch; ++i) {
      axes[static_cast<std::size_t>(own.batch[static_cast<std::size_t>(i)])] = i;
    }
    for (std::int64_t axis : own.free) axes[static_cast<std::size_t>(axis)] = free++;
    for (std::int64_t axis : sorted) {
      const auto pair = std::ranges::find(other.contracting, axis) - other.contracting.begin();
      axes[static_cast<std::size_t>(own.contracting[static_cast<std::size_t>(pair)])] =
          contracted++;
    }
    return axes;
  };
  const Axes batch = axes_up_to(static_cast<std::int64_t>(own.batch.size()));
  const Axes known_first = axes_of_product(true);
  const Value product =
      std::ranges::is_sorted(known_first)
          ? ct.graph->add(Op::dot, {known.value, ct.value},
                          DotAttributes{other.batch, batch, other.free, of_other})
          : ct.graph->add(Op::dot, {ct.value, known.value},
                          DotAttributes{batch, other.batch, of_other, other.free});
  return Quantity{ct.graph, product}.transpose(
      std::ranges::is_sorted(known_first) ? known_first : axes_of_product(false));
}

// --- convolution ---

std::int64_t size_along(const Shape& shape, std::int64_t axis) {
  return shape[static_cast<int>(axis)];
}

// Of elements with zeros between them.
std::int64_t dilated(std::int64_t size, std::int64_t dilation) {
  return size == 0 ? 0 : 1 + dilation * (size - 1);
}

// Sizes of one spatial axis with zeros between the elements: of lhs, of the windows and, one for
// each stride, of the result.
struct Extents {
  std::int64_t lhs, rhs, result;
};

Extents extents(const ConvolutionAttributes& a, const Shape& lhs, const Shape& rhs,
                const Shape& result, std::size_t i) {
  return {dilated(size_along(lhs, a.lhs_axes[i + 2]), a.lhs_dilations[i]),
          dilated(size_along(rhs, a.rhs_axes[i + 2]), a.rhs_dilations[i]),
          dilated(size_along(result, a.result_axes[i + 2]), a.strides[i])};
}

// Axis `from`, of `groups` parts, becomes one part long; the number of the part becomes the outer
// part of axis `to`.
Quantity with_groups_moved(Quantity x, std::int64_t from, std::int64_t to, std::int64_t groups) {
  if (groups == 1) return x;
  Axes split(x.shape().begin(), x.shape().end());
  split[static_cast<std::size_t>(from)] /= groups;
  Axes joined = split;
  joined[static_cast<std::size_t>(to)] *= groups;
  split.insert(split.begin() + from, groups);
  return x.reshape(Shape(std::move(split))).move_axis(from, to).reshape(Shape(std::move(joined)));
}

Quantity convolved(Quantity lhs, Quantity rhs, ConvolutionAttributes how) {
  return {lhs.graph, lhs.graph->add(Op::convolution, {lhs.value, rhs.value}, std::move(how))};
}

// Each element meets the results that it is in: the cotangents, a stride apart, under the windows
// turned round, whose input and output features change places within each group.
Quantity lhs_cotangent(const TransposeStep& step, const ConvolutionAttributes& a) {
  const Quantity ct = step.cotangent(), rhs = step.in(1);
  ConvolutionAttributes how = a;
  how.lhs_axes = a.result_axes;
  how.result_axes = a.lhs_axes;
  std::swap(how.rhs_axes[0], how.rhs_axes[1]);
  std::swap(how.strides, how.lhs_dilations);
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    const Extents size = extents(a, step.type_of_operand(0).shape, rhs.shape(), ct.shape(), i);
    how.low[i] = size.rhs - 1 - a.low[i];
    how.high[i] = size.lhs + size.rhs - 1 - size.result - how.low[i];
    how.rhs_reversals[i] = 1 - a.rhs_reversals[i];
  }
  return convolved(ct, with_groups_moved(rhs, a.rhs_axes[0], a.rhs_axes[1], a.groups), how);
}

// Each element of a window meets what is a stride apart from its place: lhs under the cotangents as
// windows, over the batch in place of the features. The input features of a group are the batch.
Quantity rhs_cotangent(const TransposeStep& step, const ConvolutionAttributes& a) {
  const Quantity ct = step.cotangent(), lhs = step.in(0);
  ConvolutionAttributes how = a;
  std::swap(how.lhs_axes[0], how.lhs_axes[1]);
  how.rhs_axes = a.result_axes;
  std::swap(how.rhs_axes[0], how.rhs_axes[1]);
  how.result_axes = a.rhs_axes;
  std::swap(how.result_axes[0], how.result_axes[1]);
  std::swap(how.strides, how.rhs_dilations);
  Axes reversed;
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    const Extents size = extents(a, lhs.shape(), step.type_of_operand(1).shape, ct.shape(), i);
    how.high[i] = size.result + size.rhs - 1 - size.lhs - a.low[i];
    how.rhs_reversals[i] = 0;
    if (a.rhs_reversals[i] != 0) reversed.push_back(a.rhs_axes[i + 2]);
  }
  const Quantity found =
      convolved(with_groups_moved(lhs, a.lhs_axes[1], a.lhs_axes[0], a.groups), ct, how);
  if (reversed.empty()) return found;
  std::ranges::sort(reversed);
  return {found.graph, found.graph->add(Op::reverse, {found.value}, AxesAttributes{reversed})};
}

}  // namespace

void transpose_dot(const TransposeStep& step) {
  const auto& a = step.node.as<DotAttributes>();
  const Side lhs = side_of(step.type_of_operand(0).rank(), a.lhs_batch, a.lhs_contracting);
  const Side rhs = side_of(step.type_of_operand(1).rank(), a.rhs_batch, a.rhs_contracting);
  const Quantity ct = step.cotangent();
  const std::size_t batch = a.lhs_batch.size();
  if (step.is_linear(0)) {
    step.add(0, dot_cotangent(lhs, rhs, ct, step.in(1), batch + lhs.free.size()));
  } else {
    step.add(1, dot_cotangent(rhs, lhs, ct, step.in(0), batch));
  }
}

// Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016, chapter 4, and
// with negative padding as well.
void transpose_convolution(const TransposeStep& step) {
  const auto& a = step.node.as<ConvolutionAttributes>();
  if (a.feature_splits > 1) {
    throw Error("a convolution with feature_splits, as passes make them, has no derivative");
  }
  const std::size_t linear = step.is_linear(0) ? 0 : 1;
  // Windows have to have elements, of which a result may have none.
  const Type &own = step.type_of_operand(linear), &result = step.node.types[0];
  if (own.size() == 0 || result.size() == 0) {
    return step.add(linear, Quantity::zeros(step.graph, own));
  }
  step.add(linear, linear == 0 ? lhs_cotangent(step, a) : rhs_cotangent(step, a));
}

}  // namespace anabranch
