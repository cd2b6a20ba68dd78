// Matrix products in all their forms; functions of matrices that are very small, very large or not
// finite, and of narrow floats.
#include <limits>

#include "tests/frontend/expect_error.h"
#include "tests/support/values.h"

namespace {

ab::Array a() { return ab::array({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3}); }
ab::Array b() { return ab::array({1.0f, 0.0f, 0.0f, 1.0f, 1.0f, 1.0f}, {3, 2}); }
ab::Array v() { return ab::array({1.0f, 2.0f, 3.0f}); }
ab::Type floats(std::initializer_list<std::int64_t> sizes) { return {ab::f32, sizes}; }

TEST(LinearAlgebra, MatmulOfMatricesAndVectors) {
  expect_values([] { return ab::matmul(a(), b()); }, floats({2, 2}), {4, 5, 10, 11});
  expect_values([] { return ab::matmul(a(), v()); }, floats({2}), {14, 32});
  expect_values([] { return ab::matmul(v(), b()); }, floats({2}), {4, 5});
  expect_values([] { return ab::matmul(v(), v()); }, floats({}), {14});
  expect_values([] { return ab::matmul(a().astype(ab::i32), b().astype(ab::i32)); },
                {ab::i32, {2, 2}}, {4, 5, 10, 11});
  expect_values([] { return ab::matmul(a().astype(ab::f64), b()); }, {ab::f64, {2, 2}},
                {4, 5, 10, 11});
}

TEST(LinearAlgebra, MatmulOfBatches) {
  auto both = [] { return ab::stack({a(), 2 * a()}); };
  expect_values([&] { return ab::matmul(both(), b()); }, floats({2, 2, 2}),
                {4, 5, 10, 11, 8, 10, 20, 22});
  expect_values(
      [&] {
        return ab::matmul(both(), ab::stack({b(), b()}));
      },
      floats({2, 2, 2}), {4, 5, 10, 11, 8, 10, 20, 22});
  expect_values(
      [&] {
        return ab::matmul(a(), ab::stack({b(), 2 * b()}));
      },
      floats({2, 2, 2}), {4, 5, 10, 11, 8, 10, 20, 22});
  EXPECT_EQ(ab::matmul(ab::zeros(ab::f32, {3, 1, 2, 5}), ab::zeros(ab::f32, {4, 5, 6})).shape(),
            ab::Shape({3, 4, 2, 6}));
}

// Of which half is computed, with what follows it: whole numbers, whose sums are exact.
TEST(LinearAlgebra, ProductsOfAnArrayWithItself) {
  constexpr std::int64_t rows = 77, columns = 301;
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    numbers.push_back(static_cast<double>(i * 37 % 101 - 50));
  }
  const ab::Array x = ab::array(numbers, {rows, columns});
  const auto product = [](const ab::Array& m) { return ab::matmul(ab::matrix_transpose(m), m); };
  const auto scaled = ab::jit([&](const ab::Array& m) { return product(m) / 4 + m(0); });
  const std::vector<double> got = scaled(x).to_vector<double>();
  const std::vector<double> plain = ab::jit(product)(x).to_vector<double>();
  for (std::int64_t i = 0; i < columns; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < rows; ++k) {
        sum += numbers[static_cast<std::size_t>(k * columns + i)] *
               numbers[static_cast<std::size_t>(k * columns + j)];
      }
      const auto at = static_cast<std::size_t>(i * columns + j);
      ASSERT_EQ(plain[at], sum) << i << ", " << j;
      ASSERT_EQ(got[at], sum / 4 + numbers[static_cast<std::size_t>(j)]) << i << ", " << j;
    }
  }
}

TEST(LinearAlgebra, OtherProducts) {
  expect_values([] { return ab::dot(v(), v()); }, floats({}), {14});
  expect_values([] { return ab::dot(a(), b()); }, floats({2, 2}), {4, 5, 10, 11});
  expect_values([] { return ab::dot(a(), 2); }, floats({2, 3}), {2, 4, 6, 8, 10, 12});
  expect_values([] { return ab::vecdot(a(), a()); }, floats({2}), {14, 77});
  expect_values(
      [] {
        return ab::outer(v(), ab::array({1.0f, 10.0f}));
      },
      floats({3, 2}), {1, 10, 2, 20, 3, 30});
  expect_values([] { return ab::tensordot(a(), a()); }, floats({}), {91});
  expect_values([] { return ab::tensordot(a(), b(), 1); }, floats({2, 2}), {4, 5, 10, 11});
  expect_values([] { return ab::tensordot(a(), b(), ab::Axes{0}, ab::Axes{1}); }, floats({3, 3}),
                {1, 4, 5, 2, 5, 7, 3, 6, 9});
}

