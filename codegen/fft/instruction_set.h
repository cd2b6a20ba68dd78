// The instruction sets that the transforms are compiled for, and which of them this CPU has.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/fft/lines.h"

namespace anabranch::fft {

/// Each has the instructions of those before it, and wider vectors.
enum class InstructionSet { baseline, avx2, avx512 };

/// From `baseline` up: those that the library is compiled for and this CPU has.
const std::vector<InstructionSet>& instruction_sets();

/// Defined for those in `instruction_sets()`.
const Kernels& kernels(InstructionSet set);

/// Bytes of a vector.
constexpr std::int64_t vector_size(InstructionSet set) { return 16 << static_cast<int>(set); }

}  // namespace anabranch::fft
