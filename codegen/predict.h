// How long a schedule will take, and which launches the end waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/dependencies.h"
#include "codegen/schedule.h"

namespace anabranch {

/// The stream of each launch.
using Assignment = std::vector<std::uint32_t>;

/// Plays a schedule on so many cores of each device: launches start in the order of the program, as
/// soon as their stream, what they wait for and the cores that they can use are free. Going on to
/// the next step and handing over to another stream cost time too.
class Predictor {
 public:
  /// `dependencies` may be null for programs that are only ever put on one stream.
  Predictor(const Program& program, const Dependencies* dependencies, std::vector<int> cores);

  /// The whole time, in ns.
  double ns(const Assignment& stream_of) const;
  /// The same, with the critical path. `measured` is left false.
  Prediction predict(const Assignment& stream_of) const;

 private:
  struct Played;
  Played play(const Assignment& stream_of) const;

  const Program& program_;
  const Dependencies* dependencies_;
  std::vector<int> cores_;         // by device
  std::vector<std::size_t> used_;  // cores, by launch
};

}  // namespace anabranch
