// What a user may choose about a compilation.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "anabranch/devices.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

class CodeCache;

struct Options {
  Device device = default_device();  ///< where what depends on no input runs
  ParameterDevices parameters;       ///< where each parameter is; on `device` where not stated
  int streams = 4;                   ///< at most so many, at least 1, which keeps all in order
  bool use_all_streams = false;      ///< even where one stream is predicted to be as fast
  /// Bytes that the temporaries of one run may take, 0 for no limit. Where they would take more,
  /// compiling gives up streams for it, down to one, and says so in the stages schedule and memory;
  /// where that is not enough it throws Error.
  std::size_t memory_limit = 0;
  int in_flight = 0;                ///< in-flight limit to set on the device; 0 leaves it
  std::size_t in_flight_bytes = 0;  ///< the same for bytes
  /// Lets passes reorder floating-point arithmetic, and a GPU's library apply relu (which turns NaN
  /// into 0 there) and the tanh form of gelu to a dot's result.
  bool fast_math = false;
  /// Lets f32 dots on a GPU round their operands to TF32, ten bits of mantissa, for speed.
  bool tf32 = false;
  /// Has a library compute every dot that it can, also where loops of our own are expected to be
  /// faster: products with a vector, and small ones.
  bool prefer_libraries = false;
  bool verify = false;                ///< check the graph after every pass
  std::vector<std::string> disabled;  ///< passes to leave out, by name ("fuse")

  std::shared_ptr<CodeCache> cache;  ///< where code is kept for later processes; null: nowhere

  bool operator==(const Options&) const = default;
};

/// Options as the environment wants them where the program does not say.
Options default_options();

}  // namespace anabranch
