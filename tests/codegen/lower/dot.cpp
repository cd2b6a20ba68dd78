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

TEST(LowerDot, FewRowsTimesALargeMatrixAreSummedInChunks) {
  // 1031 is prime: the last chunk is shorter.
  expect_lowers_in_chunks(dot({f64, {1031}}, {f64, {1031, 132}}, {{}, {}, {0}, {0}}));
  expect_lowers_in_chunks(dot({f64, {3, 1024}}, {f64, {1024, 132}}, {{}, {}, {1}, {0}}));
  expect_lowers_in_chunks(dot({c128, {2099, 2}}, {c128, {2099, 72}}, {{}, {}, {0}, {0}}));
  expect_lowers_in_chunks(dot({f64, {1031, 132}}, {f64, {1031}}, {{}, {}, {0}, {0}}));
  expect_lowers_in_chunks(dot({f64, {4200, 33}}, {f64, {1, 4200}}, {{}, {}, {0}, {1}}));
}

TEST(LowerDot, ChunksOfBatchesAndSeveralContractions) {
  expect_lowers_in_chunks(dot({c128, {2, 3, 1031}}, {c128, {2, 1031, 136}}, {{0}, {0}, {2}, {1}}));
  expect_lowers_in_chunks(dot({f64, {8, 131}}, {f64, {131, 8, 132}}, {{}, {}, {0, 1}, {1, 0}}));
}

TEST(LowerDot, ChunksOfNarrowFloatsAreCarriedInF32) {
  const Graph graph = dot({f16, {1031}}, {f16, {1031, 520}}, {{}, {}, {0}, {0}});
  EXPECT_EQ(lower_region(graph, in_chunks).temporaries.at(0).dtype, f32);
  expect_lowers_in_chunks(graph);
}

TEST(LowerDot, ChunksWithAnEpilogue) {
  GraphBuilder b("dense");
  const Type result{f64, {2, 132}};
  Value x = b.parameter({f64, {2, 1031}}), w = b.parameter({f64, {1031, 132}}),
        bias = b.parameter({f64, {132}});
  Value y = b.add(Op::dot, {x, w}, DotAttributes{{}, {}, {1}, {0}});
  Value spread = b.add(Op::broadcast_in_dim, {bias}, AxesAttributes{{1}}, result);
  Value added = b.add(Op::add, {y, spread});
  expect_lowers_in_chunks(b.build({b.add(Op::abs, {added}), added}));
}

TEST(LowerDot, OtherDotsAreSummedWhole) {
  const auto kernels = [](Type lhs, Type rhs, DotAttributes attributes) {
    const Graph graph = dot(std::move(lhs), std::move(rhs), std::move(attributes));
    return lower_region(graph, in_chunks).calls.size();
  };
  const DotAttributes product{{}, {}, {1}, {0}};
  EXPECT_EQ(kernels({f64, {8, 1024}}, {f64, {1024, 128}}, product), 2u);
  EXPECT_EQ(kernels({f64, {9, 1024}}, {f64, {1024, 128}}, product), 1u);
  EXPECT_EQ(kernels({f64, {8, 1023}}, {f64, {1023, 128}}, product), 1u);  // small
  EXPECT_EQ(kernels({f64, {128, 1024}}, {f64, {1024, 1}}, product), 1u);  // along the sums
  EXPECT_EQ(kernels({f64, {8, 1024}}, {f64, {128, 1024}}, {{}, {}, {1}, {1}}), 1u);
  EXPECT_EQ(kernels({f64, {1024, 128}}, {f64, {1024, 2}}, {{}, {}, {0}, {0}}), 1u);
}

}  // namespace
}  // namespace anabranch::testing
