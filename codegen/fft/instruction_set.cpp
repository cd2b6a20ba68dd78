#include "codegen/fft/instruction_set.h"

#include "codegen/fft/ducc.h"

namespace anabranch::fft {

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet>& sets = *new auto([] {
    std::vector<InstructionSet> found{InstructionSet::baseline};
#ifdef ANABRANCH_FFT_WIDE
    if (!__builtin_cpu_supports("avx2")) return found;
    found.push_back(InstructionSet::avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      found.push_back(InstructionSet::avx512);
    }
#endif
    return found;
  }());
  return sets;
}

const Kernels& kernels(InstructionSet set) {
#ifdef ANABRANCH_FFT_WIDE
  if (set == InstructionSet::avx512) return *anabranch_fft_avx512();
  if (set == InstructionSet::avx2) return *anabranch_fft_avx2();
#endif
  static_cast<void>(set);
  return *anabranch_fft_baseline();
}

}  // namespace anabranch::fft
