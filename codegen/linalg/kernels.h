// Which kernels OpenBLAS computes with.
#pragma once

namespace anabranch::lapack {

/// OpenBLAS knows CPUs by their numbers, and takes kernels of 2004 (SSE3) for one that is newer
/// than itself: a fifth of the speed or less. Where it has done so, it takes those for the vector
/// instructions that this CPU has. To be called before anything else of OpenBLAS.
void choose_kernels();

/// The name of the kernels' CPU, as OpenBLAS has it: "SkylakeX".
const char* kernels_in_use();

}  // namespace anabranch::lapack
