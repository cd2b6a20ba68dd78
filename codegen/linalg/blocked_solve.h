// Triangular systems of one large matrix and few right sides, by the threads of a team: block by
// block, each solved while others are updated by what is solved before it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codegen/linalg/blas.h"
#include "codegen/linalg/team.h"

namespace anabranch::lapack {

/// Rows of a block.
inline constexpr std::int64_t solve_block = 128;

/// How many times `BlockedSolve::run` calls `Team::run`.
inline std::int64_t solve_phases(std::int64_t size) {
  return (size + solve_block - 1) / solve_block;
}

/// op(A) X = B, of `sides` columns; all row by row.
template <class T>
struct BlockedSolve {
  CBLAS_UPLO triangle;
  CBLAS_TRANSPOSE op;
  CBLAS_DIAG diagonal;
  std::int64_t size, sides;
  const T* matrix;
  const T* right_side;
  T* solution;

  void run(Team& team) const {
    team.run(1, [&](std::int64_t) {
      std::copy_n(right_side, size * sides, solution);
      solve(0);
    });
    for (std::int64_t step = 1; step < blocks(); ++step) {
      // Long parts of rows of A are read: by the next block, all that is solved; or all later
      // blocks, by the last that is.
      const bool plain = op == CblasNoTrans;
      const Range later = plain ? range(step + 1, step + 2) : range(step + 1, blocks());
      const std::int64_t piece = plain ? row_piece : column_piece;
      const std::int64_t pieces = (later.size() + piece - 1) / piece;
      team.run(1 + pieces, [&](std::int64_t item) {
        if (item == 0) {  // the next phase waits for it
          update(range(step, step + 1), range(step - 1, step));
          return solve(step);
        }
        const std::int64_t begin = later.begin + (item - 1) * piece;
        update({begin, std::min(begin + piece, later.end)},
               plain ? range(0, step) : range(step - 1, step));
      });
    }
  }

 private:
  static constexpr std::int64_t block = solve_block;
  static constexpr std::int64_t row_piece = 32, column_piece = 256;  // updated at once

  struct Range {
    std::int64_t begin, end;
    std::int64_t size() const { return end - begin; }
  };

  std::int64_t blocks() const { return solve_phases(size); }
  // Rows of blocks [first, last) in the order of their solution: those of an upper triangle are
  // solved from the last to the first.
  Range range(std::int64_t first, std::int64_t last) const {
    const std::int64_t begin = std::min(first * block, size), end = std::min(last * block, size);
    if ((triangle == CblasLower) == (op == CblasNoTrans)) return {begin, end};
    return {size - end, size - begin};
  }
  T* rows(std::int64_t begin) const { return solution + begin * sides; }

  void solve(std::int64_t step) const {
    const Range at = range(step, step + 1);
    const T* const a = matrix + at.begin * size + at.begin;
    if (sides == 1) {
      trsv<T>(triangle, op, diagonal, as_int(at.size()), a, as_int(size), rows(at.begin));
    } else {
      trsm<T>(CblasRowMajor, CblasLeft, triangle, op, diagonal, as_int(at.size()), as_int(sides), a,
              as_int(size), rows(at.begin), as_int(sides));
    }
  }

  // Rows `to`, by the rows `from` of the solution.
  void update(Range to, Range from) const {
    const lapack_int m = as_int(to.size()), k = as_int(from.size());
    const bool plain = op == CblasNoTrans;
    const T* const a =
        matrix + (plain ? to.begin * size + from.begin : from.begin * size + to.begin);
    if (sides == 1) {
      subtract_gemv<T>(op, plain ? m : k, plain ? k : m, a, as_int(size), rows(from.begin),
                       rows(to.begin));
    } else {
      subtract_gemm<T>(CblasRowMajor, op, CblasNoTrans, m, as_int(sides), k, a, as_int(size),
                       rows(from.begin), as_int(sides), rows(to.begin), as_int(sides));
    }
  }
};

}  // namespace anabranch::lapack
