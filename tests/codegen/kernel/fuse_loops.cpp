#include "codegen/kernel/fuse_loops.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "codegen/cpu/compile_kernels.h"
#include "ir/graph/builder.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

constexpr LoopFusionCosts always = {
    .least_shared_bytes = 1, .most_block_bytes = INT64_MAX, .least_blocks = 2};
constexpr LowerTarget chunked = {.column_sums = {.least_chunked_bytes = 1}, .product_tiles = {}};

// A matrix, a number for each of its rows, other such numbers, and what kernels write.
enum Array : std::uint32_t { matrix, weights, others, early, late };

/// A kernel of a CPU's, and which array each of its arguments is.
struct Walk {
  Kernel kernel;
  std::vector<std::uint32_t> arrays;

  KernelOnArrays on_arrays() const { return {kernel, arrays}; }
};

/// The first kernel of a region whose inputs are `inputs`; what it writes is `result`. The loops of
/// a matrix this small would be interchanged, so that threads have enough to share.
Walk walk(const Graph& region, const std::vector<std::uint32_t>& inputs, std::uint32_t result) {
  const Lowered lowered = lower_region(region, chunked);
  const std::vector<std::string> disabled = {"interchange"};
  Walk made{run_passes(cpu::kernel_passes(), lowered.calls[0].kernel,
                       {.target = {.vector_bytes = 64}}, {.disabled = disabled}),
            {}};
  made.kernel.name = result == early ? "early" : "late";
  for (const KernelArgument& argument : lowered.calls[0].arguments) {
    const bool is_input = argument.kind == KernelArgument::Kind::input;
    made.arrays.push_back(is_input ? inputs.at(argument.index) : result);
  }
  return made;
}

/// How a matrix, with a weight for each row, is reduced.
struct Form {
  std::string_view name;
  Op reduce;
  std::int64_t axis;
  bool is_upside_down = false;  ///< the first row has the last weight
  bool is_shifted = false;      ///< each row has the next one's weight
};

constexpr Form forms[] = {
    {"sums of rows", Op::reduce_sum, 1},
    {"maxima of rows", Op::reduce_max, 1},
    {"sums of columns", Op::reduce_sum, 0},
    {"sums of columns by weights upside down", Op::reduce_sum, 0, true},
    {"sums of rows by weights upside down", Op::reduce_sum, 1, true},
    {"sums of columns by weights of the next rows", Op::reduce_sum, 0, false, true},
};

Graph region_of(const Form& form, const Shape& shape) {
  GraphBuilder b("walk");
  const Value x = b.parameter({f64, shape});
  Value weight = b.parameter({f64, {shape[0]}});
  if (form.is_upside_down) weight = b.add(Op::reverse, {weight}, AxesAttributes{{0}});
  if (form.is_shifted) {
    const Value zero = b.constant(Literal::scalar(0.0));
    weight = b.add(Op::pad, {weight, zero}, PadAttributes{{-1}, {1}, {0}});
  }
  const Value spread = b.add(Op::broadcast_in_dim, {weight}, AxesAttributes{{0}}, Type{f64, shape});
  return b.build(
      {b.add(form.reduce, {b.add(Op::multiply, {x, spread})}, AxesAttributes{{form.axis}})});
}

using Memory = std::map<std::uint32_t, std::vector<double>>;

Memory inputs_of(const Shape& shape) {
  std::mt19937 random(5);
  Memory memory;
  for (const auto& [array, size] :
       {std::pair{matrix, shape[0] * shape[1]}, std::pair{weights, shape[0]}}) {
    const Literal numbers = small_numbers({f64, Shape{size}}, random);
    const std::span<const double> values = numbers.values<double>();
    memory[array].assign(values.begin(), values.end());
  }
  return memory;
}

// Iterations do not depend on each other: the last one may be the first.
void run(const KernelOnArrays& on_arrays, HostTask::Function function, bool backwards,
         Memory& memory) {
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < on_arrays.arrays.size(); ++i) {
    std::vector<double>& array = memory[on_arrays.arrays[i]];
    array.resize(static_cast<std::size_t>(on_arrays.kernel.buffers[i].size));
    pointers.push_back(array.data());
  }
  const std::int64_t extent = on_arrays.kernel.extent();
  for (std::int64_t i = 0; i < extent; ++i) {
    const std::int64_t at = backwards ? extent - 1 - i : i;
    function(nullptr, pointers.data(), at, at + 1);
  }
}

