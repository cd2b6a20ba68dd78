#include <algorithm>

#include "ir/checked.h"
#include "ir/infer/rules.h"
#include "ir/padded_axis.h"

namespace anabranch {
namespace {

std::int64_t size_of_axis(const Type& type, std::size_t axis) {
  return type.shape[static_cast<int>(axis)];
}

std::string at_axis(std::size_t axis) { return " on axis " + std::to_string(axis); }

// The scalars from operand `first` on: one per axis.
void demand_starts(const Application& call, std::size_t first, int rank) {
  const std::size_t count = call.operands.size() - first;
  if (count != static_cast<std::size_t>(rank)) {
    call.refuse("needs one start per axis", std::to_string(count) + " for " + std::to_string(rank) +
                                                (rank == 1 ? " axis" : " axes") +
                                                ", as scalars after the array" +
                                                (first == 1 ? "" : "s"));
  }
  for (std::size_t axis = 0; axis < count; ++axis) {
    const Type& start = call.operands[first + axis];
    if (start.rank() == 0 && (start.dtype == Dtype::i32 || start.dtype == Dtype::i64)) continue;
    call.refuse("the start" + at_axis(axis) + " must be a scalar of i32 or i64",
                "not " + to_string(start));
  }
}

}  // namespace

namespace type_rules {

ResultTypes iota(const Application& call) {
  const Type& stated = *call.stated;
  if (stated.dtype == Dtype::bool_) {
    call.refuse("bool cannot count", to_string(stated) + "; make it i32 and convert");
  }
  call.demand_axis(call.as<AxisAttributes>().axis, stated.rank(), "axis");
  return stated;
}

ResultTypes reshape(const Application& call) {
  const Type& from = call.operands[0];
  const Type& to = *call.stated;
  if (from.dtype != to.dtype) {
    call.refuse("the dtype cannot change", "to " + to_string(to) + "; convert does that");
  }
  if (from.size() != to.size()) {
    call.refuse("element counts differ", std::to_string(from.size()) + " against " +
                                             std::to_string(to.size()) + " of " + to_string(to));
  }
  return to;
}

ResultTypes broadcast_in_dim(const Application& call) {
  const Type& from = call.operands[0];
  const Type& to = *call.stated;
  const auto& axes = call.as<AxesAttributes>().axes;
  if (from.dtype != to.dtype) {
    call.refuse("the dtype cannot change", "to " + to_string(to) + "; convert does that");
  }
  call.demand_per_axis(axes, "axes");
  call.demand_unique_axes(axes, to.rank(), "axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t size = size_of_axis(from, i);
    std::int64_t wanted = to.shape[static_cast<int>(axes[i])];
    if (size != 1 && size != wanted) {
      call.refuse(
          "size " + std::to_string(size) + " does not broadcast to " + std::to_string(wanted),
          "operand axis " + std::to_string(i) + " to axis " + std::to_string(axes[i]) + " of " +
              to_string(to) + "; only size 1 repeats");
    }
  }
  return to;
}

ResultTypes transpose(const Application& call) {
  const Type& operand = call.operands[0];
  const auto& axes = call.as<AxesAttributes>().axes;
  call.demand_per_axis(axes, "axes");
  call.demand_unique_axes(axes, operand.rank(), "axes");
  std::vector<std::int64_t> sizes;
  for (std::int64_t axis : axes) sizes.push_back(operand.shape[static_cast<int>(axis)]);
  return call.result(operand.dtype, std::move(sizes));
}

ResultTypes slice(const Application& call) {
  const Type& operand = call.operands[0];
  const auto& [start, limit, stride] = call.as<SliceAttributes>();
  call.demand_per_axis(start, "start");
  call.demand_per_axis(limit, "limit");
  call.demand_per_axis(stride, "stride");
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (start[i] < 0 || start[i] > limit[i] || limit[i] > size_of_axis(operand, i)) {
      call.refuse("bounds leave the operand" + at_axis(i),
                  "start " + std::to_string(start[i]) + ", limit " + std::to_string(limit[i]) +
                      ", size " + std::to_string(size_of_axis(operand, i)) +
                      "; 0 <= start <= limit <= size must hold");
    }
    if (stride[i] < 1) {
      call.refuse("stride must be at least 1" + at_axis(i),
                  std::to_string(stride[i]) + "; flip, the op reverse, turns an axis round");
    }
    std::int64_t span = limit[i] - start[i];
    sizes.push_back(span / stride[i] + (span % stride[i] != 0));
  }
  return call.result(operand.dtype, std::move(sizes));
}

ResultTypes reverse(const Application& call) {
  const Type& operand = call.operands[0];
  call.demand_ascending_axes(call.as<AxesAttributes>().axes, operand.rank(), "axes");
  return operand;
}

ResultTypes pad(const Application& call) {
  const Type& operand = call.operands[0];
  const Type& value = call.operands[1];
  const auto& [low, high, interior] = call.as<PadAttributes>();
  if (value.rank() != 0 || value.dtype != operand.dtype) {
    call.refuse("the padding value must be a scalar of the operand's dtype",
                to_string(value) + " instead of " + to_string(Type{operand.dtype, {}}));
  }
  call.demand_per_axis(low, "low");
  call.demand_per_axis(high, "high");
  call.demand_per_axis(interior, "interior");
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (interior[i] < 0) {
      call.refuse("interior must be 0 or more" + at_axis(i), std::to_string(interior[i]));
    }
    auto padded = padded_size(size_of_axis(operand, i), low[i], high[i], interior[i]);
    if (!padded || *padded < 0) {
      call.refuse(padded ? "crops more than there is" + at_axis(i)
                         : "the padded size overflows" + at_axis(i),
                  "size " + std::to_string(size_of_axis(operand, i)) + ", low " +
                      std::to_string(low[i]) + ", high " + std::to_string(high[i]) + ", interior " +
                      std::to_string(interior[i]));
    }
    sizes.push_back(*padded);
  }
  return call.result(operand.dtype, std::move(sizes));
}

