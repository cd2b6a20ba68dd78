// The regions of random loops and branches, nested in each other.
#pragma once

#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/graph.h"
#include "tests/support/random_literal.h"
#include "tests/support/random_recipes.h"

namespace anabranch {

/// Deep enough for a loop in a branch in a loop.
inline constexpr int most_nested = 2;

/// What a region is given besides its counter, in this order.
struct RegionOperands {
  int values = 0;            ///< of the writer's type
  std::vector<Type> others;  ///< of any other; mostly nothing needs them
};

/// Writes regions: a few ops on values of one type, and the i32 scalars that count turns. Operands
/// are handed on, swapped, given twice or left alone; results may be constants.
class RegionWriter {
 public:
  RegionWriter(Random& random, Type type) : random_(random), type_(std::move(type)) {}

  /// Condition and body of (i32, `carried` values; captured operands; i32): while i < n, about.
  std::vector<Graph> loop(int carried, const RegionOperands& captured, int depth);

  /// Condition and body of (i32, an array of rows that is written, another one that is read,
  /// `captured` values): each turn below `end` writes its own row. Rows are of the writer's type.
  std::vector<Graph> rows(const Type& whole, std::int64_t end, int captured, int depth);

  /// One to four branches of (operands, and an i32 where `counted`) that give `results` values.
  std::vector<Graph> branches(const RegionOperands& operands, bool counted, int results, int depth);

 private:
  struct Inside {
    Value i;                    // an i32 scalar
    std::vector<Value> values;  // of the type
    std::vector<Value> others;
    Value last;  // another i32 scalar, of a loop
  };

  void add_parameters(GraphBuilder& region, Inside& inside, const RegionOperands& operands);
  Inside parameters_of_loop(GraphBuilder& region, int carried, const RegionOperands& captured);
  Value condition(GraphBuilder& region, const Inside& inside);
  Value result(GraphBuilder& region, const Inside& inside, Value own, int depth);
  Value leaf(GraphBuilder& region);
  Value steps(GraphBuilder& region, const Inside& inside, int depth);
  Value step(GraphBuilder& region, const Inside& inside, Value x, Value y, int depth);
  Value all_of(GraphBuilder& region, Value scalar, const Type& type);
  Value unary(GraphBuilder& region, Value x);
  Value checked(GraphBuilder& region, Value x);
  Value binary(GraphBuilder& region, Value x, Value y);
  Value chosen(GraphBuilder& region, Value x, Value y);
  Value converted_and_back(GraphBuilder& region, Value x);
  Value reduced_and_repeated(GraphBuilder& region, Value x);
  Value moved(GraphBuilder& region, Value x, Value y);
  Value with_index(GraphBuilder& region, const Inside& inside, Value x);
  Value with_block(GraphBuilder& region, Value i, Value x, Value y);
  Value inner_loop(GraphBuilder& region, const Inside& inside, Value x, Value y, int depth);
  Value inner_branch(GraphBuilder& region, const Inside& inside, Value x, Value y, int depth);

  Random& random_;
  Type type_;
};

}  // namespace anabranch
