#include "codegen/linalg/triangular_solve.h"

#include "codegen/linalg/blas.h"
#include "codegen/linalg/blocked_solve.h"
#include "codegen/linalg/team.h"

namespace anabranch::lapack {
namespace {

// Right sides of one piece, all of which are solved at once: each piece copies the matrix.
std::int64_t sides_of_a_piece(std::int64_t sides, double work_of_a_side) {
  constexpr std::int64_t pieces = 8, least = 64, most = 256, multiple = 16;
  if (work_of_a_side * static_cast<double>(sides) < 4 * work_of_a_range) {
    return std::max<std::int64_t>(sides, 1);
  }
  const std::int64_t each = (sides + pieces - 1) / pieces;
  return std::clamp((each + multiple - 1) / multiple * multiple, least, most);
}

struct TriangularSolveTask {
  Batch a, b;
  TriangularSolveAttributes how;
  // Right sides are columns of b, or rows where A is on the right.
  std::int64_t sides = how.left_side ? b.columns : b.rows;
  std::int64_t piece = std::max<std::int64_t>(sides, 1);  // right sides that are solved at once

  // Of one piece.
  double work() const { return static_cast<double>(a.size() * std::min(piece, sides)); }
  std::int64_t pieces() const { return std::max<std::int64_t>((sides + piece - 1) / piece, 1); }

  CBLAS_TRANSPOSE op() const {
    return how.transpose_a == Transpose::no          ? CblasNoTrans
           : how.transpose_a == Transpose::transpose ? CblasTrans
                                                     : CblasConjTrans;
  }
  CBLAS_UPLO triangle() const { return how.lower ? CblasLower : CblasUpper; }
  CBLAS_DIAG diagonal() const { return how.unit_diagonal ? CblasUnit : CblasNonUnit; }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    if (b.size() == 0) return;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t index = i / pieces(), first = i % pieces() * piece;
      const T* const matrix = matrix_in<T>(buffers[0], index, a.size());
      const T* const from = matrix_in<T>(buffers[1], index, b.size());
      T* const to = matrix_in<T>(buffers[2], index, b.size());
      solve(matrix, from, to, first, std::min(first + piece, sides));
    }
  }

  template <class T>
  void solve(const T* matrix, const T* from, T* to, std::int64_t first, std::int64_t last) const {
    const std::int64_t columns = how.left_side ? last - first : b.columns;
    const std::int64_t rows = how.left_side ? b.rows : last - first;
    const std::int64_t offset = how.left_side ? first : first * b.columns;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(from + offset + row * b.columns, columns, to + offset + row * b.columns);
    }
    if (how.left_side && b.columns == 1) {  // trsm copies the matrix first
      trsv<T>(triangle(), op(), diagonal(), as_int(a.rows), matrix, as_int(a.rows), to);
    } else {
      trsm<T>(CblasRowMajor, how.left_side ? CblasLeft : CblasRight, triangle(), op(), diagonal(),
              as_int(rows), as_int(columns), matrix, as_int(a.rows), to + offset,
              as_int(b.columns));
    }
  }
};

struct LargeSolveTask : TriangularSolveTask {
  std::int64_t phases() const { return solve_phases(a.rows); }

  template <class T>
  void run_matrix(void* const* buffers, std::int64_t i, Team& team) const {
    BlockedSolve<T>{.triangle = triangle(),
                    .op = op(),
                    .diagonal = diagonal(),
                    .size = a.rows,
                    .sides = sides,
                    .matrix = matrix_in<T>(buffers[0], i, a.size()),
                    .right_side = matrix_in<T>(buffers[1], i, b.size()),
                    .solution = matrix_in<T>(buffers[2], i, b.size())}
        .run(team);
  }
};

// Whether threads work on a matrix together: it is large, and of right sides there is one piece.
bool is_blocked(const TriangularSolveTask& task) {
  constexpr std::int64_t least_size = 384, few_sides = 128, least_work = 1'000'000;
  return task.how.left_side && task.a.rows >= least_size && task.sides < few_sides &&
         task.a.size() * task.sides >= least_work;
}

}  // namespace

MatrixTask triangular_solve_task(const CallStep& call, std::int64_t threads) {
  const Batch a(call.operands[0]), b(call.operands[1]);
  TriangularSolveTask task{a, b, std::get<TriangularSolveAttributes>(call.attributes)};
  if (is_blocked(task)) {
    return team_task_of(call, LargeSolveTask{task}, b.count, threads);
  }
  task.piece = sides_of_a_piece(task.sides, static_cast<double>(a.size()));
  return task_of(call, task, b.count * task.pieces());
}

}  // namespace anabranch::lapack
