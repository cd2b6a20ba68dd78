// DeviceModel: what the scheduler knows of a device.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "ir/program/program.h"

namespace anabranch {

/// Steps share out the units of a device: a CPU's cores, or the multiprocessors of a GPU. A step
/// that keeps all of them busy gains nothing beside another one.
struct DeviceModel {
  int units = 1;
  double step_ns = 0;          ///< from one step of a stream to the next
  double event_ns = 0;         ///< from the end of a step to what waits for it on another stream
  double apart_ns = 0;         ///< the same where that is on another device
  double join_ns = 0;          ///< from the end of a further stream to the end of the run
  int most_streams = INT_MAX;  ///< that can be of use
  /// Of `Step::parallelism`, for each unit.
  std::int64_t threads_per_unit = 1;
  double look_ns = 0;  ///< for the host to see what is in its memory, and to continue
  /// It takes work in queues, as a GPU does: a step gets all the units that it fills at once, and
  /// its predicted time is with these. On a CPU that is with one.
  bool works_by_itself = false;

  /// A step as the device takes it.
  struct Share {
    std::size_t units = 1;  ///< that it keeps busy; none where the host does it for a GPU
    double ns = 0;          ///< for how long
  };
  Share share(const Step& step) const;
};

}  // namespace anabranch
