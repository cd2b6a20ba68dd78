// Dots through oneDNN and OpenBLAS, with and without an epilogue, against the interpreter.
#include "codegen/cpu/dot/dot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <utility>

#include "anabranch/error.h"
#include "codegen/cpu/backend.h"
#include "codegen/cpu/dot/shape.h"
#include "codegen/cpu/kernel_time.h"
#include "ir/infer/infer.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "tests/codegen/cpu/kernel_sketch.h"

namespace anabranch::cpu {
namespace {

Literal small_integers(const Type& type, std::uint32_t seed) {
  std::mt19937 random(seed);
  return visit_dtype(type.dtype, [&]<class T>() {
    std::vector<std::byte> bytes(type.bytes());
    for (std::int64_t i = 0; i < type.size(); ++i) {
      T value = convert_scalar<T>(static_cast<double>(random() % 5) - 2);
      std::memcpy(&bytes[static_cast<std::size_t>(i) * sizeof(T)], &value, sizeof(T));
    }
    return Literal(type, std::move(bytes));
  });
}

struct Case {
  const char* name;
  Shape lhs, rhs;
  DotAttributes attributes;
};

// Sums of products of small integers are exact in any order, in every dtype.
const Case cases[] = {
    {"Matrices", {5, 7}, {7, 3}, {{}, {}, {1}, {0}}},
    {"TransposedLeft", {7, 5}, {7, 3}, {{}, {}, {0}, {0}}},
    {"TransposedRight", {5, 7}, {3, 7}, {{}, {}, {1}, {1}}},
    {"BothTransposed", {33, 129}, {31, 33}, {{}, {}, {0}, {1}}},
    {"SeveralTilesOfRows", {300, 17}, {17, 40}, {{}, {}, {1}, {0}}},
    {"PackedRight", {520, 64}, {64, 1024}, {{}, {}, {1}, {0}}},
    {"SharedTransposedRight", {520, 256}, {256, 256}, {{}, {}, {1}, {1}}},
    {"SeveralTilesOfColumns", {4, 17}, {17, 1300}, {{}, {}, {1}, {0}}},
    {"RowVectorTimesMatrix", {64}, {64, 129}, {{}, {}, {0}, {0}}},
    {"MatrixTimesVector", {129, 64}, {64}, {{}, {}, {1}, {0}}},
    {"VectorTimesVector", {100}, {100}, {{}, {}, {0}, {0}}},
    {"OuterProduct", {31}, {33}, {{}, {}, {}, {}}},
    {"ScalarTimesScalar", {}, {}, {{}, {}, {}, {}}},
    {"OneElementInner", {9, 1}, {1, 8}, {{}, {}, {1}, {0}}},
    {"Batches", {6, 5, 7}, {6, 7, 3}, {{0}, {0}, {2}, {1}}},
    {"ManySmallBatches", {200, 3, 4}, {200, 4, 2}, {{0}, {0}, {2}, {1}}},
    {"TwoBatchAxes", {2, 3, 4, 5}, {2, 3, 5, 6}, {{0, 1}, {0, 1}, {3}, {2}}},
    {"BatchInTheMiddle", {4, 3, 5}, {5, 3, 6}, {{1}, {1}, {2}, {0}}},
    {"BatchLast", {4, 5, 3}, {5, 6, 3}, {{2}, {2}, {1}, {0}}},
    {"SwappedBatchAxes", {2, 3, 4, 5}, {3, 2, 5, 6}, {{0, 1}, {1, 0}, {3}, {2}}},
    {"TwoContractingAxes", {3, 4, 5}, {4, 5, 6}, {{}, {}, {1, 2}, {0, 1}}},
    {"ContractingAxesApart", {4, 3, 5}, {5, 6, 4}, {{}, {}, {0, 2}, {2, 0}}},
    {"FreeAxesApart", {3, 4, 5}, {4, 2}, {{}, {}, {1}, {0}}},
    {"NoRows", {0, 7}, {7, 3}, {{}, {}, {1}, {0}}},
    {"NoColumns", {5, 7}, {7, 0}, {{}, {}, {1}, {0}}},
    {"NothingToSum", {5, 0}, {0, 3}, {{}, {}, {1}, {0}}},
    {"NoBatches", {0, 5, 7}, {0, 7, 3}, {{0}, {0}, {2}, {1}}},
};

/// A dot as the backend plans it: with its right operand packed before where that pays.
struct PlannedDot {
  DotStep dot;
  std::size_t packed_bytes = 0;

