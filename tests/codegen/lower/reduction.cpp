#include <gtest/gtest.h>

#include <array>

#include "ir/graph/builder.h"
#include "ir/plan_fusion.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

constexpr Op simple_reductions[] = {Op::reduce_sum, Op::reduce_product, Op::reduce_max,
                                    Op::reduce_min};

Value reduce(GraphBuilder& b, Op op, Value x, std::vector<std::int64_t> axes) {
  return b.add(op, {x}, AxesAttributes{std::move(axes)});
}

Value spread(GraphBuilder& b, Value x, std::vector<std::int64_t> axes, const Shape& shape) {
  const Dtype dtype = b.type(x).dtype;
  return b.add(Op::broadcast_in_dim, {x}, AxesAttributes{std::move(axes)}, Type{dtype, shape});
}

TEST(LowerReduction, RowsAndColumnsOfEverySize) {
  for (std::int64_t n : sizes) {
    for (std::int64_t axis : {0, 1}) {
      GraphBuilder b("reduces");
      Value x = b.parameter({f32, {n, 9}});
      std::vector<Value> outputs;
      for (Op op : {Op::reduce_sum, Op::reduce_max, Op::reduce_min}) {
        outputs.push_back(reduce(b, op, x, {axis}));
      }
      expect_lowers(b.build(outputs));
    }
  }
}

TEST(LowerReduction, EveryOpAndDtype) {
  for (int dtype = 1; dtype < dtype_count; ++dtype) {
    if (is_complex(static_cast<Dtype>(dtype))) continue;
    for (std::int64_t n : {0, 1, 3, 9}) {
      for (Op op : simple_reductions) {
        GraphBuilder b("reduces");
        Value x = b.parameter({static_cast<Dtype>(dtype), {3, n}});
        expect_lowers(b.build({reduce(b, op, x, {1})}), 1e-2);
      }
    }
  }
}

TEST(LowerReduction, AnyAndAll) {
  for (std::int64_t n : sizes) {
    for (Op op : {Op::reduce_any, Op::reduce_all}) {
      GraphBuilder b("logic");
      Value x = b.parameter({bool_, {2, n}});
      expect_lowers(b.build({reduce(b, op, x, {1})}));
    }
  }
}

TEST(LowerReduction, AxesInEveryPosition) {
  const std::vector<std::vector<std::int64_t>> choices = {{0},    {1},    {2},      {0, 1},
                                                          {0, 2}, {1, 2}, {0, 1, 2}};
  for (const auto& axes : choices) {
    GraphBuilder b("axes");
    Value x = b.parameter({f32, {3, 8, 7}}), y = b.parameter({f32, {7}});
    Value product = b.add(Op::multiply, {x, spread(b, y, {2}, {3, 8, 7})});
    expect_lowers(b.build({reduce(b, Op::reduce_sum, product, axes)}));
  }
}

TEST(LowerReduction, ArgmaxTakesTheFirst) {
  for (std::int64_t n : {1, 2, 3, 9, 33}) {
    for (Op op : {Op::argmax, Op::argmin}) {
      for (std::int64_t axis : {0, 1}) {
        for (Dtype position : {i32, i64}) {
          GraphBuilder b("arg");
          Value x = b.parameter({f32, {n, 33}});
          Type type{position, axis == 0 ? Shape{33} : Shape{n}};
          expect_lowers(b.build({b.add(op, {x}, AxisAttributes{axis}, type)}));
        }
      }
    }
  }
}

TEST(LowerReduction, ArgmaxOfInfinitiesAndNan) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (std::vector<float> values :
       {std::vector<float>{-inf, -inf, -inf}, std::vector<float>{1, nan, nan},
        std::vector<float>{inf, inf, 1}}) {
    GraphBuilder b("arg");
    Value x = b.parameter({f32, {3}});
    const Graph region = b.build({b.add(Op::argmax, {x}, AxisAttributes{0}, Type{i32, {}})});
    const Literal input = Literal::of(std::span<const float>(values), Shape{3});
    const std::vector<Type> types = output_types(region);
    EXPECT_EQ(run_lowered(lower_region(region), std::span(&input, 1), types),
              interpret(region, std::span(&input, 1)));
  }
}

