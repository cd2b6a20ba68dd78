#include "passes/transform/matrix.h"

namespace anabranch {
namespace {

std::int64_t batch_rank(Quantity a) { return a.type().rank() - 2; }

// The column less the row compared to `offset`.
Quantity mask(Quantity like, Comparison direction, std::int64_t offset) {
  GraphBuilder& graph = *like.graph;
  const Type positions{Dtype::i32, like.shape()};
  const Quantity row = iota(graph, positions, batch_rank(like));
  const Quantity column = iota(graph, positions, batch_rank(like) + 1);
  return column.compare(direction, offset == 0 ? row : row + static_cast<double>(offset));
}

Quantity with_size(Quantity a, std::int64_t axis, std::int64_t count) {
  const std::int64_t have = a.shape()[static_cast<int>(axis)];
  if (have == count) return a;
  const auto rank = static_cast<std::size_t>(a.type().rank());
  std::vector<std::int64_t> none(rank), high(rank);
  high[static_cast<std::size_t>(axis)] = count - have;
  if (have < count) return a.pad(none, std::move(high), none);
  std::vector<std::int64_t> limit(a.shape().begin(), a.shape().end());
  limit[static_cast<std::size_t>(axis)] = count;
  return a.slice(std::move(none), std::move(limit));
}

Quantity along(Quantity v, Quantity like, std::int64_t axis) {
  std::vector<std::int64_t> axes = axes_up_to(batch_rank(like));
  axes.push_back(axis);
  return v.broadcast(like.shape(), std::move(axes));
}

}  // namespace

std::int64_t rows_of(Quantity a) { return a.shape()[a.type().rank() - 2]; }
std::int64_t columns_of(Quantity a) { return a.shape()[a.type().rank() - 1]; }

Type matrix_type(Quantity a, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> sizes(a.shape().begin(), a.shape().end());
  sizes[sizes.size() - 2] = rows;
  sizes.back() = columns;
  return {a.dtype(), Shape(std::move(sizes))};
}

Quantity matmul(Quantity a, Quantity b) {
  const std::int64_t count = batch_rank(a);
  const std::vector<std::int64_t> batch = axes_up_to(count);
  return {a.graph, a.graph->add(Op::dot, {a.value, b.value},
                                DotAttributes{batch, batch, {count + 1}, {count}})};
}

Quantity matrix_transpose(Quantity a) {
  return a.move_axis(a.type().rank() - 1, a.type().rank() - 2);
}

Quantity adjoint(Quantity a) { return matrix_transpose(a.conjugate()); }

Quantity triangular_solve(Quantity a, Quantity b, TriangularSolveAttributes how) {
  return {a.graph, a.graph->add(Op::triangular_solve, {a.value, b.value}, how)};
}

Quantity solve(Quantity a, Quantity b) {
  const Quantity factors = a.op(Op::lu);
  const Quantity order{a.graph, {factors.value.node, factors.value.result + 2}};
  const Quantity y = triangular_solve(
      factors, gather_rows(b, order),
      {.left_side = true, .lower = true, .unit_diagonal = true, .transpose_a = Transpose::no});
  return triangular_solve(factors, y, {.left_side = true});
}

Quantity gather_rows(Quantity a, Quantity rows) {
  if (a.type().size() == 0) return a;  // a gather refuses windows that do not fit
  const std::int64_t count = batch_rank(a);
  GatherAttributes how;
  how.operand_batch_axes = how.index_batch_axes = axes_up_to(count);
  how.collapsed_axes = how.start_axes = {count};
  how.offset_axes = {count + 1};
  how.index_vector_axis = count + 1;
  how.sizes.assign(static_cast<std::size_t>(count + 1), 1);
  how.sizes.push_back(columns_of(a));
  return {a.graph, a.graph->add(Op::gather, {a.value, rows.value}, std::move(how))};
}

Quantity identity_like(Quantity a) { return on_diagonal(a.number(1), a.number(0)); }

Quantity lower_triangle(Quantity a, std::int64_t offset) {
  return select(mask(a, Comparison::le, offset), a, a.number(0));
}

Quantity upper_triangle(Quantity a, std::int64_t offset) {
  return select(mask(a, Comparison::ge, offset), a, a.number(0));
}

Quantity hermitian_of(Quantity a, bool lower) {
  const Quantity read = lower ? lower_triangle(a, -1) : upper_triangle(a, 1);
  return on_diagonal(real_part(a).as(a.dtype()), read + adjoint(read));
}

Quantity on_diagonal(Quantity on, Quantity off) {
  return select(mask(off, Comparison::eq, 0), on, off);
}

Quantity diagonal(Quantity a) { return on_diagonal(a, a.number(0)).sum({a.type().rank() - 1}); }

Quantity along_rows(Quantity v, Quantity like) { return along(v, like, batch_rank(like)); }
Quantity along_columns(Quantity v, Quantity like) { return along(v, like, batch_rank(like) + 1); }

Quantity with_rows(Quantity a, std::int64_t count) { return with_size(a, batch_rank(a), count); }
Quantity with_columns(Quantity a, std::int64_t count) {
  return with_size(a, batch_rank(a) + 1, count);
}

Quantity real_part(Quantity a) { return is_complex(a.dtype()) ? a.op(Op::real) : a; }

Quantity imaginary_part(Quantity a) {
  if (!is_complex(a.dtype())) return a.number(0);
  const Quantity part = a.op(Op::imag);
  return complex(part.number(0), part);
}

}  // namespace anabranch
