#include "codegen/backends.h"

#include "anabranch/error.h"
#include "codegen/cpu/backend.h"
#include "codegen/cuda/backend.h"
#include "codegen/null/backend.h"

namespace anabranch {

const Backend& backend_of(const Device& device) {
  switch (device.kind()) {
    case DeviceKind::cpu:
      return cpu::backend();
    case DeviceKind::cuda:
      return cuda::backend();
    case DeviceKind::null:
      return null::backend();
  }
  throw InternalError("backend_of", "a kind of device that does not exist");
}

std::span<const Backend* const> backends() {
  static const Backend* const all[] = {&cpu::backend(), &cuda::backend(), &null::backend()};
  return all;
}

}  // namespace anabranch
