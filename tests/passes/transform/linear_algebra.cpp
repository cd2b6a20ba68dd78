// Derivatives of linear algebra, of batches of random matrices: against central differences, and
// both modes against each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>

#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "ir/text/print.h"
#include "passes/transform/jvp.h"
#include "passes/transform/matrix.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using testing::check_derivatives;
using testing::DerivativeCheck;
using testing::spread_numbers;

constexpr int times = 40;
constexpr DerivativeCheck twice = {.tolerance = 1e-5, .order = 2};

std::int64_t below(std::mt19937& random, unsigned count) { return random() % count; }

// Matrices, a few of them or one or none.
Type matrices(std::mt19937& random, Dtype dtype, std::int64_t rows, std::int64_t columns) {
  const std::vector<std::vector<std::int64_t>> batches = {{}, {}, {2}, {1, 3}, {0}};
  std::vector<std::int64_t> sizes = batches[static_cast<std::size_t>(below(random, 5))];
  sizes.insert(sizes.end(), {rows, columns});
  return {dtype, Shape(std::move(sizes))};
}

Dtype random_dtype(std::mt19937& random) { return below(random, 2) == 0 ? f64 : c128; }

Type without_last_axis(const Type& type) {
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end() - 1);
  return {type.dtype, Shape(std::move(sizes))};
}

using Outputs = std::vector<Quantity>;
/// What a graph computes of its parameters.
using Body = std::function<Outputs(const Outputs&)>;

Graph graph_of(const std::vector<Type>& types, const Body& body) {
  GraphBuilder builder;
  Outputs parameters;
  for (const Type& type : types) parameters.push_back({&builder, builder.parameter(type)});
  std::vector<Value> outputs;
  for (const Quantity& output : body(parameters)) outputs.push_back(output.value);
  return builder.build(std::move(outputs));
}

Literal evaluated(const std::vector<Literal>& inputs, const Body& body) {
  std::vector<Type> types;
  for (const Literal& input : inputs) types.push_back(input.type());
  return interpret(graph_of(types, body), inputs)[0];
}

Quantity made(const Outputs& operands, Op op, Attributes attributes = NoAttributes{}) {
  std::vector<Value> values;
  for (const Quantity& operand : operands) values.push_back(operand.value);
  return {operands[0].graph, operands[0].graph->add(op, std::move(values), std::move(attributes))};
}

Quantity result(Quantity first, std::uint32_t i) {
  return {first.graph, {first.value.node, first.value.result + i}};
}

// Whether the values of each matrix, real or complex, are so far apart.
bool are_apart(const Literal& values, double least, bool and_from_zero) {
  const auto differ = [&]<class T>(std::span<const T> all) {
    const std::int64_t count = values.type().shape[values.type().rank() - 1];
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (and_from_zero && std::abs(all[i]) < least) return false;
      for (std::size_t k = i + 1; k < all.size(); ++k) {
        const auto size = static_cast<std::size_t>(count);
        if (i / size == k / size && std::abs(all[i] - all[k]) < least) return false;
      }
    }
    return true;
  };
  return values.type().dtype == f64 ? differ(values.values<double>())
                                    : differ(values.values<std::complex<double>>());
}

// Random matrices of which the values that `op` finds are apart.
Literal matrices_with_values_apart(const Type& type, std::mt19937& random, Op op,
                                   Attributes attributes) {
  while (true) {
    Literal a = spread_numbers(type, random);
    const Literal values =
        evaluated({a}, [&](const Outputs& x) { return Outputs{made(x, op, attributes)}; });
    if (are_apart(values, 0.35, op == Op::svd)) return a;
  }
}

// Triangles that are far from singular, and anything beside them.
Literal with_great_diagonal(const Type& type, std::mt19937& random) {
  return evaluated({spread_numbers(type, random, -1, 1)},
                   [](const Outputs& x) { return Outputs{x[0] + identity_like(x[0]) * 3.0}; });
}

