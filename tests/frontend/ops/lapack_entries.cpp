// LAPACK's routines as exported programs call them: every result, `info` among them.
#include "frontend/ops/lapack_entries.h"

#include <limits>

#include "tests/support/values.h"

namespace {

namespace entries = ab::lapack_entries;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const ab::SourceLocation here("model.mlir", 7);

ab::Array numbers(std::vector<float> values, ab::Sizes sizes) { return ab::array(values, sizes); }

void expect_results(const std::vector<ab::Array>& found,
                    const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    expect_close(doubles(found[i]), expected[i], 2e-6, "found");
  }
}

TEST(LapackEntries, PotrfLeavesTheOtherTriangle) {
  const ab::Array a = numbers({4, 9, 2, 5, 1, 9, 2, 1}, {2, 2, 2});
  expect_results(entries::potrf(a, true, here), {{2, 9, 1, 2, nan, 9, nan, nan}, {0, 1}});
  expect_results(entries::potrf(numbers({4, 2, 9, 5}, {2, 2}), false, here), {{2, 1, 9, 2}, {0}});
  EXPECT_EQ(entries::potrf(a, true, here)[1].dtype(), ab::i32);
}

TEST(LapackEntries, GetrfCountsFromOne) {
  const ab::Array a = numbers({1, 2, 4, 8, 0, 1, 0, 2}, {2, 2, 2});
  expect_results(entries::getrf(a, here), {{4, 8, 0.25, 0, 0, 1, 0, 2}, {2, 2, 1, 2}, {2, 1}});
  expect_results(entries::getrf(numbers({2, 1, 4, 3}, {2, 2}), here),
                 {{4, 3, 0.5, -0.5}, {2, 2}, {0}});
  expect_results(entries::getrf(ab::zeros(ab::f32, {3, 0}), here), {{}, {}, {0}});
  expect_results(entries::lu_decomposition(numbers({2, 1, 4, 3}, {2, 2}), here),
                 {{4, 3, 0.5, -0.5}, {1, 1}, {1, 0}});
}

TEST(LapackEntries, TrsmFromTheRight) {
  expect_results(entries::trsm(numbers({2, nan, 3, 4}, {2, 2}), numbers({2, 11}, {1, 2}),
                               {false, true, false, ab::Transpose::transpose}, here),
                 {{1, 2}});
}

TEST(LapackEntries, GeqrfAndOrgqr) {
  const auto parts = entries::geqrf(numbers({3, 4}, {2, 1}), here);
  expect_results(parts, {{-5, 0.5}, {1.6}, {0}});
  expect_results(entries::orgqr(parts[0], parts[1], here), {{-0.6, -0.8}, {0}});
}

TEST(LapackEntries, GesddInEachMode) {
  const ab::Array a = numbers({0, 3, 0, 0, 0, 0}, {3, 2});
  for (const auto mode : {entries::SvdMode::all, entries::SvdMode::some, entries::SvdMode::none}) {
    const bool is_some = mode == entries::SvdMode::some;
    const auto parts = entries::gesdd(a, mode, here);
    ASSERT_EQ(parts.size(), 5u);
    expect_close(doubles(parts[1]), {3, 0}, 2e-6, "values");
    EXPECT_EQ(parts[2].shape(), ab::Shape({3, is_some ? 2 : 3}));
    EXPECT_EQ(parts[3].shape(), ab::Shape({2, 2}));
    expect_close(doubles(parts[4]), {0}, 0, "info");
  }
  expect_close(doubles(entries::gesdd(a * nan, entries::SvdMode::some, here)[4]), {1}, 0, "info");
}

TEST(LapackEntries, SyevdGivesVectorsFirst) {
  const auto parts = entries::syevd(numbers({2, 9, 0, 1}, {2, 2}), true, true, here);
  expect_close(doubles(ab::abs(parts[0])), {0, 1, 1, 0}, 2e-6, "vectors");
  expect_close(doubles(parts[1]), {1, 2}, 2e-6, "values");
  expect_close(doubles(parts[2]), {0}, 0, "info");
  expect_close(doubles(entries::syevd(numbers({2, 9, 0, 1}, {2, 2}), true, false, here)[1]), {1, 2},
               2e-6, "values");
}

