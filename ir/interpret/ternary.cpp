// Elementwise ops of three operands.
#include "ir/interpret/rules.h"

namespace anabranch::rules {

Results select(const Node& node, Operands operands) {
  auto holds = operands[0].values<bool>();
  return visit_any_dtype(node.types[0].dtype, [&]<class T>() {
    auto yes = operands[1].values<T>();
    auto no = operands[2].values<T>();
    Elements<T> result(node.types[0]);
    for (std::int64_t i = 0; i < result.size(); ++i) {
      auto at = static_cast<std::size_t>(i);
      result[i] = holds[at] ? yes[at] : no[at];
    }
    return std::move(result).finish();
  });
}

Results clamp(const Node& node, Operands operands) {
  return visit_dtype(node.types[0].dtype, [&]<class T>() {
    auto low = operands[0].values<T>();
    auto value = operands[1].values<T>();
    auto high = operands[2].values<T>();
    Elements<T> result(node.types[0]);
    for (std::int64_t i = 0; i < result.size(); ++i) {
      auto at = static_cast<std::size_t>(i);
      result[i] = convert_scalar<T>(
          minimum_of<Computed<T>>(maximum_of<Computed<T>>(value[at], low[at]), high[at]));
    }
    return std::move(result).finish();
  });
}

}  // namespace anabranch::rules
