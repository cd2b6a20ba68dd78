// How a kernel's loops run on a GPU: which iterations each thread takes.
//
//   elementwise      a thread takes a few consecutive iterations, with 16-byte accesses
//   rows             a group, a warp or a whole block, takes a row; its threads share out the loops
//                    inside and combine what they fold
//   tiles            where what is read is across what is written: a block takes 32 by 32
//                    elements, which it reads one way and writes the other, through shared memory
//   columns          neighbouring threads take neighbouring columns; warps may share out the loops
//                    down a column
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cuda {

/// `kernel` as `lower` made it, with its outer loops merged into a parallel one and its `threads`
/// set: for as many blocks as there is work for, or for a part of what one block of
/// `context.block_threads` runs. What it computes does not depend on the device. One that has
/// threads stays as it is.
Kernel map_threads(const Kernel& kernel, KernelContext& context);

inline constexpr KernelPass map_threads_pass = {
    "map_threads", "merge outer loops, and share out iterations among threads", map_threads, false,
    true};

/// Throws InternalError where the kernel has none.
const ThreadMap& threads_of(const Kernel& kernel);

/// Of a kernel that has threads: blocks in which each group takes one iteration; 0 where there is
/// nothing to do.
std::int64_t block_count(const Kernel& kernel);

/// Of a kernel that has threads: bytes of a block's shared memory that it takes at most.
std::int64_t shared_bytes(const Kernel& kernel);

}  // namespace anabranch::cuda