void check(const std::vector<Literal>& inputs, const Body& body, std::mt19937& random,
           const DerivativeCheck& how = twice) {
  std::vector<Type> types;
  for (const Literal& input : inputs) types.push_back(input.type());
  const Graph graph = graph_of(types, body);
  check_derivatives(graph, inputs, random, to_string(graph), how);
}

TEST(DerivativesOfLinearAlgebra, Cholesky) {
  std::mt19937 random(1);
  for (int i = 0; i < times && !HasFailure(); ++i) {
    const std::int64_t size = below(random, 5);
    const Type type = matrices(random, random_dtype(random), size, size);
    const Literal a = evaluated({spread_numbers(type, random)}, [](const Outputs& x) {
      return Outputs{matmul(x[0], adjoint(x[0])) + identity_like(x[0])};
    });
    const bool lower = below(random, 2) == 0;
    check(
        {a},
        [&](const Outputs& x) { return Outputs{made(x, Op::cholesky, TriangleAttributes{lower})}; },
        random);
  }
}

TEST(DerivativesOfLinearAlgebra, TriangularSolve) {
  std::mt19937 random(2);
  for (int i = 0; i < 3 * times && !HasFailure(); ++i) {
    TriangularSolveAttributes how;
    how.left_side = below(random, 2) == 0;
    how.lower = below(random, 2) == 0;
    how.unit_diagonal = below(random, 2) == 0;
    how.transpose_a = static_cast<Transpose>(below(random, 3));
    const std::int64_t size = below(random, 4), others = below(random, 4);
    const Type a = matrices(random, random_dtype(random), size, size);
    GraphBuilder shapes;
    const Type b = matrix_type({&shapes, shapes.parameter(a)}, how.left_side ? size : others,
                               how.left_side ? others : size);
    DerivativeCheck what = twice;
    if (const std::int64_t which = below(random, 3); which < 2) {
      what.fixed = {static_cast<std::size_t>(which)};
    }
    check(
        {with_great_diagonal(a, random), spread_numbers(b, random)},
        [&](const Outputs& x) { return Outputs{made(x, Op::triangular_solve, how)}; }, random,
        what);
  }
}

TEST(DerivativesOfLinearAlgebra, Lu) {
  std::mt19937 random(3);
  for (int i = 0; i < times && !HasFailure(); ++i) {
    const Type type = matrices(random, random_dtype(random), below(random, 5), below(random, 5));
    // Rows in another order, so that they are exchanged.
    const Literal a = evaluated({with_great_diagonal(type, random)}, [](const Outputs& x) {
      const std::int64_t axis = x[0].type().rank() - 2;
      return Outputs{made(x, Op::reverse, AxesAttributes{{axis}})};
    });
    check(
        {a}, [&](const Outputs& x) { return Outputs{made(x, Op::lu)}; }, random);
  }
}

// Q of `columns` columns, and as many rows of R, from what qr or qr_pivoted gives, as linalg::qr.
Outputs q_and_r(Quantity packed, std::int64_t columns) {
  const Quantity tau = result(packed, 1);
  const Quantity q = made({with_columns(packed, columns), tau}, Op::householder_product);
  return {q, upper_triangle(with_rows(packed, columns)), packed, tau};
}

TEST(DerivativesOfLinearAlgebra, Qr) {
  std::mt19937 random(4);
  for (int i = 0; i < 2 * times && !HasFailure(); ++i) {
    const std::int64_t rows = below(random, 5), columns = below(random, 5);
    const Type type = matrices(random, random_dtype(random), rows, columns);
    const bool complete = below(random, 3) == 0;
    check(
        {with_great_diagonal(type, random)},
        [&](const Outputs& x) {
          return q_and_r(x[0].op(Op::qr), complete ? rows : std::min(rows, columns));
        },
        random);
  }
}

