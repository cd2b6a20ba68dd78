#include "runtime/executor/launch_event.h"

#include <cstddef>

namespace anabranch::timeline {

Category category_of(const Launch& launch) {
  constexpr Category categories[] = {Category::kernel, Category::library, Category::loop,
                                     Category::branch, Category::copy};
  // A loop or a branch that is one function has no steps to draw.
  if (launch.is_native_flow()) return Category::kernel;
  return categories[static_cast<std::size_t>(launch.kind)];
}

Details details_of(const Launch& launch) {
  return {launch.cost.bytes_read + launch.cost.bytes_written, launch.cost.operations,
          launch.location};
}

}  // namespace anabranch::timeline
