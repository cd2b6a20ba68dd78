#include "op_graphs.h"

#include <gtest/gtest.h>

#include <optional>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/infer/infer.h"

namespace anabranch::testing {
namespace {

constexpr std::int64_t count = 1029;

// One op on parameters; nothing where it does not take them.
std::optional<Graph> graph_of(Op op, Dtype dtype, std::optional<Dtype> to, Comparison direction) {
  GraphBuilder builder("op");
  std::vector<Value> operands;
  for (int i = 0; i < info(op).arity; ++i) {
    const bool is_condition = op == Op::select && i == 0;
    operands.push_back(builder.parameter({is_condition ? bool_ : dtype, Shape{count}}));
  }
  Attributes attributes = NoAttributes{};
  if (op == Op::compare) attributes = CompareAttributes{direction};
  std::optional<Type> stated;
  if (to) stated = Type{*to, Shape{count}};
  try {
    const Value result = builder.add(op, operands, attributes, stated);
    return builder.build({result});
  } catch (const Error&) {
    return std::nullopt;
  }
}

// One op whose first operand is where the row's maximum is, a scalar that a fold of a kernel
// leaves.
std::optional<Graph> graph_of_positions(Op op, Dtype dtype) {
  constexpr std::int64_t rows = 5;
  GraphBuilder builder("positions");
  const Value x = builder.parameter({u8, {rows, 2}});
  std::vector<Value> operands(1);
  for (int i = 1; i < info(op).arity; ++i) operands.push_back(builder.parameter({dtype, {rows}}));
  operands[0] = builder.add(Op::argmax, {x}, AxisAttributes{1}, Type{dtype, {rows}});
  try {
    return builder.build({builder.add(op, operands, default_attributes(op))});
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<Graph> graphs_of(Op op) {
  std::vector<Graph> graphs;
  const auto add = [&](Dtype dtype, std::optional<Dtype> to = {}, Comparison direction = {}) {
    if (auto graph = graph_of(op, dtype, to, direction)) graphs.push_back(std::move(*graph));
  };
  for (int k = 0; k < dtype_count; ++k) {
    const auto dtype = static_cast<Dtype>(k);
    if (info(op).has(OpInfo::typed)) {
      for (int to = 0; to < dtype_count; ++to) add(dtype, static_cast<Dtype>(to));
    } else if (op == Op::compare) {
      for (int d = 0; d < 6; ++d) add(dtype, {}, static_cast<Comparison>(d));
    } else {
      add(dtype);
    }
  }
  return graphs;
}

}  // namespace

std::vector<Graph> op_graphs() {
  std::vector<Graph> all;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const Op op = static_cast<Op>(i);
    if (!is_elementwise(op)) continue;
    std::vector<Graph> graphs = graphs_of(op);
    for (Dtype dtype : {i32, i64}) {
      if (info(op).has(OpInfo::typed)) break;
      if (auto graph = graph_of_positions(op, dtype)) graphs.push_back(std::move(*graph));
    }
    EXPECT_FALSE(graphs.empty()) << name(op);
    std::ranges::move(graphs, std::back_inserter(all));
  }
  return all;
}

}  // namespace anabranch::testing
