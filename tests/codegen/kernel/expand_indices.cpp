#include "codegen/kernel/expand_indices.h"

#include <gtest/gtest.h>

#include "codegen/kernel/split_loops.h"
#include "ir/kernel/builder.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

/// The expanded kernel as one that can be verified, printed and run: what places an access is a
/// scalar, and a loop's index stands in its body.
Kernel as_kernel(const ExpandedKernel& expanded) {
  Kernel kernel = expanded.kernel;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Ref scalar = expanded[Ref{i}];
    if (!scalar) continue;
    const auto by_scalar = [&](Index& index) {
      const std::int64_t low = kernel.indices[index].low, high = kernel.indices[index].high;
      index = kernel.indices.scalar(scalar.index, low, high);
    };
    Operation& operation = kernel.instructions[i].operation;
    if (auto* load = std::get_if<Load>(&operation)) by_scalar(load->index);
    if (auto* store = std::get_if<Store>(&operation)) by_scalar(store->index);
    if (auto* loop = std::get_if<Loop>(&operation)) loop->body.insert(loop->body.begin(), scalar);
  }
  verify(kernel);
  return kernel;
}

std::string expanded_text(const Kernel& kernel) {
  verify(kernel);
  const std::string text = to_string(as_kernel(expand_indices(kernel)));
  return text.substr(text.find('\n') + 1);
}

std::uint32_t input(KernelBuilder& builder, std::int64_t size) {
  return builder.add_buffer({"in", f32, size, Access::read});
}
std::uint32_t output(KernelBuilder& builder, std::int64_t size) {
  return builder.add_buffer({"out", f32, size, Access::write});
}

TEST(ExpandIndices, DoesEqualArithmeticOnceAndOutsideWhereItCan) {
  KernelBuilder builder("once");
  const std::uint32_t in = input(builder, 6400), out = output(builder, 6400);
  IndexTable& table = builder.indices();
  const Index i = builder.index_of(builder.open_loop(64));
  const Index start = table.add(table.scale(i, 100), 50);
  for (int turn = 0; turn < 2; ++turn) {
    const Index place = table.add(start, builder.index_of(builder.open_loop(50)));
    builder.store(out, place, builder.load(in, place));
    builder.close_loop();
  }
  builder.close_loop();
  EXPECT_EQ(expanded_text(builder.take()), R"(  for i < 64 {
    %0: i64 = multiply %i, 100
    %1: i64 = add 50, %0
    for j < 50 {
      %2: i64 = add %1, %j
      %3: f32 = load in[%2]
      store out[%2] = %3
    }
    for j < 50 {
      %4: i64 = add %1, %j
      %5: f32 = load in[%4]
      store out[%4] = %5
    }
  }
}
)");
}

// The table says the inner loop's part first.
TEST(ExpandIndices, AddsUpFromTheOutsideInwards) {
  KernelBuilder builder("order");
  const std::uint32_t in = input(builder, 1000), out = output(builder, 1000);
  IndexTable& table = builder.indices();
  const Ref loops[] = {builder.open_loop(10), builder.open_loop(10), builder.open_loop(10)};
  const Index k = builder.index_of(loops[2]), j = builder.index_of(loops[1]),
              i = builder.index_of(loops[0]);
  const Index place = table.add(k, table.add(table.scale(j, 10), table.scale(i, 100)));
  builder.store(out, place, builder.load(in, place));
  for (int depth = 0; depth < 3; ++depth) builder.close_loop();
  EXPECT_EQ(expanded_text(builder.take()), R"(  for i < 10 {
    %0: i64 = multiply %i, 100
    for j < 10 {
      %1: i64 = multiply %j, 10
      %2: i64 = add %0, %1
      for k < 10 {
        %3: i64 = add %2, %k
        %4: f32 = load in[%3]
        store out[%3] = %4
      }
    }
  }
}
)");
}

TEST(ExpandIndices, WritesEveryKindOfPart) {
  KernelBuilder builder("parts");
  const std::uint32_t starts = builder.add_buffer({"starts", i32, 1, Access::read});
  const std::uint32_t in = input(builder, 4096), out = output(builder, 4096);
  IndexTable& table = builder.indices();
  const Index start = builder.clamped(builder.load(starts, table.constant(0)), 9);
  const Index i = builder.index_of(builder.open_loop(8));
  const Index j = builder.index_of(builder.open_loop(30));
  const Index edge = table.least(table.add(table.scale(i, -1), 5), 3);
  const Index place = table.add(table.remainder(table.add(i, j), 7),
                                table.scale(table.divide(table.add(i, j), 7), 49));
  Ref value = builder.load(in, table.add(table.add(edge, 10), start));
  value = builder.compute(Op::add, f32, {value, builder.load(in, table.add(j, start))});
  builder.store(out, place, value);
  builder.close_loop();
  builder.close_loop();
  EXPECT_EQ(expanded_text(builder.take()), R"(  %0: i32 = load starts[0]
  %1: i64 = convert %0
  %2: i64 = clamp 0, %1, 9
  %3: i64 = add 10, %2
  for i < 8 {
    %4: i64 = multiply %i, -1
    %5: i64 = add 5, %4
    %6: i64 = minimum %5, 3
    %7: i64 = add %3, %6
    %8: f32 = load in[%7]
    for j < 30 {
      %9: i64 = add %2, %j
      %10: f32 = load in[%9]
      %11: f32 = add %8, %10
      %12: i64 = add %i, %j
      %13: i64 = divide %12, 7
      %14: i64 = remainder %12, 7
      %15: i64 = multiply %13, 49
      %16: i64 = add %15, %14
      store out[%16] = %11
    }
  }
}
)");
}

