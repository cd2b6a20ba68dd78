// How a kernel's loops run on a GPU: which iterations each thread takes.
//
//   elementwise      a thread takes a few consecutive iterations, with 16-byte accesses
//   rows             a team, a warp or a whole block, takes a row; its threads share out the loops
//                    inside and combine what they fold
//   tiles            where what is read lies across what is written: a block takes 32 by 32
//                    elements, which it reads one way and writes the other, through shared memory
//   columns          neighbouring threads take neighbouring columns; warps may share out the loops
//                    down a column
#pragma once

#include "codegen/cuda/mapped_kernel.h"
#include "ir/kernel/kernel.h"

namespace anabranch::cuda {

/// `kernel` as `lower` made it, with its outer loops merged into a parallel one and told how to
/// run. What it computes does not depend on the device.
MappedKernel map_threads(Kernel kernel);

/// The same for a block of `threads`, a power of two up to 256, that does all of it: whatever all
/// threads of `map` must come to, all threads of the block come to.
MappedKernel map_in_block(Kernel kernel, int threads);

/// Bytes of a block's shared memory that the kernel takes at most.
std::int64_t shared_bytes(const MappedKernel& mapped);

}  // namespace anabranch::cuda
