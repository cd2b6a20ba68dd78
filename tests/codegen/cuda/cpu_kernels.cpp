#include "cpu_kernels.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "codegen/cuda/map_threads.h"
#include "codegen/cuda/whole_flows.h"
#include "tests/support/legal.h"

namespace anabranch::testing {
namespace {

std::string entry_text(const Kernel& kernel) {
  std::string arguments;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const KernelBuffer& buffer = kernel.buffers[i];
    if (buffer.access == Access::scratch) continue;
    arguments += fmt::format("{}static_cast<{}*>(buffers[{}])", arguments.empty() ? "" : ", ",
                             name(buffer.dtype), i);
  }
  return fmt::format(
      "extern \"C\" const char* run_{0}(void* const* buffers, unsigned blocks) {{\n"
      "  return on_cpu::launch(blocks, {1}, {2}, [=] {{ {0}({3}); }});\n}}\n",
      kernel.name, kernel.threads->threads(), kernel.threads->members > 1, arguments);
}

}  // namespace

CpuKernels::~CpuKernels() {
  if (library_) dlclose(library_);
}

std::size_t CpuKernels::add(Kernel kernel) {
  kernel.name = fmt::format("kernel{}", kernels_.size());
  kernels_.push_back(run_passes(cuda::mapping_passes(), legal(kernel), {}, {.verify = true}));
  return kernels_.size() - 1;
}

void CpuKernels::compile() {
  std::string source =
      fmt::format("#include \"{}/codegen/cuda/on_cpu.h\"\n{}", TEST_DATA, cuda::device_text());
  for (const Kernel& kernel : kernels_) {
    source += cuda::emit_kernel(kernel) + entry_text(kernel);
  }
  const std::string base = (folder_.path() / "kernels").string();
  write_file(base + ".cpp", source);
  const std::string command = fmt::format(
      "{0} -std=c++20 -O1 -w -fPIC -shared -ffp-contract=off '{1}.cpp' -o '{1}.so' > '{1}.log' "
      "2>&1",
      HOST_COMPILER, base);
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error(read_file(base + ".log").substr(0, 4000));
  }
  library_ = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) throw std::runtime_error(dlerror());
  for (const Kernel& kernel : kernels_) {
    const std::string name = "run_" + kernel.name;
    entries_.push_back(reinterpret_cast<Entry>(dlsym(library_, name.c_str())));
    if (!entries_.back()) throw std::runtime_error("no function " + name);
  }
}

void CpuKernels::run(std::size_t kernel, std::span<void* const> buffers) const {
  const std::int64_t blocks = std::min(cuda::block_count(kernels_[kernel]), most_blocks_);
  if (blocks == 0) return;
  if (const char* wrong = entries_.at(kernel)(buffers.data(), static_cast<unsigned>(blocks))) {
    throw std::runtime_error(std::string(wrong) + "\n" + text(kernel));
  }
}

AddedGroup add_group(CpuKernels& kernels, const Node& fusion, std::span<const Type> operands) {
  AddedGroup group{lower(fusion, operands, "kernel"), {}};
  for (const KernelCall& call : group.lowered.calls)
    group.kernels.push_back(kernels.add(call.kernel));
  return group;
}

std::vector<Literal> run_group(const CpuKernels& kernels, const AddedGroup& group,
                               std::span<const Literal> inputs, std::span<const Type> outputs) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  const auto room = [](const Type& type) {
    std::vector<Line> lines(type.bytes() / sizeof(Line) + 1);
    std::memset(lines.data(), 0xaa, lines.size() * sizeof(Line));
    return lines;
  };
  std::vector<std::vector<Line>> read, written, between;
  for (const Literal& input : inputs) {
    read.push_back(room(input.type()));
    std::copy(input.bytes().begin(), input.bytes().end(),
              reinterpret_cast<std::byte*>(read.back().data()));
  }
  for (const Type& type : outputs) written.push_back(room(type));
  for (const BlockUpdate& update : group.lowered.updates) {
    written.at(update.output) = read.at(update.array);
  }
  for (const Type& type : group.lowered.temporaries) between.push_back(room(type));
  for (std::size_t i = 0; i < group.kernels.size(); ++i) {
    std::vector<void*> buffers;
    for (const KernelArgument& argument : group.lowered.calls[i].arguments) {
      auto& among = argument.kind == KernelArgument::Kind::input    ? read
                    : argument.kind == KernelArgument::Kind::output ? written
                                                                    : between;
      buffers.push_back(among.at(argument.index).data());
    }
    kernels.run(group.kernels[i], buffers);
  }
  std::vector<Literal> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto* bytes = reinterpret_cast<const std::byte*>(written[i].data());
    results.push_back(Literal(outputs[i], std::vector(bytes, bytes + outputs[i].bytes())));
  }
  return results;
}

}  // namespace anabranch::testing
