// Slices, pads and concatenations whose strides, edges and gaps are as large as numbers get: the
// passes and the lowering give what the interpreter gives. The asan preset looks for overflow.
#include <gtest/gtest.h>

#include <limits>

#include "anabranch/error.h"
#include "codegen/compile.h"
#include "ir/graph/builder.h"
#include "ir/plan_fusion.h"
#include "passes/pipeline.h"
#include "tests/support/check_lowering.h"

namespace anabranch {
namespace {

using Wide = __int128;
using Attribute = std::vector<std::int64_t>;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t large = std::int64_t{1} << 62;

class Chain {
 public:
  explicit Chain(unsigned seed) : random_(seed) {}

  Graph build() {
    const int rank = 1 + below(2);
    Attribute sizes;
    for (int axis = 0; axis < rank; ++axis) sizes.push_back(below(5));
    values_ = {builder_.parameter({f32, Shape(sizes)})};
    around_ = builder_.parameter({f32, {}});
    for (int i = 2 + below(4); i > 0; --i) add();
    return builder_.build({values_.back()});
  }

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  std::int64_t extreme() {
    const std::int64_t ends[] = {most,      most - 1,  large,
                                 large - 1, large / 2, std::int64_t{1} << 31};
    return ends[below(6)];
  }

  void add() {
    const Value x =
        values_[values_.size() - 1 - static_cast<std::size_t>(below(2)) % values_.size()];
    const Type type = builder_.type(x);
    try {
      const int op = below(8);
      if (op < 3) {
        values_.push_back(slice(x, type));
      } else if (op < 6) {
        values_.push_back(pad(x, type));
      } else if (op == 6) {
        values_.push_back(builder_.add(Op::concatenate, {x, values_[0]}, AxisAttributes{0}));
      } else {
        values_.push_back(builder_.add(Op::reverse, {x}, AxesAttributes{{0}}));
      }
    } catch (const Error&) {
      // infer has refused it
    }
  }

  Value slice(Value x, const Type& type) {
    SliceAttributes slice;
    for (std::int64_t size : type.shape) {
      slice.start.push_back(size == 0 ? 0 : below(static_cast<int>(size)));
      slice.limit.push_back(size - (below(3) == 0 ? 0 : below(2)));
      slice.stride.push_back(below(2) == 0 ? extreme() : 1 + below(3));
    }
    return builder_.add(Op::slice, {x}, slice);
  }

  // To a small size, by way of a large one on each axis or of none.
  Value pad(Value x, const Type& type) {
    PadAttributes pad;
    for (std::int64_t size : type.shape) {
      pad.interior.push_back(below(2) == 0 ? extreme() >> below(3) : below(3));
      const Wide apart = size + Wide{std::max<std::int64_t>(size - 1, 0)} * pad.interior.back();
      // What is kept begins at some element, or before the first, or behind the last.
      Wide low = below(3) - Wide{below(4)} * (Wide{pad.interior.back()} + 1);
      if (below(4) == 0) low = below(2) == 0 ? Wide{least} + below(3) : Wide{extreme()};
      const Wide high = 1 + below(6) - (apart + low);
      for (Wide edge : {low, high}) {
        if (edge < least || edge > most) throw Error("no such edge");
      }
      pad.low.push_back(static_cast<std::int64_t>(low));
      pad.high.push_back(static_cast<std::int64_t>(high));
    }
    return builder_.add(Op::pad, {x, around_}, pad);
  }

  std::mt19937 random_;
  GraphBuilder builder_;
  std::vector<Value> values_;
  Value around_;
};

TEST(ExtremePlaces, AreThoseOfTheInterpreter) {
  int lowered = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const Graph graph = Chain(seed).build();
    const std::vector<Literal> inputs = testing::small_inputs(graph, seed);
    const std::vector<Literal> wanted = interpret(graph, inputs);
    for (const Pass& pass : all_passes()) {
      PassContext context;
      const Graph after = run_passes({&pass, 1}, graph, context);
      EXPECT_EQ(interpret(after, inputs), wanted) << to_string(graph) << to_string(after);
    }
    if (graph.outputs()[0].node < graph.parameter_count()) continue;
    GraphBuilder computed("computed");  // so that there is something that a kernel does
    std::vector<Value> moved;
    for (const Node& node : graph.nodes()) {
      moved.push_back(node.op == Op::parameter ? computed.parameter(node.types[0])
                                               : computed.append(node));
    }
    const Value last = moved[graph.outputs()[0].node];
    const Graph region = computed.build({computed.add(Op::negate, {last})});
    if (!std::holds_alternative<FusionPlan>(plan_fusion(region))) continue;
    ++lowered;
    testing::expect_lowers(region);
    if (HasFatalFailure()) FAIL() << to_string(region);
  }
  EXPECT_GT(lowered, 700);
}

}  // namespace
}  // namespace anabranch