TEST(LapackEntries, GeevOfRealMatricesGivesPartsOfTheEigenvalues) {
  const ab::Array a = numbers({0, -2, 2, 0}, {2, 2});  // eigenvalues 2i and -2i
  const auto parts = entries::geev(a, false, true, here);
  ASSERT_EQ(parts.size(), 5u);
  expect_close(doubles(parts[0]), {0, 0}, 2e-6, "real");
  expect_close(doubles(parts[1]), {2, -2}, 2e-6, "imaginary");
  expect_close(doubles(parts[2]), {0, 0, 0, 0}, 0, "left vectors, not asked for");
  const ab::Array values = ab::complex(parts[0], parts[1]);
  const ab::Array difference = ab::matmul(a.astype(ab::c64), parts[3]) - parts[3] * values;
  expect_close(doubles(ab::abs(difference)), {0, 0, 0, 0}, 2e-6, "A v - w v");
  expect_close(doubles(parts[4]), {0}, 0, "info");
  expect_close(doubles(entries::geev(a * nan, true, false, here)[4]), {1}, 0, "info");
}

TEST(LapackEntries, GeevOfComplexMatrices) {
  const ab::Array a = ab::complex(numbers({1, 2, 0, 3}, {2, 2}), numbers({1, 0, 4, -1}, {2, 2}));
  const auto parts = entries::geev(a, true, false, here);
  ASSERT_EQ(parts.size(), 4u);
  const ab::Array rows = ab::conj(ab::matrix_transpose(parts[1]));
  const ab::Array difference = ab::matmul(rows, a) - ab::expand_dims(parts[0], -1) * rows;
  expect_close(doubles(ab::abs(difference)), {0, 0, 0, 0}, 5e-6, "u^H A - w u^H");
  expect_close(doubles(ab::abs(parts[2])), {0, 0, 0, 0}, 0, "right vectors, not asked for");
  expect_close(doubles(parts[3]), {0}, 0, "info");
}

TEST(LapackEntries, GtsvLeavesTheDiagonals) {
  const auto solved = [](float corner) {
    return entries::gtsv({numbers({nan, 1}, {2}), numbers({1, corner}, {2}), numbers({1, nan}, {2}),
                          numbers({3, 5}, {2, 1})},
                         here);
  };
  expect_results(solved(2), {{nan, 1}, {1, 2}, {1, nan}, {1, 2}, {0}});
  expect_results(solved(1), {{nan, 1}, {1, 1}, {1, nan}, {nan, nan}, {1}});
}

TEST(LapackEntries, GeesOfRealMatricesGivesPartsOfTheEigenvalues) {
  // Of (0, -1; 4, 0) beside 3: eigenvalues 2i, -2i and 3.
  const ab::Array a = numbers({0, -1, 0, 4, 0, 0, 0, 0, 3}, {3, 3});
  const auto parts = entries::gees(a, true, here);
  ASSERT_EQ(parts.size(), 6u);
  const ab::Array back = ab::matmul(ab::matmul(parts[1], parts[0]), ab::matrix_transpose(parts[1]));
  expect_close(doubles(back), doubles(a), 5e-6, "z t z^T");
  expect_close(doubles(ab::sort(parts[2])), {0, 0, 3}, 2e-6, "real");
  expect_close(doubles(ab::sort(parts[3])), {-2, 0, 2}, 2e-6, "imaginary");
  expect_close(doubles(ab::sum(parts[2] * parts[3])), {0}, 1e-5, "3 is real");
  expect_close(doubles(parts[4]), {0}, 0, "chosen");
  expect_close(doubles(parts[5]), {0}, 0, "info");
  expect_results(entries::gees(numbers({7}, {1, 1}), false, here), {{7}, {0}, {7}, {0}, {0}, {0}});
  expect_close(doubles(entries::gees(a * nan, true, here)[5]), {1}, 0, "info");
}

TEST(LapackEntries, GeesOfComplexMatrices) {
  const ab::Array a = ab::complex(numbers({1, 2, 0, 3}, {2, 2}), numbers({1, 0, 4, -1}, {2, 2}));
  const auto parts = entries::gees(a, true, here);
  ASSERT_EQ(parts.size(), 5u);
  const ab::Array back =
      ab::matmul(ab::matmul(parts[1], parts[0]), ab::conj(ab::matrix_transpose(parts[1])));
  expect_close(doubles(ab::abs(back - a)), {0, 0, 0, 0}, 5e-6, "z t z^H");
  expect_close(doubles(ab::abs(parts[2] - ab::diagonal(parts[0]))), {0, 0}, 0, "values");
}

