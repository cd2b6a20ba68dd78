// Transposes by squares in registers give what the interpreter gives, as code for vectors of any
// size, where tiles fit and where they overlap.
#include "codegen/cpu/square_stores.h"

#include <gtest/gtest.h>

#include "codegen/kernel/loop_nest.h"
#include "tests/support/check_lowering.h"
#include "tests/support/run_native.h"

namespace anabranch::testing {
namespace {

Kernel compiled(const Graph& region, int vector_bytes) {
  return tile(lower_region(region).calls.at(0).kernel, Target{.vector_bytes = vector_bytes});
}

std::size_t squares_of(const Kernel& kernel) {
  const std::vector<Ref> outer = outer_loops(kernel);
  return outer.empty() ? 0 : cpu::square_stores(kernel, outer.back()).size();
}

void expect_turns(const Graph& region, bool by_squares) {
  const std::vector<Literal> inputs = small_inputs(region);
  const std::vector<Literal> wanted = interpret(region, inputs);
  for (const int vector_bytes : {16, 32, 64}) {
    const Kernel kernel = compiled(region, vector_bytes);
    EXPECT_EQ(squares_of(kernel), by_squares ? wanted.size() : 0) << to_string(kernel);
    const auto got = run_native(kernel, inputs, output_types(region), 5);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      expect_equal(got[i], wanted[i], 0, to_string(kernel));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

Graph transposes(const std::string& dtype, std::int64_t n, std::int64_t m) {
  std::string text = R"(
graph turned(%0: T[N,M], %1: T[N,M], %2: T[N]) {
  %3: T[N,M] = add %0, %1
  %4: T[M,N] = transpose %3 axes=[1,0]
  %5: T[M,N] = broadcast_in_dim %2 axes=[1]
  %6: T[M,N] = add %4, %5
  return %6
})";
  for (std::size_t at; (at = text.find('T')) != std::string::npos;) text.replace(at, 1, dtype);
  return parse(with_sizes(text, n, m));
}

TEST(SquareStores, OfDtypesOfFourAndEightBytes) {
  for (const char* dtype : {"f32", "i32", "u32", "f64", "i64"}) {
    expect_turns(transposes(dtype, 64, 48), true);
    expect_turns(transposes(dtype, 17, 16), true);
    expect_turns(transposes(dtype, 131, 257), true);
  }
  for (const char* dtype : {"f16", "u8", "c64", "c128"}) {
    expect_turns(parse(with_sizes("graph turned(%0: " + std::string(dtype) + "[N,M]) {\n  %1: " +
                                      dtype + "[M,N] = transpose %0 axes=[1,0]\n  return %1\n}",
                                  64, 48)),
                 false);
  }
}

TEST(SquareStores, WantAVectorOfRowsAndOfColumns) {
  for (const auto& [n, m] : {std::pair{7, 40}, std::pair{40, 7}, std::pair{1, 1}}) {
    expect_turns(transposes("f32", n, m), false);
  }
}

TEST(SquareStores, BetweenOtherAxes) {
  expect_turns(parse(R"(
graph images(%0: f32[3,45,5,19]) {
  %1: f32[5,3,19,45] = transpose %0 axes=[2,0,3,1]
  %2: f32[5,3,19,45] = negate %1
  return %1, %2
})"),
               true);
}

// What is read along the rows of the result, too, stays in tiles.
TEST(SquareStores, AreNoneWhereSomeOperandIsNotTransposed) {
  expect_turns(parse(R"(
graph both(%0: f32[64,64]) {
  %1: f32[64,64] = transpose %0 axes=[1,0]
  %2: f32[64,64] = add %0, %1
  return %2
})"),
               false);
}

}  // namespace
}  // namespace anabranch::testing
