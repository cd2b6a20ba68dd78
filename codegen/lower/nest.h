// Which loops a group's domain becomes: one per axis at first, then one for all the neighbouring
// axes that every access walks as one.
//
//   a[i, j] + b[i, j]    over [64, 128]    is one loop of 8192
//   a[i, j] + b[j]                         stays two
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "anabranch/shape.h"
#include "ir/kernel/builder.h"

namespace anabranch {

/// Neighbouring axes, outermost first, that one loop walks in row-major order.
struct AxisGroup {
  std::vector<int> axes;
  std::vector<std::int64_t> sizes;
  std::int64_t extent = 1;
};

/// Kept loops stand around everything, reduced ones around each stage. Axes of size 1 have none.
struct Nest {
  std::vector<AxisGroup> kept, reduced;
};

/// A loop per axis. Those that are kept have an array together, and so have those that are reduced;
/// all of them, as of a dot, may be more than any array's.
Nest loop_per_axis(std::span<const std::int64_t> domain, std::span<const int> reduced_axes);

/// All of `groups` as one.
std::vector<AxisGroup> as_one_group(std::span<const AxisGroup> groups);

/// `groups` with neighbours joined wherever every one of the expressions `used` walks them as one,
/// in each of `nests`: the loops that were opened for the groups, once per nest.
std::vector<AxisGroup> join_groups(std::span<const AxisGroup> groups,
                                   std::span<const std::vector<Ref>> nests,
                                   std::span<const Index> used, const IndexTable& table);

}  // namespace anabranch
