// Lines: the rows, columns ... of an array along one axis, by number.
#pragma once

#include <cstdint>

#include "anabranch/shape.h"

namespace anabranch::host {

struct Lines {
  std::int64_t count = 1;   ///< of lines
  std::int64_t extent = 1;  ///< elements of each
  std::int64_t stride = 1;  ///< from one element to the next

  Lines(const Shape& shape, std::int64_t axis) : extent(shape[static_cast<int>(axis)]) {
    for (int other = 0; other < shape.rank(); ++other) {
      if (other != axis) count *= shape[other];
      if (other > axis) stride *= shape[other];
    }
    if (shape.size() == 0) count = extent = 0, stride = 1;  // the other sizes may be immense
  }

  /// Where the first element of a line is. Lines next to each other have neighbouring numbers.
  std::int64_t first(std::int64_t line) const {
    return line / stride * stride * extent + line % stride;
  }
};

}  // namespace anabranch::host
