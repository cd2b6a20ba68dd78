// Gradients of the functions of ab::linalg, against central differences in f64.
#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "ir/text/print.h"
#include "tests/support/values.h"

namespace {

using ab::Array;
using Function = std::function<Array(Array)>;
namespace linalg = ab::linalg;

constexpr double infinity = std::numeric_limits<double>::infinity();

// A number of real ones that each of them changes, in a way of its own.
Array seen(Array y) {
  const Array places = ab::reshape(ab::arange(y.size(), ab::f64), y.shape());
  return ab::sum(ab::sin(y + places) + y);
}
Array seen_complex(Array y) { return seen(ab::real(y)) + seen(ab::imag(y)); }

std::vector<double> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = number(random);
  return values;
}

// Each element's, within 1e-5 relative to numbers above 1.
void expect_gradient(const std::string& what, const Function& f, const ab::Shape& shape) {
  std::vector<double> values = random_values(shape.size(), static_cast<unsigned>(what.size()));
  const std::vector<double> found = doubles(ab::jit(ab::grad(f))(ab::array(values, shape)));
  const auto compiled = ab::jit(f);
  constexpr double step = 1e-5;
  std::vector<double> wanted;
  for (double& value : values) {
    const double at = value;
    const auto moved = [&](double by) {
      value = at + by;
      return doubles(compiled(ab::array(values, shape)))[0];
    };
    wanted.push_back((moved(step) - moved(-step)) / (2 * step));
    value = at;
  }
  expect_close(found, wanted, 1e-5, what.c_str());
}

// That of the gradient as well.
void expect_gradients(const std::string& what, const Function& f, const ab::Shape& shape) {
  expect_gradient(what, f, shape);
  const auto first = ab::grad(f);
  expect_gradient(
      "the gradient of " + what, [&](Array x) { return seen(first(x)); }, shape);
}

const ab::Shape square = {2, 3, 3}, tall = {2, 4, 2}, wide = {2, 2, 4};

// Matrices that are well determined, with values that are far apart.
Array regular(Array x) { return x + ab::diag(ab::array({2.0, 4.0, 7.0}, {3})); }
Array positive(Array x) {
  return ab::matmul(x, ab::matrix_transpose(x)) + ab::diag(ab::array({1.0, 2.0, 4.0}, {3}));
}
Array symmetric(Array x) { return regular(x + ab::matrix_transpose(x)); }
Array complex_of(Array x) { return ab::complex(x, ab::matrix_transpose(x) * 0.5); }
Array hermitian(Array x) {
  const Array a = complex_of(x);
  return a + ab::conj(ab::matrix_transpose(a)) + ab::diag(ab::array({2.0, 5.0, 9.0}, {3}));
}

TEST(GradOfLinalg, Cholesky) {
  for (bool upper : {false, true}) {
    expect_gradients(
        "cholesky", [=](Array x) { return seen(linalg::cholesky(positive(x), upper)); }, square);
    expect_gradient(
        "cholesky of complex numbers",
        [=](Array x) {
          const Array a = complex_of(x);
          const Array product = ab::matmul(a, ab::conj(ab::matrix_transpose(a)));
          return seen_complex(linalg::cholesky(product + ab::eye(3, ab::f64), upper));
        },
        square);
  }
}

TEST(GradOfLinalg, Qr) {
  for (const ab::Shape& shape : {square, tall, wide}) {
    for (linalg::QrMode mode : {linalg::QrMode::reduced, linalg::QrMode::complete}) {
      const auto both = [=](Array x) {
        const auto [q, r] = linalg::qr(x, mode);
        return seen(q) + seen(r);
      };
      expect_gradients("qr", both, shape);
      expect_gradient(
          "q", [=](Array x) { return seen(linalg::qr(x, mode).q); }, shape);
      expect_gradient(
          "r", [=](Array x) { return seen(linalg::qr(x, mode).r); }, shape);
    }
    const auto of_complex = [](Array x) {
      const auto [q, r] = linalg::qr(ab::complex(x, x * x + 0.3));
      return seen_complex(q) + seen_complex(r);
    };
    expect_gradient("qr of complex numbers", of_complex, shape);
  }
}

