// Factors of matrices of a few rows, and solutions by their triangles, written as arithmetic on
// arrays of the batch's shape, one for each element of a matrix: a library's call takes several
// times as long for one matrix as the arithmetic, which what is before and after fuses with.
//
//   %1: f32[1000,2,2] = cholesky %0
//
// becomes
//
//   %a: f32[1000] = sqrt %0[0,0]    %b: f32[1000] = divide %0[1,0], %a    ...
//   %1: f32[1000,2,2] = reshape (concatenate %a, 0, %b, %d)
#pragma once

#include <vector>

#include "passes/rewrite.h"

namespace anabranch {

/// The rules for cholesky, lu and triangular_solve of 64 and more real matrices of at most four
/// rows and columns (Golub and Van Loan, "Matrix Computations", 4th ed., sections 3.1, 3.4
/// and 4.2). They pay where a lane can follow a matrix in memory.
std::vector<Rule> small_matrix_rules();

/// The rule for reductions of what is put together from a few arrays, as a triangle's diagonal is.
std::vector<Rule> stack_rules();

}  // namespace anabranch
