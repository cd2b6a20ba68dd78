// Every elementwise op on every dtype it takes, as a CUDA kernel on the CPU.
#include <gtest/gtest.h>

#include "cpu_graph.h"
#include "ir/error.h"
#include "ir/infer.h"
#include "ir/print.h"
#include "tests/support/compare.h"
#include "tests/support/random_literal.h"

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

TEST(CudaOps, GiveWhatTheInterpreterGives) {
  CpuKernels kernels;
  std::vector<std::pair<Graph, std::unique_ptr<CpuGraph>>> all;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const Op op = static_cast<Op>(i);
    if (!is_elementwise(op)) continue;
    std::vector<Graph> graphs = graphs_of(op);
    EXPECT_FALSE(graphs.empty()) << name(op);
    for (Graph& graph : graphs) {
      auto run = std::make_unique<CpuGraph>(kernels, graph);
      all.emplace_back(std::move(graph), std::move(run));
    }
  }
  kernels.compile();
  Random random(1);
  constexpr Flavour flavours[] = {Flavour::ordinary, Flavour::special, Flavour::any_bits};
  for (const auto& [graph, run] : all) {
    for (Flavour flavour : flavours) {
      std::vector<Literal> inputs;
      for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
        inputs.push_back(random_literal(random, graph.parameter_type(i), flavour));
      }
      const auto wrong = difference(interpret_bounded(graph, inputs), run->run(inputs));
      EXPECT_FALSE(wrong) << *wrong << "\n" << to_string(graph);
    }
  }
  std::printf("%zu kernels of %zu ops and dtypes\n", kernels.size(), all.size());
}

}  // namespace
}  // namespace anabranch::testing