TEST(GradOfLinalg, QrPivoted) {
  for (const ab::Shape& shape : {square, tall, wide}) {
    for (linalg::QrMode mode : {linalg::QrMode::reduced, linalg::QrMode::complete}) {
      const auto both = [=](Array x) {
        const auto [q, r, p] = linalg::qr_pivoted(x, mode);
        return seen(q) + seen(r * (ab::expand_dims(p, -2).astype(ab::f64) + 1.0));
      };
      expect_gradients("qr_pivoted", both, shape);
    }
  }
}

// Functions that a vector's sign does not change.
Array seen_vectors(Array v) {
  const Array weights = ab::arange(v.shape()[v.shape().rank() - 1], ab::f64) + 1.0;
  return seen(ab::matmul(v * weights, ab::matrix_transpose(v)));
}

TEST(GradOfLinalg, Svd) {
  for (const ab::Shape& shape : {square, tall, wide}) {
    const auto values = [](Array x) { return seen(linalg::svdvals(x)); };
    const auto all = [](Array x) {
      const auto [u, s, vh] = linalg::svd(x, false);
      return seen(s) + seen_vectors(u) + seen_vectors(ab::matrix_transpose(vh)) +
             seen(ab::matmul(u, vh));
    };
    expect_gradients("svdvals", values, shape);
    expect_gradients("svd", all, shape);
  }
  const auto full = [](Array x) {
    const auto [u, s, vh] = linalg::svd(regular(x));
    return seen(s) + seen(ab::matmul(u, vh));
  };
  expect_gradient("svd with full matrices", full, square);
}

TEST(GradOfLinalg, Eigenvalues) {
  for (bool lower : {false, true}) {
    const auto values = [=](Array x) { return seen(linalg::eigvalsh(symmetric(x), lower)); };
    const auto all = [=](Array x) {
      const auto [w, v] = linalg::eigh(symmetric(x), lower);
      return seen(w) + seen_vectors(v);
    };
    expect_gradients("eigvalsh", values, square);
    expect_gradients("eigh", all, square);
  }
  const auto of_complex = [](Array x) {
    const auto [w, v] = linalg::eigh(hermitian(x));
    return seen(w) + seen(ab::abs(v));
  };
  expect_gradient("eigh of complex numbers", of_complex, square);
  const auto values = [](Array x) { return seen_complex(linalg::eigvals(regular(x))); };
  const auto all = [](Array x) {
    const auto [w, v] = linalg::eig(regular(x));
    return seen_complex(w) + seen(ab::abs(v));
  };
  expect_gradient("eigvals", values, square);
  expect_gradient("eig", all, square);
}

TEST(GradOfLinalg, LuAndHessenberg) {
  const auto lu = [](Array x) {
    const auto [p, l, u] = linalg::lu(x);
    return seen(ab::matmul(p, l)) + seen(u);
  };
  for (const ab::Shape& shape : {square, tall, wide}) expect_gradients("lu", lu, shape);
  const auto hessenberg = [](Array x) {
    const auto [h, q] = linalg::hessenberg(x);
    return seen(h) + seen(q);
  };
  expect_gradient("hessenberg", hessenberg, {2, 4, 4});
}

