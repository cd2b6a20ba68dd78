#include "ir/kernel/kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "anabranch/error.h"

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
  Ref rows, columns, second;
  Ref loaded, maximum, again, shifted;

  IndexTable& table() { return writer.kernel.indices; }
  Loop& loop(Ref ref) { return std::get<Loop>(writer.kernel[ref].operation); }

  Shifted() {
    Kernel& kernel = writer.kernel;
    kernel.name = "shifted";
    kernel.buffers = {{"in0", f32, 3072, Access::read},
                      {"out0", f32, 3072, Access::write},
                      {"scratch0", f32, 48, Access::scratch}};
    kernel.cost = {12288, 12288, 6144};
    rows = writer.make(Loop{64, 0, true, Loop::Lanes::unmarked, 1, 1, {}, {}});
    columns = writer.make(Loop{48, 0, false, Loop::Lanes::unmarked, 16, 2, {}, {}});
    second = writer.make(Loop{48, 0, false, Loop::Lanes::unmarked, 16, 1, {}, {}});
    const Index start = table().scale(kernel.index_of(rows), 48);
    const Index column = kernel.index_of(columns), column2 = kernel.index_of(second);

    Block outer, inner, body;
    Ref lowest = writer.number(outer, -std::numeric_limits<float>::infinity());
    loaded = writer.in(inner, Load{0, table().add(start, column), {}}, f32);
    writer.in(inner, Store{2, column, loaded, false});
    outer.push_back(columns);
    maximum = writer.in(outer, Result{columns}, f32);
    loop(columns).body = inner;
    loop(columns).reductions = {{Combine::maximum, {lowest}, {loaded}, {maximum}, {}}};

    again = writer.in(body, Load{2, column2, {}}, f32);
    shifted = writer.compute(body, Op::subtract, {again, maximum}, f32);
    writer.in(body, Store{1, table().add(start, column2), shifted, true});
    loop(second).body = body;
    outer.push_back(second);
    loop(rows).body = outer;
    kernel.body = {rows};
  }

  /// The value of an index, before all else that a row does.
  Ref value(Index index) {
    const Ref made = writer.make(IndexValue{index});
    Block& outer = loop(rows).body;
    outer.insert(outer.begin(), made);
    return made;
  }
};