// Reductions of few elements, written out where one over another axis reads them.
TEST(LowerReduction, OfReductionsOfFewElements) {
  for (Op inner : simple_reductions) {
    for (Op outer : {Op::reduce_sum, Op::reduce_max, Op::argmin}) {
      for (auto [rows, places, elements] :
           {std::array<std::int64_t, 3>{5, 3, 2}, {33, 20, 3}, {2, 70000, 4}, {0, 20, 3}}) {
        GraphBuilder b("reduces");
        const Shape shape{rows, places, elements};
        Value x = b.parameter({f32, {rows, elements}}), y = b.parameter({f32, {places, elements}});
        Value each =
            b.add(Op::subtract, {spread(b, x, {0, 2}, shape), spread(b, y, {1, 2}, shape)});
        Value few = reduce(b, inner, each, {2});
        Value all = outer == Op::argmin
                        ? b.add(outer, {few}, AxisAttributes{1}, Type{i64, Shape{rows}})
                        : reduce(b, outer, few, {1});
        const Graph graph = b.build({all});
        const FusionPlan plan = std::get<FusionPlan>(plan_fusion(graph));
        EXPECT_EQ(plan.domain, (Shape{rows, places}));
        expect_lowers(graph, 1e-4);
      }
    }
  }
}

// Twice in a row of three stages, and as a result of its own; of halves, which add up in f32.
TEST(LowerReduction, SoftmaxOfSumsOfFewElements) {
  for (Dtype dtype : {f32, bf16}) {
    GraphBuilder b("softmax");
    Value x = b.parameter({dtype, {9, 2, 17, 2}});
    const Shape shape{9, 17};
    Value scores = reduce(b, Op::reduce_sum, x, {1, 3});
    Value max = reduce(b, Op::reduce_max, scores, {1});
    Value exp = b.add(Op::exponential, {b.add(Op::subtract, {scores, spread(b, max, {0}, shape)})});
    Value sum = reduce(b, Op::reduce_sum, exp, {1});
    Value result = b.add(Op::divide, {exp, spread(b, sum, {0}, shape)});
    const Graph graph = b.build({result, scores, sum});
    EXPECT_EQ(std::get<FusionPlan>(plan_fusion(graph)).stages, 3);
    expect_lowers(graph, dtype == f32 ? 1e-5 : 2e-2);
  }
}

TEST(LowerReduction, GeneralBodiesRunInOrder) {
  GraphBuilder body("body");
  Value a = body.parameter({f32, {}}), i = body.parameter({i32, {}});
  Value c = body.parameter({f32, {}}), j = body.parameter({i32, {}});
  Value later = body.add(Op::compare, {c, a}, CompareAttributes{Comparison::ge});
  const Graph chosen =
      body.build({body.add(Op::select, {later, c, a}), body.add(Op::select, {later, j, i})});
  for (const auto& axes : std::vector<std::vector<std::int64_t>>{{0}, {1}, {0, 2}, {0, 1, 2}}) {
    GraphBuilder b("general");
    Value x = b.parameter({f32, {3, 4, 5}}), y = b.parameter({i32, {3, 4, 5}});
    Value lowest = b.constant(Literal::scalar(f32, -100)),
          none = b.constant(Literal::scalar(i32, -1));
    Value best =
        b.add(Op::reduce, {x, y, lowest, none}, AxesAttributes{axes}, std::nullopt, {chosen});
    expect_lowers(b.build({best, {best.node, 1}}));
  }
}

Graph softmax(std::int64_t rows, std::int64_t columns, std::int64_t axis, Dtype dtype = f32) {
  GraphBuilder b("softmax");
  const Shape shape{rows, columns};
  Value x = b.parameter({dtype, shape});
  Value max = spread(b, reduce(b, Op::reduce_max, x, {axis}), {1 - axis}, shape);
  Value exp = b.add(Op::exponential, {b.add(Op::subtract, {x, max})});
  Value sum = spread(b, reduce(b, Op::reduce_sum, exp, {axis}), {1 - axis}, shape);
  return b.build({b.add(Op::divide, {exp, sum})});
}

