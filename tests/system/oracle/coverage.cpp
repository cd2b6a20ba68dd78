// What the 5,000 graphs of the oracle reach: a generator that forgets an op would test nothing of
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "anabranch/error.h"
#include "ir/infer/infer.h"
#include "passes/canonicalize.h"
#include "passes/pipeline.h"
#include "passes/simplify.h"
#include "tests/support/error_bounds.h"
#include "tests/support/random_graph.h"

namespace anabranch {
namespace {

// Of these the graphs compare what is well determined: factors of Cholesky, solutions, eigenvalues
// and singular values (tests/support/matrix_bounds.h). What is not, such as pivots and the signs of
// vectors, is put together again in tests/frontend/ops/linalg.cpp.
bool is_factorisation(Op op) {
  constexpr Op ops[] = {Op::cholesky,
                        Op::triangular_solve,
                        Op::lu,
                        Op::qr,
                        Op::qr_pivoted,
                        Op::householder_product,
                        Op::svd,
                        Op::eigh,
                        Op::eig,
                        Op::schur,
                        Op::tridiagonal_solve};
  return std::ranges::find(ops, op) != std::end(ops);
}

// The dtypes that an op takes for all its operands: for an elementwise one, by what `infer` says.
std::set<Dtype> dtypes_taken(Op op) {
  std::set<Dtype> taken;
  if (op == Op::reduce_any || op == Op::reduce_all) return {bool_};
  if (op == Op::fft) return {f32, f64, c64, c128};
  if (is_factorisation(op)) return {f32, f64, c64, c128};
  if (!is_elementwise(op)) {
    for (int k = 0; k < dtype_count; ++k) taken.insert(static_cast<Dtype>(k));
    const bool arithmetic =
        info(op).kind == OpKind::library || op == Op::reduce_sum || op == Op::reduce_product;
    if (op == Op::iota || arithmetic) taken.erase(bool_);
    const bool is_ordered = op == Op::sort || op == Op::argsort;
    const bool compares = is_ordered || (is_reduction(op) && !info(op).has(OpInfo::takes_complex));
    if (compares) std::erase_if(taken, [](Dtype dtype) { return is_complex(dtype); });
    return taken;
  }
  for (int k = 0; k < dtype_count; ++k) {
    const auto dtype = static_cast<Dtype>(k);
    std::vector<Type> operands(static_cast<std::size_t>(info(op).arity), Type{dtype, {}});
    if (op == Op::select) operands[0].dtype = bool_;
    std::optional<Type> stated;
    if (info(op).has(OpInfo::typed)) stated = operands[0];
    try {
      infer(op, operands, default_attributes(op), stated, {}, {});
      taken.insert(dtype);
    } catch (const Error&) {
    }
  }
  return taken;
}

// The operand whose dtype says what an op works on: not an index, a start or a counter.
Type main_type(const Graph& graph, const Node& node) {
  if (node.inputs.empty()) return node.types[0];
  if (is_control(node.op)) return node.types.back();
  const bool is_first = node.op == Op::dynamic_slice || node.op == Op::dynamic_update_slice ||
                        node.op == Op::gather || node.op == Op::qr_pivoted;
  return graph.type(is_first ? node.inputs.front() : node.inputs.back());
}

// How deep loops and branches lie in each other.
int depth(const Graph& graph) {
  int deepest = 0;
  for (const Node& node : graph.nodes()) {
    if (!is_control(node.op)) continue;
    for (const Graph& region : node.regions) deepest = std::max(deepest, 1 + depth(region));
  }
  return deepest;
}

struct Reached {
  std::map<Op, std::set<Dtype>> dtypes;  // of the main operand
  int deepest = 0;
  std::set<Device> devices;
  std::set<int> ranks;
  std::set<std::int64_t> sizes;
  std::size_t most_nodes = 0, most_outputs = 0;
  std::int64_t most_elements = 0;
  double known = 0, elements = 0;        // of the outputs
  std::set<std::string_view> equations;  // of the rules that applied
};

// What the rules of the passes make of it, those of fast math too.
void apply_rules(const Graph& graph, std::set<std::string_view>& equations) {
  const std::vector<std::string> disabled = {"fuse"};
  PassContext context;
  context.applied = [&](std::string_view equation) { equations.insert(equation); };
  PassRun options;
  options.disabled = disabled;
  for (const bool fast_math : {false, true}) {
    context.fast_math = fast_math;
    run_passes(default_pipeline(), graph, context, options);
  }
}

Reached reach() {
  Reached reached;
  for (std::uint64_t seed = 0; seed < random_graph_seeds; ++seed) {
    const GraphCase tested = random_graph(seed);
    const Graph& graph = tested.graph;
    apply_rules(graph, reached.equations);
    reached.deepest = std::max(reached.deepest, depth(graph));
    for (const auto& device : devices_of(tested)) {
      if (device) reached.devices.insert(*device);
    }
    reached.most_nodes = std::max(reached.most_nodes, graph.nodes().size());
    reached.most_outputs = std::max(reached.most_outputs, graph.outputs().size());
    for (const Node& node : graph.nodes()) {
      reached.dtypes[node.op].insert(main_type(graph, node).dtype);
      reached.ranks.insert(node.types[0].rank());
      reached.most_elements = std::max(reached.most_elements, node.types[0].size());
      for (std::int64_t size : node.types[0].shape) reached.sizes.insert(size);
    }
    for (const Bounded& output : interpret_bounded(graph, tested.inputs)) {
      auto bounds = output.bound.values<double>();
      reached.elements += static_cast<double>(bounds.size());
      reached.known += static_cast<double>(
          std::ranges::count_if(bounds, [](double bound) { return bound < unknown; }));
    }
  }
  return reached;
}

TEST(RandomGraph, ReachesEveryOpDtypeRankAndSize) {
  const Reached reached = reach();
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const Op op = static_cast<Op>(i);
    if (op == Op::fusion) continue;  // made by passes alone
    ASSERT_TRUE(reached.dtypes.contains(op)) << name(op);
    for (Dtype dtype : dtypes_taken(op)) {
      EXPECT_TRUE(reached.dtypes.at(op).contains(dtype)) << name(op) << " of " << name(dtype);
    }
  }
  EXPECT_EQ(reached.ranks, (std::set{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  for (std::int64_t size : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 127, 128, 129}) {
    EXPECT_TRUE(reached.sizes.contains(size)) << size;
  }
  EXPECT_EQ(reached.deepest, 3);
  EXPECT_EQ(reached.devices.size(), static_cast<std::size_t>(random_graph_devices));
  EXPECT_GE(reached.most_nodes, 200u);
  EXPECT_LE(reached.most_nodes, 300u);
  EXPECT_GE(reached.most_outputs, 10u);
  EXPECT_GT(reached.most_elements, 1'000'000);
  EXPECT_LE(reached.most_elements, 5'000'000);
  for (const RuleTable* table : {&canonicalize_rules(), &simplify_rules()}) {
    for (const Rule& rule : table->rules()) {
      EXPECT_TRUE(reached.equations.contains(rule.equation)) << rule.equation;
    }
  }
  EXPECT_GT(reached.known / reached.elements, 0.95);
}

TEST(RandomGraph, IsTheSameForTheSameSeed) {
  const GraphCase first = random_graph(7), second = random_graph(7);
  EXPECT_EQ(first.graph, second.graph);
  EXPECT_EQ(first.inputs, second.inputs);
  EXPECT_FALSE(first.graph == random_graph(8).graph);
}

}  // namespace
}  // namespace anabranch
