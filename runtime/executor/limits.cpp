#include "anabranch/limits.h"

#include <fmt/format.h>

#include "anabranch/error.h"
#include "runtime/device/device_state.h"

namespace anabranch {

int in_flight_limit(const Device& device) { return device_state(device).admission.limit(); }

void set_in_flight_limit(const Device& device, int limit) {
  if (limit < 1) {
    throw Error(fmt::format("set_in_flight_limit: {} on {}; the limit must be at least 1", limit,
                            to_string(device)));
  }
  device_state(device).admission.set_limit(limit);
}

std::size_t in_flight_bytes(const Device& device) {
  return device_state(device).admission.byte_limit();
}

void set_in_flight_bytes(const Device& device, std::size_t bytes) {
  if (bytes < 1) {
    throw Error(fmt::format("set_in_flight_bytes: 0 on {}; the limit must be at least 1 byte",
                            to_string(device)));
  }
  device_state(device).admission.set_byte_limit(bytes);
}

}  // namespace anabranch