// Columns whose lengths are far apart, in any order.
TEST(DerivativesOfLinearAlgebra, QrPivoted) {
  std::mt19937 random(14);
  for (int i = 0; i < times && !HasFailure(); ++i) {
    const std::int64_t rows = below(random, 5), columns = below(random, 5);
    const Type type = matrices(random, random_dtype(random), rows, columns);
    const Literal a = evaluated({with_great_diagonal(type, random)}, [](const Outputs& x) {
      const std::int64_t axis = x[0].type().rank() - 1;
      const Quantity lengths = iota(*x[0].graph, {f64, x[0].shape()}, axis) + 1.0;
      return Outputs{x[0] * (lengths * lengths).as(x[0].dtype())};
    });
    check(
        {a},
        [&](const Outputs& x) {
          const Shape shape = x[0].shape();
          std::vector<std::int64_t> sizes(shape.begin(), shape.end());
          sizes.erase(sizes.end() - 2);
          const Quantity none = Quantity::zeros(*x[0].graph, {i32, Shape(std::move(sizes))});
          return q_and_r(made({x[0], none}, Op::qr_pivoted), std::min(rows, columns));
        },
        random);
  }
}

TEST(DerivativesOfLinearAlgebra, SchurIsRefused) {
  GraphBuilder builder;
  const Value a = builder.parameter({f64, Shape{3, 3}});
  const Graph graph = builder.build({builder.add(Op::schur, {a}, SchurAttributes{})});
  try {
    jvp(graph, {true});
    ADD_FAILURE() << "there is a derivative";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("schur has no derivative; ")) << error.what();
  }
}

TEST(DerivativesOfLinearAlgebra, HouseholderProductOfAnyVectors) {
  std::mt19937 random(5);
  for (int i = 0; i < times && !HasFailure(); ++i) {
    const std::int64_t columns = below(random, 4), rows = columns + below(random, 3);
    const Type v = matrices(random, random_dtype(random), rows, columns);
    std::vector<std::int64_t> sizes(v.shape.begin(), v.shape.end() - 1);
    sizes.back() = below(random, static_cast<unsigned>(columns + 1));
    const Type tau{v.dtype, Shape(std::move(sizes))};
    DerivativeCheck what = twice;
    if (const std::int64_t which = below(random, 3); which < 2) {
      what.fixed = {static_cast<std::size_t>(which)};
    }
    check(
        {spread_numbers(v, random, -1, 1), spread_numbers(tau, random)},
        [&](const Outputs& x) { return Outputs{made(x, Op::householder_product)}; }, random, what);
  }
}

// Functions of vectors that do not see by which numbers of magnitude 1 they are multiplied, as
// those of complex matrices are by any: sums of k u_k v_k^H, and magnitudes.
Outputs without_phases(Quantity u, Quantity v) {
  const Quantity k = iota(*u.graph, {f64, u.shape()}, u.type().rank() - 1) + 1.0;
  const auto square = [](Quantity x) { return real_part(x * x.conjugate()); };
  return {matmul(u * k.as(u.dtype()), adjoint(v)), square(u), square(v)};
}

TEST(DerivativesOfLinearAlgebra, Svd) {
  std::mt19937 random(6);
  for (int i = 0; i < 2 * times && !HasFailure(); ++i) {
    const std::int64_t rows = below(random, 4),
                       columns = below(random, 5) == 0 ? rows : below(random, 4);
    const Type type = matrices(random, random_dtype(random), rows, columns);
    const SvdAttributes how{.vectors = below(random, 4) != 0, .full_matrices = rows == columns};
    const Literal a = matrices_with_values_apart(type, random, Op::svd, how);
    check(
        {a},
        [&](const Outputs& x) {
          const Quantity s = made(x, Op::svd, how);
          Outputs outputs = {s};
          if (!how.vectors) return outputs;
          const Quantity u = result(s, 1), vh = result(s, 2);
          for (Quantity part : without_phases(u, adjoint(vh))) outputs.push_back(part);
          if (x[0].dtype() == f64) outputs.insert(outputs.end(), {u, vh});
          return outputs;
        },
        random);
  }
}