TEST(LowerReduction, SoftmaxOfEverySize) {
  for (std::int64_t n : sizes) {
    expect_lowers(softmax(3, n, 1), 1e-6);
    expect_lowers(softmax(n, 5, 1), 1e-6);
    expect_lowers(softmax(n, 17, 0), 1e-6);
  }
  expect_lowers(softmax(3, 33, 1, f16), 1e-2);
}

int count_op(const Kernel& kernel, Op op) {
  int count = 0;
  for (const Instruction& instruction : kernel.instructions) {
    auto* compute = std::get_if<Compute>(&instruction.operation);
    count += compute && compute->op == op;
  }
  return count;
}

TEST(LowerReduction, SoftmaxComputesEachExponentialOnce) {
  const Lowered lowered = lower_region(softmax(64, 128, 1));
  ASSERT_EQ(lowered.calls.size(), 1u);
  const Kernel& kernel = lowered.calls[0].kernel;
  EXPECT_EQ(count_op(kernel, Op::exponential), 1);
  EXPECT_EQ(kernel.buffers.back().access, Access::scratch);
  EXPECT_EQ(kernel.buffers.back().size, 128);
  // Rows too long for scratch, and rows that cross the lanes, compute it again.
  EXPECT_EQ(count_op(lower_region(softmax(2, 1 << 20, 1)).calls[0].kernel, Op::exponential), 2);
  EXPECT_EQ(count_op(lower_region(softmax(64, 128, 0)).calls[0].kernel, Op::exponential), 2);
}

TEST(LowerReduction, LayerNormKeepsOneKernelAndTwoKindsOfOutput) {
  for (std::int64_t n : {1, 3, 33}) {
    GraphBuilder b("norm");
    const Shape shape{n, 16};
    Value x = b.parameter({f32, shape}), scale = b.parameter({f32, {16}});
    Value sixteenth = b.constant(Literal::scalar(f32, 1.0 / 16));
    Value factor = spread(b, sixteenth, {}, {n});
    Value mean = b.add(Op::multiply, {reduce(b, Op::reduce_sum, x, {1}), factor});
    Value centred = b.add(Op::subtract, {x, spread(b, mean, {0}, shape)});
    Value squares = b.add(Op::multiply, {centred, centred});
    Value variance = b.add(Op::multiply, {reduce(b, Op::reduce_sum, squares, {1}), factor});
    Value inverse = b.add(Op::rsqrt, {variance});
    Value normal = b.add(Op::multiply, {centred, spread(b, inverse, {0}, shape)});
    Value scaled = b.add(Op::multiply, {normal, spread(b, scale, {1}, shape)});
    Value column = b.add(Op::reshape, {mean}, NoAttributes{}, Type{f32, {n, 1}});
    const Graph region = b.build({scaled, variance, column});
    EXPECT_EQ(lower_region(region).calls.size(), 1u);
    expect_lowers(region, 1e-5);
  }
}

TEST(LowerReduction, LongRowsWithFewResultsAreSplit) {
  // 65537 is prime: the last chunk is shorter.
  for (auto [rows, n] : {std::pair<std::int64_t, std::int64_t>{1, 1 << 16}, {2, 65537}}) {
    GraphBuilder b("long");
    Value x = b.parameter({f32, {rows, n}});
    Value sum = reduce(b, Op::reduce_sum, x, {1}), max = reduce(b, Op::reduce_max, x, {1});
    Value first = b.add(Op::argmax, {x}, AxisAttributes{1}, Type{i32, {rows}});
    const Graph region = b.build({b.add(Op::add, {sum, max}), first});
    const Lowered lowered = lower_region(region);
    ASSERT_EQ(lowered.calls.size(), 2u);
    EXPECT_EQ(lowered.temporaries.size(), 4u);
    expect_lowers(region);
  }
}

