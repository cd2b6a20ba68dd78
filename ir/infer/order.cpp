#include <limits>

#include "ir/infer/rules.h"

namespace anabranch {
namespace {

const Type& ordered(const Application& call, std::int64_t axis, bool compares = true) {
  const Type& operand = call.operands[0];
  call.demand_axis(axis, operand.rank(), "axis");
  if (compares && is_complex(operand.dtype)) {
    call.refuse("does not take complex numbers", "take the real and the imaginary parts");
  }
  return operand;
}

}  // namespace

namespace type_rules {

ResultTypes sort(const Application& call) { return ordered(call, call.as<SortAttributes>().axis); }

ResultTypes argsort(const Application& call) {
  const auto& [axis, descending, positions] = call.as<ArgsortAttributes>();
  const Type& operand = ordered(call, axis);
  const std::int64_t size = operand.shape[static_cast<int>(axis)];
  const bool is_narrow = positions == PositionDtype::i32;
  if (is_narrow && size > std::numeric_limits<std::int32_t>::max()) {
    call.refuse("i32 does not hold every position", std::to_string(size) + "; ask for i64");
  }
  return Type{is_narrow ? Dtype::i32 : Dtype::i64, operand.shape};
}

ResultTypes cumulative(const Application& call) {
  const auto& [axis, of, reverse] = call.as<CumulativeAttributes>();
  const bool arithmetic = of == Running::sum || of == Running::product;
  const Type& operand = ordered(call, axis, !arithmetic);
  if (arithmetic && operand.dtype == Dtype::bool_) {
    call.refuse("sums and products do not take bool",
                "convert it to i32 first, or take the maximum or minimum");
  }
  return operand;
}

}  // namespace type_rules
}  // namespace anabranch
