// How long a schedule will take, and which steps the end waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/schedule/dependencies.h"
#include "codegen/schedule/device_model.h"
#include "ir/program/program.h"

namespace anabranch {

/// The stream of each step.
using Assignment = std::vector<std::uint32_t>;

/// Plays a schedule on the units of each device: steps start in the order of the program, as
/// soon as their stream, what they wait for and the units that they can use are free. Going on to
/// the next step and handing over to another stream cost time too. What the host takes to submit a
/// GPU's work is left out: from the third run on that is one graph
/// (runtime/executor/graph_cache.h).
class Predictor {
 public:
  /// `dependencies` may be null for programs that are only ever put on one stream.
  Predictor(const Program& program, const Dependencies* dependencies,
            std::vector<DeviceModel> devices);

  /// The whole time, in ns.
  double ns(const Assignment& stream_of) const;
  /// The same, with the critical path. `measured` is left false.
  Prediction predict(const Assignment& stream_of) const;

 private:
  struct Played;
  Played play(const Assignment& stream_of) const;
  double handover_ns(StepId before, StepId step) const;

  const Program& program_;
  const Dependencies* dependencies_;
  std::vector<DeviceModel> devices_;        // by their index in the program
  std::vector<DeviceIndex> device_;         // by step
  std::vector<DeviceModel::Share> shares_;  // by step
};

}  // namespace anabranch
