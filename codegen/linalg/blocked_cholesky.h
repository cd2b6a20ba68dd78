// The Cholesky factor of one large matrix, by the threads of a team: block by block, right-looking
// (Golub and Van Loan, "Matrix Computations", 4th ed., section 4.2.9).
#pragma once

#include <algorithm>
#include <cstdint>

#include "codegen/linalg/blas.h"
#include "codegen/linalg/matrix.h"
#include "codegen/linalg/team.h"

namespace anabranch::lapack {

/// The factor of a matrix of `n` rows, in its own place; whether there is one. LAPACK reads column
/// by column, and so the other triangle. OpenBLAS's blocked routine takes up to twice as long as
/// that by columns while a matrix is small.
template <class T>
bool factor_cholesky(bool lower, lapack_int n, T* a, lapack_int lda) {
  const char triangle = lower ? 'U' : 'L';
  constexpr lapack_int by_columns = 96;
  return (n > by_columns ? potrf<T>(triangle, n, a, lda) : potf2(triangle, n, a, lda)) == 0;
}

/// Rows of a block of a matrix of `size` rows.
inline std::int64_t cholesky_block(std::int64_t size) {
  return size < 640 ? 64 : size < 2048 ? 128 : 192;
}

/// How many times `BlockedCholesky::run` calls `Team::run`, at most.
inline std::int64_t cholesky_phases(std::int64_t size) {
  return 2 * (size / cholesky_block(size)) + 3;
}

/// The lower or the upper triangle of a Hermitian matrix and its factor. The upper one is the lower
/// one of the same memory read column by column.
template <class T>
class BlockedCholesky {
 public:
  BlockedCholesky(const T* from, T* factor, std::int64_t size, bool lower)
      : from_(from),
        factor_(factor),
        size_(size),
        block_(cholesky_block(size)),
        blocks_((size + block_ - 1) / block_),
        lower_(lower) {}

  /// Leaves the factor, or NaN in the whole triangle where there is none; and zeros beside it.
  void run(Team& team) const {
    team.run(blocks_, [&](std::int64_t block) { copy_rows(block, team); });
    team.run(1, [&](std::int64_t) { factor_diagonal(0, team); });
    for (std::int64_t k = 0; k + 1 < blocks_; ++k) {
      const std::int64_t below = blocks_ - k - 1;
      team.run(below, [&](std::int64_t item) {
        if (!team.has_failed()) solve_panel(k, k + 1 + item);
      });
      // The next block of the diagonal is waited for: it comes first, and then the longest rows.
      team.run(tiles_of(below), [&](std::int64_t item) {
        if (team.has_failed()) return;
        if (item == 0) {
          update_diagonal(k, k + 1);
          factor_diagonal(k + 1, team);
        } else {
          update_tile(k, item);
        }
      });
    }
    team.run(blocks_, [&](std::int64_t block) {
      if (team.has_failed()) fill_rows(block);
    });
  }

 private:
  // A tile of what is left is one block high and so many wide.
  static constexpr std::int64_t tile_blocks = 4;

  // In the rows 0 to `rows` of a triangle of blocks.
  static std::int64_t tiles_of(std::int64_t rows) {
    std::int64_t count = 0;
    for (std::int64_t row = 1; row <= rows; ++row) count += (row + tile_blocks - 1) / tile_blocks;
    return count;
  }

  CBLAS_ORDER order() const { return lower_ ? CblasRowMajor : CblasColMajor; }
  std::int64_t begin(std::int64_t block) const { return std::min(block * block_, size_); }
  lapack_int extent(std::int64_t block, std::int64_t count = 1) const {
    return as_int(begin(block + count) - begin(block));
  }
  T* at(std::int64_t row_block, std::int64_t column_block) const {
    const std::int64_t row = begin(row_block), column = begin(column_block);
    return factor_ + (lower_ ? row * size_ + column : column * size_ + row);
  }

  void copy_rows(std::int64_t block, Team& team) const {
    for (std::int64_t row = begin(block); row < begin(block + 1); ++row) {
      if (!copy_triangle_row(from_, factor_, size_, row, lower_)) team.fail();
    }
  }

  void fill_rows(std::int64_t block) const {
    for (std::int64_t row = begin(block); row < begin(block + 1); ++row) {
      fill_triangle_row(factor_, size_, row, lower_);
    }
  }

  void factor_diagonal(std::int64_t k, Team& team) const {
    if (team.has_failed()) return;
    if (!factor_cholesky(lower_, extent(k), at(k, k), as_int(size_))) team.fail();
  }

  void solve_panel(std::int64_t k, std::int64_t row) const {
    trsm<T>(order(), CblasRight, CblasLower, CblasConjTrans, CblasNonUnit, extent(row), extent(k),
            at(k, k), as_int(size_), at(row, k), as_int(size_));
  }

  void update_diagonal(std::int64_t k, std::int64_t row) const {
    subtract_herk<T>(order(), extent(row), extent(k), at(row, k), as_int(size_), at(row, row),
                     as_int(size_));
  }

  // Tile 0 is the first block of the diagonal that is left; the last rows come first after it.
  void update_tile(std::int64_t k, std::int64_t tile) const {
    std::int64_t row = blocks_ - 1, blocks = row - k;
    for (--tile;; --row, --blocks) {
      const std::int64_t tiles = (blocks + tile_blocks - 1) / tile_blocks;
      if (tile < tiles) break;
      tile -= tiles;
    }
    const std::int64_t first = k + 1 + tile * tile_blocks;
    const std::int64_t last = std::min(first + tile_blocks, row);  // the diagonal's is not full
    if (first < last) {
      subtract_gemm<T>(order(), CblasNoTrans, CblasConjTrans, extent(row),
                       extent(first, last - first), extent(k), at(row, k), as_int(size_),
                       at(first, k), as_int(size_), at(row, first), as_int(size_));
    }
    if (first + tile_blocks > row) update_diagonal(k, row);
  }

  const T* const from_;
  T* const factor_;
  const std::int64_t size_, block_, blocks_;
  const bool lower_;
};

}  // namespace anabranch::lapack
