#include <algorithm>
#include <limits>

#include "ir/infer/rules.h"
#include "ir/plan_fusion.h"

namespace anabranch {
namespace {

Type reduced(const Application& call, const Type& operand, std::span<const std::int64_t> axes) {
  const Shape& shape = operand.shape;
  std::vector<std::int64_t> kept;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) kept.push_back(shape[axis]);
  }
  // A shape with a size of 0 may leave others behind that are too many together.
  return call.result(operand.dtype, std::move(kept));
}

// Checks one side of a dot and gives its free axes.
std::vector<std::int64_t> free_axes(const Application& call, const Type& operand,
                                    std::span<const std::int64_t> batch,
                                    std::span<const std::int64_t> contracting,
                                    std::string_view side) {
  std::vector<std::int64_t> named(batch.begin(), batch.end());
  named.insert(named.end(), contracting.begin(), contracting.end());
  const std::string what = std::string(side) + "_batch and " + std::string(side) + "_contracting";
  call.demand_unique_axes(named, operand.rank(), what);
  std::vector<std::int64_t> free;
  for (std::int64_t axis = 0; axis < operand.rank(); ++axis) {
    if (std::find(named.begin(), named.end(), axis) == named.end()) free.push_back(axis);
  }
  return free;
}

void demand_paired(const Application& call, std::span<const std::int64_t> left,
                   std::span<const std::int64_t> right, std::string_view what,
                   std::string_view sizes) {
  if (left.size() != right.size()) {
    call.refuse("lhs and rhs name different numbers of " + std::string(what) + " axes",
                list_text(left) + " against " + list_text(right));
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::int64_t l = call.operands[0].shape[static_cast<int>(left[i])];
    std::int64_t r = call.operands[1].shape[static_cast<int>(right[i])];
    if (l != r) {
      call.refuse(std::string(sizes) + " sizes differ",
                  std::to_string(l) + " against " + std::to_string(r));
    }
  }
}

ResultTypes named_reduction(const Application& call) {
  const Type& operand = call.operands[0];
  const bool logical = call.op == Op::reduce_any || call.op == Op::reduce_all;
  const bool arithmetic = call.op == Op::reduce_sum || call.op == Op::reduce_product;
  if (logical && operand.dtype != Dtype::bool_) {
    call.refuse("takes bool", "compare with zero, or convert to bool, first");
  }
  if (arithmetic && operand.dtype == Dtype::bool_) {
    call.refuse("does not take bool", "convert it to i32 first, or use reduce_any or reduce_all");
  }
  const auto& axes = call.as<AxesAttributes>().axes;
  call.demand_ascending_axes(axes, operand.rank(), "axes");
  return reduced(call, operand, axes);
}

ResultTypes arg_reduction(const Application& call) {
  const Type& operand = call.operands[0];
  const Type& stated = *call.stated;
  const std::int64_t axis = call.as<AxisAttributes>().axis;
  call.demand_axis(axis, operand.rank(), "axis");
  const std::int64_t size = operand.shape[static_cast<int>(axis)];
  if (size == 0) {
    call.refuse("axis " + std::to_string(axis) + " is empty", "no element has a position");
  }
  if (stated.dtype != Dtype::i32 && stated.dtype != Dtype::i64) {
    call.refuse("positions are i32 or i64", "not " + to_string(stated));
  }
  if (stated.dtype == Dtype::i32 && size > std::numeric_limits<std::int32_t>::max()) {
    call.refuse("i32 does not hold every position", std::to_string(size) + "; ask for i64");
  }
  Type result = reduced(call, operand, std::span(&axis, 1));
  result.dtype = stated.dtype;
  if (result != stated) {
    call.refuse("the stated type has the wrong shape",
                to_string(stated) + " instead of " + to_string(result));
  }
  return result;
}

// A body is computed within a loop, scalar by scalar.
void demand_scalars(const Application& call, const Graph& body) {
  for (const Node& node : body.nodes()) {
    const std::string held = "the body holds " + std::string(name(node.op));
    const char* const why = "which cannot be computed for each element";
    if (info(node.op).kind != OpKind::leaf && !is_elementwise(node.op) && !is_index(node.op)) {
      call.refuse(held + ", " + why);
    }
    if (node.op == Op::constant && !node.as<ConstantAttributes>().value.is_splat()) {
      call.refuse(held + ", an array of different values, " + why);
    }
  }
}

