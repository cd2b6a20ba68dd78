#include "ir/kernel/kernel.h"

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
    Loop first{48, 0, false, 16, 2, column, {}, inner};
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
    second = writer.in(outer, Loop{48, 0, false, 16, 1, column2, {}, body});
    rows = writer.in(kernel.body, Loop{64, 0, true, 1, 1, row, {}, outer});
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

// Maxima of rows that a mask lets through in part, by a body of their own, with odd index
// arithmetic.
struct General {
  Writer writer;
  Ref row, column, load, loop, result;

  General() {
    Kernel& kernel = writer.kernel;
    kernel.name = "general";
    kernel.buffers = {{"in0", Dtype::i64, 32, Access::read},
                      {"out0", Dtype::i64, 8, Access::write}};
    row = writer.make(LoopIndex{});
    column = writer.make(LoopIndex{});
    Block outer, inner, body;
    Ref zero = writer.integer(outer, 0);
    Ref two = writer.integer(outer, 2);
    Ref four = writer.integer(outer, 4);
    Ref first = writer.compute(inner, Op::multiply, {row, four});
    Ref far = writer.compute(inner, Op::subtract, {column, two});
    Ref turned = writer.compute(inner, Op::subtract, {first, far});
    Ref place = writer.compute(inner, Op::remainder, {turned, four});
    Ref inside =
        writer.in(inner, Compute{Op::compare, {column, two}, Comparison::lt}, Dtype::bool_);
    load = writer.in(inner, Load{0, place, inside});
    Ref so_far = writer.make(Argument{});
    Ref next = writer.make(Argument{});
    Ref combined = writer.compute(body, Op::maximum, {so_far, next});
    loop = writer.in(outer, Loop{4, 0, false, 1, 1, column, {}, inner});
    result = writer.in(outer, Result{loop});
    std::get<Loop>(kernel[loop].operation).reductions = {
        {Combine::general, {zero}, {load}, {result}, {so_far}, {next}, {combined}, body}};
    writer.in(outer, Store{1, row, result, false});
    writer.in(kernel.body, Loop{8, 0, false, 1, 1, row, {}, outer});
  }
};

TEST(Kernel, PrintsMasksIndexArithmeticAndBodies) {
  EXPECT_EQ(to_string(General().writer.kernel),
            R"(kernel general(in in0: i64[32], out out0: i64[8]) {
  for i < 8 {
    for j < 4 {
      %0: bool = compare %j, 2 direction=lt
      %1: i64 = load in0[(%i * 4 - (%j - 2)) % 4] if %0
      general %2: i64 = %1 from 0 by %3: i64 with %4: i64 {
        %5: i64 = maximum %3, %4
        give %5
      }
    }
    store out0[%i] = %2
  }
}
)");
  EXPECT_NO_THROW(verify(General().writer.kernel));
}

TEST(Kernel, FindsNoStrideWhereThereIsNone) {
  const General g;
  const Kernel& kernel = g.writer.kernel;
  const auto& load = std::get<Load>(kernel[g.load].operation);
  EXPECT_EQ(stride(kernel, load.index, g.column), std::nullopt) << "a remainder";
  const auto& remainder = std::get<Compute>(kernel[load.index].operation);
  EXPECT_EQ(stride(kernel, remainder.operands[0], g.column), -1);
  EXPECT_EQ(stride(kernel, remainder.operands[0], g.row), 4);
  EXPECT_EQ(stride(kernel, remainder.operands[1], g.row), 0);
  EXPECT_FALSE(is_uniform(kernel, g.result, g.row));
  EXPECT_TRUE(is_uniform(kernel, g.result, g.column)) << "known before and after, not inside";
}

struct Break {
  const char* name;
  void (*apply)(Shifted&);
  const char* message;
};

template <class Kind>
Kind& as(Shifted& s, Ref ref) {
  return std::get<Kind>(s.writer.kernel[ref].operation);
}

