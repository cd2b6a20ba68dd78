// MatrixTask: a struct that computes matrices with LAPACK, as the host's task.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "anabranch/error.h"
#include "codegen/linalg/lapack.h"
#include "codegen/linalg/matrix.h"
#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch::lapack {

/// What computes one matrix after the other, and about how many additions and multiplications of
/// real numbers that takes for all.
struct MatrixTask {
  HostTask task;
  double operations = 0;
};

inline lapack_int as_int(std::int64_t size) { return static_cast<lapack_int>(size); }

/// LAPACK wants at least one row of memory even where there is none.
inline lapack_int stride(std::int64_t size) { return as_int(std::max<std::int64_t>(size, 1)); }

template <class T>
inline constexpr bool is_real = std::is_same_v<T, Real<T>>;

/// Matrix `index` in a buffer of matrices of `size` elements.
template <class T>
T* matrix_in(void* buffer, std::int64_t index, std::int64_t size) {
  return static_cast<T*>(buffer) + index * size;
}

template <class T, class Task>
void run_inside(const void* context, void* const* buffers, std::int64_t begin, std::int64_t end) {
  if (begin == end) return;
  const LapackCall inside;
  static_cast<const Task*>(context)->template run<T>(buffers, begin, end);
}

template <class Task>
HostTask::Function function_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return run_inside<float, Task>;
    case Dtype::f64:
      return run_inside<double, Task>;
    case Dtype::c64:
      return run_inside<std::complex<float>, Task>;
    case Dtype::c128:
      return run_inside<std::complex<double>, Task>;
    default:
      throw InternalError("link", "linear algebra of " + std::string(name(dtype)));
  }
}

// A thread of its own is worth as much work as a few microseconds hold.
inline constexpr double work_of_a_range = 200'000;

/// `task.run<T>(buffers, begin, end)` for the call's dtype, on `count` matrices, each of which
/// takes about `task.work()` operations.
template <class Task>
MatrixTask task_of(const CallStep& call, const Task& task, std::int64_t count) {
  const Dtype dtype = call.operands[0].dtype;
  const double work = std::max(task.work(), 1.0);
  const auto grain = static_cast<std::int64_t>(std::max(work_of_a_range / work, 1.0));
  return {{function_of<Task>(dtype), std::make_shared<Task>(task), count, grain},
          work * static_cast<double>(count) * (is_complex(dtype) ? 4 : 1)};
}

}  // namespace anabranch::lapack
