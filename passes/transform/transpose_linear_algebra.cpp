// Cotangents of right sides of linear systems and of Fourier transforms. Pairings do not conjugate:
// <ct, A x> = sum ct_i A_ij x_j, of which, where numbers are real or become so, the real part
// counts.
#include <numeric>

#include "passes/transform/matrix.h"
#include "passes/transform/transpose_rules.h"

namespace anabranch {
namespace {

Quantity transformed(Quantity x, FftKind kind, const std::vector<std::int64_t>& lengths) {
  return {x.graph, x.graph->add(Op::fft, {x.value}, FftAttributes{kind, lengths})};
}

// Element i becomes element i + by of its vector; a zero comes in.
Quantity shifted(Quantity v, std::int64_t by) {
  const auto rank = static_cast<std::size_t>(v.type().rank());
  if (v.shape()[v.type().rank() - 1] == 0) return v;
  std::vector<std::int64_t> low(rank), high(rank), none(rank);
  low.back() = by;
  high.back() = -by;
  return v.pad(std::move(low), std::move(high), std::move(none));
}

// How often each number of a half of a transform stands in the whole: those but for the first and,
// of an even length, the last have a conjugate.
Quantity times_in_whole(GraphBuilder& graph, Type half, std::int64_t length) {
  const std::int64_t axis = half.rank() - 1;
  const Quantity k = iota(graph, {Dtype::i64, half.shape}, axis);
  const Quantity is_alone = (k == k.number(0)) | (k * 2 == k.number(static_cast<double>(length)));
  const Quantity once = Quantity::splat(graph, half, 1);
  return select(is_alone, once, once.number(2));
}

Quantity transposed_irfft(Quantity ct, const std::vector<std::int64_t>& lengths) {
  const Quantity half = transformed(ct, FftKind::rfft, lengths);
  double count = 1;
  for (std::int64_t length : lengths) count *= static_cast<double>(length);
  if (half.type().size() == 0) return half;
  return times_in_whole(*ct.graph, half.type(), lengths.back()) / count * half.conjugate();
}

Quantity transposed_rfft(Quantity ct, const std::vector<std::int64_t>& lengths) {
  const auto rank = static_cast<std::size_t>(ct.type().rank());
  std::vector<std::int64_t> none(rank), high(rank);
  high.back() = lengths.back() - ct.shape()[ct.type().rank() - 1];
  return transformed(ct.pad(none, std::move(high), none), FftKind::fft, lengths).op(Op::real);
}

}  // namespace

// X = op(A)^-1 B: the cotangent of B is op(A)^-T times that of X, and of A^H the transpose is the
// conjugate of A. The same from the right.
void transpose_triangular_solve(const TransposeStep& step) {
  if (!step.is_linear(1)) return;
  auto how = step.node.as<TriangularSolveAttributes>();
  Quantity a = step.in(0);
  if (how.transpose_a == Transpose::adjoint) a = a.conjugate();
  how.transpose_a = how.transpose_a == Transpose::no ? Transpose::transpose : Transpose::no;
  step.add(1, triangular_solve(a, step.cotangent(), how));
}

// The diagonals of the transpose: what is above becomes what is below, a row further on.
void transpose_tridiagonal_solve(const TransposeStep& step) {
  if (!step.is_linear(3)) return;
  const Quantity below = shifted(step.in(2), 1), above = shifted(step.in(0), -1);
  const Value solution = step.graph.add(
      Op::tridiagonal_solve, {below.value, step.in(1).value, above.value, step.cotangent().value});
  step.add(3, {&step.graph, solution});
}

// The matrices of fft and ifft are symmetric. rfft is fft of reals, cut off; of irfft, the real
// part of an inverse transform whose numbers each stand for two, but for those without a conjugate.
void transpose_fft(const TransposeStep& step) {
  const auto& [kind, lengths] = step.node.as<FftAttributes>();
  const Quantity ct = step.cotangent();
  switch (kind) {
    case FftKind::fft:
    case FftKind::ifft:
      return step.add(0, transformed(ct, kind, lengths));
    case FftKind::rfft:
      return step.add(0, transposed_rfft(ct, lengths));
    case FftKind::irfft:
      return step.add(0, transposed_irfft(ct, lengths));
  }
}

}  // namespace anabranch
