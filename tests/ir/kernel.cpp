#include "ir/kernel.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/error.h"

namespace anabranch {
namespace {

// Writes kernels by hand, as the lowering does by machine.
struct Writer {
  Kernel kernel;

  Ref make(Operation operation, Dtype dtype = Dtype::i64) {
    kernel.instructions.push_back({std::move(operation), dtype, {}});
    return Ref{static_cast<std::uint32_t>(kernel.instructions.size() - 1)};
  }
  Ref in(Block& block, Operation operation, Dtype dtype = Dtype::i64) {
    Ref ref = make(std::move(operation), dtype);
    block.push_back(ref);
    return ref;
  }
  Ref integer(Block& block, std::int64_t value) {
    return in(block, ConstantInstruction{static_cast<std::uint64_t>(value)});
  }
  Ref number(Block& block, float value) {
    return in(block, ConstantInstruction{std::bit_cast<std::uint32_t>(value)}, Dtype::f32);
  }
  Ref compute(Block& block, Op op, std::vector<Ref> operands, Dtype dtype = Dtype::i64) {
    return in(block, Compute{op, std::move(operands)}, dtype);
  }
};

// Row maxima and x - maximum, over 64 rows of 48.
struct Shifted {
  Writer writer;
  Ref row, column, index, loaded, maximum, again, shifted, place;
  Ref rows, columns, second;

  Loop& loop(Ref ref) { return std::get<Loop>(writer.kernel[ref].operation); }

  Shifted() {
    Kernel& kernel = writer.kernel;
    kernel.name = "shifted";
    kernel.buffers = {{"in0", f32, 3072, Access::read},
                      {"out0", f32, 3072, Access::write},
                      {"scratch0", f32, 48, Access::scratch}};
    kernel.cost = {12288, 12288, 6144};
    row = writer.make(LoopIndex{});
    column = writer.make(LoopIndex{});
    Block outer, inner;
    Ref lowest = writer.number(outer, -std::numeric_limits<float>::infinity());
    Ref width = writer.integer(outer, 48);
    Ref start = writer.compute(outer, Op::multiply, {row, width});
    index = writer.compute(inner, Op::add, {start, column});
    loaded = writer.in(inner, Load{0, index, {}}, f32);
    writer.in(inner, Store{2, column, loaded, false});
    Loop first{48, false, 16, 2, column, {}, inner};
    columns = writer.make(first);
    outer.push_back(columns);
    maximum = writer.in(outer, Result{columns}, f32);
    loop(columns).reductions = {{Combine::maximum, {lowest}, {loaded}, {maximum}, {}, {}, {}, {}}};

    Ref column2 = writer.make(LoopIndex{});
    Block body;
    again = writer.in(body, Load{2, column2, {}}, f32);
    shifted = writer.compute(body, Op::subtract, {again, maximum}, f32);
    place = writer.compute(body, Op::add, {start, column2});
    writer.in(body, Store{1, place, shifted, true});
    second = writer.in(outer, Loop{48, false, 16, 1, column2, {}, body});
    rows = writer.in(kernel.body, Loop{64, true, 1, 1, row, {}, outer});
  }
};

TEST(Kernel, Prints) {
  EXPECT_EQ(
      to_string(Shifted().writer.kernel),
      R"(kernel shifted(in in0: f32[3072], out out0: f32[3072], scratch scratch0: f32[48]) {  # reads 12288 bytes, writes 12288, 6144 operations
  for i < 64 parallel {
    %0: i64 = %i * 48
    for j < 48 vector(16) unroll(2) {
      %1: f32 = load in0[%0 + %j]
      store scratch0[%j] = %1
      max %2: f32 = %1 from -inf
    }
    for j < 48 vector(16) {
      %3: f32 = load scratch0[%j]
      %4: f32 = subtract %3, %2
      store out0[%0 + %j] = %4 non_temporal
    }
  }
}
)");
}

TEST(Kernel, KnowsItsParallelLoop) {
  Shifted shifted;
  ASSERT_NE(shifted.writer.kernel.parallel_loop(), nullptr);
  EXPECT_EQ(shifted.writer.kernel.extent(), 64);
  shifted.loop(shifted.rows).parallel = false;
  EXPECT_EQ(shifted.writer.kernel.parallel_loop(), nullptr);
  EXPECT_EQ(shifted.writer.kernel.extent(), 1);
}

TEST(Kernel, Verifies) { EXPECT_NO_THROW(verify(Shifted().writer.kernel)); }

TEST(Kernel, FindsStrides) {
  const Shifted s;
  const Kernel& kernel = s.writer.kernel;
  EXPECT_EQ(stride(kernel, s.index, s.row), 48);
  EXPECT_EQ(stride(kernel, s.index, s.column), 1);
  EXPECT_EQ(stride(kernel, s.place, s.column), 0);
  EXPECT_TRUE(is_uniform(kernel, s.maximum, std::get<Loop>(kernel[s.second].operation).index));
  EXPECT_FALSE(is_uniform(kernel, s.maximum, s.row));
  EXPECT_FALSE(is_uniform(kernel, s.loaded, s.column));
  EXPECT_FALSE(is_uniform(kernel, s.again, s.row)) << "scratch is written again in each row";
}

TEST(Cost, Adds) {
  Cost cost{1, 2, 3};
  cost += Cost{10, 20, 30};
  EXPECT_EQ(cost, (Cost{11, 22, 33}));
}

}  // namespace
}  // namespace anabranch
