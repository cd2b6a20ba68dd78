#include "ir/masked_loop.h"

#include <algorithm>

namespace anabranch {
namespace {

/// The array that `value` spreads over more axes, if it does so.
Value spread_from(const Graph& body, Value value) {
  for (;;) {
    const Node& node = body.node(value);
    if (node.op != Op::broadcast_in_dim && node.op != Op::reshape) return value;
    value = node.inputs[0];
  }
}

}  // namespace

std::optional<std::uint32_t> mask_of(const Node& loop) {
  const Graph &condition = loop.regions[0], &body = loop.regions[1];
  const Node& any = condition.node(condition.outputs()[0]);
  if (any.op != Op::reduce_any || any.types[0].rank() != 0) return {};
  const Value mask = any.inputs[0];
  const auto carries = static_cast<std::uint32_t>(loop.types.size());
  if (mask.node >= carries) return {};
  for (std::uint32_t i = 0; i < carries; ++i) {
    const Value before{i, 0}, after = body.outputs()[i];
    if (after == before) continue;
    const Node& node = body.node(after);
    const bool stays = before == mask
                           ? node.op == Op::and_ && std::ranges::count(node.inputs, mask) > 0
                           : node.op == Op::select && node.inputs[2] == before &&
                                 spread_from(body, node.inputs[0]) == mask;
    if (!stays) return {};
  }
  return mask.node;
}

}  // namespace anabranch
