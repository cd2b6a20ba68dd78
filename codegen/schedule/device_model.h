// DeviceModel: what the scheduler knows of a device.
#pragma once

#include <climits>
#include <cstddef>
#include <optional>

#include "codegen/cuda/gpu_costs.h"
#include "codegen/options.h"
#include "runtime/executor/executable.h"

namespace anabranch {

/// Launches share out the units of a device: a CPU's cores, or the multiprocessors of a GPU. A
/// launch that keeps all of them busy gains nothing beside another one.
struct DeviceModel {
  int units = 1;
  double step_ns = 0;          ///< from one launch of a stream to the next
  double event_ns = 0;         ///< from the end of a launch to what waits for it on another stream
  double apart_ns = 0;         ///< the same where that is on another device
  double join_ns = 0;          ///< from the end of a further stream to the end of the run
  int most_streams = INT_MAX;  ///< that can be of use
  std::optional<cuda::GpuCosts> gpu;  ///< of a GPU

  /// A launch as the device takes it.
  struct Share {
    std::size_t units = 1;  ///< that it keeps busy; none where the host does it for a GPU
    double ns = 0;          ///< for how long
  };
  Share share(const Launch& launch) const;
};

/// What a GPU that does not exist is like, see GpuFacts. Throws Error where one that does cannot be
/// opened.
DeviceModel model_of(const Device& device, const Options& options);

}  // namespace anabranch
