// Tangents of singular values, eigenvalues and their vectors.
//
// Where two values are equal, their vectors have no derivative, and the formulas divide by 0, as
// JAX's do: tangents of vectors are infinite or NaN there, while those of values are not (each on
// its own is that of the basis at hand; symmetric functions of equal ones are differentiable).
#include <string>

#include "passes/transform/jvp_rules.h"
#include "passes/transform/matrix.h"

namespace anabranch {
namespace {

// 1 / x off the diagonal, 0 on it.
Quantity inverse_off_diagonal(Quantity x) {
  return on_diagonal(x.number(0), x.number(1) / on_diagonal(x.number(1), x));
}

// w_j - w_i, of which the inverses are F_ij.
Quantity differences(Quantity w, Quantity like) {
  return along_columns(w, like) - along_rows(w, like);
}

Quantity result(Quantity first, std::uint32_t i) {
  return {first.graph, {first.value.node, first.value.result + i}};
}

// A = U S V^H.
struct Svd {
  Quantity s, u, vh;
};

Svd svd_of(const JvpStep& step) {
  const auto& [vectors, full] = step.node.as<SvdAttributes>();
  const Quantity a = step.in();
  const bool is_thin = !full || rows_of(a) == columns_of(a);
  if (vectors && is_thin) return {step.out(0), step.out(1), step.out(2)};
  if (vectors) {
    std::string text =
        "svd: with full_matrices, the vectors of a matrix that is not square have no derivative: " +
        to_string(a.type()) + "; take full_matrices = false";
    if (step.node.location) text += ", at " + to_string(step.node.location);
    throw Error(text);
  }
  const Quantity again{&step.graph,
                       step.graph.add(Op::svd, {a.value}, SvdAttributes{.vectors = true})};
  return {again, result(again, 1), result(again, 2)};
}

// The part of dU or dV that is in the span of neither: (da V - U (U^H da V)) S^-1 for tall
// matrices, where `product` is da V.
Quantity outside(Quantity u, Quantity product, Quantity s) {
  const Quantity rest = product - matmul(u, matmul(adjoint(u), product));
  return rest / along_columns(s, rest);
}

// What is on the diagonal of eigenvectors' change so that each stays of length 1, with a real
// greatest component: where v changes by u + c v, Re(v^H u) + Re c = 0, and for that component
// Im(u_p) + v_p Im c = 0.
Quantity change_of_scale(Quantity v, Quantity u) {
  const std::int64_t row_axis = v.type().rank() - 2;
  const Quantity re = v.op(Op::real), im = v.op(Op::imag);
  const Quantity length = (re * u.op(Op::real) + im * u.op(Op::imag)).sum({row_axis});
  // The component that is real is found even among some of equal magnitude.
  const Quantity measure = re.op(Op::abs) - im.op(Op::abs);
  Type places{Dtype::i32, length.shape()};
  const Quantity greatest{
      v.graph, v.graph->add(Op::argmax, {measure.value}, AxisAttributes{row_axis}, places)};
  const Quantity place = iota(*v.graph, {Dtype::i32, v.shape()}, row_axis);
  const Quantity is_greatest = place == along_columns(greatest, v);
  const auto of_greatest = [&](Quantity x) {
    return select(is_greatest, x, x.number(0)).sum({row_axis});
  };
  return complex(-length, -(of_greatest(u.op(Op::imag)) / of_greatest(re)));
}

// The tangents of eigenvalues and right eigenvectors of a general matrix: A V = V W gives
// dW = diag(C) for C = V^-1 dA V, and dV = V (F o C) + V diag(c).
struct EigTangents {
  Quantity w, v;
};

EigTangents tangents_of_eig(Quantity w, Quantity v, Quantity da) {
  if (v.type().size() == 0) return {diagonal(da), da};  // none has a greatest component
  const Quantity c = solve(v, matmul(da, v));
  const Quantity u = matmul(v, inverse_off_diagonal(differences(w, c)) * c);
  return {diagonal(c), u + v * along_columns(change_of_scale(v, u), v)};
}

}  // namespace

// ds = Re diag(P) for P = U^H dA V; dU = U (F o (P S + S P^H) + D) and dV = V (F o (S P + P^H S)),
// where F_ij = 1 / (s_j^2 - s_i^2) and D is what a complex P has of imaginary numbers on its
// diagonal, over S: vectors u and v turn together, and all of it is given to u. Besides, each has
// what is outside the span of its own. Giles, "Collected matrix derivative results for forward and
// reverse mode algorithmic differentiation", 2008, section 3.2; for what is not square, and for
// complex numbers: Wan and Zhang, "Automatic differentiation for complex valued SVD", 2019.
Tangents jvp_svd(const JvpStep& step) {
  const Quantity da = step.tangent();
  const auto [values, u, vh] = svd_of(step);
  const Quantity v = adjoint(vh), product = matmul(da, v), p = matmul(adjoint(u), product);
  Tangents tangents = {real_part(diagonal(p)).value};
  if (!step.node.as<SvdAttributes>().vectors) return tangents;

  const Quantity s = values.as(p.dtype());
  const Quantity s_rows = along_rows(s, p), s_columns = along_columns(s, p);
  const Quantity f = inverse_off_diagonal((s_columns + s_rows) * (s_columns - s_rows));
  const Quantity ps = p * s_columns, sp = s_rows * p;
  // Of a singular value 0 no turn is asked.
  const Quantity divisor = select(s_columns == s_columns.number(0), s_columns.number(1), s_columns);
  Quantity within_u = f * (ps + adjoint(ps));
  if (is_complex(p.dtype())) within_u = on_diagonal(imaginary_part(p) / divisor, within_u);
  Quantity du = matmul(u, within_u);
  Quantity dv = matmul(v, f * (sp + adjoint(sp)));
  const Quantity a = step.in();
  if (rows_of(a) > columns_of(a)) du = du + outside(u, product, s);
  if (rows_of(a) < columns_of(a)) dv = dv + outside(v, matmul(adjoint(da), u), s);
  tangents.push_back(du.value);
  tangents.push_back(adjoint(dv).value);
  return tangents;
}

// dw = Re diag(P) for P = V^H dA V, and dV = V (F o P), F_ij = 1 / (w_j - w_i): Giles 2008, section
// 3.1. dA is Hermitian, given by the triangle that is read.
Tangents jvp_eigh(const JvpStep& step) {
  const auto& [vectors, lower] = step.node.as<EighAttributes>();
  Quantity w = step.out();
  if (!vectors) {
    w = {&step.graph, step.graph.add(Op::eigh, {step.inputs[0]},
                                     EighAttributes{.vectors = true, .lower = lower})};
  }
  const Quantity v = result(w, 1), da = hermitian_of(step.tangent(), lower);
  const Quantity p = matmul(adjoint(v), matmul(da, v));
  Tangents tangents = {real_part(diagonal(p)).value};
  if (!vectors) return tangents;
  const Quantity f = inverse_off_diagonal(differences(w.as(p.dtype()), p));
  tangents.push_back(matmul(v, f * p).value);
  return tangents;
}

// Giles 2008, section 3.1, and Boeddeker et al., "On the computation of complex-valued gradients
// with application to statistically optimum beamforming", 2017, for vectors that are normalised.
// Left vectors are the right ones of A^H, whose eigenvalues are the conjugates.
Tangents jvp_eig(const JvpStep& step) {
  const auto& [left, right] = step.node.as<EigAttributes>();
  Quantity w = step.out();
  if (!left && !right) {
    w = {&step.graph,
         step.graph.add(Op::eig, {step.inputs[0]}, EigAttributes{.left = false, .right = true})};
  }
  const Quantity da = step.tangent().as(w.dtype());
  std::optional<EigTangents> of_left, of_right;
  if (left) of_left = tangents_of_eig(w.conjugate(), result(w, 1), adjoint(da));
  if (right || !left) of_right = tangents_of_eig(w, result(w, left ? 2 : 1), da);
  Tangents tangents = {of_right ? of_right->w.value : of_left->w.conjugate().value};
  if (left) tangents.push_back(of_left->v.value);
  if (right) tangents.push_back(of_right->v.value);
  return tangents;
}

}  // namespace anabranch
