// What recorded arrays run as, and when. The contract's own tests are in contract.cpp.
#include "tests/support/values.h"

namespace {

TEST(Async, WhatIsHeldOnTheWayDoesNotRunTwice) {
  ab::Array x = ab::arange(5, ab::f32) * 2;
  ab::Array y = x + 1;
  EXPECT_EQ(y.to_vector<float>()[4], 9);
  EXPECT_TRUE(x.ready());
}

TEST(Async, SeveralArraysRunTogether) {
  ab::Array x = ab::ones(ab::f32, {2}) * 3, y = x * 2, z = x + y;
  ab::eval(y, z);
  y.wait();
  z.wait();
  EXPECT_TRUE(y.ready() && z.ready());
}

TEST(Async, WaitAllRunsWhatIsRecorded) {
  ab::Array x = ab::ones(ab::f32, {2}) + 1, zeros = ab::zeros(ab::i32, {3});
  ab::wait_all();
  EXPECT_TRUE(x.ready());
  EXPECT_TRUE(zeros.ready());
}

TEST(Async, SharedOperationsAreRecordedInBoundedTime) {
  ab::Array y = ab::ones(ab::f64, {2});
  for (int i = 0; i < 100; ++i) y = y + y;
  EXPECT_EQ(y.to_vector<double>()[0], std::ldexp(1.0, 100));
}

}  // namespace