TEST(ExpandIndices, GivesValuesOfIndicesTheSameArithmetic) {
  KernelBuilder builder("values");
  const std::uint32_t in = builder.add_buffer({"in", i64, 100, Access::read});
  const std::uint32_t out = builder.add_buffer({"out", i64, 100, Access::write});
  IndexTable& table = builder.indices();
  const Index i = builder.index_of(builder.open_loop(10));
  const Index j = builder.index_of(builder.open_loop(10));
  const Index place = table.add(table.scale(i, 10), j);
  const Ref inside = builder.compute(
      Op::compare, bool_, {builder.scalar(place), builder.constant(i64, 50)}, Comparison::lt);
  const Ref sum =
      builder.compute(Op::add, i64, {builder.load(in, place, inside), builder.scalar(j)});
  builder.store(out, place, sum);
  builder.close_loop();
  builder.close_loop();
  EXPECT_EQ(expanded_text(builder.take()), R"(  for i < 10 {
    %0: i64 = multiply %i, 10
    for j < 10 {
      %1: i64 = add %0, %j
      %2: bool = compare %1, 50 direction=lt
      %3: i64 = load in[%1] if %2
      %4: i64 = add %3, %j
      store out[%1] = %4
    }
  }
}
)");
}

void expect_no_values(const Kernel& kernel, const Block& block) {
  for (Ref ref : block) {
    const Operation& operation = kernel[ref].operation;
    EXPECT_FALSE(std::holds_alternative<IndexValue>(operation)) << to_string(kernel);
    const auto* loop = std::get_if<Loop>(&operation);
    if (loop) expect_no_values(kernel, loop->body);
  }
}

void expect_same_numbers(const Kernel& kernel, const ExpandedKernel& expanded) {
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction &old = kernel.instructions[i], &now = expanded.kernel.instructions[i];
    ASSERT_EQ(now.operation.index(), old.operation.index()) << to_string(kernel);
    EXPECT_EQ(now.dtype, old.dtype);
    const bool has_scalar = std::holds_alternative<Load>(old.operation) ||
                            std::holds_alternative<Store>(old.operation) ||
                            std::holds_alternative<Loop>(old.operation);
    EXPECT_EQ(static_cast<bool>(expanded[Ref{i}]), has_scalar) << to_string(kernel);
  }
}

/// Expanded, lowered as it is, tiled or split, `region` gives what the interpreter gives.
void expect_expands(const Graph& region, double tolerance = 0) {
  const std::vector<Literal> inputs = small_inputs(region);
  const std::vector<Literal> wanted = interpret(region, inputs);
  Lowered lowered = lower_region(region);
  for (const std::string_view step : {"lowered", "tiled", "split"}) {
    Lowered made = lowered;
    std::string where = to_string(region);
    for (std::size_t i = 0; i < made.calls.size(); ++i) {
      Kernel& kernel = lowered.calls[i].kernel;
      if (step == "tiled") kernel = tile(std::move(kernel), {});
      if (step == "split") kernel = split_loops(kernel);
      const ExpandedKernel expanded = expand_indices(kernel);
      expect_no_values(expanded.kernel, expanded.kernel.body);
      expect_same_numbers(kernel, expanded);
      made.calls[i].kernel = as_kernel(expanded);
      where += to_string(made.calls[i].kernel);
    }
    const std::vector<Literal> got = run_lowered(made, inputs, output_types(region));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      expect_equal(got[i], wanted[i], tolerance, where);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ExpandIndices, GivesWhatTheInterpreterGives) {
  expect_expands(parse(R"(
graph moved(%0: f32[6,35], %1: f32[], %2: i32[]) {
  %3: f32[5,42] = reshape %0
  %4: f32[42,5] = transpose %3 axes=[1,0]
  %5: f32[45,9] = pad %4, %1 low=[1,2] high=[2,2] interior=[0,0]
  %6: f32[45,9] = reverse %5 axes=[0]
  %7: i32[] = constant 2
  %8: f32[20,4] = dynamic_slice %6, %2, %7 sizes=[20,4]
  %9: f32[10,8] = reshape %8
  %10: f32[10,8] = negate %9
  %11: f32[20,8] = concatenate %9, %10 axis=0
  return %11
})"));
  expect_expands(parse(R"(
graph softmax(%0: f32[9,70]) {
  %1: f32[9] = reduce_max %0 axes=[1]
  %2: f32[9,70] = broadcast_in_dim %1 axes=[0]
  %3: f32[9,70] = subtract %0, %2
  %4: f32[9,70] = exponential %3
  %5: f32[9] = reduce_sum %4 axes=[1]
  %6: f32[9,70] = broadcast_in_dim %5 axes=[0]
  %7: f32[9,70] = divide %4, %6
  %8: i64[9] = argmax %0 axis=1
  return %7, %8
})"),
                 1e-6);
  // Loops in pieces, and indices that are asked for
  expect_expands(parse(R"(
graph seams(%0: f32[300], %1: f32[]) {
  %2: f32[302] = pad %0, %1 low=[1] high=[1] interior=[0]
  %3: f32[300] = slice %2 start=[0] limit=[300] stride=[1]
  %4: f32[300] = iota axis=0
  %5: f32[300] = add %3, %4
  %6: f32[600] = concatenate %5, %0 axis=0
  return %6
})"));
  expect_expands(parse(R"(
graph rows(%0: i32[7,11]) {
  %1: i32[] = constant 7
  %2: i32[7] = reduce %0, %1 axes=[1] graph(%0: i32[], %1: i32[]) {
    %2: i32[] = constant 3
    %3: i32[] = multiply %0, %2
    %4: i32[] = add %3, %1
    return %4
  }
  return %2
})"));
}

}  // namespace
}  // namespace anabranch::testing
