#include "codegen/cuda/copy_task.h"

#include <memory>

#include "runtime/device/stream_executor.h"

namespace anabranch::cuda {
namespace {

void copy(const void* context, void* const* buffers, DeviceStream& stream) {
  stream.copy(buffers[1], buffers[0], *static_cast<const std::size_t*>(context));
}

}  // namespace

DeviceTask copy_task(std::size_t bytes) {
  return {copy, std::make_shared<const std::size_t>(bytes)};
}

}  // namespace anabranch::cuda