TEST(GradOfLinalg, Solutions) {
  const Array b = ab::array(random_values(12, 1), {2, 3, 2});
  const Array column = ab::array(random_values(3, 2), {3});
  const auto check = [](const char* what, const Function& f, const ab::Shape& shape = square) {
    expect_gradients(what, f, shape);
  };
  check("solve", [=](Array x) { return seen(linalg::solve(regular(x), b)); });
  check("solve of a vector", [=](Array x) { return seen(linalg::solve(regular(x), column)); });
  check("solve by b",
        [=](Array x) {
          return seen(linalg::solve(regular(ab::zeros({3, 3})), x));
        },
        {2, 3, 2});
  check("solve of complex numbers", [=](Array x) {
    return seen_complex(linalg::solve(regular(complex_of(x)), ab::complex(b, b)));
  });
  check("lu_solve",
        [=](Array x) { return seen(linalg::lu_solve(linalg::lu_factor(regular(x)), b)); });
  for (int i = 0; i < 8; ++i) {
    const linalg::TriangularOptions how{
        .lower = i % 2 != 0, .transpose = i / 2 % 2 != 0, .unit_diagonal = i / 4 != 0};
    check("solve_triangular",
          [=](Array x) { return seen(linalg::solve_triangular(regular(x), b, how)); });
  }
  for (bool upper : {false, true}) {
    check("cho_solve", [=](Array x) {
      return seen(linalg::cho_solve(linalg::cholesky(positive(x), upper), b, upper));
    });
  }
  check("tridiagonal_solve", [=](Array x) {
    return seen(linalg::tridiagonal_solve(ab::take(x, 0, 1), ab::take(x, 1, 1) + 4.0,
                                          ab::take(x, 2, 1), b));
  });
  check("inv", [](Array x) { return seen(linalg::inv(regular(x))); });
  check("tensorsolve",
        [](Array x) {
          const Array a = ab::reshape(regular(x), {3, 1, 3});
          return seen(linalg::tensorsolve(a, ab::ones({3, 1}, ab::f64)));
        },
        {3, 3});
  check("tensorinv",
        [](Array x) {
          const Array a = ab::reshape(x, {2, 2, 4}) + ab::reshape(ab::eye(4, ab::f64), {2, 2, 4});
          return seen(linalg::tensorinv(a * 2.0, 2));
        },
        {4, 4});
}

std::ptrdiff_t count(const ab::Graph& graph, ab::Op op) {
  return std::ranges::count(graph.nodes(), op, &ab::Node::op);
}

// Two triangular solutions more, of one right side.
TEST(GradOfLinalg, SolveUsesItsFactorsAgain) {
  const auto f = [](Array a, Array b) { return ab::sum(linalg::solve(a, b)); };
  const ab::Graph graph = ab::trace(ab::value_and_grad(f, ab::arguments(0, 1)),
                                    ab::spec(ab::f32, {5, 5}), ab::spec(ab::f32, {5}));
  EXPECT_EQ(count(graph, ab::Op::lu), 1) << to_string(graph);
  EXPECT_EQ(count(graph, ab::Op::triangular_solve), 4) << to_string(graph);
  for (const ab::Node& node : graph.nodes()) {
    if (node.op == ab::Op::triangular_solve) {
      EXPECT_EQ(node.types[0], (ab::Type{ab::f32, {5, 1}}));
    }
  }
}

TEST(GradOfLinalg, LeastSquares) {
  for (const ab::Shape& shape : {square, tall, wide}) {
    const std::int64_t rows = shape[1];
    const Array b = ab::array(random_values(2 * rows * 2, 3), {2, rows, 2});
    const auto pinv = [](Array x) { return seen(linalg::pinv(x)); };
    const auto all = [=](Array x) {
      const auto [solution, residuals, rank, s] = linalg::lstsq(x, b);
      return seen(solution) + seen(residuals) + seen(s);
    };
    expect_gradient("pinv", pinv, shape);
    expect_gradient("lstsq", all, shape);
  }
  const auto twice = [](Array x) { return seen(linalg::pinv(x)); };
  expect_gradients("pinv", twice, tall);
  const auto of_complex = [](Array x) {
    const Array a = ab::complex(x, x * x + 0.3), b = ab::ones({a.shape()[1], 1}, ab::f64) * a;
    const auto [solution, residuals, rank, s] = linalg::lstsq(a, b);
    return seen_complex(linalg::pinv(a)) + seen_complex(solution) + seen(residuals) + seen(s);
  };
  for (const ab::Shape& shape : {square, tall, wide}) {
    expect_gradient("pinv of complex numbers", of_complex, shape);
  }
}

