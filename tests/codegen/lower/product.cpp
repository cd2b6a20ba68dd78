// Products in tiles give what the interpreter gives: for any sizes, layouts and dtypes, as scalar
// loops and as code for vectors of any size.
#include "codegen/lower/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ir/graph/builder.h"
#include "tests/support/check_lowering.h"
#include "tests/support/run_native.h"

namespace anabranch::testing {
namespace {

// Two vectors of 32 bytes, and panels of which a few are laid out at once.
constexpr ProductTiles small_tiles = {.rows = 6, .row_bytes = 64, .packed_bytes = 6000};
constexpr ProductTiles wide_tiles = {.rows = 8, .row_bytes = 192, .packed_bytes = 30000};

struct Product {
  Dtype dtype = f64;
  std::int64_t rows = 40, columns = 64, inner = 72;
  bool left_transposed = false, right_transposed = false;
  std::int64_t batches = 0;  ///< 0: no such axis
};

Type matrix(const Product& product, std::int64_t rows, std::int64_t columns, bool transposed) {
  if (transposed) std::swap(rows, columns);
  if (product.batches == 0) return {product.dtype, {rows, columns}};
  return {product.dtype, {product.batches, rows, columns}};
}

Graph graph_of(const Product& product, bool has_epilogue) {
  GraphBuilder b("product");
  const std::int64_t axis = product.batches > 0;
  DotAttributes dot;
  if (axis == 1) dot.lhs_batch = dot.rhs_batch = {0};
  dot.lhs_contracting = {axis + !product.left_transposed};
  dot.rhs_contracting = {axis + product.right_transposed};
  Value x = b.parameter(matrix(product, product.rows, product.inner, product.left_transposed));
  Value y = b.parameter(matrix(product, product.inner, product.columns, product.right_transposed));
  if (!has_epilogue) return b.build({b.add(Op::dot, {x, y}, dot)});
  const Type result = matrix(product, product.rows, product.columns, false);
  Value bias = b.parameter({product.dtype, {product.columns}});
  Value old = b.parameter(result);
  Value z = b.add(Op::dot, {x, y}, dot);
  Value spread = b.add(Op::broadcast_in_dim, {bias}, AxesAttributes{{axis + 1}}, result);
  Value sum = b.add(Op::add, {b.add(Op::add, {z, spread}), old});
  return b.build({b.add(Op::abs, {sum}), sum});
}

bool is_tiled(const Graph& graph, const ProductTiles& tiles) {
  const Node& dot = *std::ranges::find(graph.nodes(), Op::dot, &Node::op);
  return anabranch::is_tiled(graph.type(dot.inputs[0]), graph.type(dot.inputs[1]),
                             dot.as<DotAttributes>(), tiles);
}

void expect_product(const Product& product, const ProductTiles& tiles, bool has_epilogue = false) {
  const Graph graph = graph_of(product, has_epilogue);
  ASSERT_TRUE(is_tiled(graph, tiles)) << to_string(graph);
  const std::vector<Literal> inputs = small_inputs(graph);
  const std::vector<Literal> wanted = interpret(graph, inputs);
  for (const int vector_bytes : {16, 32, 64}) {
    const Kernel kernel = tile(lower_region(graph, LowerTarget{{}, tiles}).calls.at(0).kernel,
                               Target{.vector_bytes = vector_bytes});
    const std::int64_t ranges = std::min<std::int64_t>(kernel.extent(), 3);
    const auto got = run_native(kernel, inputs, output_types(graph), ranges);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      expect_equal(got[i], wanted[i], 0, to_string(kernel));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Numbers are small, so that sums are exact in any order.
TEST(LowerProduct, OfAnySizes) {
  std::mt19937 random(7);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random()) % (high - low + 1);
  };
  for (int i = 0; i < 40; ++i) {
    const bool wide = i % 2 == 0;
    Product product;
    product.rows = between(32, 75);
    product.columns = between(33, 90);
    product.inner = between(i % 4 == 0 ? 256 : 130, i % 4 == 0 ? 290 : 160);
    product.right_transposed = between(0, 1) == 1;
    product.left_transposed = between(0, 1) == 1;
    product.batches = between(0, 2);
    expect_product(product, wide ? wide_tiles : small_tiles, between(0, 1) == 1);
    if (HasFailure()) return;
  }
}

TEST(LowerProduct, AsScalarLoops) {
  const Product product{.rows = 35, .columns = 65, .inner = 65, .batches = 2};
  expect_lowers(graph_of(product, true), 0, {}, LowerTarget{{}, small_tiles});
}

TEST(LowerProduct, OfDtypesOfFourAndEightBytes) {
  for (const Dtype dtype : {f32, f64, i32, u32, i64, u64}) {
    for (const bool transposed : {false, true}) {
      Product product{.dtype = dtype, .rows = 35, .columns = 65, .inner = 129};
      product.right_transposed = transposed;
      expect_product(product, transposed ? wide_tiles : small_tiles, transposed);
    }
  }
}

// Blocks, panels and tiles that end with the result.
TEST(LowerProduct, OfWholeTiles) {
  expect_product({.rows = 64, .columns = 96, .inner = 64}, wide_tiles);
  expect_product({.rows = 48, .columns = 64, .inner = 128}, small_tiles, true);
  expect_product({.rows = 128, .columns = 24, .inner = 176}, wide_tiles);
}

TEST(LowerProduct, OfSeveralAxes) {
  const auto dot = [](Type lhs, Type rhs, DotAttributes attributes) {
    GraphBuilder b("dot");
    Value x = b.parameter(std::move(lhs)), y = b.parameter(std::move(rhs));
    return b.build({b.add(Op::dot, {x, y}, std::move(attributes))});
  };
  const LowerTarget target{{}, wide_tiles};
  // Rows and columns of two axes each, of which the columns are no single one in memory.
  expect_lowers(dot({f64, {5, 9, 20}}, {f64, {6, 20, 50}}, {{}, {}, {2}, {1}}), 0, {}, target);
  expect_lowers(dot({f64, {3, 40, 2, 10}}, {f64, {3, 70, 2, 10}}, {{0}, {0}, {2, 3}, {2, 3}}), 0,
                {}, target);
}

TEST(LowerProduct, NotOfWhatIsCachedAsItIs) {
  const auto tiled = [](const Product& product, const ProductTiles& tiles = wide_tiles) {
    return is_tiled(graph_of(product, false), tiles);
  };
  EXPECT_TRUE(tiled({.rows = 64, .columns = 65, .inner = 64}));
  EXPECT_FALSE(tiled({.rows = 64, .columns = 64, .inner = 64}));
  EXPECT_TRUE(tiled({.rows = 64, .columns = 64, .inner = 64, .right_transposed = true}));
  EXPECT_FALSE(tiled({.rows = 64, .columns = 65, .inner = 64}, {}));
  EXPECT_FALSE(tiled({.rows = 31, .columns = 65, .inner = 64}));
  EXPECT_FALSE(tiled({.rows = 64, .columns = 7, .inner = 1024}));
  EXPECT_FALSE(tiled({.rows = 64, .columns = 65, .inner = 15, .right_transposed = true}));
  EXPECT_FALSE(tiled({.dtype = c64, .rows = 64, .columns = 65, .inner = 64}));
  EXPECT_FALSE(tiled({.dtype = f16, .rows = 64, .columns = 65, .inner = 640}));
  EXPECT_TRUE(tiled({.rows = 512, .columns = 65, .inner = 64, .left_transposed = true}));
  EXPECT_FALSE(tiled({.rows = 513, .columns = 65, .inner = 64, .left_transposed = true}));
}

}  // namespace
}  // namespace anabranch::testing