TEST(LowerReduction, LongColumnsWithFewResultsAreSplit) {
  GraphBuilder b("long");
  Value x = b.parameter({f16, {1 << 15, 3}});
  const Graph region = b.build({reduce(b, Op::reduce_sum, x, {0})});
  EXPECT_EQ(lower_region(region).calls.size(), 1u);
  GraphBuilder c("longer");
  Value y = c.parameter({f16, {1 << 16, 3}});
  const Graph longer = c.build({reduce(c, Op::reduce_sum, y, {0})});
  const Lowered lowered = lower_region(longer);
  ASSERT_EQ(lowered.calls.size(), 2u);
  EXPECT_EQ(lowered.temporaries[0].dtype, f32);
  expect_lowers(longer);
}

TEST(LowerReduction, SplitsAcrossSeveralReducedLoops) {
  GraphBuilder b("long");
  Value x = b.parameter({i32, {257, 2, 257}});
  const Graph region = b.build({reduce(b, Op::reduce_sum, x, {0, 2})});
  EXPECT_EQ(lower_region(region).calls.size(), 2u);
  expect_lowers(region);
}

TEST(LowerReduction, ColumnsOfALargeMatrixAreSummedInChunks) {
  // 1031 is prime: the last chunk is shorter.
  GraphBuilder b("columns");
  const Shape shape{1031, 132};
  Value x = b.parameter({f64, shape});
  // What is beyond the end of a chunk would add 1.
  Value more = b.add(Op::add, {x, spread(b, b.constant(Literal::scalar(f64, 1.0)), {}, shape)});
  Value sum = reduce(b, Op::reduce_sum, more, {0}), max = reduce(b, Op::reduce_max, x, {0});
  Value first = b.add(Op::argmax, {x}, AxisAttributes{0}, Type{i32, {132}});
  expect_lowers_in_chunks(b.build({b.add(Op::add, {sum, max}), first}), 4);

  GraphBuilder c("pixels");
  Value y = c.parameter({i64, {3, 31, 33, 132}});
  expect_lowers_in_chunks(c.build({reduce(c, Op::reduce_sum, y, {0, 1, 2})}));
}

TEST(LowerReduction, ChunksOfBatchesOfColumns) {
  GraphBuilder b("batches");
  Value x = b.parameter({f64, {2, 1024, 132}});
  expect_lowers_in_chunks(b.build({reduce(b, Op::reduce_sum, x, {1})}));
}

TEST(LowerReduction, OtherColumnsAreSummedWhole) {
  const auto kernels = [](const Shape& shape, std::vector<std::int64_t> axes) {
    GraphBuilder b("columns");
    Value x = b.parameter({f64, shape});
    const Graph region = b.build({reduce(b, Op::reduce_sum, x, std::move(axes))});
    return lower_region(region, in_chunks).calls.size();
  };
  EXPECT_EQ(kernels({1024, 128}, {0}), 2u);
  EXPECT_EQ(kernels({1023, 128}, {0}), 1u);  // small
  EXPECT_EQ(kernels({1024, 128}, {1}), 1u);
  EXPECT_EQ(kernels({1024, 128}, {}), 1u);
  EXPECT_EQ(kernels({0, 128}, {0}), 1u);
  EXPECT_EQ(lower_region(softmax(1 << 11, 1 << 10, 0), in_chunks).calls.size(), 1u);
}

TEST(LowerReduction, ColumnsThatUpdateAnArrayAreSummedWhole) {
  const Graph region = parse(R"(
graph rows(%0: f64[1024,128], %1: f64[4,128], %2: i64[]) {
  %3: f64[128] = reduce_sum %0 axes=[0]
  %4: f64[1,128] = reshape %3
  %5: i64[] = constant 0
  %6: f64[4,128] = dynamic_update_slice %1, %4, %2, %5
  return %6
})");
  EXPECT_EQ(lower_region(region, in_chunks).calls.size(), 1u);
}

}  // namespace
}  // namespace anabranch::testing