  explicit PlannedDot(DotStep given, std::span<const Kernel> kernels = {}) {
    Program program;
    for (const Type& type : {given.lhs, given.rhs, given.result}) {
      program.slots.emplace_back().type = type;
    }
    Step& step = program.steps.emplace_back();
    step.work = std::move(given);
    step.buffers = {0, 1, 2};
    step.writes = {2};
    backend().add_steps(program, 0, kernels);
    dot = std::get<DotStep>(program.steps.back().work);
    if (dot.packed) packed_bytes = program.slots.back().type.bytes();
  }
};

template <class Run>
void run(const PlannedDot& planned, const DotTasks& tasks, std::vector<void*> pointers,
         Run run_task) {
  ASSERT_EQ(tasks.pack.has_value(), planned.dot.packed.has_value());
  Memory room(planned.packed_bytes);
  if (tasks.pack) {
    void*& operand = pointers[*planned.dot.packed];
    void* packing[] = {operand, room.data()};
    run_task(*tasks.pack, packing);
    operand = room.data();
  }
  run_task(tasks.dot, pointers.data());
  EXPECT_TRUE(room.is_intact());
}

// Runs every iteration in a call of its own, the last one first.
void run_singly(const PlannedDot& planned, const DotTasks& tasks, std::vector<void*> pointers) {
  run(planned, tasks, std::move(pointers), [](const HostTask& task, void* const* buffers) {
    for (std::int64_t i = task.extent; i-- > 0;) {
      task.function(task.context.get(), buffers, i, i + 1);
    }
  });
}

void run_at_once(const PlannedDot& planned, const DotTasks& tasks, std::vector<void*> pointers) {
  run(planned, tasks, std::move(pointers), [](const HostTask& task, void* const* buffers) {
    task.function(task.context.get(), buffers, 0, task.extent);
  });
}

Literal product_of(const DotStep& dot, const Literal& lhs, const Literal& rhs) {
  Node node;
  node.op = Op::dot;
  node.types = {dot.result};
  node.attributes = dot.attributes;
  return interpret(node, std::vector{lhs, rhs})[0];
}

class DotTest : public testing::TestWithParam<std::tuple<std::size_t, Dtype>> {
 protected:
  const Case& shape() const { return cases[std::get<0>(GetParam())]; }
  Dtype dtype() const { return std::get<1>(GetParam()); }
  Literal lhs() const { return small_integers({dtype(), shape().lhs}, 1); }
  Literal rhs() const { return small_integers({dtype(), shape().rhs}, 2); }
  Type result_type() const {
    const Type types[] = {{dtype(), shape().lhs}, {dtype(), shape().rhs}};
    return infer(Op::dot, types, shape().attributes, std::nullopt, {}, {})[0];
  }
  DotStep dot() const {
    return {.lhs = {dtype(), shape().lhs},
            .rhs = {dtype(), shape().rhs},
            .result = result_type(),
            .attributes = shape().attributes};
  }
  Literal expected() const { return product_of(dot(), lhs(), rhs()); }
};

TEST_P(DotTest, EqualsTheInterpreter) {
  const Type type = result_type();
  const bool is_summed = dot_shape(lhs().type(), rhs().type(), shape().attributes).inner > 1;
  ASSERT_EQ(has_library_dot(lhs().type(), rhs().type(), shape().attributes),
            is_summed || dtype() != bf16);
  const PlannedDot planned(dot());
  const DotTasks tasks = make_dot(planned.dot);
  Memory left(lhs()), right(rhs()), out(type.bytes());
  run_singly(planned, tasks, {left.data(), right.data(), out.data()});
  EXPECT_TRUE(out.is_intact());
  const Literal product = expected();
  EXPECT_EQ(out.literal(type), product);

  Memory whole(type.bytes());
  run_at_once(planned, tasks, {left.data(), right.data(), whole.data()});
  EXPECT_EQ(whole.literal(type), product);
}

// sum = dot + bias; twice = sum + sum
Kernel epilogue_kernel(Dtype dtype, std::int64_t size) {
  KernelSketch sketch("epilogue");
  auto dot = sketch.buffer(Access::read, dtype, size);
  auto bias = sketch.buffer(Access::read, dtype, size);
  auto sum = sketch.buffer(Access::write, dtype, size);
  auto twice = sketch.buffer(Access::write, dtype, size);
  Index i = sketch.open(range(size, 16, 2));
  Ref x = sketch.add(sketch.load(dot, i), sketch.load(bias, i));
  sketch.store(sum, i, x);
  sketch.store(twice, i, sketch.add(x, x));
  sketch.close();
  return sketch.kernel();
}

TEST_P(DotTest, RunsItsEpilogue) {
  const Type type = result_type();
  if (type.size() == 0) return;
  const Kernel kernel = epilogue_kernel(dtype(), type.size());
  Code code = compile_legalised(std::span(&kernel, 1));
  for (bool in_place : {false, true}) {
    DotStep with_epilogue = dot();
    with_epilogue.epilogue = {.kernel = 0, .inputs = 1, .outputs = 2, .in_place = in_place};
    const HostTask epilogue{code.functions[0], code.keep_alive, type.size(), 1};
    const PlannedDot planned(with_epilogue, {&kernel, 1});
    const DotTasks tasks = make_dot(planned.dot, epilogue);
    Literal bias = small_integers(type, 3);
    Memory left(lhs()), right(rhs()), more(bias), sum(type.bytes()), twice(type.bytes());
    run_singly(planned, tasks, {left.data(), right.data(), more.data(), sum.data(), twice.data()});
    Node add;
    add.op = Op::add;
    add.types = {type};
    Literal expected_sum = interpret(add, std::vector{expected(), bias})[0];
    EXPECT_EQ(sum.literal(type), expected_sum) << "in place: " << in_place;
    EXPECT_EQ(twice.literal(type), interpret(add, std::vector{expected_sum, expected_sum})[0]);
    EXPECT_TRUE(sum.is_intact() && twice.is_intact());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, DotTest,
                         testing::Combine(testing::Range<std::size_t>(0, std::size(cases)),
                                          testing::Values(f32, bf16, f16, f64)),
                         [](const auto& info) {
                           return std::string(cases[std::get<0>(info.param)].name) + "_" +
                                  std::string(name(std::get<1>(info.param)));
                         });

// Of an array with itself: half of it is computed, in tiles of rows, the last of which is smaller.
TEST(MakeDot, HalfOfASymmetricProductIsEnough) {
  const std::pair<Shape, DotAttributes> forms[] = {
      {{256, 64}, {{}, {}, {1}, {1}}},         {{100, 300}, {{}, {}, {0}, {0}}},
      {{2, 257, 65}, {{0}, {0}, {2}, {2}}},    {{70, 3, 385}, {{1}, {1}, {0}, {0}}},
      {{8, 511, 9}, {{}, {}, {0, 2}, {0, 2}}},
  };
  for (const auto& [shape, attributes] : forms) {
    const Type type{f64, shape};
    DotStep dot{.lhs = type, .rhs = type, .result = {}, .attributes = attributes};
    dot.result = infer(Op::dot, {{type, type}}, attributes, std::nullopt, {}, {})[0];
    ASSERT_TRUE(is_half_enough(dot)) << to_string(type);
    dot.is_symmetric = true;
    const PlannedDot planned(dot);
    const DotTasks tasks = make_dot(planned.dot);
    EXPECT_GT(tasks.dot.extent, 1);
    const Literal array = small_integers(type, 5), product = product_of(dot, array, array);
    for (const auto run : {run_singly, run_at_once}) {
      Memory operand(array), out(dot.result.bytes());
      run(planned, tasks, {operand.data(), operand.data(), out.data()});
      EXPECT_EQ(out.literal(dot.result), product) << to_string(type);
      EXPECT_TRUE(out.is_intact());
    }
  }
  const Type type{f64, Shape{256, 256}};
  EXPECT_FALSE(is_half_enough({type, type, type, {{}, {}, {1}, {0}}}));  // x x
}

DotStep product_of_matrices(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  return {.lhs = {f32, Shape{rows, inner}},
          .rhs = {f32, Shape{inner, columns}},
          .result = {f32, Shape{rows, columns}},
          .attributes = {{}, {}, {1}, {0}}};
}

TEST(MakeDot, SharesTheRightOperandAmongManyRows) {
  const auto shares = [](std::int64_t rows, std::int64_t columns, std::int64_t inner = 256) {
    const PlannedDot planned(product_of_matrices(rows, inner, columns));
    return make_dot(planned.dot).pack.has_value();
  };
  // oneDNN has a layout of its own for it on AVX-512 alone.
  const bool has_layout = __builtin_cpu_supports("avx512f") != 0;
  EXPECT_EQ(shares(1024, 512), has_layout);
  EXPECT_EQ(shares(384, 512), has_layout);
  EXPECT_FALSE(shares(383, 512));
  const std::int64_t uncached = (kept_bytes() / (4 * 4096) / 64 + 1) * 64;
  EXPECT_EQ(shares(96, 4096, uncached), has_layout);
  EXPECT_FALSE(shares(95, 4096, uncached));
  EXPECT_FALSE(shares(96, 4096, uncached - 64));
  EXPECT_EQ(shares(129, 2048), has_layout);
  EXPECT_FALSE(shares(128, 2048));
  EXPECT_FALSE(shares(1024, 10));
  EXPECT_FALSE(shares(1024, 515));  // its layout would be padded
}

// The last tile has fewer rows.
TEST(MakeDot, SharesTheRightOperandAmongTilesOfFewRows) {
  const DotStep dot = product_of_matrices(390, 256, 256);
  const PlannedDot planned(dot);
  const DotTasks tasks = make_dot(planned.dot);
  const Literal lhs = small_integers(dot.lhs, 5), rhs = small_integers(dot.rhs, 6);
  const Literal product = product_of(dot, lhs, rhs);
  for (const auto run : {run_singly, run_at_once}) {
    Memory left(lhs), right(rhs), out(dot.result.bytes());
    run(planned, tasks, {left.data(), right.data(), out.data()});
    EXPECT_EQ(out.literal(dot.result), product);
    EXPECT_TRUE(out.is_intact());
  }
}

TEST(MakeDot, RefusesAPackedOperandThatTheLibraryReadsAsItIs) {
  DotStep dot{.lhs = {f32, Shape{64, 256}},
              .rhs = {f32, Shape{256, 512}},
              .result = {f32, Shape{64, 512}},
              .attributes = {{}, {}, {1}, {0}},
              .packed = 1};
  EXPECT_THROW(make_dot(dot), InternalError);
}

TEST(HasLibraryDot, IsForFloats) {
  for (Dtype dtype : {bool_, i32, u8, c64}) {
    Type type{dtype, Shape{2, 2}};
    EXPECT_FALSE(has_library_dot(type, type, {{}, {}, {1}, {0}})) << name(dtype);
  }
}

TEST(HasLibraryDot, IsNotForSingleProductsOfBfloats) {
  const auto has = [](Dtype dtype, std::int64_t inner) {
    return has_library_dot({dtype, Shape{8, inner}}, {dtype, Shape{inner, 4}}, {{}, {}, {1}, {0}});
  };
  EXPECT_FALSE(has(bf16, 1));
  EXPECT_TRUE(has(bf16, 2) && has(f16, 1) && has(f32, 1));
}

TEST(LoopsAreFaster, ForVectorsAndSmallProducts) {
  const auto faster = [](Dtype dtype, std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    return loops_are_faster({dtype, Shape{rows, inner}}, {dtype, Shape{inner, columns}},
                            {{}, {}, {1}, {0}});
  };
  for (Dtype dtype : {f32, bf16, f16, f64}) {
    EXPECT_TRUE(faster(dtype, 4096, 4096, 1) && faster(dtype, 1, 4096, 4096)) << name(dtype);
    EXPECT_TRUE(faster(dtype, 16, 16, 16)) << name(dtype);
    EXPECT_EQ(faster(dtype, 512, 512, 512), dtype == f64 && product_tiles().rows > 0);
  }
  EXPECT_TRUE(faster(f64, 256, 256, 256));
  EXPECT_FALSE(faster(f32, 256, 256, 256));
}

TEST(LoopsAreFaster, InTiles) {
  const auto faster = [](Dtype dtype, std::int64_t rows, std::int64_t inner, std::int64_t columns,
                         bool is_transposed) {
    const Type right{dtype, is_transposed ? Shape{columns, inner} : Shape{inner, columns}};
    return loops_are_faster({dtype, Shape{rows, inner}}, right,
                            {{}, {}, {1}, {!is_transposed ? 0 : 1}});
  };
  const bool has_tiles = product_tiles().rows > 0;
  for (const bool is_transposed : {false, true}) {
    EXPECT_EQ(faster(f64, 1024, 1024, 1024, is_transposed), has_tiles);
    EXPECT_FALSE(faster(f64, 1024, 1 << 20, 1024, is_transposed));
    EXPECT_EQ(faster(f32, 128, 256, 256, is_transposed), has_tiles);
    EXPECT_FALSE(faster(f32, 79, 256, 256, is_transposed));
    EXPECT_FALSE(faster(f32, 193, 256, 256, is_transposed));
    EXPECT_FALSE(faster(f32, 128, 1024, 256, is_transposed));
    EXPECT_FALSE(faster(bf16, 128, 256, 256, is_transposed));
  }
}

TEST(LoopsAreFaster, ForFewRowsTimesALargeMatrix) {
  const auto faster = [](Dtype dtype, std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    return loops_are_faster({dtype, Shape{rows, inner}}, {dtype, Shape{inner, columns}},
                            {{}, {}, {1}, {0}});
  };
  EXPECT_TRUE(faster(f32, 8, 1 << 13, 1 << 12));
  EXPECT_FALSE(faster(f32, 9, 1 << 13, 1 << 12));
  EXPECT_FALSE(faster(f32, 8, 1 << 12, 1 << 12));
  EXPECT_FALSE(faster(bf16, 8, 1 << 13, 1 << 12));
  EXPECT_TRUE(faster(f64, 8, 1 << 11, 1 << 11));
  EXPECT_FALSE(faster(f64, 9, 1 << 11, 1 << 11));
  EXPECT_TRUE(faster(f64, 9, 1 << 10, 1 << 11));
  // Along the sums.
  const Type rows{f32, Shape{8, 1 << 13}}, matrix{f32, Shape{1 << 12, 1 << 13}};
  EXPECT_FALSE(loops_are_faster(rows, matrix, {{}, {}, {1}, {1}}));
}

}  // namespace
}  // namespace anabranch::cpu
