// Kernels as a CPU's code.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "codegen/cpu/compile_kernels.h"
#include "ir/kernel/kernel.h"
#include "ir/literal.h"
#include "tests/support/run_kernel.h"

namespace anabranch::testing {

/// What the kernel's code makes of its inputs, its parallel loop run range by range.
inline std::vector<Literal> run_native(const Kernel& kernel, const std::vector<Literal>& inputs,
                                       const std::vector<Type>& types, std::int64_t range) {
  std::vector<HostMemory> memory(inputs.begin(), inputs.end());
  for (const Type& type : types) memory.emplace_back(type);
  std::vector<void*> buffers;
  for (HostMemory& m : memory) buffers.push_back(m.bytes.data());
  const cpu::Code code = cpu::compile_kernels(std::span(&kernel, 1));
  for (std::int64_t begin = 0; begin < kernel.extent(); begin += range) {
    code.functions[0](code.keep_alive.get(), buffers.data(), begin,
                      std::min(begin + range, kernel.extent()));
  }
  std::vector<Literal> results;
  for (std::size_t i = 0; i < types.size(); ++i) {
    results.emplace_back(types[i], std::move(memory[inputs.size() + i].bytes));
  }
  return results;
}

}  // namespace anabranch::testing
