// Where the updates of a scatter go, as numbers: which of them are runs, contiguous in the updates
// and in the array, and how the place of a run comes from an index vector.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program/steps.h"

namespace anabranch {

struct ScatterLayout {
  /// An axis of the updates along which there is a run at each place.
  struct Axis {
    std::int64_t size = 1;
    std::int64_t index_stride = 0;   ///< from a run to the next, in the indices
    std::int64_t target_stride = 0;  ///< and in the array, whatever the indices say
    int component = -1;              ///< one that counts up as the axis does; -1: none
  };
  /// One number of an index vector.
  struct Component {
    std::int64_t index_offset = 0;   ///< of its first in the indices
    std::int64_t size = 0;           ///< it is outside unless 0 <= component < size
    std::int64_t target_stride = 0;  ///< in the array
  };

  explicit ScatterLayout(const CallStep& scatter);

  std::vector<Axis> axes;  ///< outermost first, at least one
  std::vector<Component> components;
  std::int64_t run = 1;     ///< elements of a run; the updates are runs one after the other
  std::int64_t runs = 1;    ///< of all axes together
  std::int64_t target = 0;  ///< elements of the array
};

}  // namespace anabranch
