#include "codegen/cuda/copy_task.h"

#include <memory>

namespace anabranch::cuda {
namespace {

// As in a kernel of ours that copies.
constexpr std::int64_t bytes_per_thread = 16;

void copy(const void* context, void* const* buffers, DeviceQueue& queue) {
  queue.copy(buffers[1], buffers[0], *static_cast<const std::size_t*>(context));
}

}  // namespace

DeviceTask copy_task(std::int64_t bytes) {
  return {copy, std::make_shared<const std::size_t>(static_cast<std::size_t>(bytes)),
          bytes / bytes_per_thread};
}

bool is_copy(const DeviceTask& task) { return task.put == copy; }

}  // namespace anabranch::cuda
