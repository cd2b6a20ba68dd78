// What cannot be placed is refused, in words that name the op, the devices and the remedy. What can
// is in tests/golden/placement.
#include "passes/placement.h"

#include <gtest/gtest.h>

#include "anabranch/error.h"
#include "ir/text/parse.h"
#include "passes/pass.h"

namespace anabranch {
namespace {

std::string refusal(const char* text) {
  PassContext context;
  const Pass pass = find_pass("placement");
  try {
    run_passes({&pass, 1}, parse(text, "model.abir"), context);
  } catch (const Error& error) {
    return error.what();
  }
  return "placed";
}

TEST(Placement, RefusesOperandsOnDifferentDevices) {
  EXPECT_EQ(refusal("graph(%0: f32[8]) {\n"
                    "  %1: f32[8] = transfer %0 device=cpu:1\n"
                    "  %2: f32[8] = add %1, %0\n"
                    "  return %2 }"),
            "add: operands are on cpu:1 and on cpu:0; move one with .to(device), at model.abir:3");
}

TEST(Placement, RefusesATransferInsideABranch) {
  EXPECT_EQ(refusal("graph(%0: i32[], %1: f32[8]) {\n"
                    "  %2: f32[8] = case %0, %1 graph(%0: f32[8]) {\n"
                    "    %1: f32[8] = transfer %0 device=cpu:1\n"
                    "    return %1\n"
                    "  }\n"
                    "  return %2 }"),
            "case: a value moves to another device inside; a loop or a branch runs on one device: "
            "move the value before or after it with .to(device), at model.abir:2");
}

}  // namespace
}  // namespace anabranch
