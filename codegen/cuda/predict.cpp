#include "codegen/cuda/predict.h"

#include <algorithm>

#include "anabranch/error.h"
#include "codegen/costs.h"
#include "codegen/cuda/gpu_costs.h"
#include "codegen/cuda/map_threads.h"
#include "ir/checked.h"

namespace anabranch::cuda {
namespace {

// As in a kernel of ours that copies.
constexpr std::int64_t copied_bytes_per_thread = 16;

const Device& device_at(const Program& program, SlotId slot) {
  return program.devices[program.slots[slot].device].device;
}

bool is_on_gpu(const Program& program, SlotId slot) {
  return device_at(program, slot).kind() == DeviceKind::cuda;
}

std::int64_t thread_count(const Kernel& kernel) {
  KernelContext context;
  const Kernel mapped = map_threads(kernel, context);
  return saturating_multiply(block_count(mapped), threads_of(mapped).threads());
}

double to_host_ns(std::int64_t bytes) { return static_cast<double>(bytes) / host_bytes_per_ns; }

class Predictor {
 public:
  Predictor(Step& step, const Program& program, std::span<const Kernel> kernels)
      : step_(step), program_(program), kernels_(kernels) {}

  void operator()(const KernelStep& one) const {
    const Kernel& kernel = kernels_[one.kernel];
    const std::int64_t threads = thread_count(kernel);
    set(costs().ns(kernel, threads), threads);
  }

  void operator()(const DotStep& dot) const {
    set(costs().ns(dot, step_.cost), costs().threads(dot));
  }

  void operator()(const CopyStep&) const {
    const std::int64_t threads = step_.cost.bytes_read / copied_bytes_per_thread;
    set(costs().copy_ns(step_.cost.bytes_read, threads), threads);
  }

  // Between host and GPU one thread of the host copies.
  void operator()(const TransferStep&) const {
    const bool to_gpu = is_on_gpu(program_, step_.buffers[1]);
    if (to_gpu && is_on_gpu(program_, step_.buffers[0])) return (*this)(CopyStep{});
    step_.predicted_ns = core_ns(step_.cost) + to_host_ns(step_.cost.bytes_read);
    step_.parallelism = to_gpu ? 0 : 1;
  }

  // What it reads and writes goes to the host and back.
  void operator()(const CallStep&) const {
    step_.predicted_ns =
        call_ns(step_) + to_host_ns(step_.cost.bytes_read + step_.cost.bytes_written);
    step_.parallelism = 0;
  }

  template <class Work>
  void operator()(const Work&) const {
    throw InternalError("predict", step_.name + " is no step of a GPU's");
  }

 private:
  GpuCosts costs() const { return GpuCosts::of(device_at(program_, step_.writes[0]).index()); }

  void set(double ns, std::int64_t threads) const {
    step_.predicted_ns = ns;
    step_.parallelism = std::max<std::int64_t>(threads, 1);
  }

  Step& step_;
  const Program& program_;
  std::span<const Kernel> kernels_;
};

}  // namespace

void predict(Step& step, const Program& program, std::span<const Kernel> kernels) {
  std::visit(Predictor(step, program, kernels), step.work);
}

}  // namespace anabranch::cuda
