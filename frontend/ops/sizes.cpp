#include "anabranch/sizes.h"

#include <algorithm>
#include <numeric>

#include "frontend/array/fail.h"

namespace anabranch {

Shape Sizes::shape(const char* function) const {
  try {
    return Shape(sizes_);
  } catch (const Error& error) {
    fail(std::string(function) + ": " + error.what(), where_);
  }
}

std::int64_t axis_of(const char* function, Axis axis, const Shape& shape, SourceLocation where) {
  const std::int64_t rank = shape.rank();
  if (axis.value >= -rank && axis.value < rank) {
    return axis.value < 0 ? axis.value + rank : axis.value;
  }
  fail(std::string(function) + ": no axis " + std::to_string(axis.value) + " in shape " +
           to_string(shape) +
           (rank == 0
                ? ", which has none"
                : "; its axes are " + std::to_string(-rank) + " to " + std::to_string(rank - 1)),
       where);
}

std::vector<std::int64_t> Axes::in_order(const char* function, const Shape& shape,
                                         SourceLocation where) const {
  std::vector<std::int64_t> axes;
  if (!axes_) {
    axes.resize(shape.sizes().size());
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }
  for (std::int64_t axis : *axes_) {
    axes.push_back(axis_of(function, axis, shape, where));
    if (std::count(axes.begin(), axes.end(), axes.back()) > 1) {
      fail(std::string(function) + ": axis " + std::to_string(axis) + " of shape " +
               to_string(shape) + " is named twice",
           where);
    }
  }
  return axes;
}

std::vector<std::int64_t> Axes::of_rank(const char* function, const Shape& shape,
                                        SourceLocation where) const {
  std::vector<std::int64_t> axes = in_order(function, shape, where);
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace anabranch
