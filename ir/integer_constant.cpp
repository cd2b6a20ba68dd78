#include "ir/integer_constant.h"

#include <type_traits>

#include "ir/scalar.h"

namespace anabranch {

std::optional<std::int64_t> integer_of(const Node& node) {
  if (node.op != Op::constant || !is_integer(node.types[0].dtype)) return {};
  const Literal& value = node.as<ConstantAttributes>().value;
  if (value.type().rank() != 0) return {};
  if (is_unsigned_integer(value.type().dtype)) {
    return static_cast<std::int64_t>(value.bits(0).low);
  }
  return visit_any_dtype(value.type().dtype, [&]<class T>() -> std::optional<std::int64_t> {
    if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(value.values<T>()[0]);
    return {};
  });
}

std::optional<std::int64_t> integer_of(const Graph& graph, Value value) {
  return integer_of(graph.node(value));
}

}  // namespace anabranch
