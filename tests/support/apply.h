// One op applied through builder and interpreter, for tests that state results by hand.
#pragma once

#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/graph.h"
#include "ir/interpret/interpret.h"

namespace anabranch {

template <class T>
Literal row(std::vector<T> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return Literal::of(std::span<const T>(values), Shape{size});
}
inline Literal row(std::vector<bool> values) {
  std::vector<std::byte> bytes;
  for (bool value : values) bytes.push_back(static_cast<std::byte>(value));
  return Literal(Type{bool_, Shape{static_cast<std::int64_t>(values.size())}}, std::move(bytes));
}

template <class T>
Literal grid(Shape shape, std::vector<T> values) {
  return Literal::of(std::span<const T>(values), std::move(shape));
}

inline Literal apply(Op op, std::vector<Literal> operands, Attributes attributes = NoAttributes{},
                     std::optional<Type> stated = std::nullopt) {
  GraphBuilder builder;
  std::vector<Value> inputs;
  for (const Literal& operand : operands) inputs.push_back(builder.parameter(operand.type()));
  Value result = builder.add(op, inputs, std::move(attributes), std::move(stated));
  return interpret(builder.build({result}), operands)[0];
}

}  // namespace anabranch
