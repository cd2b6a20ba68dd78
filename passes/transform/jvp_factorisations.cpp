// Tangents of factors: of Cholesky's, of LU and of QR, in LAPACK's compact forms.
#include <algorithm>

#include "passes/transform/jvp_rules.h"
#include "passes/transform/matrix.h"

namespace anabranch {
namespace {

// Reflectors I - tau_j v_j v_j^H in a row, in their compact form (Schreiber and Van Loan, "A
// storage-efficient WY representation for products of Householder transformations", 1989; T as in
// Joffrain et al., "Accumulating Householder transformations, revisited", 2006):
//
//   H_1 H_2 ... H_k = I - V T V^H,  T = M^-1 D,  M = I + D S,
//   D = diag(tau),  S = what is above the diagonal of V^H V
struct Reflectors {
  Quantity v;     // rows x k, with the leading ones
  Quantity tau;   // D, as a vector
  Quantity s, m;  // k x k

  Quantity scaled(Quantity x) const { return along_rows(tau, x) * x; }  // D x
  Quantity solved(Quantity x) const {                                   // M^-1 x
    return triangular_solve(m, x, {.left_side = true, .unit_diagonal = true});
  }
};

Reflectors reflectors_of(Quantity packed, Quantity tau) {
  const Quantity below =
      lower_triangle(with_columns(packed, tau.shape()[tau.type().rank() - 1]), -1);
  Reflectors found{below + identity_like(below), tau, {}, {}};
  found.s = upper_triangle(matmul(adjoint(found.v), found.v), 1);
  found.m = found.scaled(found.s) + identity_like(found.s);
  return found;
}

// What remains where an L with ones on its diagonal and a U are known, and the tangent of their
// product: L^-1 d(L U) U^-1, below the diagonal L^-1 dL, on and above it dU U^-1.
struct UnitLower {
  Quantity whole;  // L, made square by columns of the identity

