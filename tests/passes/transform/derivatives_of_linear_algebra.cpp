// Factorisations and solutions, of random sizes, against central differences. What has a sign or a
// phase of its own choice is seen through functions that it does not change.
#include <algorithm>

#include "passes/transform/matrix.h"
#include "passes/transform/vjp.h"
#include "tests/passes/transform/random_trials.h"

namespace anabranch {
namespace {

using testing::check_trials;
using testing::Trial;

Quantity result_of(Quantity first, std::uint32_t i) {
  return {first.graph, {first.value.node, first.value.result + i}};
}

Quantity node(Op op, std::initializer_list<Quantity> operands, Attributes how = NoAttributes{}) {
  std::vector<Value> values;
  for (const Quantity& operand : operands) values.push_back(operand.value);
  GraphBuilder& graph = *operands.begin()->graph;
  return {&graph, graph.add(op, std::move(values), std::move(how))};
}

// `step` and more for each row further down, on the diagonal as well.
Quantity with_diagonal(Quantity a, double step) {
  GraphBuilder& graph = *a.graph;
  const Type places{i32, Shape(a.shape())};
  const Quantity row = iota(graph, places, a.type().rank() - 2).as(part_dtype(a.dtype()));
  return a + on_diagonal((row * step + step).as(a.dtype()), a.number(0));
}

// x x^H + I.
Quantity positive_of(Quantity x) {
  const Quantity square = matmul(x, adjoint(x));
  return square + identity_like(square);
}

Quantity hermitian_part(Quantity x) { return x + adjoint(x); }

// Column k times k + 1.
Quantity weighted_columns(Quantity a) {
  const Type places{i32, Shape(a.shape())};
  return a * (iota(*a.graph, places, a.type().rank() - 1) + 1.0).as(a.dtype());
}

// The sum of k v_k v_k^H: no vector's phase matters.
Quantity projectors(Quantity v) { return matmul(weighted_columns(v), adjoint(v)); }

TEST(DerivativesOfLinearAlgebra, Cholesky) {
  for (bool lower : {false, true}) {
    check_trials(
        "cholesky",
        [&](const Trial& trial) -> std::vector<Quantity> {
          const std::int64_t size = trial.size();
          const Quantity a = positive_of(trial.matrix(size, size));
          return {node(Op::cholesky, {a}, TriangleAttributes{lower})};
        },
        {.order = 2});
    // Only the triangle counts.
    check_trials("cholesky of a triangle", [&](const Trial& trial) -> std::vector<Quantity> {
      const std::int64_t size = trial.size();
      const Quantity a = with_diagonal(trial.matrix(size, size) * 0.5, 5);
      return {node(Op::cholesky, {a}, TriangleAttributes{lower})};
    });
  }
}

TEST(DerivativesOfLinearAlgebra, TriangularSolve) {
  for (int i = 0; i < 24; ++i) {
    const TriangularSolveAttributes how{i % 2 == 0, i / 2 % 2 == 0, i / 4 % 2 == 0,
                                        static_cast<Transpose>(i / 8)};
    const auto make = [&](const Trial& trial) -> std::vector<Quantity> {
      const std::int64_t size = trial.size(), others = trial.size(3);
      const Quantity a = trial.matrix(size, size);
      const Quantity b =
          how.left_side ? trial.matrix(size, others) : trial.matrix(others, size);
      return {triangular_solve(with_diagonal(a, 2), b, how)};
    };
    check_trials("triangular_solve " + std::to_string(i), make, {.order = 2}, 10);
    check_trials("triangular_solve by a " + std::to_string(i), make, {.fixed = {1}}, 5);
    check_trials("triangular_solve by b  " + std::to_string(i), make, {.fixed = {0}}, 5);
  }
}

TEST(DerivativesOfLinearAlgebra, TridiagonalSolve) {
  for (std::size_t fixed = 0; fixed < 5; ++fixed) {
    check_trials(
        "tridiagonal_solve",
        [](const Trial& trial) -> std::vector<Quantity> {
          const std::int64_t size = trial.size(), others = trial.size(3);
          const Quantity below = trial.vector(size), on = trial.vector(size);
          const Quantity above = trial.vector(size), b = trial.matrix(size, others);
          return {node(Op::tridiagonal_solve, {below, on + 4.0, above, b})};
        },
        {.order = 2, .fixed = {fixed}});
  }
}

TEST(DerivativesOfLinearAlgebra, Lu) {
  check_trials(
      "lu",
      [](const Trial& trial) -> std::vector<Quantity> {
        const Quantity a = with_diagonal(trial.matrix(trial.size(), trial.size()), 3);
        // Rows in another order, so that there are exchanges.
        const Quantity turned{
            &trial.graph,
            trial.graph.add(Op::reverse, {a.value}, AxesAttributes{{a.type().rank() - 2}})};
        return {turned.op(Op::lu)};
      },
      {.order = 2}, 40);
}

TEST(DerivativesOfLinearAlgebra, SolutionsByLu) {
  check_trials(
      "solve",
      [](const Trial& trial) -> std::vector<Quantity> {
        const std::int64_t size = trial.size();
        const Quantity a = trial.matrix(size, size), b = trial.matrix(size, trial.size(2));
        return {solve(with_diagonal(a, 3), b)};
      },
      {.order = 2});
}

// The factors as `linalg::qr` composes them: `rank` columns of Q.
struct Qr {
  Quantity q, r;
};
Qr qr_of(Quantity a, bool is_complete) {
  const std::int64_t rows = rows_of(a), columns = columns_of(a);
  const std::int64_t rank = is_complete ? rows : std::min(rows, columns);
  const Quantity packed = a.op(Op::qr), tau = result_of(packed, 1);
  return {node(Op::householder_product, {with_columns(packed, rank), tau}),
          upper_triangle(with_rows(packed, rank))};
}

TEST(DerivativesOfLinearAlgebra, Qr) {
  for (bool is_complete : {false, true}) {
    for (int which = 0; which < 3; ++which) {
      check_trials(
          "qr " + std::to_string(which),
          [&](const Trial& trial) -> std::vector<Quantity> {
            const std::int64_t rows = trial.size();
            const std::int64_t columns = trial.percent(40) ? rows : trial.size();
            const Quantity a = with_diagonal(trial.matrix(rows, columns), 1);
            const auto [q, r] = qr_of(a, is_complete);
            if (which == 0) return {q, r};
            return {which == 1 ? q : r};
          },
          {.order = 2}, 40);
    }
  }
}

TEST(DerivativesOfLinearAlgebra, PackedQr) {
  check_trials("packed qr", [](const Trial& trial) -> std::vector<Quantity> {
    const Quantity a = with_diagonal(trial.matrix(trial.size(), trial.size()), 1);
    const Quantity packed = a.op(Op::qr);
    return {packed, result_of(packed, 1)};
  });
}

TEST(DerivativesOfLinearAlgebra, HouseholderProduct) {
  const auto make = [](const Trial& trial) -> std::vector<Quantity> {
    const std::int64_t columns = trial.size(), rows = columns + trial.size(2);
    const Quantity packed = trial.matrix(rows, columns);
    const Quantity tau = trial.vector(trial.size(columns));
    return {node(Op::householder_product, {packed, tau})};
  };
  check_trials("householder_product", make, {.order = 2}, 40);
  check_trials("householder_product of vectors", make, {.fixed = {1}});
  check_trials("householder_product of factors", make, {.fixed = {0}});
}

TEST(DerivativesOfLinearAlgebra, SingularValues) {
  check_trials(
      "svd without vectors",
      [](const Trial& trial) -> std::vector<Quantity> {
        const Quantity a = with_diagonal(trial.matrix(trial.size(), trial.size()), 3);
        return {node(Op::svd, {a}, SvdAttributes{})};
      },
      {.order = 2});
}

TEST(DerivativesOfLinearAlgebra, Svd) {
  const auto make = [](const Trial& trial, bool full, int which) -> std::vector<Quantity> {
    const std::int64_t rows = trial.size(), columns = full ? rows : trial.size();
    const Quantity a = with_diagonal(trial.matrix(rows, columns), 3);
    const Quantity s = node(Op::svd, {a}, SvdAttributes{true, full});
    const Quantity u = result_of(s, 1), vh = result_of(s, 2);
    if (which == 0) return {s, matmul(weighted_columns(u), vh), projectors(u), s * s};
    if (which == 1) return {projectors(u)};
    return {projectors(adjoint(vh))};
  };
  for (bool full : {false, true}) {
    for (int which = 0; which < 3; ++which) {
      check_trials(
          "svd " + std::to_string(which),
          [&](const Trial& trial) { return make(trial, full, which); },
          {.tolerance = 1e-5, .order = 2}, 30);
    }
  }
}

TEST(DerivativesOfLinearAlgebra, SvdOfAllVectorsIsRefused) {
  GraphBuilder builder;
  const Value a = builder.parameter({f64, {3, 2}});
  const Graph graph = builder.build({builder.add(Op::svd, {a}, SvdAttributes{true, true})});
  try {
    vjp(graph, {true});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("full_matrices = false"), std::string::npos);
  }
}

TEST(DerivativesOfLinearAlgebra, Eigh) {
  for (bool lower : {false, true}) {
    for (bool is_symmetrised : {false, true}) {
      const auto matrix = [=](const Trial& trial) {
        const std::int64_t size = trial.size();
        const Quantity x = trial.matrix(size, size);
        return with_diagonal(is_symmetrised ? hermitian_part(x) : x, 3);
      };
      check_trials(
          "eigh without vectors",
          [&](const Trial& trial) -> std::vector<Quantity> {
            return {node(Op::eigh, {matrix(trial)}, EighAttributes{false, lower})};
          },
          {.tolerance = 1e-5, .order = 2});
      check_trials(
          "eigh",
          [&](const Trial& trial) -> std::vector<Quantity> {
            const Quantity w = node(Op::eigh, {matrix(trial)}, EighAttributes{true, lower});
            return {w, projectors(result_of(w, 1))};
          },
          {.tolerance = 1e-5, .order = 2});
    }
  }
}

TEST(DerivativesOfLinearAlgebra, Eig) {
  for (int i = 0; i < 4; ++i) {
    const bool left = i % 2 != 0, right = i / 2 != 0;
    check_trials(
        "eig " + std::to_string(i),
        [&](const Trial& trial) -> std::vector<Quantity> {
          const std::int64_t size = trial.size();
          const Quantity a = with_diagonal(trial.matrix(size, size), 3);
          const Quantity w = node(Op::eig, {a}, EigAttributes{left, right});
          std::vector<Quantity> results = {w};
          for (std::uint32_t k = 1; k <= static_cast<std::uint32_t>(left + right); ++k) {
            results.push_back(projectors(result_of(w, k)));
            results.push_back(result_of(w, k));
          }
          return results;
        },
        {.tolerance = 1e-5, .order = 2});
  }
}

}  // namespace
}  // namespace anabranch