TEST(LapackEntries, Geqp3CountsFromOne) {
  const ab::Array a = numbers({3, 0, 4, 5}, {2, 2});
  const auto found = entries::geqp3(a, ab::array({0, 0}), here);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[2].dtype(), ab::f32);
  const auto given = entries::geqp3(numbers({3, 0, 4, 9}, {2, 2}), ab::array({1, 0}), here);
  expect_close(doubles(given[1]), {1, 2}, 0, "pivots");
  expect_close(doubles(entries::geqp3(numbers({3, 0, 4, 9}, {2, 2}), ab::array({0, 0}), here)[1]),
               {2, 1}, 0, "pivots");
  const ab::Array q = entries::orgqr(given[0], given[2], here)[0];
  expect_close(doubles(ab::matmul(q, ab::triu(given[0]))), {3, 0, 4, 9}, 5e-6, "q r");
}

TEST(LapackEntries, GehrdPacksReflectionsBelow) {
  // The column (3, 4) below the diagonal has the length 5: beta is -5, v is (1, 4 / 8).
  const auto parts = entries::gehrd(numbers({1, 0, 0, 3, 1, 0, 4, 0, 1}, {3, 3}), here);
  expect_results(parts, {{1, 0, 0, -5, 1, 0, 0.5, 0, 1}, {1.6, 0}, {0}});
}

// Whose squares underflow, or overflow.
TEST(LapackEntries, SytrdOfSmallAndLargeMatrices) {
  for (const float scale : {1e-25f, 1e25f}) {
    const ab::Array a = numbers({1, 9, 9, 3, 2, 9, 4, 0, 2}, {3, 3}) * scale;
    auto parts = entries::sytrd(a, true, here);
    for (const std::size_t scaled : {1, 2}) parts[scaled] = parts[scaled] / scale;
    parts.erase(parts.begin());
    expect_results(parts, {{1, 2, 2}, {-5, 0}, {1.6, 0}, {0}});
  }
}

TEST(LapackEntries, SytrdOfEitherTriangle) {
  const auto lower = entries::sytrd(numbers({1, 9, 9, 3, 2, 9, 4, 0, 2}, {3, 3}), true, here);
  expect_results(lower, {{1, 9, 9, -5, 2, 9, 0.5, 0, 2}, {1, 2, 2}, {-5, 0}, {1.6, 0}, {0}});
  const auto upper = entries::sytrd(numbers({2, 0, 4, 9, 2, 3, 9, 9, 1}, {3, 3}), false, here);
  expect_results(upper, {{2, 0, 0.5, 9, 2, -5, 9, 9, 1}, {2, 2, 1}, {0, -5}, {0, 1.6}, {0}});
}

TEST(LapackEntries, GesddOfAWideMatrixWithoutVectors) {
  const ab::Array a = numbers({0, 3, 0, 0, 0, 4}, {2, 3});
  const auto some = entries::gesdd(a, entries::SvdMode::none, here, false);
  EXPECT_EQ(some[3].shape(), ab::Shape({2, 3}));
  EXPECT_EQ(entries::gesdd(a, entries::SvdMode::none, here, true)[3].shape(), ab::Shape({3, 3}));
}

TEST(LapackEntries, ComplexMatrices) {
  const ab::Array re = numbers({2, 0, 0, 2}, {2, 2}), im = numbers({0, -1, 1, 0}, {2, 2});
  const ab::Array a = ab::complex(re, im);  // Hermitian, with the eigenvalues 1 and 3
  const auto parts = entries::syevd(a, true, true, here);
  expect_close(doubles(parts[1]), {1, 3}, 2e-6, "values");
  expect_close(doubles(parts[2]), {0}, 0, "info");
  const ab::Array scaled = parts[0] * parts[1];
  const ab::Array back = ab::matmul(scaled, ab::conj(ab::matrix_transpose(parts[0])));
  expect_close(doubles(ab::real(back)), doubles(re), 2e-6, "real");
  expect_close(doubles(ab::imag(back)), doubles(im), 2e-6, "imaginary");
  const auto factor = entries::potrf(a, true, here);
  const ab::Array lower = ab::tril(factor[0]);
  const ab::Array square = ab::matmul(lower, ab::conj(ab::matrix_transpose(lower)));
  expect_close(doubles(ab::imag(square)), doubles(im), 2e-6, "L L^H");
  expect_close(doubles(factor[1]), {0}, 0, "info");
  expect_close(doubles(entries::gesdd(a, entries::SvdMode::some, here)[1]), {3, 1}, 2e-6, "values");
  expect_close(doubles(entries::getrf(a, here)[2]), {0}, 0, "info");
}

}  // namespace