// A matrix of rank 1: near it are others of rank 1, along which the derivative is that of
// a -> u v^T, where its pseudo-inverse is v u^T / (u u^T v v^T).
TEST(GradOfLinalg, PseudoInverseOfARank) {
  const auto of_vectors = [](Array x) {
    const Array u = ab::take(x, 0, 0), v = ab::take(x, 1, 0);
    return ab::outer(u, v);
  };
  const auto found = [&](Array x) { return seen(linalg::pinv(of_vectors(x), 1e-9)); };
  const auto solution = [&](Array x) {
    return seen(linalg::lstsq(of_vectors(x), ab::ones({3, 2}, ab::f64), 1e-9).x);
  };
  expect_gradient("pinv of rank 1", found, {2, 3});
  expect_gradient("lstsq of rank 1", solution, {2, 3});
}

// -A^-1 dA A^-1, although singular values are equal and vectors have no derivative.
TEST(GradOfLinalg, LeastSquaresOfOrthonormalColumns) {
  const Array one = ab::eye(2, ab::f64), b = ab::array({1.0, 2.0}, {2});
  const auto pinv = [](Array x) { return ab::sum(linalg::pinv(x)); };
  const auto solution = [&](Array x) { return ab::sum(linalg::lstsq(x, b).x); };
  expect_close(doubles(ab::grad(pinv)(one)), {-1, -1, -1, -1}, 1e-12, "pinv");
  expect_close(doubles(ab::grad(solution)(one)), {-1, -2, -1, -2}, 1e-12, "lstsq");
}

// Rules of their own go through vmap as well.
TEST(GradOfLinalg, PerExample) {
  const Array column = ab::array(random_values(3, 2), {3});
  const Function functions[] = {
      [=](Array a) { return seen(linalg::solve(regular(a), column)); },
      [](Array a) { return seen(linalg::inv(regular(a))); },
      [](Array a) { return linalg::det(a); },
      [](Array a) { return linalg::slogdet(a).logabsdet; },
      [](Array a) { return seen(linalg::pinv(a)); },
      [=](Array a) { return seen(linalg::lstsq(a, column).x); },
      [](Array a) { return seen(linalg::qr(a).q); },
      [](Array a) { return seen(linalg::qr_pivoted(a).r); },
      [](Array a) { return seen(linalg::cholesky(positive(a))); },
      [](Array a) { return seen(linalg::eigvalsh(symmetric(a))); },
  };
  const Array x = ab::array(random_values(square.size(), 9), square);
  for (const Function& f : functions) {
    const std::vector<double> found = doubles(ab::vmap(ab::grad(f))(x));
    std::vector<double> wanted;
    for (std::int64_t i = 0; i < square[0]; ++i) {
      for (double value : doubles(ab::grad(f)(ab::take(x, i, 0)))) wanted.push_back(value);
    }
    expect_close(found, wanted, 1e-10, "per example");
  }
}

TEST(GradOfLinalg, Determinants) {
  expect_gradients(
      "det", [](Array x) { return seen(linalg::det(x)); }, square);
  expect_gradients(
      "slogdet", [](Array x) { return seen(linalg::slogdet(x).logabsdet); }, square);
  const auto of_complex = [](Array x) {
    const Array a = regular(complex_of(x));
    const auto [sign, logabsdet] = linalg::slogdet(a);
    return seen_complex(linalg::det(a)) + seen_complex(sign) + seen(logabsdet);
  };
  expect_gradient("det of complex numbers", of_complex, square);
}

