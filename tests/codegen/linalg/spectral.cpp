// Workspaces of LAPACK's routines for values and vectors.
#include <gtest/gtest.h>

#include <complex>

#include "anabranch/error.h"
#include "codegen/linalg/matrix.h"
#include "codegen/linalg/task.h"

namespace anabranch {
namespace {

// What ssyevd wants for 2895 rows is rounded down by LAPACK's answer in f32.
TEST(Spectral, WorkspacesAreNoSmallerThanAskedFor) {
  constexpr int n = 2895, wanted = 2 * n * n + 6 * n + 1;
  const auto asked = static_cast<float>(wanted);
  ASSERT_LT(static_cast<double>(asked), wanted);
  EXPECT_GE(lapack::workspace(asked).size(), std::size_t{wanted});
  EXPECT_GE(lapack::workspace(std::complex<float>(asked)).size(), std::size_t{wanted});
  EXPECT_EQ(lapack::workspace(0.0).size(), 1u);
  EXPECT_EQ(lapack::workspace(100.0f).size(), 100u);
}

TEST(Spectral, WorkspacesAboveWhatLapackCountsAreRefused) {
  const auto square = [](std::int64_t size) { return Type{f32, {size, size}}; };
  const auto eigh = [&](std::int64_t size, bool vectors) {
    linear_algebra_task({Op::eigh, {square(size)}, EighAttributes{vectors, true}}, 1);
  };
  const auto svd = [&](std::int64_t size, bool vectors) {
    linear_algebra_task({Op::svd, {square(size)}, SvdAttributes{vectors}}, 1);
  };
  EXPECT_NO_THROW(eigh(32'766, true));
  EXPECT_THROW(eigh(32'767, true), Error);
  EXPECT_NO_THROW(eigh(32'767, false));
  EXPECT_NO_THROW(svd(23'169, true));
  EXPECT_THROW(svd(23'170, true), Error);
  EXPECT_NO_THROW(svd(23'170, false));
}

}  // namespace
}  // namespace anabranch
