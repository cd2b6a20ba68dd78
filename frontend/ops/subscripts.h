// Subscripts brought to the form that gather and scatter have.
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/indexing.h"
#include "anabranch/shape.h"

namespace anabranch {

/// Which elements subscripts pick of an array of a shape.
struct Picked {
  /// One axis of the array.
  struct AxisPart {
    enum class Kind : std::uint8_t {
      block,   ///< `count` elements from `start` on
      spaced,  ///< the same, `step` apart
      point,   ///< the one at `start`
      array    ///< those at `positions`
    };
    Kind kind = Kind::block;
    std::int64_t start = 0, count = 0, step = 1;
    Array positions = {};  ///< from 0 on, i32 or i64
  };
  /// What becomes an axis, or several, of the result.
  struct Item {
    static constexpr int new_axis = -1, arrays = -2;
    int axis = 0;  ///< one of the array's, or one of the above
  };

  std::vector<AxisPart> axes;       ///< one per axis
  std::vector<Item> items;          ///< in the order of the result's axes
  Shape arrays;                     ///< what the positions are broadcast to
  std::vector<std::int64_t> shape;  ///< of the result
  bool has_arrays = false;
  bool has_spaces = false;
};

/// Throws Error, naming `function`, where the subscripts do not fit.
Picked pick(const char* function, const Shape& shape, const std::vector<Subscript>& subscripts,
            SourceLocation where);

}  // namespace anabranch
