// Limits: puts the in-flight limits of the default device back when a test ends.
#pragma once

#include "anabranch/limits.h"
#include "tests/support/values.h"

/// The limits as they were, once it is gone.
struct Limits {
  ~Limits() {
    ab::wait_all();
    ab::set_in_flight_limit(device, count);
    ab::set_in_flight_bytes(device, bytes);
  }
  const ab::Device device = ab::default_device();
  const int count = ab::in_flight_limit(device);
  const std::size_t bytes = ab::in_flight_bytes(device);
};
