#include "codegen/linalg/kernels.h"

#include <gtest/gtest.h>

#include <string>

#include "codegen/linalg/product.h"

namespace anabranch::lapack {
namespace {

TEST(Kernels, AreNewerThanTheVectorInstructionsOfThisCpu) {
#if defined(__x86_64__)
  const double one = 1;
  double product = 0;
  multiply({&one, 1, 1}, {&one, 1, 1}, 1, 1, 1, &product, 1);
  EXPECT_EQ(product, 1);
  const bool is_old = std::string(kernels_in_use()) == "Prescott";
  EXPECT_FALSE(is_old && __builtin_cpu_supports("avx2"));
#endif
}

}  // namespace
}  // namespace anabranch::lapack
