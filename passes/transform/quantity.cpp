#include "passes/transform/quantity.h"

#include <numeric>

namespace anabranch {

std::vector<std::int64_t> axes_up_to(std::int64_t count) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(count));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Quantity Quantity::transpose(std::vector<std::int64_t> axes) const {
  if (axes == axes_up_to(type().rank())) return *this;
  return {graph, graph->add(Op::transpose, {value}, AxesAttributes{std::move(axes)})};
}

Quantity Quantity::move_axis(std::int64_t from, std::int64_t to) const {
  std::vector<std::int64_t> axes = axes_up_to(type().rank());
  axes.erase(axes.begin() + from);
  axes.insert(axes.begin() + to, from);
  return transpose(std::move(axes));
}

Quantity Quantity::slice(std::vector<std::int64_t> start, std::vector<std::int64_t> limit) const {
  std::vector<std::int64_t> stride(start.size(), 1);
  return {graph,
          graph->add(Op::slice, {value},
                     SliceAttributes{std::move(start), std::move(limit), std::move(stride)})};
}

Quantity Quantity::pad(std::vector<std::int64_t> low, std::vector<std::int64_t> high,
                       std::vector<std::int64_t> interior) const {
  const Value zero = graph->constant(Literal::scalar(dtype(), 0.0));
  return {graph, graph->add(Op::pad, {value, zero},
                            PadAttributes{std::move(low), std::move(high), std::move(interior)})};
}

Quantity Quantity::sum(std::vector<std::int64_t> axes) const {
  if (axes.empty()) return *this;
  return {graph, graph->add(Op::reduce_sum, {value}, AxesAttributes{std::move(axes)})};
}

Quantity Quantity::row(Quantity index) const {
  std::vector<std::int64_t> sizes(shape().begin(), shape().end());
  sizes[0] = 1;
  std::vector<Value> operands(sizes.size() + 1, index.number(0).value);
  operands[0] = value;
  operands[1] = index.value;
  const Quantity block = {
      graph, graph->add(Op::dynamic_slice, std::move(operands), SizesAttributes{sizes})};
  sizes.erase(sizes.begin());
  return block.reshape(Shape(std::move(sizes)));
}

Quantity Quantity::with_row(Quantity index, Quantity row) const {
  const Quantity block = row.reshape(with_first_axis(row.type(), 1).shape);
  std::vector<Value> operands(static_cast<std::size_t>(shape().rank()) + 2, index.number(0).value);
  operands[0] = value;
  operands[1] = block.value;
  operands[2] = index.value;
  return {graph, graph->add(Op::dynamic_update_slice, std::move(operands))};
}

Type with_first_axis(const Type& type, std::int64_t size) {
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  sizes.insert(sizes.begin(), size);
  return {type.dtype, Shape(std::move(sizes))};
}

Quantity Quantity::conjugate() const {
  if (!is_complex(dtype())) return *this;
  return complex(op(Op::real), -op(Op::imag));
}

Quantity iota(GraphBuilder& graph, const Type& type, std::int64_t axis) {
  return {&graph, graph.add(Op::iota, {}, AxisAttributes{axis}, type)};
}

}  // namespace anabranch
