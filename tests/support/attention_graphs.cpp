#include "tests/support/attention_graphs.h"

#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "passes/transform/quantity.h"
#include "passes/transform/vjp.h"
#include "tests/support/random_literal.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

struct Sizes {
  std::int64_t batch, heads, queries, keys, features;
};

Sizes random_sizes(Random& random) {
  const auto size = [&] { return random.percent(5) ? random.below(2) : 2 + random.below(8); };
  return {1 + random.below(2), 1 + random.below(3), size(), size(), 1 + random.below(4)};
}

Quantity dot(Quantity x, Quantity y, DotAttributes attributes) {
  return {x.graph, x.graph->add(Op::dot, {x.value, y.value}, std::move(attributes))};
}

/// As long as the last axis of `scores`.
Quantity over_keys(Quantity row, const Shape& scores) { return row.broadcast(scores, {0, 1, 2}); }

Quantity reduced(Quantity x, Op op) {
  return {x.graph, x.graph->add(op, {x.value}, AxesAttributes{{3}})};
}

Quantity softmax(Quantity x) {
  const Shape shape = x.shape();
  const Quantity powers = (x - over_keys(reduced(x, Op::reduce_max), shape)).op(Op::exponential);
  return powers / over_keys(reduced(powers, Op::reduce_sum), shape);
}

// Keys up to the query's own place.
Quantity causal(Quantity scores) {
  const Type places{Dtype::i64, Shape{scores.shape()[2], scores.shape()[3]}};
  GraphBuilder& graph = *scores.graph;
  const Quantity seen = iota(graph, places, 0) >= iota(graph, places, 1);
  return select(seen.broadcast(scores.shape(), {2, 3}), scores, scores.number(-100));
}

Quantity weights_of(Quantity scores, Random& random) {
  switch (random.below(4)) {
    case 0:
      return scores.op(Op::tanh) * scores;
    case 1: {
      const Shape shape = scores.shape();
      return scores - over_keys(scores.sum({3}), shape) * 0.25;
    }
    default:
      return softmax(scores);
  }
}

// Some of the weights on other scores of the same queries and keys, and what keys get of that: a
// second chain, of fewer rows, which could compute the weights again.
Quantity some_again(Quantity weights, Quantity queries, Quantity k, Random& random) {
  const Shape shape = weights.shape();
  const std::int64_t first = random.below(shape[2]);
  const std::vector<std::int64_t> start = {0, 0, first, 0};
  const Quantity part = weights.slice(start, {shape[0], shape[1], shape[2], shape[3]});
  const Shape& of_queries = queries.shape();
  const Quantity own =
      queries.slice(start, {of_queries[0], of_queries[1], of_queries[2], of_queries[3]});
  const Quantity scores = dot(own * own, k, {{0, 1}, {0, 2}, {3}, {3}});
  return dot(scores * part, own, {{0, 1}, {0, 1}, {2}, {2}}).sum({2});
}

// Parameters: queries [batch, queries, heads, features], keys and values alike, a mask [queries,
// keys].
Graph forward_graph(const Sizes& size, Dtype dtype, Random& random) {
  GraphBuilder graph("attention");
  const auto parameter = [&](Shape shape) {
    return Quantity{&graph, graph.parameter({dtype, std::move(shape)})};
  };
  const Quantity q = parameter({size.batch, size.queries, size.heads, size.features});
  const Quantity k = parameter({size.batch, size.keys, size.heads, size.features});
  const Quantity v = parameter({size.batch, size.keys, size.heads, size.features});
  const Quantity mask = parameter({size.queries, size.keys});
  const Quantity by_head = q.transpose({0, 2, 1, 3}) * 0.5;
  Quantity scores = dot(by_head, k, {{0, 1}, {0, 2}, {3}, {3}});
  if (random.percent(50)) scores = scores + mask.broadcast(scores.shape(), {2, 3});
  if (random.percent(50)) scores = causal(scores);
  const Quantity weights = weights_of(scores, random);
  Quantity result = dot(weights, v, {{0, 1}, {0, 2}, {3}, {1}});
  if (size.queries > 1 && random.percent(30)) {
    const Quantity more = some_again(weights, by_head, k, random);
    result = result + more.broadcast(result.shape(), {0, 1, 3});
  }
  result = result.transpose({0, 2, 1, 3})
               .reshape({size.batch, size.queries, size.heads * size.features});
  return graph.build({result.value});
}

}  // namespace

Graph with_gradients(const Graph& forward) {
  const ForwardAndLinear parts = vjp(forward, std::vector<bool>(forward.parameter_count(), true));
  GraphBuilder graph("gradients");
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < forward.parameter_count(); ++i) {
    inputs.push_back(graph.parameter(forward.parameter_type(i)));
  }
  const Value cotangent = graph.parameter(forward.output_type(0));
  std::vector<Value> outputs = inlined(parts.forward, graph, inputs);
  std::vector<Value> operands(outputs.begin() + 1, outputs.end());
  outputs.resize(1);
  operands.push_back(cotangent);
  const std::vector<Value> cotangents = inlined(parts.linear, graph, operands);
  outputs.insert(outputs.end(), cotangents.begin(), cotangents.end());
  return graph.build(std::move(outputs));
}

GraphCase attention_graph(std::uint64_t seed) {
  Random random(seed);
  constexpr Dtype dtypes[] = {Dtype::f32, Dtype::f32,  Dtype::f32,
                              Dtype::f64, Dtype::bf16, Dtype::f16};
  const Dtype dtype = random.of(dtypes);
  GraphCase made;
  made.graph = forward_graph(random_sizes(random), dtype, random);
  if (random.percent(50)) made.graph = with_gradients(made.graph);
  for (std::size_t i = 0; i < made.graph.parameter_count(); ++i) {
    made.inputs.push_back(random_literal(random, made.graph.parameter_type(i), Flavour::ordinary));
  }
  return made;
}

}  // namespace anabranch
