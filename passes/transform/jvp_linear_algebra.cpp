// Tangents of solutions of linear systems. Those of factors are in jvp_factorisations.cpp and
// jvp_spectral.cpp.
#include "passes/transform/jvp_rules.h"
#include "passes/transform/matrix.h"

namespace anabranch {
namespace {

// Row i becomes row i + 1, or i - 1; a row of zeros comes in.
Quantity shifted_rows(Quantity a, std::int64_t by) {
  if (rows_of(a) == 0) return a;
  const auto rank = static_cast<std::size_t>(a.type().rank());
  std::vector<std::int64_t> low(rank), high(rank), none(rank);
  low[rank - 2] = by;
  high[rank - 2] = -by;
  return a.pad(std::move(low), std::move(high), std::move(none));
}

}  // namespace

// op(A) dX = dB - op(dA) X, of the triangle of dA that is read. Giles, "Collected matrix derivative
// results for forward and reverse mode algorithmic differentiation", 2008, section 2.3.
Tangents jvp_triangular_solve(const JvpStep& step) {
  const auto& how = step.node.as<TriangularSolveAttributes>();
  std::optional<Quantity> change;  // of the right side
  if (step.is_active(0)) {
    const Quantity da = step.tangent(0), x = step.out();
    const std::int64_t offset = how.unit_diagonal ? 1 : 0;
    Quantity read = how.lower ? lower_triangle(da, -offset) : upper_triangle(da, offset);
    if (how.transpose_a == Transpose::transpose) read = matrix_transpose(read);
    if (how.transpose_a == Transpose::adjoint) read = adjoint(read);
    change = -(how.left_side ? matmul(read, x) : matmul(x, read));
  }
  if (step.is_active(1)) change = change ? step.tangent(1) + *change : step.tangent(1);
  return {triangular_solve(step.in(0), *change, how).value};
}

// A dX = dB - dA X, of the three diagonals of dA.
Tangents jvp_tridiagonal_solve(const JvpStep& step) {
  const Quantity x = step.out();
  std::optional<Quantity> change;
  const auto add = [&](Quantity part) { change = change ? *change + part : part; };
  if (step.is_active(3)) add(step.tangent(3));
  const std::int64_t shifts[] = {1, 0, -1};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!step.is_active(i)) continue;
    const Quantity rows = shifts[i] == 0 ? x : shifted_rows(x, shifts[i]);
    add(-(along_rows(step.tangent(i), x) * rows));
  }
  const Value dx = step.graph.add(Op::tridiagonal_solve,
                                  {step.inputs[0], step.inputs[1], step.inputs[2], change->value});
  return {dx};
}

}  // namespace anabranch
