#include "tests/support/graph_families.h"

#include <vector>

#include "ir/graph/builder.h"

namespace anabranch::families {
namespace {

Value splat(GraphBuilder& builder, const Shape& shape, double value) {
  const Value number = builder.constant(Literal::scalar(f32, value));
  return builder.add(Op::broadcast_in_dim, {number}, AxesAttributes{}, Type{f32, shape});
}

}  // namespace

Graph joined_with_itself(int count) {
  GraphBuilder builder("joined");
  Value x = builder.parameter({f32, Shape{4}});
  for (int i = 0; i < count; ++i) x = builder.add(Op::concatenate, {x, x}, AxisAttributes{0});
  return builder.build({builder.add(Op::negate, {x})});
}

Graph unary_chain(Op op, int count) {
  GraphBuilder builder("chain");
  Value x = builder.parameter({f32, Shape{1024}});
  for (int i = 0; i < count; ++i) x = builder.add(op, {x});
  return builder.build({x});
}

Graph slices_of_one(int count) {
  GraphBuilder builder("slices");
  const Value x = builder.parameter({f32, Shape{10 * count}});
  std::vector<Value> parts;
  for (int i = 0; i < count; ++i) {
    const std::int64_t start = i * 7 % count * 10;
    parts.push_back(builder.add(Op::slice, {x}, SliceAttributes{{start}, {start + 8}, {1}}));
  }
  return builder.build({builder.add(Op::concatenate, parts, AxisAttributes{0})});
}

Graph parameters_in_one(int count) {
  GraphBuilder builder("parameters");
  std::vector<Value> parts;
  for (int i = 0; i < count; ++i) parts.push_back(builder.parameter({f32, Shape{8}}));
  return builder.build({builder.add(Op::concatenate, parts, AxisAttributes{0})});
}

Graph dots(int count) {
  GraphBuilder builder("dots");
  Value x = builder.parameter({f32, Shape{8, 8}});
  const Value w = builder.parameter({f32, Shape{8, 8}});
  for (int i = 0; i < count; ++i) {
    const Value scale = splat(builder, {8, 8}, 0.5 + i);
    x = builder.add(Op::dot, {x, w}, DotAttributes{{}, {}, {1}, {0}});
    x = builder.add(Op::tanh, {builder.add(Op::multiply, {x, scale})});
  }
  return builder.build({x});
}

Graph small_reductions(int count) {
  GraphBuilder builder("reductions");
  const Value x = builder.parameter({f32, Shape{4, 16}});
  std::vector<Value> sums;
  for (int i = 0; i < count; ++i) {
    const Value scaled = builder.add(Op::multiply, {x, splat(builder, {4, 16}, 0.5 + i)});
    sums.push_back(builder.add(Op::reduce_sum, {scaled}, AxesAttributes{{i % 2}}));
  }
  return builder.build(sums);
}

Graph arithmetic(int count) {
  GraphBuilder builder("arithmetic");
  const Shape shape{1024};
  const Value x[] = {builder.parameter({f32, shape}), builder.parameter({f32, shape}),
                     builder.parameter({f32, shape})};
  Value sum = x[0];
  for (int i = 0; i < count; ++i) {
    sum = builder.add(Op::add, {sum, splat(builder, shape, 0.5 + i)});
    sum = builder.add(Op::multiply, {sum, x[i % 3]});
  }
  return builder.build({sum});
}

Graph ladder(int count) {
  GraphBuilder builder("ladder");
  const Value x = builder.parameter({f32, Shape{16, 16}});
  std::vector<Value> up, down;
  Value at = x;
  for (int i = 0; i < count; ++i) {
    const Value sum = builder.add(Op::reduce_sum, {at}, AxesAttributes{{i % 2}});
    at = builder.add(Op::broadcast_in_dim, {sum}, AxesAttributes{{1 - i % 2}},
                     Type{f32, Shape{16, 16}});
    at = builder.add(Op::multiply, {at, x});
    up.push_back(at);
  }
  for (int i = 0; i < count; ++i) {
    at = builder.add(Op::add, {at, up[static_cast<std::size_t>(count - 1 - i)]});
  }
  return builder.build({at});
}

}  // namespace anabranch::families