// The adjugate's transpose, whatever the rank is, and wherever the factors have a zero.
TEST(GradOfLinalg, DeterminantsOfSingularMatrices) {
  const auto gradient = ab::grad([](Array x) { return ab::sum(linalg::det(x)); });
  const auto expect = [&](const char* what, const ab::Shape& shape, const std::vector<double>& x,
                          const std::vector<double>& wanted) {
    expect_close(doubles(gradient(ab::array(x, shape))), wanted, 1e-12, what);
  };
  expect("rank 1 of 2", {2, 2}, {1, 2, 2, 4}, {4, -2, -2, 1});
  expect("a column of zeros", {2, 2}, {0, 1, 0, 2}, {2, 0, -1, 0});
  expect("zeros", {2, 2}, {0, 0, 0, 0}, {0, 0, 0, 0});
  expect("a number", {1, 1}, {0}, {1});
  expect("rank 2 of 3", {3, 3}, {1, 2, 3, 4, 5, 6, 5, 7, 9}, {3, -6, 3, 3, -6, 3, -3, 6, -3});
  expect("rank 3 of 4", {4, 4}, {2, 1, 0, 1, 1, 3, 1, 0, 0, 1, 4, 1, 3, 5, 5, 2},
         {12, -6, 6, -18, 12, -6, 6, -18, 12, -6, 6, -18, -12, 6, -6, 18});
  expect("rank 1 of 3", {3, 3}, {1, 2, 3, 2, 4, 6, 3, 6, 9}, std::vector<double>(9, 0));
  expect("several", {2, 2, 2}, {1, 2, 2, 4, 1, 2, 3, 4}, {4, -2, -2, 1, 4, -3, -2, 1});
  expect("no pivot", {2, 2}, {0, 1, 0, 0}, {0, 0, -1, 0});
  expect("no pivot, large", {2, 2}, {0, 1e9, 0, 0}, {0, 0, -1e9, 0});
  expect("zeros of 3", {3, 3}, std::vector<double>(9, 0), std::vector<double>(9, 0));
  // Ones above the diagonal: what takes the last row to the first column is their product.
  for (const ab::Dtype dtype : {ab::f32, ab::f64}) {
    for (std::int64_t n : {2, 3, 4, 6, 8}) {
      std::vector<double> wanted(static_cast<std::size_t>(n * n));
      wanted[static_cast<std::size_t>(n * (n - 1))] = n % 2 == 0 ? -1 : 1;
      const Array shift = ab::eye(n, n, 1).astype(dtype);
      const double tolerance = dtype == ab::f32 ? 1e-5 : 1e-12;
      expect_close(doubles(gradient(shift)), wanted, tolerance, "ones above the diagonal");
      const Array change = ab::array(wanted, {n, n}).astype(dtype);
      const auto det = [](Array x) { return linalg::det(x); };
      const auto [value, slope] = ab::jvp(det, std::tuple{shift}, std::tuple{change});
      expect_close(doubles(slope), {1}, tolerance, "forward");
      expect_close(doubles(value), {0}, 0, "value");
    }
  }
  const Array many = ab::zeros({130, 130});
  expect_close(doubles(ab::sum(ab::abs(gradient(many)))), {0}, 1e-5, "130 zeros");
  const Array none = ab::zeros(ab::f64, {0, 0});
  EXPECT_EQ(gradient(none).shape(), none.shape());
}

