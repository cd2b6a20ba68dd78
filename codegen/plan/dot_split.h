// A fusion around a dot or a convolution, split into what a library computes and an elementwise
// kernel over its result.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/kernel/kernel.h"
#include "ir/program/steps.h"

namespace anabranch {

struct DotSplit {
  std::size_t lhs = 0, rhs = 0;           ///< which operands of the fusion the library reads
  std::vector<std::size_t> extra_inputs;  ///< which of them the epilogue reads, in its order
  std::variant<DotStep, ConvolutionStep> product;  ///< its types and attributes alone
  /// The epilogue as a fusion: the product and the extra inputs, to the fusion's outputs.
  /// Nothing where the product is the only output.
  std::optional<Node> epilogue;
};

/// Nothing if `fusion` holds neither a dot nor a convolution, or one of operands that it computes
/// itself.
std::optional<DotSplit> split_dot(const Node& fusion);

/// Whether element i of every output of an epilogue needs element i of the dot's result and no
/// other, so that the first output may take its place in memory.
bool reads_in_place(const Graph& epilogue);

/// One kernel, whose buffers are the dot's result, the extra inputs and the outputs, in this order.
Kernel epilogue_kernel(const Node& epilogue, const std::string& name);

}  // namespace anabranch