ResultTypes reduce(const Application& call) {
  if (call.operands.empty() || call.operands.size() % 2 != 0) {
    call.refuse("takes n arrays and then n scalars",
                "given " + std::to_string(call.operands.size()) + " in all");
  }
  const std::size_t count = call.operands.size() / 2;
  const auto arrays = call.operands.first(count);
  const auto& axes = call.as<AxesAttributes>().axes;
  call.demand_ascending_axes(axes, arrays[0].rank(), "axes");
  std::vector<Type> scalars, results;
  for (std::size_t i = 0; i < count; ++i) {
    call.demand_equal_shapes(arrays[0], arrays[i], "the arrays are reduced together");
    const Type scalar{arrays[i].dtype, {}};
    if (call.operands[count + i] != scalar) {
      call.refuse("initial value " + std::to_string(i) + " must be a scalar of its array's dtype",
                  to_string(call.operands[count + i]) + " instead of " + to_string(scalar));
    }
    scalars.push_back(scalar);
    results.push_back(reduced(call, arrays[i], axes));
  }
  std::vector<Type> parameters = scalars;
  parameters.insert(parameters.end(), scalars.begin(), scalars.end());
  call.demand_parameters(0, "the body", parameters);
  const Graph& body = call.regions[0];
  demand_scalars(call, body);
  if (body.outputs().size() != count) {
    call.refuse("the body returns " + std::to_string(body.outputs().size()) + " values, not " +
                std::to_string(count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (body.type(body.outputs()[i]) != scalars[i]) {
      call.refuse("result " + std::to_string(i) + " of the body has the wrong type",
                  to_string(body.type(body.outputs()[i])) + " instead of " + to_string(scalars[i]));
    }
  }
  return results;
}

}  // namespace

namespace type_rules {

ResultTypes reduction(const Application& call) {
  if (call.op == Op::reduce) return reduce(call);
  const bool finds_position = call.op == Op::argmax || call.op == Op::argmin;
  return finds_position ? arg_reduction(call) : named_reduction(call);
}

ResultTypes dot(const Application& call) {
  const Type& left = call.operands[0];
  const Type& right = call.operands[1];
  const auto& [lhs_batch, rhs_batch, lhs_contracting, rhs_contracting] = call.as<DotAttributes>();
  if (left.dtype != right.dtype) {
    call.refuse("operand dtypes differ", std::string(name(left.dtype)) + " against " +
                                             std::string(name(right.dtype)) +
                                             "; convert one of them first");
  }
  if (left.dtype == Dtype::bool_) {
    call.refuse("does not take bool", "convert both operands to i32 first");
  }
  const auto left_free = free_axes(call, left, lhs_batch, lhs_contracting, "lhs");
  const auto right_free = free_axes(call, right, rhs_batch, rhs_contracting, "rhs");
  demand_paired(call, lhs_batch, rhs_batch, "batch", "batch");
  demand_paired(call, lhs_contracting, rhs_contracting, "contracting", "inner");
  std::vector<std::int64_t> sizes;
  for (std::int64_t axis : lhs_batch) sizes.push_back(left.shape[static_cast<int>(axis)]);
  for (std::int64_t axis : left_free) sizes.push_back(left.shape[static_cast<int>(axis)]);
  for (std::int64_t axis : right_free) sizes.push_back(right.shape[static_cast<int>(axis)]);
  return call.result(left.dtype, std::move(sizes));
}

ResultTypes fusion(const Application& call) {
  call.demand_parameters(0, "the body", call.operands);
  const Graph& region = call.regions[0];
  if (region.outputs().empty()) call.refuse("the region returns nothing");
  const auto plan = plan_fusion(region);
  if (const auto* why = std::get_if<std::string>(&plan)) {
    call.refuse("the region cannot be one kernel: " + *why);
  }
  const FusionKind stated = call.as<FusionAttributes>().kind;
  const FusionKind found = std::get<FusionPlan>(plan).kind;
  if (stated != found) {
    call.refuse("the region is no " + std::string(name(stated)) + " group",
                "write kind=" + std::string(name(found)));
  }
  std::vector<Type> results;
  for (Value output : region.outputs()) results.push_back(region.type(output));
  return results;
}

}  // namespace type_rules
}  // namespace anabranch