// They broadcast from the last axis: one counted from the first is not the same in both.
TEST(LinearAlgebra, ProductsAlongAnAxisOfOperandsOfDifferentRank) {
  const auto wide = [] { return ab::ones({3, 2}, ab::f32); };
  const auto pair = [] { return ab::array({1.0f, 10.0f}); };
  expect_values([&] { return ab::vecdot(wide(), pair()); }, floats({3}), {11, 11, 11});
  expect_values([&] { return ab::vecdot(wide(), wide(), 0); }, floats({2}), {3, 3});
  expect_error(
      [] {
        ab::vecdot(v(), ab::ones({3, 3}, ab::f32), 0);
      },
      "vecdot: axis 0 is another one in f32[3] than in f32[3,3], which broadcast from the "
      "last; count it from there, as -1, at linear_algebra.cpp:");
  expect_error(
      [] {
        ab::linalg::cross(ab::ones({3, 3}, ab::f32), v(), 0);
      },
      "cross: axis 0 is another one in f32[3,3] than in f32[3], which broadcast from the "
      "last; count it from there, as -1, at linear_algebra.cpp:");
}

TEST(LinearAlgebra, Einsum) {
  auto square = [] { return ab::array({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}); };
  expect_values([] { return ab::einsum("ij,jk->ik", a(), b()); }, floats({2, 2}), {4, 5, 10, 11});
  expect_values([] { return ab::einsum("ij,jk", a(), b()); }, floats({2, 2}), {4, 5, 10, 11});
  expect_values([] { return ab::einsum("ij,jk->ki", a(), b()); }, floats({2, 2}), {4, 10, 5, 11});
  expect_values([] { return ab::einsum("ij->ji", a()); }, floats({3, 2}), {1, 4, 2, 5, 3, 6});
  expect_values([] { return ab::einsum("ij->", a()); }, floats({}), {21});
  expect_values([&] { return ab::einsum("ii->i", square()); }, floats({2}), {1, 4});
  expect_values([&] { return ab::einsum("ii", square()); }, floats({}), {5});
  expect_values([&] { return ab::einsum("ii", {square()}); }, floats({}), {5});
  expect_values([] { return ab::einsum("i,j->ij", v(), v()); }, floats({3, 3}),
                {1, 2, 3, 2, 4, 6, 3, 6, 9});
  expect_values([] { return ab::einsum("ij,ij->i", a(), a()); }, floats({2}), {14, 77});
  expect_values([] { return ab::einsum("ij,k->i", a(), v()); }, floats({2}), {36, 90});
  expect_values(
      [] {
        return ab::einsum("bij,bjk->bik", ab::stack({a(), a()}), ab::stack({b(), 2 * b()}));
      },
      floats({2, 2, 2}), {4, 5, 10, 11, 8, 10, 20, 22});
  expect_values(
      [] {
        return ab::einsum("ij,jk,k->i", {a(), b(), ab::array({1.0f, 1.0f})});
      },
      floats({2}), {9, 21});
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Of a batch, each by itself.
TEST(LinearAlgebra, ExpmOfMatricesThatAreNotFinite) {
  const auto exponentials = [](std::vector<float> values) {
    const auto count = static_cast<std::int64_t>(values.size()) / 4;
    return [=] { return ab::linalg::expm(ab::array(values, {count, 2, 2})); };
  };
  expect_values(exponentials({20, 0, 0, 10, float(nan), 0, 0, 1}), floats({2, 2, 2}),
                {std::exp(20.0), 0, 0, std::exp(10.0), nan, nan, nan, nan}, 5e-5);
  // The 1-norm overflows.
  expect_values(exponentials({3e38f, 0, 3e38f, 0, 0, 0, 0, 1}), floats({2, 2, 2}),
                {nan, nan, nan, nan, 1, 0, 0, std::exp(1.0)});
  expect_values(
      [] {
        return ab::linalg::expm(ab::zeros(ab::f32, {0, 2, 2}));
      },
      floats({0, 2, 2}), {});
}

TEST(LinearAlgebra, HessenbergFormsOfSmallAndLargeMatrices) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 10};
  const std::vector<double> h = {
      1, -3.5970073034870, -0.2480694691784, -8.0622577482985, 14.8, 2.4, 0, 0.4, 0.2};
  const std::vector<double> q = {
      1, 0, 0, 0, -0.4961389383568, -0.8682431421245, 0, -0.8682431421245, 0.4961389383568};
  const std::pair<ab::Dtype, double> scales[] = {
      {ab::f32, 1e-25}, {ab::f32, 1e20}, {ab::f64, 1e-200}, {ab::f64, 1e300}};
  for (const auto& [dtype, scale] : scales) {
    SCOPED_TRACE(scale);
    const auto form = [&, dtype = dtype, scale = scale] {
      return ab::linalg::hessenberg(ab::array(x, {3, 3}).astype(dtype) * scale);
    };
    expect_values([&, scale = scale] { return form().h / scale; }, {dtype, {3, 3}}, h, 5e-6);
    expect_values([&] { return form().q; }, {dtype, {3, 3}}, q);
  }
  const auto of_complex = [&] {
    const std::vector<double> y = {0, 1, 0, 2, 0, 1, 1, -1, 2};
    const ab::Array re = ab::array(x, {3, 3}) * 1e25, im = ab::array(y, {3, 3}) * 1e25;
    return ab::linalg::hessenberg(ab::complex(re.astype(ab::f32), im.astype(ab::f32))).h;
  };
  expect_values(
      [&] { return ab::real(of_complex()) / 1e25; }, floats({3, 3}),
      {1, -3.2271172, 1.3273064, -8.3666003, 14.857143, -0.3093048, 0, -2.045403, 0.1428571}, 1e-5);
}

