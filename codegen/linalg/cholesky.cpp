#include "codegen/linalg/cholesky.h"

#include "codegen/linalg/blocked_cholesky.h"
#include "codegen/linalg/team.h"

namespace anabranch::lapack {
namespace {

// Smaller matrices are left to LAPACK.
constexpr std::int64_t blocked_size = 192;

// The triangle of a matrix that is there row by row: LAPACK sees the transpose
// of it, and its other triangle.
struct CholeskyTask {
  Batch a;
  bool lower;

  double work() const { return static_cast<double>(a.size() * a.rows) / 3; }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    const std::int64_t n = a.rows;
    for (std::int64_t i = begin; i < end; ++i) {
      T* const factor = matrix_in<T>(buffers[1], i, a.size());
      const T* const from = matrix_in<T>(buffers[0], i, a.size());
      bool exists = true;
      for (std::int64_t row = 0; row < n; ++row) {
        exists = copy_triangle_row(from, factor, n, row, lower) && exists;
      }
      if (exists && n > 0) exists = factor_cholesky(lower, as_int(n), factor, as_int(n));
      if (exists) continue;
      for (std::int64_t row = 0; row < n; ++row) fill_triangle_row(factor, n, row, lower);
    }
  }
};

struct LargeCholeskyTask : CholeskyTask {
  std::int64_t phases() const { return cholesky_phases(a.rows); }

  template <class T>
  void run_matrix(void* const* buffers, std::int64_t i, Team& team) const {
    const T* const from = matrix_in<T>(buffers[0], i, a.size());
    BlockedCholesky<T>(from, matrix_in<T>(buffers[1], i, a.size()), a.rows, lower).run(team);
  }
};

}  // namespace

MatrixTask cholesky_task(const CallStep& call, std::int64_t threads) {
  const Batch a(call.operands[0]);
  const CholeskyTask task{a, std::get<TriangleAttributes>(call.attributes).lower};
  if (a.rows < blocked_size) return task_of(call, task, a.count);
  return team_task_of(call, LargeCholeskyTask{task}, a.count, threads);
}

}  // namespace anabranch::lapack
