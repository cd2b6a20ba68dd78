// What compiling does is proportional to the graph, for shapes of graphs that tempt it to do more:
// counted in LLVM instructions, instructions of kernels and nodes of planned groups, never in time.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "codegen/compile.h"
#include "ir/graph/builder.h"
#include "tests/support/graph_families.h"

namespace anabranch {
namespace {

using namespace families;

using Maker = std::function<Graph(int)>;

struct Family {
  const char* name;
  Maker make;
  int size;
  double llvm_per_node = 0, planned_per_node = 0;  // at most; none: growth alone counts
};

std::ostream& operator<<(std::ostream& out, const Family& family) { return out << family.name; }

std::size_t kernel_instructions(const Compilation& compilation) {
  std::size_t sum = 0;
  for (const Kernel& kernel : compilation.program().kernels) sum += kernel.instructions.size();
  return sum;
}

class CompileWork : public testing::TestWithParam<Family> {};

// At two cores' worth of load, LLVM takes some 25 microseconds an instruction.
TEST_P(CompileWork, IsLinearInNodes) {
  const auto& [name, make, size, llvm_per_node, planned_per_node] = GetParam();
  const Graph small = make(size), large = make(2 * size);
  const Compilation one = compile(small), two = compile(large);
  const auto nodes = static_cast<double>(large.nodes().size());
  EXPECT_LE(static_cast<double>(two.code().instructions), llvm_per_node * nodes);
  EXPECT_LE(static_cast<double>(two.planned_members), planned_per_node * nodes);
  EXPECT_LE(kernel_instructions(two), 45 * large.nodes().size());
  EXPECT_LE(two.code().instructions, one.code().instructions * 5 / 2 + 200);
  EXPECT_LE(two.planned_members, one.planned_members * 3 + 200);
  EXPECT_LE(kernel_instructions(two), kernel_instructions(one) * 5 / 2 + 200);
}

INSTANTIATE_TEST_SUITE_P(
    Family, CompileWork,
    testing::Values(Family{"joined_with_itself", joined_with_itself, 9, 400, 100},
                    Family{"sines", [](int n) { return unary_chain(Op::sine, n); }, 400, 30, 1000},
                    Family{"tanhs", [](int n) { return unary_chain(Op::tanh, n); }, 400, 30, 1000},
                    Family{"slices_of_one", slices_of_one, 300, 40, 1000},
                    Family{"parameters_in_one", parameters_in_one, 1500, 40, 100},
                    Family{"dots", dots, 50, 40, 100},
                    Family{"small_reductions", small_reductions, 50, 40, 100},
                    Family{"arithmetic", arithmetic, 1200, 10, 1500},
                    Family{"ladder", ladder, 300, 40, 1000}),
    [](const auto& info) { return info.param.name; });

TEST(CompileWork, EqualKernelsAreCompiledOnce) {
  auto layers = [](int count) {
    GraphBuilder builder("layers");
    Value x = builder.parameter({f32, Shape{4, 16}});
    for (int i = 0; i < count; ++i) {
      const Value sum = builder.add(Op::reduce_max, {x}, AxesAttributes{{i % 2}});
      const Value all = builder.add(Op::broadcast_in_dim, {sum}, AxesAttributes{{1 - i % 2}},
                                    Type{f32, Shape{4, 16}});
      x = builder.add(Op::tanh, {builder.add(Op::add, {x, all})});
    }
    return builder.build({x});
  };
  const Compilation two = compile(layers(2)), many = compile(layers(40));
  EXPECT_EQ(many.program().kernels.size(), 20 * two.program().kernels.size());
  EXPECT_EQ(many.code().bytes, two.code().bytes);
  EXPECT_EQ(many.code().instructions, two.code().instructions);
}

TEST(CompileWork, EqualDotsShareTheirPrimitives) {
  auto product_of = [](const Compilation& compilation) {
    std::set<const void*> contexts;
    for (StepId id = 0; id < compilation.program().steps.size(); ++id) {
      if (!std::holds_alternative<DotStep>(compilation.program().steps[id].work)) continue;
      contexts.insert(compilation.code().steps[id].host_task()->context.get());
    }
    return contexts.size();
  };
  GraphBuilder builder("dots");
  Value x = builder.parameter({f32, Shape{32, 32}});
  std::vector<Value> weights;
  for (int i = 0; i < 20; ++i) weights.push_back(builder.parameter({f32, Shape{32, 32}}));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    x = builder.add(Op::dot, {x, weights[i]}, DotAttributes{{}, {}, {1}, {0}});
    if (i % 4 == 1) x = builder.add(Op::tanh, {x});
    if (i % 4 == 3) x = builder.add(Op::negate, {x});
  }
  EXPECT_EQ(product_of(compile(builder.build({x}))), 3u);  // bare, with tanh, with negate
}

}  // namespace
}  // namespace anabranch
