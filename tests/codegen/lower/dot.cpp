#include <gtest/gtest.h>

#include "ir/graph/builder.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

Graph dot(Type lhs, Type rhs, DotAttributes attributes) {
  GraphBuilder b("dot");
  Value x = b.parameter(std::move(lhs)), y = b.parameter(std::move(rhs));
  return b.build({b.add(Op::dot, {x, y}, std::move(attributes))});
}

TEST(LowerDot, MatricesOfEverySize) {
  for (std::int64_t n : sizes) {
    if (n > 33) continue;
    for (std::int64_t m : {0, 1, 3, 8}) {
      expect_lowers(dot({f64, {m, n}}, {f64, {n, 5}}, {{}, {}, {1}, {0}}));
      expect_lowers(dot({f64, {n, m}}, {f64, {5, m}}, {{}, {}, {1}, {1}}));
      expect_lowers(dot({i32, {m, n}}, {i32, {m, 7}}, {{}, {}, {0}, {0}}));
    }
  }
}

TEST(LowerDot, BatchesAndSeveralContractions) {
  expect_lowers(dot({f32, {2, 3, 4, 5}}, {f32, {5, 2, 6, 4}}, {{0}, {1}, {2, 3}, {3, 0}}));
  expect_lowers(dot({u8, {3, 4}}, {u8, {3, 4}}, {{0}, {0}, {1}, {1}}));
  expect_lowers(dot({f32, {4}}, {f32, {4}}, {{}, {}, {0}, {0}}));
  expect_lowers(dot({f32, {4}}, {f32, {3}}, {{}, {}, {}, {}}));
}

TEST(LowerDot, NarrowFloatsAccumulateInF32) {
  expect_lowers(dot({f16, {5, 33}}, {f16, {33, 4}}, {{}, {}, {1}, {0}}));
  expect_lowers(dot({bf16, {5, 33}}, {bf16, {33, 4}}, {{}, {}, {1}, {0}}));
}

TEST(LowerDot, WithAnEpilogue) {
  GraphBuilder b("dense");
  Value x = b.parameter({f64, {6, 9}}), w = b.parameter({f64, {9, 7}}),
        bias = b.parameter({f64, {7}});
  Value y = b.add(Op::dot, {x, w}, DotAttributes{{}, {}, {1}, {0}});
  Value added = b.add(
      Op::add, {y, b.add(Op::broadcast_in_dim, {bias}, AxesAttributes{{1}}, Type{f64, {6, 7}})});
  expect_lowers(b.build({b.add(Op::tanh, {added}), added}));
}

TEST(LowerDot, ANodeOfItsOwn) {
  const Graph graph = dot({i64, {3, 4}}, {i64, {4, 5}}, {{}, {}, {1}, {0}});
  const Type operands[] = {graph.parameter_type(0), graph.parameter_type(1)};
  const std::vector<Literal> inputs = small_inputs(graph);
  const std::vector<Type> types = output_types(graph);
  EXPECT_EQ(run_lowered(lower(graph.node(2), operands, "dot"), inputs, types),
            interpret(graph, inputs));
}

}  // namespace
}  // namespace anabranch::testing
