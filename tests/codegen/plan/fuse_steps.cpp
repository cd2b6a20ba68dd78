// Which steps become one kernel over blocks of rows.
#include <gtest/gtest.h>

#include "codegen/compile.h"
#include "ir/text/parse.h"

namespace anabranch {
namespace {

// The names of the kernels of a CPU's program, but for those that follow sums in chunks.
std::string kernels_of(const std::string& body, const std::string& results) {
  Options options;
  options.device = Device::cpu();
  const Compilation compilation =
      compile(parse("graph main(%0: f64[4000,1200], %1: f64[1200,1], %2: f64[1,4000]) {\n" + body +
                    "  return " + results + "\n}\n"),
              options);
  std::string names;
  for (const Step& step : compilation.program().steps) {
    if (step.name.find("partial") != std::string::npos) names += step.name + " ";
  }
  return names;
}

const std::string rows = "  %3: f64[4000,1] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]\n";

TEST(FuseSteps, SumsOfRowsAndOfColumns) {
  EXPECT_EQ(kernels_of(rows + "  %4: f64[1,1200] = dot %2, %0 lhs_contracting=[1] "
                              "rhs_contracting=[0]\n",
                       "%3, %4"),
            "kernel3_kernel4_partial ");
}

TEST(FuseSteps, SumsOfColumnsBySumsOfRows) {
  EXPECT_EQ(kernels_of(rows + "  %4: f64[1,4000] = reshape %3\n"
                              "  %5: f64[1,1200] = dot %4, %0 lhs_contracting=[1] "
                              "rhs_contracting=[0]\n",
                       "%5"),
            "kernel3_kernel5_partial ");
}

// All rows have to be summed before the first can be divided by their sum.
TEST(FuseSteps, NotWhereAStepBetweenNeedsAllOfTheFirst) {
  EXPECT_EQ(kernels_of(rows + "  %4: f64[] = reduce_sum %3 axes=[0,1]\n"
                              "  %5: f64[1,4000] = broadcast_in_dim %4 axes=[]\n"
                              "  %6: f64[1,4000] = add %5, %2\n"
                              "  %7: f64[1,1200] = dot %6, %0 lhs_contracting=[1] "
                              "rhs_contracting=[0]\n",
                       "%7"),
            "kernel6_partial ");
}

TEST(FuseSteps, ThreeWalksAreOneKernel) {
  EXPECT_EQ(kernels_of(rows + "  %4: f64[1,1200] = dot %2, %0 lhs_contracting=[1] "
                              "rhs_contracting=[0]\n"
                              "  %5: f64[1,4000] = reshape %3\n"
                              "  %6: f64[1,1200] = dot %5, %0 lhs_contracting=[1] "
                              "rhs_contracting=[0]\n",
                       "%4, %6"),
            "kernel3_kernel4_partial_kernel6_partial ");
}

}  // namespace
}  // namespace anabranch