TEST(Kernel, Prints) {
  EXPECT_EQ(
      to_string(Shifted().writer.kernel),
      R"(kernel shifted(in in0: f32[3072], out out0: f32[3072], scratch scratch0: f32[48]) bytes_read=12288 bytes_written=12288 operations=6144 {
  for i < 64 parallel {
    for j < 48 vector(16) unroll(2) {
      %0: f32 = load in0[%i * 48 + %j]
      store scratch0[%j] = %0
      max %1: f32 = %0 from -inf
    }
    for j < 48 vector(16) {
      %2: f32 = load scratch0[%j]
      %3: f32 = subtract %2, %1
      store out0[%i * 48 + %j] = %3 non_temporal
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

TEST(Kernel, KnowsTheIndicesOfItsLoops) {
  Shifted s;
  Kernel& kernel = s.writer.kernel;
  EXPECT_TRUE(s.table().is_loop(kernel.index_of(s.columns), s.columns.index));
  const Ref piece = s.writer.make(Loop{16, 48, false, Loop::Lanes::unmarked, 1, 1, {}, {}});
  EXPECT_EQ(s.table()[kernel.index_of(piece)].low, 48);
  EXPECT_EQ(s.table()[kernel.index_of(piece)].high, 63);
  const Ref once = s.writer.make(Loop{1, 7, false, Loop::Lanes::unmarked, 1, 1, {}, {}});
  EXPECT_EQ(kernel.index_of(once), s.table().constant(7));
}

TEST(Kernel, KnowsWhichScalarsPlaceSomething) {
  Shifted s;
  Kernel& kernel = s.writer.kernel;
  IndexTable& table = s.table();
  const Ref asked = s.writer.make(IndexValue{kernel.index_of(s.rows)});
  s.value(table.scale(table.scalar(asked.index, 0, 63), 3));
  const Ref inside = s.value(kernel.index_of(s.rows));
  Block& outer = s.loop(s.rows).body;
  outer.insert(outer.begin(), asked);
  const Index place = table.divide(table.add(table.scalar(inside.index, 0, 63), 1), 2);
  std::get<Load>(kernel[s.again].operation).index = place;
  verify(kernel);
  std::vector<Ref> scalars;
  for_each_scalar(kernel, place, [&](Ref ref) { scalars.push_back(ref); });
  EXPECT_EQ(scalars, std::vector{inside});
  const std::vector<bool> places = placing_scalars(kernel);
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i], Ref{i} == inside || Ref{i} == asked) << i;
  }
}

// Maxima of rows that a mask lets through in part, which a loop carries, with odd index
// expressions.
struct Carry {
  Writer writer;

  Carry() {
    Kernel& kernel = writer.kernel;
    kernel.name = "carry";
    kernel.buffers = {{"in0", Dtype::i64, 32, Access::read},
                      {"out0", Dtype::i64, 8, Access::write}};
    const Ref rows = writer.make(Loop{8, 0, false, Loop::Lanes::unmarked, 1, 1, {}, {}});
    const Ref columns = writer.make(Loop{4, 0, false, Loop::Lanes::unmarked, 1, 1, {}, {}});
    IndexTable& table = kernel.indices;
    const Index row = kernel.index_of(rows), column = kernel.index_of(columns);
    Block outer, inner;
    Ref zero = writer.integer(outer, 0);
    Ref two = writer.integer(outer, 2);
    Ref odd = writer.in(inner, IndexValue{table.add(table.scale(column, 2), 1)});
    Ref weight = writer.compute(inner, Op::multiply, {odd, two});
    Ref position = writer.in(inner, IndexValue{column});
    Ref inside =
        writer.in(inner, Compute{Op::compare, {position, two}, Comparison::lt}, Dtype::bool_);
    const Index turned = table.add(table.scale(row, 3), table.scale(column, -1));
    Ref load = writer.in(inner, Load{0, table.remainder(turned, 4), inside});
    Ref sum = writer.compute(inner, Op::add, {load, weight});
    Ref so_far = writer.make(Argument{});
    Ref next = writer.compute(inner, Op::maximum, {so_far, sum});
    outer.push_back(columns);
    Ref result = writer.in(outer, Result{columns});
    auto& loop = std::get<Loop>(kernel[columns].operation);
    loop.body = inner;
    loop.reductions = {{Combine::carry, {zero}, {next}, {result}, {so_far}}};
    writer.in(outer, Store{1, row, result, false});
    std::get<Loop>(kernel[rows].operation).body = outer;
    kernel.body = {rows};
  }
};

TEST(Kernel, PrintsMasksIndicesAndCarries) {
  EXPECT_EQ(to_string(Carry().writer.kernel),
            R"(kernel carry(in in0: i64[32], out out0: i64[8]) {
  for i < 8 {
    for j < 4 by %0: i64 {
      %1: i64 = index 1 + %j * 2
      %2: i64 = multiply %1, 2
      %3: bool = compare %j, 2 direction=lt
      %4: i64 = load in0[(4 + %i * 3 + %j * -1) % 4] if %3
      %5: i64 = add %4, %2
      %6: i64 = maximum %0, %5
      carry %7: i64 = %6 from 0
    }
    store out0[%i] = %7
  }
}
)");
  EXPECT_NO_THROW(verify(Carry().writer.kernel));
}

