// CUDA kernels compiled by this machine's C++ compiler and run on its CPU (on_cpu.h).
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "codegen/cuda/emit/kernel.h"
#include "codegen/lower/lower.h"
#include "ir/literal.h"
#include "tests/support/temporary_folder.h"

namespace anabranch::testing {

/// Kernels that are compiled together, once all are there.
class CpuKernels {
 public:
  CpuKernels() = default;
  ~CpuKernels();
  CpuKernels(const CpuKernels&) = delete;
  CpuKernels& operator=(const CpuKernels&) = delete;

  /// The kernel's number. It is renamed: names may repeat.
  std::size_t add(Kernel kernel);
  std::size_t size() const { return kernels_.size(); }
  const Kernel& operator[](std::size_t kernel) const { return kernels_[kernel]; }
  std::string text(std::size_t kernel) const { return cuda::emit_kernel(kernels_[kernel]); }

  /// Throws std::runtime_error with what the compiler says where it refuses them.
  void compile();

  /// Runs of kernels have at most so many blocks from now on, which then take several rows each.
  void set_most_blocks(std::int64_t blocks) { most_blocks_ = blocks; }
  /// Throws std::runtime_error where threads miss each other.
  void run(std::size_t kernel, std::span<void* const> buffers) const;

 private:
  using Entry = const char* (*)(void* const* buffers, unsigned blocks);

  std::vector<Kernel> kernels_;
  std::vector<Entry> entries_;
  TemporaryFolder folder_;
  void* library_ = nullptr;
  std::int64_t most_blocks_ = INT64_MAX;
};

/// The calls of a lowered group, by number in `kernels`.
struct AddedGroup {
  Lowered lowered;
  std::vector<std::size_t> kernels;
};
AddedGroup add_group(CpuKernels& kernels, const Node& fusion, std::span<const Type> operands);

/// What the group's outputs are on these inputs. Elements that no thread writes are 0xAA bytes.
std::vector<Literal> run_group(const CpuKernels& kernels, const AddedGroup& group,
                               std::span<const Literal> inputs, std::span<const Type> outputs);

}  // namespace anabranch::testing
