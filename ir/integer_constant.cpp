#include "ir/integer_constant.h"

#include "ir/scalar.h"

namespace anabranch {

std::optional<std::int64_t> integer_of(const Node& node) {
  if (node.op != Op::constant || !is_integer(node.types[0].dtype)) return {};
  const Literal& value = node.as<ConstantAttributes>().value;
  if (value.type().rank() != 0) return {};
  const auto number = value.first_as<std::int64_t>();
  if (number < 0 && !is_signed_integer(value.type().dtype)) return {};  // a u64 beyond those
  return number;
}

std::optional<std::int64_t> integer_of(const Graph& graph, Value value) {
  return integer_of(graph.node(value));
}

Literal integer_literal(Dtype dtype, std::int64_t number) {
  return visit_dtype(dtype, [&]<class T>() { return Literal::scalar(convert_scalar<T>(number)); });
}

}  // namespace anabranch