  explicit UnitLower(Quantity packed) {
    const Quantity below = with_columns(lower_triangle(packed, -1), rows_of(packed));
    whole = below + identity_like(below);
  }
  Quantity solved(Quantity x) const {
    return triangular_solve(whole, x, {.left_side = true, .lower = true, .unit_diagonal = true});
  }
};

// The tangents of thin Q and of R, of which R = [R1 R2] with R1 square and upper.
//
//   C = dA1 R1^-1,  P = Q^H C,  W = Q^H dQ is skew-Hermitian and equals P below the diagonal,
//   dQ = C - Q (P - W),  dR = Q^H dA - W R
//
// The diagonal of R is real, so that of dR is, and that of W is what is imaginary in P's. Walter
// and Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum
// experimental design", 2010, section on QR; columns beyond the square ones follow from R = Q^H A.
struct QrTangents {
  Quantity q, r;
};

QrTangents tangents_of_qr(Quantity q, Quantity r, Quantity da) {
  const std::int64_t count = rows_of(r);
  const Quantity c = triangular_solve(with_columns(r, count), with_columns(da, count), {});
  const Quantity p = matmul(adjoint(q), c);
  const Quantity below = lower_triangle(p, -1);
  const Quantity w = on_diagonal(imaginary_part(p), below - adjoint(below));
  return {c - matmul(q, p - w), upper_triangle(matmul(adjoint(q), da) - matmul(w, r))};
}

Quantity gather_columns(Quantity a, Quantity columns) {
  return matrix_transpose(gather_rows(matrix_transpose(a), columns));
}

}  // namespace

// dL = L Phi(L^-1 dA L^-H), where Phi takes the lower triangle and half of the diagonal: Murray,
// "Differentiation of the Cholesky decomposition", 2016, section 3.1. For U = L^H the same, turned.
Tangents jvp_cholesky(const JvpStep& step) {
  const bool lower = step.node.as<TriangleAttributes>().lower;
  const Quantity l = lower ? step.out() : adjoint(step.out());
  const Quantity da = hermitian_of(step.tangent(), lower);
  const Quantity left = triangular_solve(l, da, {.left_side = true, .lower = true});
  const Quantity p = triangular_solve(l, left, {.lower = true, .transpose_a = Transpose::adjoint});
  const Quantity phi = on_diagonal(p * 0.5, lower_triangle(p, -1));
  const Quantity dl = matmul(l, phi);
  return {(lower ? dl : adjoint(dl)).value};
}

// P A = L U: below the diagonal of F = L^-1 P dA U^-1 is L^-1 dL, on and above it dU U^-1. Lower
// and upper factors that are not square are made so by the identity.
Tangents jvp_lu(const JvpStep& step) {
  const Quantity packed = step.out();
  const std::int64_t columns = columns_of(packed), least = std::min(rows_of(packed), columns);
  const UnitLower l(packed);
  Quantity u = with_rows(upper_triangle(with_rows(packed, least)), columns);
  if (least < columns) {
    const Quantity ones = identity_like(u);
    u = u + (ones - with_rows(with_rows(ones, least), columns));
  }
  const Quantity f = triangular_solve(u, l.solved(gather_rows(step.tangent(), step.out(2))), {});
  const Quantity dl = matmul(l.whole, lower_triangle(f, -1));
  const Quantity du = matmul(upper_triangle(f), u);
  return {(dl + du).value, std::nullopt, std::nullopt};
}

// The tangents of R, and of the reflectors and their factors, through that of Q: of Q = E - V T
// V^H, where E is the identity's first columns, the first rows V1 of V have E - Q = V (T V1^H), a
// unit lower factor times an upper one N: an LU factorisation without exchanges (Ballard et al.,
// "Reconstructing Householder vectors from Tall-Skinny QR", 2014, section 3), whose tangents are
// those of LU, and whose upper factor has tau on its diagonal.
//
// Where a factor tau is 0, as a column is real and nothing is below its diagonal, LAPACK's Q jumps:
// it flips a sign as soon as there is something. The tangents of V and tau do not exist there and
// are infinite or NaN, and so are all cotangents in reverse mode; linalg::qr therefore has a rule
// of its own. This does not concern the last column of a square matrix, below which there can be
// nothing.
//
// With pivoting, the order of the columns is taken for constant: where no two lengths are equal, it
// is the same for matrices nearby.
Tangents jvp_qr(const JvpStep& step) {
  const Quantity packed = step.out(0), tau = step.out(1);
  const bool is_pivoted = step.node.op == Op::qr_pivoted;
  const Quantity da = is_pivoted ? gather_columns(step.tangent(), step.out(2)) : step.tangent();
  const std::int64_t rows = rows_of(packed), count = std::min(rows, columns_of(packed));
  const Quantity thin = with_columns(packed, count);
  const Quantity q{&step.graph, step.graph.add(Op::householder_product, {thin.value, tau.value})};
  const auto [dq, dr] = tangents_of_qr(q, upper_triangle(with_rows(packed, count)), da);

  const Reflectors h = reflectors_of(packed, tau);
  Quantity n = h.solved(h.scaled(adjoint(with_rows(h.v, count))));
  if (rows == count && count > 0) {  // 1 for its last diagonal element, which nothing depends on
    const Quantity last = iota(step.graph, {Dtype::i32, n.shape()}, n.type().rank() - 2);
    n = on_diagonal(select(last == last.number(static_cast<double>(count - 1)), n.number(1), n), n);
  }
  const UnitLower l(thin);
  const Quantity f = triangular_solve(n, l.solved(-dq), {});
  const Quantity dv = matmul(l.whole, lower_triangle(f, -1));
  const Quantity dtau = diagonal(with_rows(f, count)) * diagonal(n);
  const Quantity below = with_columns(lower_triangle(dv, -1), columns_of(packed));
  Tangents tangents = {(below + with_rows(dr, rows)).value, dtau.value};
  if (is_pivoted) tangents.push_back(std::nullopt);
  return tangents;
}

// Of Q = E - V Y, where Y = M^-1 D W and W is the adjoint of the first rows of V:
//
//   dY = M^-1 (dD (W - S Y) + D (dW - dS Y)),  dQ = -(dV Y + V dY)
//
// This holds for any vectors and factors, be they those of a factorisation or not.
Tangents jvp_householder_product(const JvpStep& step) {
  const Reflectors h = reflectors_of(step.in(0), step.in(1));
  const std::int64_t columns = columns_of(step.in(0));
  const Quantity w = adjoint(with_rows(h.v, columns));
  const Quantity y = h.solved(h.scaled(w));
  std::optional<Quantity> change, dq;  // of M dY; of -dQ
  if (step.is_active(0)) {
    const Quantity dv = lower_triangle(with_columns(step.tangent(0), columns_of(h.v)), -1);
    const Quantity product = matmul(adjoint(dv), h.v);
    const Quantity ds = upper_triangle(product + adjoint(product), 1);
    change = h.scaled(adjoint(with_rows(dv, columns)) - matmul(ds, y));
    dq = matmul(dv, y);
  }
  if (step.is_active(1)) {
    const Quantity of_tau = along_rows(step.tangent(1), y) * (w - matmul(h.s, y));
    change = change ? *change + of_tau : of_tau;
  }
  const Quantity through_y = matmul(h.v, h.solved(*change));
  return {(-(dq ? *dq + through_y : through_y)).value};
}

}  // namespace anabranch