const Break breaks[] = {
    {"UnknownInstruction", [](Shifted& s) { s.writer.kernel.body.push_back(Ref{999}); },
     "a block holds an instruction that does not exist"},
    {"DefinedTwice", [](Shifted& s) { s.loop(s.columns).body.push_back(s.loaded); },
     "is defined twice"},
    {"OutOfScope", [](Shifted& s) { as<Compute>(s, s.shifted).operands[0] = s.loaded; },
     "an operand of instruction 12 is not in scope"},
    {"UseOfItself", [](Shifted& s) { as<Compute>(s, s.shifted).operands[0] = s.shifted; },
     "is not in scope"},
    {"UseOfNothing", [](Shifted& s) { as<Compute>(s, s.shifted).operands[0] = Ref{}; },
     "is not in scope"},
    {"UseOfALoop", [](Shifted& s) { as<Compute>(s, s.shifted).operands[0] = s.columns; },
     "is a loop or a store, which have no value"},
    {"WrongOperands", [](Shifted& s) { as<Compute>(s, s.shifted).operands[0] = s.row; },
     "is refused: subtract: operand dtypes differ: i64[] x f32[]"},
    {"WrongResult", [](Shifted& s) { s.writer.kernel[s.shifted].dtype = f64; },
     "states f64, and subtract gives f32"},
    {"NotElementwise", [](Shifted& s) { as<Compute>(s, s.shifted).op = Op::dot; },
     "computes dot, which is not elementwise"},
    {"IndexOfFloat", [](Shifted& s) { as<Load>(s, s.again).index = s.maximum; },
     "the index of a load of scratch0 is f32 instead of i64"},
    {"MaskOfFloat", [](Shifted& s) { as<Load>(s, s.again).mask = s.maximum; },
     "the mask of a load of scratch0 is f32 instead of bool"},
    {"WrongLoad", [](Shifted& s) { s.writer.kernel[s.again].dtype = f64; },
     "is not of the dtype of scratch0, which it loads"},
    {"UnknownBuffer", [](Shifted& s) { as<Load>(s, s.again).buffer = 9; },
     "buffer 9 does not exist"},
    {"StoreToInput", [](Shifted& s) { as<Store>(s, s.loop(s.columns).body.back()).buffer = 0; },
     "a store to in0, which is only read"},
    {"StoreOfAnother",
     [](Shifted& s) { as<Store>(s, s.loop(s.columns).body.back()).value = s.column; },
     "the value of a store to scratch0 is i64 instead of f32"},
    {"TwoBuffersOfAName", [](Shifted& s) { s.writer.kernel.buffers[1].name = "in0"; },
     "two buffers are called in0"},
    {"ArgumentAfterScratch",
     [](Shifted& s) { std::swap(s.writer.kernel.buffers[1], s.writer.kernel.buffers[2]); },
     "argument out0 comes after scratch"},
    {"ParallelInside",
     [](Shifted& s) {
       s.loop(s.rows).parallel = false;
       s.loop(s.columns).parallel = true;
     },
     "a parallel loop stands inside another loop"},
    {"ParallelReduces",
     [](Shifted& s) {
       Block& body = s.writer.kernel.body;
       Ref zero = s.writer.number(body, 0);
       std::swap(body[0], body[1]);
       Ref result = s.writer.in(body, Result{s.rows}, f32);
       s.loop(s.rows).reductions = {{Combine::sum, {zero}, {s.maximum}, {result}, {}, {}, {}, {}}};
     },
     "the parallel loop reduces"},
    {"BesideParallel",
     [](Shifted& s) {
       Ref index = s.writer.make(LoopIndex{});
       s.writer.in(s.writer.kernel.body, Loop{1, 0, false, 1, 1, index, {}, {}});
     },
     "a loop or a store stands beside the parallel loop"},
    {"VectorInVector", [](Shifted& s) { s.loop(s.rows).vector_width = 4; },
     "a vector loop stands inside another"},
    {"SharedScratch",
     [](Shifted& s) {
       s.loop(s.rows).vector_width = 4;
       s.loop(s.columns).vector_width = s.loop(s.second).vector_width = 1;
     },
     "scratch0 is used in a parallel vector loop, whose lanes would share it"},
    {"NegativeExtent", [](Shifted& s) { s.loop(s.columns).extent = -1; },
     "a loop has a negative extent"},
    {"NoWidth", [](Shifted& s) { s.loop(s.columns).vector_width = 0; }, "less than 1 wide"},
    {"SharedIndex", [](Shifted& s) { s.loop(s.second).index = s.column; }, "is defined twice"},
    {"OddIndex", [](Shifted& s) { s.writer.kernel[s.column].operation = Argument{}; },
     "the index of a loop is something else"},
    {"ResultBeforeLoop",
     [](Shifted& s) {
       Block& outer = s.loop(s.rows).body;
       std::swap(outer[3], outer[4]);
     },
     "is a result that does not follow its loop"},
    {"ResultOfNone", [](Shifted& s) { s.loop(s.columns).reductions.clear(); },
     "is a result that its loop does not have"},
    {"TooManyValues",
     [](Shifted& s) { s.loop(s.columns).reductions[0].values.push_back(s.loaded); },
     "a reduction has the wrong number of initial values, values or results"},
    {"ValueOutOfScope", [](Shifted& s) { s.loop(s.columns).reductions[0].values = {s.again}; },
     "a value that a loop folds is not in scope"},
    {"WrongFold", [](Shifted& s) { s.loop(s.columns).reductions[0].combine = Combine::any; },
     "a reduction does not take f32"},
    {"InitialInside", [](Shifted& s) { s.loop(s.columns).reductions[0].initial = {s.loaded}; },
     "the initial value of a reduction is not in scope"},
    {"ArgumentsWithoutBody",
     [](Shifted& s) { s.loop(s.columns).reductions[0].combine = Combine::general; },
     "a reduction has the wrong number of arguments"},
    {"WideConstant",
     [](Shifted& s) { as<ConstantInstruction>(s, s.loop(s.rows).body[0]).bits = 1ull << 32; },
     "has more bits than its dtype"},
};

class KernelBreaks : public testing::TestWithParam<Break> {};

TEST_P(KernelBreaks, AreNamed) {
  Shifted shifted;
  GetParam().apply(shifted);
  try {
    verify(shifted.writer.kernel);
    FAIL() << "nothing was found wrong";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos)
        << error.what();
    EXPECT_TRUE(error.dump().starts_with("kernel shifted(")) << error.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelBreaks, testing::ValuesIn(breaks),
                         [](const auto& info) { return info.param.name; });

TEST(Cost, Adds) {
  Cost cost{1, 2, 3};
  cost += Cost{10, 20, 30};
  EXPECT_EQ(cost, (Cost{11, 22, 33}));
}

}  // namespace
}  // namespace anabranch
