// The kernels of a program as machine code, each for the device that its launch is on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "codegen/cpu/dot/maker.h"
#include "codegen/options.h"
#include "codegen/plan/control_flow.h"
#include "codegen/plan/launches.h"
#include "ir/kernel/kernel.h"
#include "runtime/executor/executable.h"

namespace anabranch {

/// Compiles those on CPU devices together at once, tiled in place. What a GPU runs is gathered,
/// since loops and branches join it once it is known what runs inside them, and is compiled
/// together by `finish`; until then its tasks may not be put on a queue.
class NativeCode {
 public:
  /// All arguments outlive it.
  NativeCode(std::vector<Kernel>& kernels, const Launches& launches,
             std::span<const Device> devices, const Options& options);
  ~NativeCode();
  NativeCode(const NativeCode&) = delete;
  NativeCode& operator=(const NativeCode&) = delete;

  /// What runs a kernel, by its index.
  const decltype(Launch::task)& task(std::size_t kernel) const { return tasks_[kernel]; }
  /// What runs dots on CPU devices.
  cpu::DotMaker& dots() { return dots_; }
  /// How one of the devices runs whole loops and branches.
  NativeFlows& flows(const Device& device);

  /// LLVM instructions of the kernels for CPU devices.
  std::size_t instructions() const { return instructions_; }

  /// Throws Error where a GPU cannot be used. The bytes of all machine code.
  std::size_t finish();

 private:
  struct Gpu;

  void compile_for_cpu(std::vector<Kernel>& kernels, std::span<const std::size_t> which);

  const Options& options_;
  std::vector<decltype(Launch::task)> tasks_;  // one per kernel
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::unique_ptr<NativeFlows> on_host_;
  cpu::DotMaker dots_;
  std::size_t bytes_ = 0, instructions_ = 0;
};

}  // namespace anabranch
