#include "codegen/cuda/copy_task.h"

#include <memory>

#include "runtime/cuda/gpus.h"

namespace anabranch::cuda {
namespace {

struct Copy {
  std::size_t bytes = 0;
  int from = 0, to = 0;

  void enqueue(void* const* buffers, DeviceStream& stream) const {
    if (from == to) return stream.copy(buffers[1], buffers[0], bytes);
    copy_between_gpus(to, buffers[1], from, buffers[0], bytes, stream);
  }
};

}  // namespace

DeviceTask copy_task(std::size_t bytes, int from, int to) {
  const auto enqueue = [](const void* context, void* const* buffers, DeviceStream& stream) {
    static_cast<const Copy*>(context)->enqueue(buffers, stream);
  };
  return {enqueue, std::make_shared<const Copy>(Copy{bytes, from, to})};
}

}  // namespace anabranch::cuda
