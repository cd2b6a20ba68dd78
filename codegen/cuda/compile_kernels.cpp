#include "codegen/cuda/compile_kernels.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "anabranch/detail/key.h"
#include "codegen/cuda/emit/kernel.h"
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
  std::size_t buffers;
  std::vector<Buffer> fixed;
  std::vector<void*> fixed_pointers;
};

// Constants are copied from the host when a program is compiled.
void wait_for(const Buffer& constant, DeviceStream& stream) {
  const std::shared_ptr<const DeviceEvent> written = constant.ready().device_event();
  if (written && !constant.ready().ready()) stream.wait(*written);
}

void enqueue(const void* context, void* const* buffers, DeviceStream& stream) {
  const auto& kernel = *static_cast<const Launchable*>(context);
  std::vector<void*> pointers;
  const auto add = [&](void* const& pointer) {
    pointers.push_back(const_cast<void*>(static_cast<const void*>(&pointer)));
  };
  for (std::size_t i = 0; i < kernel.buffers; ++i) add(buffers[i]);
  for (const Buffer& buffer : kernel.fixed) wait_for(buffer, stream);
  for (void* const& pointer : kernel.fixed_pointers) add(pointer);
  kernel.gpu.launch(kernel.function, kernel.blocks, kernel.threads, pointers.data(), stream);
}

void enqueue_nothing(const void*, void* const*, DeviceStream&) {}

/// A kernel's text without its name and its comments.
std::string nameless(const KernelText& kernel) {
  std::string text;
  for (std::size_t begin = 0; begin < kernel.text.size();) {
    const std::size_t end = std::min(kernel.text.find('\n', begin), kernel.text.size());
    const std::string_view line(kernel.text.data() + begin, end - begin);
    text += line.substr(0, line.find("//"));
    text += '\n';
    begin = end + 1;
  }
  if (const auto at = text.find(" " + kernel.name + "("); at != text.npos) {
    text.erase(at + 1, kernel.name.size());
  }
  return text;
}

/// Kernels as one text, in which equal ones are one function.
struct Joined {
  std::string text = device_text();
  std::vector<std::string> functions;  ///< of each kernel

  explicit Joined(std::span<const KernelText> kernels) {
    std::unordered_map<std::string, std::string> known;
    for (const KernelText& kernel : kernels) {
      const auto [at, is_new] = known.try_emplace(nameless(kernel), kernel.name);
      if (is_new) text += "\n" + kernel.text;
      functions.push_back(at->second);
    }
  }
};

// All that the code depends on, in full.
Key key_of(const std::string& text, int architecture) {
  Key key;
  key.text("anabranch").text(ANABRANCH_VERSION).text("NVRTC").text(nvrtc_version());
  const std::vector<std::string> options = nvrtc_options(architecture);
  key.list(options.size());
  for (const std::string& option : options) key.text(option);
  return key.text(text);
}

std::string cubin_of(const std::string& text, int architecture, CodeCache* cache) {
  if (!cache) return compile_cubin(text, architecture).code;
  const std::string key = key_of(text, architecture).bytes();
  if (std::optional<std::string> known = cache->find(key)) return std::move(*known);
  std::string cubin = compile_cubin(text, architecture).code;
  cache->keep(key, cubin);
  return cubin;
}

DeviceTask task_of(const KernelText& kernel, const std::string& function, Gpu& gpu,
                   const ModulePtr& module) {
  if (kernel.blocks == 0) return {enqueue_nothing, nullptr};
  // Every kernel continues where its blocks end, so fewer than it asks for will do.
  constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();
  auto made = std::make_shared<Launchable>(
      Launchable{gpu,
                 module,
                 gpu.function(*module, function),
                 static_cast<unsigned>(std::min(kernel.blocks, most_blocks)),
                 static_cast<unsigned>(kernel.threads),
                 kernel.buffers,
                 kernel.fixed,
                 {}});
  for (const Buffer& buffer : made->fixed) made->fixed_pointers.push_back(buffer.data());
  return {enqueue, std::move(made)};
}

}  // namespace

Code compile_kernels(std::span<const KernelText> kernels, int gpu_index, CodeCache* cache) {
  if (kernels.empty()) return {};
  Gpu& gpu = Gpu::of(gpu_index);
  const Joined joined(kernels);
  const std::string cubin = cubin_of(joined.text, gpu.architecture(), cache);
  const ModulePtr module = gpu.load(cubin);
  Code code;
  code.bytes = cubin.size();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    code.tasks.push_back(task_of(kernels[i], joined.functions[i], gpu, module));
  }
  return code;
}

}  // namespace anabranch::cuda
