// What an op does with each axis: whether a block of it can be computed from a block of the
// operands, said here for every op that computes its blocks so.
//
//   dot lhs_batch=[0] lhs_contracting=[2] ...   lhs axis 0 is kept, 1 is kept, 2 is summed
//   reduce_max axes=[1]                         axis 0 is kept, 1 is whole
//   broadcast_in_dim axes=[0]                   axis 0 is kept; what is new can be cut anywhere
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph/builder.h"

namespace anabranch {

/// What becomes of one axis of an operand.
struct AxisRole {
  enum class Kind : std::uint8_t {
    kept,    ///< it is axis `axis` of the result
    summed,  ///< added up, together with the other operand's axis of the same number `axis`
    whole    ///< every element of the result may need all of it
  };
  Kind kind = Kind::whole;
  std::int64_t axis = 0;

  bool operator==(const AxisRole&) const = default;
};

struct AxisRoles {
  std::vector<std::vector<AxisRole>> operands;  ///< per operand, per axis
  /// Per axis of the result: whether the op computes a block of it by itself.
  std::vector<bool> is_cut;
};

/// Of a node of one result whose operands have these types; nothing where no block of an axis is
/// computed by the op itself: loops, branches, calls.
std::optional<AxisRoles> axis_roles(const Node& node, std::span<const Type> operands);

/// Adds the part of `node` whose result has elements `offset`, a scalar i64, to `offset + size` on
/// axis `axis`, one that `is_cut`; `inputs` are cut already. Result 0 of it.
Value add_block(GraphBuilder& to, const Node& node, std::vector<Value> inputs, std::int64_t axis,
                std::int64_t size, Value offset);

/// `type` with another size of an axis.
Type with_size(const Type& type, std::int64_t axis, std::int64_t size);

}  // namespace anabranch
