// The pieces that random graphs are put together from.
#pragma once

#include <span>

#include "tests/support/random_builder.h"

namespace anabranch {

/// Adds at most `nodes` nodes, or none where nothing fits; drawn in proportion to `weight`.
struct Recipe {
  int weight;
  int nodes;
  void (*add)(RandomBuilder& builder);
};

/// One op each (with the operands it needs), of every kind.
std::span<const Recipe> op_recipes();
/// Index maps and reductions, one each.
std::span<const Recipe> shape_recipes();
/// Index maps and reductions of each other.
std::span<const Recipe> map_recipes();
/// What fusion is for: softmax, layernorm, dot with bias and activation ...
std::span<const Recipe> pattern_recipes();
/// Trees of elementwise ops that algebraic rules match, comparisons, chains of conversions.
std::span<const Recipe> tree_recipes();
/// The left sides of the rules of `simplify`.
std::span<const Recipe> equation_recipes();
/// Loops and branches, nested up to three deep, and slices at places known later.
std::span<const Recipe> control_recipes();
/// Windows that are read and written where indices say.
std::span<const Recipe> gather_recipes();
/// Sorts and running combinations.
std::span<const Recipe> order_recipes();
/// Functions of the user, and values sent to another device.
std::span<const Recipe> call_recipes();

/// Factorisations and triangular systems of small matrices, and Fourier transforms.
std::span<const Recipe> matrix_recipes();

/// All of a graph of a few nodes over long axes: up to 4,000,000 elements.
void add_long_graph(RandomBuilder& builder);

/// A loop whose turns make a row each, the last ones now and then beyond the array; nothing where
/// there is no value for it. Of no list: a graph by itself.
void add_loop_over_rows(RandomBuilder& builder);

/// The left side of rule `number`, modulo their number.
void add_equation(RandomBuilder& builder, std::uint64_t number);
/// Op and dtype `number`, modulo their number, on a new input; nothing where they do not fit.
void add_unary(RandomBuilder& builder, std::uint64_t number);

/// All bits set; of a float, infinity or NaN. At most 2 nodes.
Value all_ones(RandomBuilder& builder, const Type& type);

/// The function, also inside regions, that gives its operand's elements in reverse.
CustomCallAttributes turned_call(const Type& type);

/// `op`, or in place of one that asks for an order, which complex numbers have not, a sum.
inline Op without_order(Op op, Dtype dtype) {
  if (!is_complex(dtype)) return op;
  if (op == Op::maximum || op == Op::minimum) return Op::add;
  return op == Op::reduce_max || op == Op::reduce_min ? Op::reduce_sum : op;
}

/// Complex numbers are equal or not; others have an order.
inline CompareAttributes random_comparison(Random& random, Dtype dtype) {
  const std::int64_t drawn = random.below(6);
  return {static_cast<Comparison>(is_complex(dtype) ? drawn % 2 : drawn)};
}

}  // namespace anabranch
