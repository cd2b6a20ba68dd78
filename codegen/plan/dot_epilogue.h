// A fusion around a dot, taken apart into the library's dot and an elementwise kernel over its
// result.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ir/attributes.h"
#include "ir/graph/graph.h"
#include "ir/kernel/kernel.h"
#include "ir/type.h"
#include "runtime/device/device.h"

namespace anabranch {

/// A dot for the CPU's library; the launch's kernel, if it has one, is its epilogue.
struct LibraryDot {
  Type lhs, rhs, result;
  DotAttributes attributes;
  std::size_t epilogue_inputs = 0, epilogue_outputs = 0;
  bool in_place = false;
};

struct DotSplit {
  std::size_t lhs = 0, rhs = 0;           ///< which operands of the fusion the dot reads
  std::vector<std::size_t> extra_inputs;  ///< which of them the epilogue reads, in its order
  LibraryDot dot;
  /// The epilogue as a fusion: the dot's result and the extra inputs, to the fusion's outputs.
  /// Nothing where the dot's result is the only output.
  std::optional<Node> epilogue;
};

/// Nothing if `fusion` holds no dot, or one that no library of that kind of device computes.
std::optional<DotSplit> split_dot_epilogue(const Node& fusion, DeviceKind kind = DeviceKind::cpu);

/// One kernel, whose buffers are the dot's result, the extra inputs and the outputs, in this order.
Kernel epilogue_kernel(const Node& epilogue, const std::string& name);

}  // namespace anabranch
