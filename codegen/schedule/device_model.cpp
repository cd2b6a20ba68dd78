#include "codegen/schedule/device_model.h"

#include <algorithm>

namespace anabranch {

DeviceModel::Share DeviceModel::share(const Step& step) const {
  if (step.parallelism == 0) return {0, step.predicted_ns};
  const std::int64_t full = (step.parallelism + threads_per_unit - 1) / threads_per_unit;
  const std::int64_t used = std::clamp<std::int64_t>(full, 1, units);
  const double parts = works_by_itself ? 1 : static_cast<double>(used);
  return {static_cast<std::size_t>(used), step.predicted_ns / parts};
}

}  // namespace anabranch
