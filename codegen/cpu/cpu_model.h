// The CPU that code is made for, in LLVM's words.
#pragma once

#include <string>

namespace anabranch::cpu {

struct CpuModel {
  std::string name;      ///< "znver5"
  std::string features;  ///< "+avx2,-avx512f,": what the name leaves open
};

/// Of this machine.
const CpuModel& host_cpu();

}  // namespace anabranch::cpu
