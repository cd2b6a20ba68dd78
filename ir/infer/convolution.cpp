#include "ir/infer/rules.h"
#include "ir/padded_axis.h"

namespace anabranch {
namespace {

std::int64_t size_of_axis(const Type& type, std::int64_t axis) {
  return type.shape[static_cast<int>(axis)];
}

// How many elements each spatial axis of the result has, in the order of the attributes.
std::vector<std::int64_t> spatial_sizes(const Application& call) {
  const auto& a = call.as<ConvolutionAttributes>();
  const std::size_t count = a.lhs_axes.size() - 2;
  const std::pair<const char*, const std::vector<std::int64_t>*> lists[] = {
      {"strides", &a.strides},
      {"low", &a.low},
      {"high", &a.high},
      {"lhs_dilations", &a.lhs_dilations},
      {"rhs_dilations", &a.rhs_dilations},
      {"rhs_reversals", &a.rhs_reversals}};
  for (const auto& [what, list] : lists) {
    if (list->size() == count) continue;
    call.refuse(std::string(what) + " needs one entry per spatial axis",
                std::to_string(list->size()) + " for " + std::to_string(count));
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string place = " on spatial axis " + std::to_string(i);
    if (a.strides[i] < 1 || a.lhs_dilations[i] < 1 || a.rhs_dilations[i] < 1) {
      call.refuse("stride and dilations must be at least 1" + place,
                  std::to_string(a.strides[i]) + ", " + std::to_string(a.lhs_dilations[i]) + ", " +
                      std::to_string(a.rhs_dilations[i]));
    }
    if (a.rhs_reversals[i] != 0 && a.rhs_reversals[i] != 1) {
      call.refuse("rhs_reversals are 0 or 1" + place, std::to_string(a.rhs_reversals[i]));
    }
    const std::int64_t size = size_of_axis(call.operands[0], a.lhs_axes[i + 2]);
    const std::int64_t window = size_of_axis(call.operands[1], a.rhs_axes[i + 2]);
    const auto padded = padded_size(size, a.low[i], a.high[i], a.lhs_dilations[i] - 1);
    if (!padded || *padded < 0) {
      call.refuse((padded ? "crops more than there is" : "the padded size overflows") + place,
                  "size " + std::to_string(size) + ", low " + std::to_string(a.low[i]) + ", high " +
                      std::to_string(a.high[i]) + ", dilation " +
                      std::to_string(a.lhs_dilations[i]));
    }
    if (window < 1) call.refuse("a window must have at least one element" + place);
    sizes.push_back(window_count(*padded, window, a.strides[i], a.rhs_dilations[i]));
  }
  return sizes;
}

}  // namespace

namespace type_rules {

ResultTypes convolution(const Application& call) {
  const Type &lhs = call.operands[0], &rhs = call.operands[1];
  const auto& a = call.as<ConvolutionAttributes>();
  if (lhs.dtype != rhs.dtype) {
    call.refuse("operand dtypes differ", std::string(name(lhs.dtype)) + " against " +
                                             std::string(name(rhs.dtype)) +
                                             "; convert one of them first");
  }
  if (lhs.dtype == Dtype::bool_) {
    call.refuse("does not take bool", "convert both operands to i32 first");
  }
  const auto rank = static_cast<std::size_t>(lhs.rank());
  if (rank < 2 || rhs.rank() != lhs.rank()) {
    call.refuse("both operands need the same axes: two and the spatial ones");
  }
  const std::pair<const char*, const std::vector<std::int64_t>*> layouts[] = {
      {"lhs_axes", &a.lhs_axes}, {"rhs_axes", &a.rhs_axes}, {"result_axes", &a.result_axes}};
  for (const auto& [what, axes] : layouts) {
    call.demand_per_axis(*axes, what);
    call.demand_unique_axes(*axes, lhs.rank(), what);
  }
  const std::int64_t inputs = size_of_axis(lhs, a.lhs_axes[1]);
  const std::int64_t outputs = size_of_axis(rhs, a.rhs_axes[0]);
  const std::int64_t inputs_of_group = size_of_axis(rhs, a.rhs_axes[1]);
  if (a.groups < 1 || inputs % a.groups != 0 || outputs % a.groups != 0) {
    call.refuse("groups must divide the features",
                std::to_string(a.groups) + " groups of " + std::to_string(inputs) + " input and " +
                    std::to_string(outputs) + " output features");
  }
  if (inputs_of_group != inputs / a.groups) {
    call.refuse("input features differ", std::to_string(inputs) + " in " +
                                             std::to_string(a.groups) + " groups against " +
                                             std::to_string(inputs_of_group) + " of the windows");
  }
  if (a.feature_splits < 1 || inputs % a.feature_splits != 0 ||
      (a.feature_splits > 1 && a.groups > 1)) {
    call.refuse("feature_splits must divide the input features, of one group",
                std::to_string(a.feature_splits) + " of " + std::to_string(inputs) + " in " +
                    std::to_string(a.groups) + " groups");
  }
  std::vector<std::int64_t> sizes(rank);
  const std::vector<std::int64_t> spatial = spatial_sizes(call);
  sizes[static_cast<std::size_t>(a.result_axes[0])] = size_of_axis(lhs, a.lhs_axes[0]);
  sizes[static_cast<std::size_t>(a.result_axes[1])] = outputs;
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    sizes[static_cast<std::size_t>(a.result_axes[i + 2])] = spatial[i];
  }
  if (a.feature_splits > 1) sizes.insert(sizes.begin(), a.feature_splits);
  return call.result(lhs.dtype, std::move(sizes));
}

}  // namespace type_rules
}  // namespace anabranch