// As the place of a load.
TEST(Kernel, PrintsIndexExpressions) {
  const auto printed = [](auto&& place) {
    Writer writer;
    Kernel& kernel = writer.kernel;
    kernel.buffers = {{"in", f32, 1 << 20, Access::read}};
    const Ref outer = writer.make(Loop{64, 0, false, Loop::Lanes::unmarked, 1, 1, {}, {}});
    const Ref inner = writer.make(Loop{1024, 0, false, Loop::Lanes::unmarked, 1, 1, {}, {}});
    const Ref s = writer.compute(kernel.body, Op::abs, {writer.integer(kernel.body, 5)});
    // The inner loop's comes first in the table.
    const Index j = kernel.index_of(inner), i = kernel.index_of(outer);
    const Index at = place(kernel.indices, i, j, kernel.indices.scalar(s.index, 0, 9));
    Block body;
    writer.in(body, Load{0, at, {}}, f32);
    std::get<Loop>(kernel[inner].operation).body = body;
    std::get<Loop>(kernel[outer].operation).body = {inner};
    kernel.body.push_back(outer);
    verify(kernel);
    const std::string text = to_string(kernel);
    const std::size_t begin = text.find("in[") + 3;
    return text.substr(begin, text.find("]\n", begin) - begin);
  };
  using T = IndexTable;
  EXPECT_EQ(printed([](T& t, Index, Index, Index) { return t.constant(7); }), "7");
  EXPECT_EQ(printed([](T&, Index, Index j, Index) { return j; }), "%j");
  EXPECT_EQ(printed([](T& t, Index i, Index j, Index) { return t.add(j, t.scale(i, 1024)); }),
            "%i * 1024 + %j")
      << "outer loops first";
  EXPECT_EQ(printed([](T& t, Index i, Index j, Index) { return t.add(t.add(i, j), -3); }),
            "-3 + %i + %j");
  EXPECT_EQ(printed([](T& t, Index, Index j, Index s) { return t.add(j, s); }), "%0 + %j");
  EXPECT_EQ(printed([](T& t, Index i, Index j, Index s) {
              const std::uint32_t number = t.atom(t[s].terms[0].atom).loop;
              return t.add(t.scale(t.scalar(number, 0, 9, t.add(j, 2)), 3), i);
            }),
            "%i + %0[2 + %j] * 3");
  EXPECT_EQ(printed([](T& t, Index, Index j, Index) { return t.divide(t.add(j, 3), 4); }),
            "(3 + %j) / 4");
  EXPECT_EQ(printed([](T& t, Index, Index j, Index) { return t.scale(t.divide(j, 4), 8); }),
            "%j / 4 * 8");
  EXPECT_EQ(printed([](T& t, Index, Index j, Index) { return t.remainder(t.divide(j, 4), 8); }),
            "%j / 4 % 8");
  EXPECT_EQ(printed([](T& t, Index i, Index j, Index) {
              return t.divide(t.add(t.scale(i, 5), t.scale(j, 2)), 7);
            }),
            "(%i * 5 + %j * 2) / 7");
  EXPECT_EQ(printed([](T& t, Index i, Index j, Index) { return t.least(t.add(i, j), 100); }),
            "min(%i + %j, 100)");
  EXPECT_EQ(printed([](T& t, Index i, Index j, Index) {
              return t.add(t.scale(t.least(j, 9), -2), t.add(i, 18));
            }),
            "18 + %i + min(%j, 9) * -2")
      << "a part is as deep as the loops that it depends on";
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
     "an operand of instruction 8 is not in scope"},
    {"UseOfItself", [](Shifted& s) { as<Compute>(s, s.shifted).operands[0] = s.shifted; },
     "is not in scope"},
    {"UseOfNothing", [](Shifted& s) { as<Compute>(s, s.shifted).operands[0] = Ref{}; },
     "is not in scope"},
    {"UseOfALoop", [](Shifted& s) { as<Compute>(s, s.shifted).operands[0] = s.columns; },
     "is a loop or a store, which have no value"},
    {"WrongOperands",
     [](Shifted& s) {
       as<Compute>(s, s.shifted).operands[0] = s.value(s.writer.kernel.index_of(s.rows));
     },
     "is refused: subtract: operand dtypes differ: i64[] x f32[]"},
    {"WrongResult", [](Shifted& s) { s.writer.kernel[s.shifted].dtype = f64; },
     "states f64, and subtract gives f32"},
    {"NotElementwise", [](Shifted& s) { as<Compute>(s, s.shifted).op = Op::dot; },
     "computes dot, which is not elementwise"},
    {"UnknownIndex", [](Shifted& s) { as<Load>(s, s.again).index = Index{999}; },
     "the index of a load of scratch0 does not exist"},
    {"IndexOfAnotherLoop",
     [](Shifted& s) { as<Load>(s, s.again).index = s.writer.kernel.index_of(s.columns); },
     "the index of a load of scratch0 is that of a loop which is not around it"},
    {"IndexOfAnotherLoopInside",
     [](Shifted& s) {
       Index& place = as<Store>(s, s.loop(s.second).body.back()).index;
       const Index other = s.writer.kernel.index_of(s.columns);
       place = s.table().add(s.table().divide(other, 5), place);
     },
     "the index of a store to out0 is that of a loop which is not around it"},
    {"IndexOfNoLoop", [](Shifted& s) { as<Load>(s, s.again).index = s.table().loop(999, 48); },
     "the index of a load of scratch0 is that of a loop which is not around it"},
    {"IndexOfAScalar",
     [](Shifted& s) { as<Load>(s, s.again).index = s.table().loop(s.maximum.index, 48); },
     "the index of a load of scratch0 is that of a loop which is not around it"},
    {"OtherExtent", [](Shifted& s) { s.loop(s.second).extent = 47; },
     "the index of a load of scratch0 takes a loop to have other iterations"},
    {"OtherFirst",
     [](Shifted& s) {
       s.loop(s.second).first = 16;
       s.loop(s.second).extent = 32;
     },
     "the index of a load of scratch0 takes a loop to have other iterations"},
    {"ScalarOutOfScope",
     [](Shifted& s) {
       const Ref inside = s.writer.make(IndexValue{s.writer.kernel.index_of(s.columns)});
       s.loop(s.columns).body.push_back(inside);
       as<Load>(s, s.again).index = s.table().scalar(inside.index, 0, 47);
     },
     "the index of a load of scratch0 is not in scope"},
    {"IndexOfFloat",
     [](Shifted& s) { as<Load>(s, s.again).index = s.table().scalar(s.maximum.index, 0, 47); },
     "the index of a load of scratch0 is f32 instead of i64"},
    {"ValueOfAnotherLoop", [](Shifted& s) { s.value(s.writer.kernel.index_of(s.columns)); },
     "instruction 10 is that of a loop which is not around it"},
    {"ValueOfUnknownIndex", [](Shifted& s) { s.value(Index{999}); },
     "instruction 10 does not exist"},
    {"ValueOfAnotherDtype",
     [](Shifted& s) { s.writer.kernel[s.value(s.table().constant(3))].dtype = i32; },
     "instruction 10 is the value of an index, and no i64"},
    {"MaskOfFloat", [](Shifted& s) { as<Load>(s, s.again).mask = s.maximum; },
     "the mask of a load of scratch0 is f32 instead of bool"},
    {"WrongLoad", [](Shifted& s) { s.writer.kernel[s.again].dtype = f64; },
     "is not of the dtype of scratch0, which it loads"},
    {"UnknownBuffer", [](Shifted& s) { as<Load>(s, s.again).buffer = 9; },
     "buffer 9 does not exist"},
    {"StoreToInput", [](Shifted& s) { as<Store>(s, s.loop(s.columns).body.back()).buffer = 0; },
     "a store to in0, which is only read"},
    {"StoreOfAnother",
     [](Shifted& s) {
       as<Store>(s, s.loop(s.columns).body.back()).value = s.value(s.table().constant(3));
     },
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
       s.loop(s.rows).reductions = {{Combine::sum, {zero}, {s.maximum}, {result}, {}}};
     },
     "the parallel loop reduces"},
    {"BesideParallel",
     [](Shifted& s) {
       s.writer.in(s.writer.kernel.body, Loop{1, 0, false, Loop::Lanes::unmarked, 1, 1, {}, {}});
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
    {"ArgumentInABlock", [](Shifted& s) { s.writer.kernel[s.again].operation = Argument{}; },
     "is an argument, which no block holds"},
    {"ResultBeforeLoop",
     [](Shifted& s) {
       Block& outer = s.loop(s.rows).body;
       std::swap(outer[1], outer[2]);
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
    {"CarryWithoutArguments",
     [](Shifted& s) { s.loop(s.columns).reductions[0].combine = Combine::carry; },
     "a reduction has the wrong number of arguments"},
    {"ThreadsOfNone", [](Shifted& s) { s.writer.kernel.threads = {.groups = 0}; },
     "a block has from 1 to 1024 threads"},
    {"TooManyThreads", [](Shifted& s) { s.writer.kernel.threads = {.groups = 64, .members = 32}; },
     "a block has from 1 to 1024 threads"},
    {"BlockOfTooManyThreads", [](Shifted& s) { s.writer.kernel.threads = {.block_threads = 2048}; },
     "the block that it is for"},
    {"TilesOfOneLoop",
     [](Shifted& s) { s.writer.kernel.threads = {.tile_rows = 1, .tile_columns = 1}; },
     "tiles are of two loops"},
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
