// How the iterations of a task are divided among threads that begin together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/device/task.h"

namespace anabranch::cpu {

/// Where the share of `thread` begins, of `threads` that are as large as whole cuts allow; for
/// `threads` itself the end. The same in each run of a task, so that a thread finds in its caches
/// what it wrote the last time.
inline std::int64_t share_begin(const HostTask& task, std::int64_t thread, std::int64_t threads) {
  const std::int64_t cuts = (task.extent + task.cut - 1) / task.cut;
  return std::min(task.extent, cuts * thread / threads * task.cut);
}

}  // namespace anabranch::cpu