TEST(LinearAlgebra, HessenbergFormsOfMatricesThatAreNotFinite) {
  for (const float wrong : {float(nan), std::numeric_limits<float>::infinity()}) {
    const auto form = [=](std::vector<float> values, std::int64_t size) {
      const std::int64_t count = std::ssize(values) / (size * size);
      return ab::linalg::hessenberg(ab::array(values, {count, size, size}));
    };
    expect_values([&] { return form({wrong}, 1).q; }, floats({1, 1, 1}), {nan});
    expect_values(
        [&] {
          return form({1, 2, wrong, 4, 1, 2, 3, 4}, 2).q;
        },
        floats({2, 2, 2}), {nan, nan, nan, nan, 1, 0, 0, 1});
    expect_values(
        [&] {
          return form({1, 2, 3, wrong, 1, 2, 3, 4}, 2).h;
        },
        floats({2, 2, 2}), {nan, nan, nan, nan, 1, 2, 3, 4});
  }
}

TEST(LinearAlgebra, EighReadsTheRealPartOfTheDiagonal) {
  const auto x = [] {
    const ab::Array im = ab::array({float(nan), -1.0f, 1.0f, float(nan)}, {2, 2});
    return ab::complex(ab::array({2.0f, 0.0f, 0.0f, 2.0f}, {2, 2}), im);
  };
  for (const bool lower : {false, true}) {
    expect_values([&] { return ab::linalg::eigvalsh(x(), lower); }, floats({2}), {1, 3});
  }
}

// What rounding adds to a matrix of rank 1 is above the epsilon of f32.
TEST(LinearAlgebra, RanksOfNarrowFloats) {
  const std::vector<double> u = {1.1, 0.7, -1.3, 0.9, 1.7, -0.3},
                            v = {0.6, -1.1, 1.9, 0.3, 0.8, 1.3};
  double squares = 0;
  for (const double a : u) {
    for (const double b : v) squares += a * a * b * b;
  }
  std::vector<double> inverse;
  for (const double b : v) {
    for (const double a : u) inverse.push_back(a * b / squares);
  }
  for (const ab::Dtype dtype : {ab::f16, ab::bf16}) {
    const auto x = [&] { return ab::outer(ab::array(u), ab::array(v)).astype(dtype); };
    expect_values([&] { return ab::linalg::matrix_rank(x()); }, {ab::i64, {}}, {1});
    expect_values([&] { return ab::linalg::lstsq(x(), ab::ones(dtype, {6})).rank; }, {ab::i64, {}},
                  {1});
    expect_values([&] { return ab::linalg::pinv(x()); }, {dtype, {6, 6}}, inverse, 5e-3);
  }
}

}  // namespace