TEST(DerivativesOfLinearAlgebra, SvdOfFullMatricesIsRefused) {
  GraphBuilder builder;
  const Value a = builder.parameter({f64, Shape{3, 2}});
  const Value s = builder.add(Op::svd, {a}, SvdAttributes{true, true});
  const Graph graph = builder.build({s, {s.node, 1}});
  try {
    jvp(graph, {true});
    ADD_FAILURE() << "there is a derivative";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("take full_matrices = false"), std::string::npos)
        << error.what();
  }
}

TEST(DerivativesOfLinearAlgebra, Eigh) {
  std::mt19937 random(7);
  for (int i = 0; i < 2 * times && !HasFailure(); ++i) {
    const std::int64_t size = below(random, 5);
    const Type type = matrices(random, random_dtype(random), size, size);
    const EighAttributes how{.vectors = below(random, 4) != 0, .lower = below(random, 2) == 0};
    const Literal a = matrices_with_values_apart(type, random, Op::eigh, how);
    check(
        {a},
        [&](const Outputs& x) {
          const Quantity w = made(x, Op::eigh, how);
          Outputs outputs = {w};
          if (!how.vectors) return outputs;
          const Quantity v = result(w, 1);
          for (Quantity part : without_phases(v, v)) outputs.push_back(part);
          if (x[0].dtype() == f64) outputs.push_back(v);
          return outputs;
        },
        random);
  }
}

TEST(DerivativesOfLinearAlgebra, Eig) {
  std::mt19937 random(8);
  for (int i = 0; i < 2 * times && !HasFailure(); ++i) {
    const std::int64_t size = below(random, 5);
    const Type type = matrices(random, random_dtype(random), size, size);
    const EigAttributes how{.left = below(random, 2) == 0, .right = below(random, 2) == 0};
    const Literal a = matrices_with_values_apart(type, random, Op::eig, how);
    check(
        {a},
        [&](const Outputs& x) {
          const Quantity w = made(x, Op::eig, how);
          Outputs outputs = {w};
          if (how.left) outputs.push_back(result(w, 1));
          if (how.right) outputs.push_back(result(w, how.left ? 2 : 1));
          return outputs;
        },
        random);
  }
}

TEST(DerivativesOfLinearAlgebra, TridiagonalSolve) {
  std::mt19937 random(9);
  for (int i = 0; i < times && !HasFailure(); ++i) {
    const Type b = matrices(random, random_dtype(random), below(random, 5), below(random, 4));
    const Type diagonal = without_last_axis(b);
    DerivativeCheck what = twice;
    for (std::size_t k = 0; k < 4; ++k) {
      if (what.fixed.size() < 3 && below(random, 3) == 0) what.fixed.push_back(k);
    }
    check(
        {spread_numbers(diagonal, random, -1, 1), spread_numbers(diagonal, random, 3, 4),
         spread_numbers(diagonal, random, -1, 1), spread_numbers(b, random)},
        [&](const Outputs& x) { return Outputs{made(x, Op::tridiagonal_solve)}; }, random, what);
  }
}

TEST(DerivativesOfLinearAlgebra, FourierTransforms) {
  std::mt19937 random(10);
  for (int i = 0; i < 3 * times && !HasFailure(); ++i) {
    FftAttributes how{static_cast<FftKind>(below(random, 4)), {}};
    std::vector<std::int64_t> sizes;
    for (std::int64_t k = below(random, 2); k > 0; --k) sizes.push_back(below(random, 3));
    for (std::int64_t k = 1 + below(random, 2); k > 0; --k) {
      how.lengths.push_back(below(random, 8) == 0 ? 0 : 1 + below(random, 5));
      sizes.push_back(how.lengths.back());
    }
    if (how.type == FftKind::irfft) sizes.back() = sizes.back() == 0 ? 0 : sizes.back() / 2 + 1;
    const Type type{how.type == FftKind::rfft ? f64 : c128, Shape(std::move(sizes))};
    check(
        {spread_numbers(type, random)},
        [&](const Outputs& x) { return Outputs{made(x, Op::fft, how)}; }, random);
  }
}

}  // namespace
}  // namespace anabranch
