#include "codegen/cuda/compile_kernels.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "codegen/cuda/emit_kernel.h"
#include "codegen/cuda/map_threads.h"
#include "codegen/cuda/nvrtc.h"
#include "runtime/cuda/gpu.h"

namespace anabranch::cuda {
namespace {

/// A kernel on its GPU.
struct Launchable {
  Gpu& gpu;
  ModulePtr module;
  CUfunction function;
  unsigned blocks, threads;
  std::size_t arguments;
};

void put(const void* context, void* const* buffers, DeviceQueue& queue) {
  const auto& kernel = *static_cast<const Launchable*>(context);
  if (kernel.blocks == 0) return;
  std::vector<void*> pointers(kernel.arguments);
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    pointers[i] = const_cast<void*>(static_cast<const void*>(&buffers[i]));
  }
  kernel.gpu.launch(kernel.function, kernel.blocks, kernel.threads, pointers.data(), queue);
}

std::string text_of(std::span<const MappedKernel> kernels) {
  std::string text = device_text();
  for (const MappedKernel& kernel : kernels) text += "\n" + emit_kernel(kernel);
  return text;
}

// All that the code depends on, in full.
std::string key_of(const std::string& text, int architecture) {
  return "anabranch " ANABRANCH_VERSION ", NVRTC " + nvrtc_version() + ", sm_" +
         std::to_string(architecture) + "\n" + text;
}

std::string cubin_of(const std::string& text, int architecture, CodeCache* cache) {
  if (!cache) return compile_cubin(text, architecture).code;
  const std::string key = key_of(text, architecture);
  if (std::optional<std::string> known = cache->find(key)) return std::move(*known);
  std::string cubin = compile_cubin(text, architecture).code;
  cache->keep(key, cubin);
  return cubin;
}

std::size_t arguments_of(const Kernel& kernel) {
  return static_cast<std::size_t>(
      std::count_if(kernel.buffers.begin(), kernel.buffers.end(),
                    [](const KernelBuffer& buffer) { return buffer.access != Access::scratch; }));
}

}  // namespace

Code compile_kernels(std::span<const Kernel> kernels, int gpu_index, CodeCache* cache) {
  if (kernels.empty()) return {};
  Gpu& gpu = Gpu::of(gpu_index);
  std::vector<MappedKernel> mapped;
  for (const Kernel& kernel : kernels) mapped.push_back(map_threads(kernel));
  const std::string cubin = cubin_of(text_of(mapped), gpu.architecture(), cache);
  const ModulePtr module = gpu.load(cubin);
  Code code;
  code.bytes = cubin.size();
  for (const MappedKernel& kernel : mapped) {
    // Every kernel goes on where its blocks end, so fewer than it asks for will do.
    constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();
    code.tasks.push_back(
        {put, std::make_shared<const Launchable>(Launchable{
                  gpu, module, gpu.function(*module, entry_name(kernel.kernel)),
                  static_cast<unsigned>(std::min(kernel.blocks(), most_blocks)),
                  static_cast<unsigned>(kernel.map.threads()), arguments_of(kernel.kernel)})});
  }
  return code;
}

DeviceTask copy_task(std::int64_t bytes) {
  const auto copy = [](const void* context, void* const* buffers, DeviceQueue& queue) {
    queue.copy(buffers[1], buffers[0], *static_cast<const std::size_t*>(context));
  };
  return {copy, std::make_shared<const std::size_t>(static_cast<std::size_t>(bytes))};
}

}  // namespace anabranch::cuda