// d^2 det / da_ij da_kl is the element in the third row and column, with a sign, where that exists.
TEST(GradOfLinalg, SecondDerivativesOfDeterminantsOfSingularMatrices) {
  const auto det = [](Array x) { return linalg::det(x); };
  const auto sign = [](int i, int j, int k) { return (i - j) * (j - k) * (k - i) / 2; };
  const std::vector<double> matrices[] = {std::vector<double>(9, 0),
                                          {1, 2, 3, 2, 4, 6, 3, 6, 9},
                                          {1, 0, 0, 0, 2, 0, 0, 0, 0},
                                          {1, 2, 3, 4, 5, 6, 5, 7, 9}};
  for (const std::vector<double>& a : matrices) {
    std::vector<double> wanted(81);
    for (int n = 0; n < 9 * 81; ++n) {  // places n / 81 % 9 and so on: two of the hessian, one of a
      const int i = n / 243, j = n / 81 % 3, k = n / 27 % 3, l = n / 9 % 3, r = n / 3 % 3,
                c = n % 3;
      wanted[static_cast<std::size_t>(n / 9)] +=
          sign(i, k, r) * sign(j, l, c) * a[static_cast<std::size_t>(3 * r + c)];
    }
    expect_close(doubles(ab::hessian(det)(ab::array(a, {3, 3}))), wanted, 1e-12, "of 3 rows");
  }
  const std::vector<double> of_two = {0, 0, 0, 1, 0, 0, -1, 0, 0, -1, 0, 0, 1, 0, 0, 0};
  const Array zeros = ab::zeros(ab::f64, {2, 2});
  expect_close(doubles(ab::hessian(det)(zeros)), of_two, 0, "of 2 rows");
  expect_close(doubles(ab::hessian(det)(ab::zeros(ab::f64, {1, 1}))), {0}, 0, "of a number");
  // det(x + ix) = 2i det(x).
  const auto of_complex = [](Array x) { return ab::imag(linalg::det(ab::complex(x, x))) * 0.5; };
  expect_close(doubles(ab::hessian(of_complex)(zeros)), of_two, 1e-15, "of complex numbers");
  // The value has derivatives as well: of f(det), those of f.
  const auto squared = [](Array x) { return linalg::det(x) * linalg::det(x); };
  expect_close(doubles(ab::hessian(squared)(ab::diag(ab::array({0.0, 1.0})))),
               {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1e-15, "of a square");
  std::vector<double> both = of_two;
  both.insert(both.end(), of_two.begin(), of_two.end());
  expect_close(doubles(ab::vmap(ab::hessian(det))(ab::ones(ab::f64, {2, 2, 2}))), both, 1e-15,
               "per example");
}

// 1e-8 from a matrix of rank 1: of the sum of products of three elements one digit is right here.
TEST(GradOfLinalg, ValuesOfDeterminantsAreThoseOfTheFactors) {
  const std::vector<double> near_rank_1 = {
      -0.4503505443869087,  0.31287668152652454, 0.15425999959440517,
      -1.070697622379559,   0.7438568066680716,  0.36674945291897226,
      -0.43061147278312295, 0.29916314385984205, 0.1474987037533805};
  const Array a = ab::array(near_rank_1, {3, 3});
  const auto det = [](Array x) { return linalg::det(x) * 1e17; };
  const std::vector<double> value = doubles(det(a));
  expect_close(value, {-1.9274987481742408}, 1e-6, "value");
  expect_close(doubles(std::get<0>(ab::value_and_grad(det)(a))), value, 0, "beside its gradient");
}

TEST(GradOfLinalg, Norms) {
  const auto check = [](const char* what, const Function& f) {
    for (const ab::Shape& shape : {square, tall, wide}) expect_gradients(what, f, shape);
  };
  for (double order : {1.0, 2.0, 3.0, infinity}) {
    check("vector_norm", [=](Array x) { return seen(linalg::vector_norm(x, 1, false, order)); });
  }
  for (double order : {1.0, -1.0, 2.0, -2.0, infinity, -infinity}) {
    check("matrix_norm", [=](Array x) { return seen(linalg::matrix_norm(x, order)); });
  }
  for (linalg::MatrixNorm order : {linalg::MatrixNorm::frobenius, linalg::MatrixNorm::nuclear}) {
    check("matrix_norm", [=](Array x) { return seen(linalg::matrix_norm(x, false, order)); });
  }
  expect_gradient(
      "cond", [](Array x) { return seen(linalg::cond(regular(x))); }, square);
  expect_gradient(
      "cond 1", [](Array x) { return seen(linalg::cond(regular(x), 1)); }, square);
  expect_gradient(
      "trace", [](Array x) { return seen(linalg::trace(x * x, 1)); }, square);
}

TEST(GradOfLinalg, PowersAndProducts) {
  for (int power : {0, 1, 2, 5, -1, -3}) {
    const double scale = power < 0 ? 1 : 0.15;  // so that no number is great
    const auto f = [=](Array x) { return seen(linalg::matrix_power(regular(x) * scale, power)); };
    expect_gradients("matrix_power", f, square);
  }
  // With none, and with some, turns of squaring; of no great numbers.
  for (double scale : {1.0, 5.0}) {
    const auto f = [=](Array x) {
      return seen(linalg::expm(x * scale) * (0.1 / (scale * scale * scale)));
    };
    expect_gradients("expm", f, square);
  }
  const auto product = [](Array x) { return seen(linalg::multi_dot({x, x * x, x})); };
  expect_gradients("multi_dot", product, {3, 3});
  const auto cross = [](Array x) { return seen(linalg::cross(x, x * x)); };
  expect_gradients("cross", cross, square);
}

}  // namespace
