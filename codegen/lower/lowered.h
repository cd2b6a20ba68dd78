// Lowered: what one fusion becomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/fusion_plan.h"
#include "ir/kernel/kernel.h"

namespace anabranch {

/// What a kernel's argument is, in terms of the fusion it came from.
struct KernelArgument {
  enum class Kind : std::uint8_t { input, output, temporary };
  Kind kind = Kind::input;
  std::uint32_t index = 0;

  bool operator==(const KernelArgument&) const = default;
};

struct KernelCall {
  Kernel kernel;
  std::vector<KernelArgument> arguments;  ///< one per read or write buffer of the kernel

  /// Arguments 0 to `count` - 1 of a kind, behind those that it has.
  void add_arguments(KernelArgument::Kind kind, std::size_t count) {
    for (std::uint32_t i = 0; i < count; ++i) arguments.push_back({kind, i});
  }
};

/// Kernels to run one after the other; more than one only where a reduction with few results is
/// split so that several threads (and vector lanes) can work on it: partial results, then their
/// combination.
struct Lowered {
  std::vector<KernelCall> calls;
  std::vector<Type> temporaries;
  std::vector<BlockUpdate> updates;  ///< outputs of which the kernel writes a block alone
};

}  // namespace anabranch
