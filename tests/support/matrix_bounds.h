// How far right factorisations may be from the interpreter's: by the condition of each matrix.
#pragma once

#include <span>
#include <vector>

#include "tests/support/error_bounds.h"

namespace anabranch {

/// Of an op of linear algebra, whose interpreted results are `values`. What is well determined has
/// a bound: eigenvalues and singular values (Weyl), the Cholesky factor of a matrix that is clearly
/// positive definite (Sun 1991), solutions of triangular systems (Higham, "Accuracy and Stability
/// of Numerical Algorithms", 2nd ed., theorem 8.5), and of three diagonals where the middle one is
/// the strongest. Vectors, pivots, reflectors and the eigenvalues of any matrix are not: they are
/// unknown, and tests of their own put the factors together again.
std::vector<Bounded> matrix_bounds(const Node& node, std::span<const Bounded> operands,
                                   std::vector<Literal> values);

}  // namespace anabranch