// Both kernels one after the other, and as one whose iterations come in either order.
void expect_same(const Walk& first, const Walk& second, const FusedLoops& made,
                 const Memory& inputs) {
  verify(made.kernel);
  const KernelOnArrays both{made.kernel, made.arrays};
  const Kernel* kernels[] = {&first.kernel, &second.kernel, &both.kernel};
  const cpu::Code code = cpu::compile_kernels(kernels);
  Memory apart = inputs;
  run(first.on_arrays(), code.functions[0], false, apart);
  run(second.on_arrays(), code.functions[1], false, apart);
  for (const bool backwards : {false, true}) {
    Memory together = inputs;
    run(both, code.functions[2], backwards, together);
    EXPECT_EQ(together, apart) << to_string(both.kernel);
  }
}

// Each form after each form, by weights that are there and by what the first has computed.
TEST(FuseLoops, TwoWalksGiveWhatTheyGiveOneAfterTheOther) {
  int fused = 0, refused = 0;
  for (const Shape& shape : {Shape{256, 520}, Shape{320, 513}, Shape{257, 512}}) {
    const Memory inputs = inputs_of(shape);
    for (const Form& first_form : forms) {
      const Walk first = walk(region_of(first_form, shape), {matrix, weights}, early);
      for (const Form& second_form : forms) {
        SCOPED_TRACE(std::string(first_form.name) + ", then " + std::string(second_form.name));
        for (const Array read : {weights, early}) {
          if (read == early && first_form.axis != 1) continue;
          const Walk second = walk(region_of(second_form, shape), {matrix, read}, late);
          const auto made = fuse_loops(first.on_arrays(), second.on_arrays(), always);
          ++(made ? fused : refused);
          if (made) expect_same(first, second, *made, inputs);
        }
      }
    }
  }
  EXPECT_GT(fused, 40);
  EXPECT_GT(refused, 30);
}

Walk sums(std::int64_t axis, Array by, Array result) {
  return walk(region_of({"", Op::reduce_sum, axis}, {320, 512}), {matrix, by}, result);
}

bool is_fused(const Walk& first, const Walk& second, const LoopFusionCosts& costs) {
  return fuse_loops(first.on_arrays(), second.on_arrays(), costs).has_value();
}

TEST(FuseLoops, ABlockHasEquallyManyRowsOfBoth) {
  const Walk rows = sums(1, weights, early), columns = sums(0, weights, late);
  const auto made = fuse_loops(rows.on_arrays(), columns.on_arrays(), always);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->kernel.extent(), columns.kernel.extent());
  EXPECT_EQ(made->arrays, (std::vector<std::uint32_t>{matrix, weights, early, late}));
  // The matrix and the weights are read once.
  EXPECT_EQ(made->kernel.cost.bytes_read, rows.kernel.cost.bytes_read);
}

TEST(FuseLoops, WhatIsReadInOrderIsReadFirst) {
  const Walk rows = sums(1, weights, early), columns = sums(0, weights, late);
  const auto made = fuse_loops(columns.on_arrays(), rows.on_arrays(), always);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->arrays, (std::vector<std::uint32_t>{matrix, weights, early, late}));
}

TEST(FuseLoops, OnlyWhereItIsWorthWhile) {
  const Walk rows = sums(1, weights, early), columns = sums(0, others, late);
  EXPECT_TRUE(is_fused(rows, columns, always));
  EXPECT_FALSE(is_fused(rows, columns, LoopFusionCosts()));
  const std::int64_t bytes = 320 * 512 * 8, blocks = columns.kernel.extent();
  LoopFusionCosts costs = always;
  costs.least_shared_bytes = bytes;
  EXPECT_TRUE(is_fused(rows, columns, costs));
  costs.least_shared_bytes = bytes + 1;
  EXPECT_FALSE(is_fused(rows, columns, costs));
  costs = always;
  costs.most_block_bytes = bytes / blocks - 1;
  EXPECT_FALSE(is_fused(rows, columns, costs));
  costs = always;
  costs.most_instructions =
      rows.kernel.instructions.size() + columns.kernel.instructions.size() - 1;
  EXPECT_FALSE(is_fused(rows, columns, costs));
  costs = always;
  costs.least_blocks = blocks + 1;
  EXPECT_FALSE(is_fused(rows, columns, costs));
}

}  // namespace
}  // namespace anabranch::testing
