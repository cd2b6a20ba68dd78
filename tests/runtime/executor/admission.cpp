// Which executions may begin, by the bytes of those that have.
#include "runtime/executor/admission.h"

#include <gtest/gtest.h>

#include <memory>

namespace anabranch {
namespace {

struct TestRun final : InFlightRun {
  TestRun(Admission& admission, std::size_t bytes)
      : InFlightRun(Device::null(9), {Reservation(admission, bytes)}) {}
  using InFlightRun::complete;
  using InFlightRun::may_begin;
  void begin_later() override { is_asked_again = true; }

  bool is_asked_again = false;
};

std::shared_ptr<TestRun> submitted(Admission& admission, std::size_t bytes) {
  auto run = std::make_shared<TestRun>(admission, bytes);
  InFlightRun::admit(run, true);
  return run;
}

TEST(Admission, BeginWhileTheirBytesFit) {
  Admission admission;
  admission.set_byte_limit(100);
  const auto first = submitted(admission, 60), second = submitted(admission, 40);
  const auto third = submitted(admission, 10);
  EXPECT_TRUE(first->may_begin());
  EXPECT_TRUE(second->may_begin());
  EXPECT_FALSE(third->may_begin());
  second->complete();
  EXPECT_TRUE(third->is_asked_again);
  EXPECT_TRUE(third->may_begin());
  first->complete();
  third->complete();
}

TEST(Admission, OneMayBeginHoweverLargeItIs) {
  Admission admission;
  admission.set_byte_limit(100);
  const auto large = submitted(admission, 1000), small = submitted(admission, 1);
  EXPECT_TRUE(large->may_begin());
  EXPECT_FALSE(small->may_begin());
  large->complete();
  EXPECT_TRUE(small->may_begin());
  small->complete();
}

TEST(Admission, WhatIsCompleteTakesNoRoom) {
  Admission admission;
  admission.set_byte_limit(100);
  for (int i = 0; i < 5; ++i) {
    const auto first = submitted(admission, 50), second = submitted(admission, 50);
    EXPECT_TRUE(first->may_begin());
    EXPECT_TRUE(second->may_begin()) << i;
    first->complete();
    second->complete();
  }
}

}  // namespace
}  // namespace anabranch
