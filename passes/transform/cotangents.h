// Cotangents: for each value of a linear graph, the sum of its cotangents so far.
#pragma once

#include <optional>

#include "ir/graph/value_table.h"
#include "passes/transform/quantity.h"

namespace anabranch {

class Cotangents {
 public:
  Cotangents(const Graph& of, GraphBuilder& builder) : of_(of), builder_(builder), sums_(of) {}

  const Type& type(Value value) const { return of_.type(value); }
  std::optional<Value> get(Value value) const { return sums_[value]; }
  void set(Value value, Value sum) { sums_[value] = sum; }
  void add(Value value, Value part) {
    std::optional<Value>& sum = sums_[value];
    sum = sum ? builder_.add(Op::add, {*sum, part}) : part;
  }
  /// Zeros where there is none.
  Value get_or_zeros(Value value) {
    const auto sum = get(value);
    return sum ? *sum : Quantity::zeros(builder_, type(value)).value;
  }

 private:
  const Graph& of_;
  GraphBuilder& builder_;
  ValueTable<std::optional<Value>> sums_;
};

}  // namespace anabranch
