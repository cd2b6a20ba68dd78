// What steps are taken to cost, which schedules go by.
#include <gtest/gtest.h>

#include <string>

#include "codegen/compile.h"
#include "ir/text/parse.h"

namespace anabranch {
namespace {

// The operations of the one call in a graph of one matrix.
std::int64_t operations_of(const std::string& type, const std::string& call,
                           const std::string& results) {
  Options options;
  options.device = Device::cpu();
  const Compilation compilation = compile(
      parse("graph main(%0: " + type + ") {\n  " + results + " = " + call + "\n  return %1\n}\n"),
      options);
  for (const Step& step : compilation.program().steps) {
    if (std::holds_alternative<CallStep>(step.work)) return step.cost.operations;
  }
  throw InternalError("test", "no call", to_string(compilation.program()));
}

TEST(StepCosts, LinearAlgebraGrowsWithTheCubeOfTheSize) {
  const auto eigh = [](const std::string& type, const std::string& values) {
    return operations_of(type, "eigh %0 vectors=false lower=true", "%1: " + values);
  };
  const std::int64_t one = eigh("f64[20,20]", "f64[20]");
  EXPECT_EQ(one, 2 * 20 * 20 * 20);
  EXPECT_EQ(eigh("f64[40,40]", "f64[40]"), 8 * one);
  EXPECT_EQ(eigh("f64[7,20,20]", "f64[7,20]"), 7 * one);
  EXPECT_EQ(eigh("c128[20,20]", "f64[20]"), 4 * one);
  EXPECT_GT(operations_of("f64[20,20]", "schur %0 vectors=false", "%1: f64[20,20]"), one);
  EXPECT_GT(operations_of("f64[20,20]", "eig %0 left=false right=false", "%1: c128[20]"), one);
}

}  // namespace
}  // namespace anabranch
