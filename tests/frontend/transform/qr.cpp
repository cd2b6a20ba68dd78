// The derivative of qr where LAPACK has no reflector: of a matrix that is triangular already.
#include <gtest/gtest.h>

#include "anabranch/anabranch.h"

namespace anabranch {
namespace {

Array weights() { return array({0.0, 1.0, 2.0, 3.0}, {2, 2}); }

// With Q = I: W = Q^H dQ has dA21 below its diagonal over R11 = 1, and dR = dA - W R.
TEST(DerivativeOfQr, OfATriangleIsFinite) {
  const Array a = array({1.0, 0.5, 0.0, 2.0}, {2, 2});
  const auto of_q = [](Array x) { return sum(linalg::qr(x).q * weights()); };
  const auto of_r = [](Array x) { return sum(linalg::qr(x).r * weights()); };
  EXPECT_EQ(grad(of_q)(a).to_vector<float>(), (std::vector<float>{0, 0, 1, 0}));
  EXPECT_EQ(grad(of_r)(a).to_vector<float>(), (std::vector<float>{0, 1, 0.5F, 3}));
}

}  // namespace
}  // namespace anabranch
