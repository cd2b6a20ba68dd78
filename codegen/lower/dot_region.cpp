#include "codegen/lower/dot_region.h"

#include <algorithm>
#include <span>
#include <utility>

#include "codegen/lower/reduction_scalars.h"

namespace anabranch {
namespace {

std::uint32_t dot_of(const Graph& region) {
  std::uint32_t dot = 0;
  while (region.node(dot).op != Op::dot) ++dot;
  return dot;
}

}  // namespace

DotRegion::DotRegion(const Graph& region)
    : graph_(region), dot_(dot_of(region)), combiner_(combiner_of(region.node(dot_), region)) {
  add_axes();
}

void DotRegion::add_axes() {
  const auto& dot = node().as<DotAttributes>();
  for (std::size_t i : {0, 1}) axes_[i].assign(static_cast<std::size_t>(operand(i).rank()), -1);
  auto add = [&](std::int64_t size) {
    sizes_.push_back(size);
    return static_cast<int>(sizes_.size()) - 1;
  };
  auto pair = [&](std::span<const std::int64_t> left, std::span<const std::int64_t> right) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      int axis = add(operand(0).shape[static_cast<int>(left[i])]);
      axes_[0][static_cast<std::size_t>(left[i])] = axis;
      axes_[1][static_cast<std::size_t>(right[i])] = axis;
    }
  };
  auto free = [&](std::size_t of, const auto& contracting) {
    for (int axis = 0; axis < operand(of).rank(); ++axis) {
      int& known = axes_[of][static_cast<std::size_t>(axis)];
      if (known >= 0 || std::ranges::count(contracting, axis) > 0) continue;
      known = add(operand(of).shape[axis]);
    }
  };
  pair(dot.lhs_batch, dot.rhs_batch);
  first_left_ = rank();
  free(0, dot.lhs_contracting);
  first_right_ = rank();
  free(1, dot.rhs_contracting);
  first_contracting_ = rank();
  pair(dot.lhs_contracting, dot.rhs_contracting);
}

std::int64_t DotRegion::size_of_axes(int first, int end) const {
  return Shape(std::vector(sizes_.begin() + first, sizes_.begin() + end)).size();
}

Ref DotRegion::element(GroupWriter& writer, std::size_t operand, Ref mask) const {
  const Value value = node().inputs[operand];
  const Ref ref =
      writer.producers.value_at(value, writer.producers.point(writer.places(axes_[operand])), mask);
  if (graph_.type(value).dtype == dtype()) return ref;
  return writer.builder.compute(Op::convert, dtype(), {ref});
}

void DotRegion::store(GroupWriter& writer, std::vector<Index> place, Ref sum) const {
  const Index flat = writer.builder.indices().flatten(place, node().types[0].shape.sizes());
  const Point point = writer.producers.point(std::move(place));
  bind_results(combiner_, dot_, node(), point, {sum}, writer.producers, writer.builder);
  for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i) {
    Ref value = writer.producers.value_at(graph_.outputs()[i], point);
    writer.builder.store(writer.first_output + i, flat, value);
  }
}

}  // namespace anabranch
