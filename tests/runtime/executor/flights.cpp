// Which executions may begin, by the bytes of those that have.
#include "runtime/executor/flights.h"

#include <gtest/gtest.h>

#include <memory>

namespace anabranch {
namespace {

struct TestFlight final : Flight {
  TestFlight(Flights& flights, std::size_t bytes)
      : Flight(Device::null(9), {Leg(flights, bytes)}) {}
  using Flight::land;
  using Flight::may_begin;
  void begin_later() override { is_asked_again = true; }

  bool is_asked_again = false;
};

std::shared_ptr<TestFlight> submitted(Flights& flights, std::size_t bytes) {
  auto flight = std::make_shared<TestFlight>(flights, bytes);
  Flight::take_off(flight, true);
  return flight;
}

TEST(Flights, BeginWhileTheirBytesFit) {
  Flights flights;
  flights.set_byte_limit(100);
  const auto first = submitted(flights, 60), second = submitted(flights, 40);
  const auto third = submitted(flights, 10);
  EXPECT_TRUE(first->may_begin());
  EXPECT_TRUE(second->may_begin());
  EXPECT_FALSE(third->may_begin());
  second->land();
  EXPECT_TRUE(third->is_asked_again);
  EXPECT_TRUE(third->may_begin());
  first->land();
  third->land();
}

TEST(Flights, OneMayBeginHoweverLargeItIs) {
  Flights flights;
  flights.set_byte_limit(100);
  const auto large = submitted(flights, 1000), small = submitted(flights, 1);
  EXPECT_TRUE(large->may_begin());
  EXPECT_FALSE(small->may_begin());
  large->land();
  EXPECT_TRUE(small->may_begin());
  small->land();
}

TEST(Flights, WhatHasLandedTakesNoRoom) {
  Flights flights;
  flights.set_byte_limit(100);
  for (int i = 0; i < 5; ++i) {
    const auto first = submitted(flights, 50), second = submitted(flights, 50);
    EXPECT_TRUE(first->may_begin());
    EXPECT_TRUE(second->may_begin()) << i;
    first->land();
    second->land();
  }
}

}  // namespace
}  // namespace anabranch
