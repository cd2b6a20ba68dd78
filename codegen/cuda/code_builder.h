// All that a program runs on one GPU: gathered first, then compiled together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/cuda/compile_kernels.h"
#include "codegen/cuda/emit/steer.h"
#include "codegen/plan/control_flow.h"
#include "ir/kernel/kernel.h"

namespace anabranch::cuda {

/// The tasks that it hands out may be put on a queue once `compile` is done.
class CodeBuilder final : public NativeFlows {
 public:
  /// `kernels`, which outlive it, are all of the program.
  explicit CodeBuilder(std::span<const Kernel> kernels) : kernels_(kernels) {}

  /// The task that runs `kernel`, which is as `lower` made it.
  DeviceTask task_of(const Kernel& kernel);

  /// A region of kernels, copies, and loops and branches like it, with as little work a step as is
  /// done by one block before a queue would have come to the next step.
  bool is_small(const Program& region) const override;
  /// None where one block has not enough memory of its own for all of it.
  NativeTask task_of(const Launch& flow) override;
  /// Kernels of one thread, one for all loops and one for all branches out of as many.
  DeviceTask steer_of_loop() override;
  DeviceTask steer_of_branch(std::size_t branches) override;

  /// The CUDA C++ of all of it; of the kernels, those that loops and branches have not taken in.
  std::string text() const;

  /// Compiles all of it for the GPU of that index: the bytes of its code. Throws what
  /// compile_kernels does, but for what steers: where that cannot be had, putting it throws, and
  /// loops and branches go step by step.
  std::size_t compile(int gpu, CodeCache* cache);

 private:
  struct Gathered {
    KernelText kernel;
    std::shared_ptr<DeviceTask> task;  // set once it is compiled
    enum class Role : std::uint8_t { computes, steers, is_taken_in } role = Role::computes;
  };
  using Role = Gathered::Role;

  DeviceTask add(KernelText kernel, Role role = Role::computes);
  DeviceTask steer(SteerText steer);
  void take_in(const Launch& flow);
  std::vector<const Gathered*> all(Role role) const;
  std::size_t compile(Role role, int gpu, CodeCache* cache);

  std::span<const Kernel> kernels_;
  std::vector<Gathered> gathered_;
};

}  // namespace anabranch::cuda
