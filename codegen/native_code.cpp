#include "codegen/native_code.h"

#include <utility>

#include "codegen/cpu/compile_kernels.h"
#include "codegen/cuda/compile_kernels.h"
#include "codegen/tile.h"

namespace anabranch {
namespace {

/// Who runs a kernel.
struct Use {
  DeviceIndex device = 0;
  bool is_epilogue = false;  // of a dot
};

void find_uses(const Launches& launches, DeviceIndex outer, std::vector<Use>& uses) {
  for (std::size_t i = 0; i < launches.work.size(); ++i) {
    // What a loop or a branch runs is where that is.
    const DeviceIndex device =
        outer != 0 ? outer : device_of(launches.program, launches.program.launches[i]);
    const auto& work = launches.work[i];
    if (const auto* one = std::get_if<OneKernel>(&work)) uses[one->kernel].device = device;
    if (const auto* dot = std::get_if<LibraryDot>(&work); dot && dot->epilogue) {
      uses[*dot->epilogue] = {device, true};
    }
    if (const auto* flow = std::get_if<ControlFlow>(&work)) {
      for (const Launches& region : flow->regions) find_uses(region, device, uses);
    }
  }
}

/// Some of the kernels, taken from among all, and their places there.
class Part {
 public:
  template <class Belongs>
  Part(std::vector<Kernel>& all, const std::vector<Use>& uses, Belongs belongs) : all_(all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!belongs(uses[i].device)) continue;
      places_.push_back(i);
      kernels_.push_back(std::move(all[i]));
    }
  }
  ~Part() {
    for (std::size_t i = 0; i < places_.size(); ++i) all_[places_[i]] = std::move(kernels_[i]);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  std::span<const Kernel> kernels() const { return kernels_; }
  std::size_t place(std::size_t i) const { return places_[i]; }

 private:
  std::vector<Kernel>& all_;
  std::vector<std::size_t> places_;
  std::vector<Kernel> kernels_;
};

}  // namespace

NativeCode compile_kernels(std::vector<Kernel>& kernels, const Launches& launches,
                           std::span<const Device> devices, const Options& options) {
  std::vector<Use> uses(kernels.size());
  find_uses(launches, 0, uses);
  const auto is_gpu = [&](DeviceIndex i) { return devices[i].kind() == DeviceKind::cuda; };
  const Target target = cpu::host_target();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (is_gpu(uses[i].device)) continue;
    kernels[i] = tile(std::move(kernels[i]), target, uses[i].is_epilogue);
  }

  NativeCode native;
  native.tasks.resize(kernels.size());
  {
    const Part part(kernels, uses, [&](DeviceIndex i) { return !is_gpu(i); });
    cpu::Code code = cpu::compile_kernels(part.kernels(), options.cache.get());
    native.bytes += code.bytes;
    for (std::size_t i = 0; i < part.kernels().size(); ++i) {
      const Kernel& kernel = part.kernels()[i];
      native.tasks[part.place(i)] =
          HostTask{code.functions[i], code.keep_alive, kernel.extent(), grain(kernel)};
    }
  }
  for (DeviceIndex gpu = 0; gpu < devices.size(); ++gpu) {
    if (!is_gpu(gpu)) continue;
    const Part part(kernels, uses, [&](DeviceIndex i) { return i == gpu; });
    cuda::Code code =
        cuda::compile_kernels(part.kernels(), devices[gpu].index(), options.cache.get());
    native.bytes += code.bytes;
    for (std::size_t i = 0; i < part.kernels().size(); ++i) {
      native.tasks[part.place(i)] = std::move(code.tasks[i]);
    }
  }
  return native;
}

}  // namespace anabranch
