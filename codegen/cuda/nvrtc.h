// CUDA C++ to the machine code of one GPU architecture, through NVRTC. Needs no GPU.
#pragma once

#include <string>
#include <vector>

namespace anabranch::cuda {

/// Whether this build and this machine have NVRTC; if not, why, in words.
std::string nvrtc_missing();

/// "13.0"; nothing where there is none.
std::string nvrtc_version();

/// What NVRTC is called with, the architecture among it.
std::vector<std::string> nvrtc_options(int architecture);

struct Cubin {
  std::string code;
  std::string log;  ///< what the compiler said, with each kernel's registers and memory
};

/// `source` for compute capability `architecture` / 10: 80 or 90. Throws Error where NVRTC cannot
/// be had, InternalError, with the source, where it refuses the source. Thread-safe.
Cubin compile_cubin(const std::string& source, int architecture);

}  // namespace anabranch::cuda