ResultTypes sliding_windows(const Application& call) {
  const Type& operand = call.operands[0];
  const auto& [sizes, strides, dilations] = call.as<WindowsAttributes>();
  call.demand_per_axis(sizes, "sizes");
  call.demand_per_axis(strides, "strides");
  call.demand_per_axis(dilations, "dilations");
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || strides[i] < 1 || dilations[i] < 1) {
      call.refuse("size, stride and dilation must be at least 1" + at_axis(i),
                  std::to_string(sizes[i]) + ", " + std::to_string(strides[i]) + ", " +
                      std::to_string(dilations[i]));
    }
    result.push_back(window_count(size_of_axis(operand, i), sizes[i], strides[i], dilations[i]));
  }
  result.insert(result.end(), sizes.begin(), sizes.end());
  return call.result(operand.dtype, std::move(result));
}

ResultTypes concatenate(const Application& call) {
  if (call.operands.empty()) call.refuse("needs at least one operand");
  const Type& first = call.operands[0];
  const std::int64_t axis = call.as<AxisAttributes>().axis;
  call.demand_axis(axis, first.rank(), "axis");
  std::int64_t total = 0;
  for (const Type& operand : call.operands) {
    if (operand.dtype != first.dtype) {
      call.refuse("operand dtypes differ", std::string(name(first.dtype)) + " against " +
                                               std::string(name(operand.dtype)) +
                                               "; convert one of them first");
    }
    if (operand.rank() != first.rank()) {
      call.refuse("operand ranks differ",
                  std::to_string(first.rank()) + " against " + std::to_string(operand.rank()));
    }
    for (int other = 0; other < first.rank(); ++other) {
      if (other != axis && operand.shape[other] != first.shape[other]) {
        call.refuse("sizes differ on axis " + std::to_string(other),
                    std::to_string(first.shape[other]) + " against " +
                        std::to_string(operand.shape[other]) + "; only axis " +
                        std::to_string(axis) + " may differ");
      }
    }
    const auto sum = checked_add(total, operand.shape[static_cast<int>(axis)]);
    if (!sum) call.refuse("the sum of the sizes overflows");
    total = *sum;
  }
  std::vector<std::int64_t> sizes(first.shape.begin(), first.shape.end());
  sizes[static_cast<std::size_t>(axis)] = total;
  return call.result(first.dtype, std::move(sizes));
}

ResultTypes dynamic_slice(const Application& call) {
  if (call.operands.empty()) call.refuse("needs an array and one start per axis");
  const Type& operand = call.operands[0];
  const auto& sizes = call.as<SizesAttributes>().sizes;
  demand_starts(call, 1, operand.rank());
  call.demand_per_axis(sizes, "sizes");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= 0 && sizes[i] <= size_of_axis(operand, i)) continue;
    call.refuse(
        "the block does not fit" + at_axis(i),
        "size " + std::to_string(sizes[i]) + " of " + std::to_string(size_of_axis(operand, i)));
  }
  return call.result(operand.dtype, sizes);
}

ResultTypes dynamic_update_slice(const Application& call) {
  if (call.operands.size() < 2) call.refuse("needs an array, an update and one start per axis");
  const Type& operand = call.operands[0];
  const Type& update = call.operands[1];
  demand_starts(call, 2, operand.rank());
  if (update.dtype != operand.dtype) {
    call.refuse("operand dtypes differ", std::string(name(operand.dtype)) + " against " +
                                             std::string(name(update.dtype)) +
                                             "; convert one of them first");
  }
  if (update.rank() != operand.rank()) {
    call.refuse("operand ranks differ", std::to_string(operand.rank()) + " against " +
                                            std::to_string(update.rank()) +
                                            "; reshape the update first");
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(operand.rank()); ++i) {
    if (size_of_axis(update, i) <= size_of_axis(operand, i)) continue;
    call.refuse("the update does not fit" + at_axis(i),
                "size " + std::to_string(size_of_axis(update, i)) + " of " +
                    std::to_string(size_of_axis(operand, i)));
  }
  return operand;
}

}  // namespace type_rules
}  // namespace anabranch
