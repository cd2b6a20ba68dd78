#include "runtime/stream/event.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace anabranch {
namespace {

std::exception_ptr error(const char* what) {
  return std::make_exception_ptr(std::runtime_error(what));
}

std::string message(const Event& event) {
  try {
    event.wait();
  } catch (const std::exception& caught) {
    return caught.what();
  }
  return "none";
}

TEST(Event, ADefaultMadeEventHasHappened) {
  Event event;
  EXPECT_TRUE(event.ready());
  event.wait();
  EXPECT_FALSE(event.error());
}

TEST(Event, HappensOnceAndTheFirstErrorWins) {
  Event event = Event::pending();
  EXPECT_FALSE(event.ready());
  EXPECT_FALSE(event.error());
  event.complete(error("first"));
  event.complete(error("second"));
  event.complete();
  EXPECT_TRUE(event.ready());
  EXPECT_EQ(message(event), "first");
  EXPECT_EQ(message(event), "first");
  EXPECT_EQ(message(Event::failed(error("from the start"))), "from the start");
}

TEST(Event, ContinuationsRunInOrderOrAtOnce) {
  Event event = Event::pending();
  std::vector<int> order;
  event.then([&] { order.push_back(1); });
  event.then([&] { order.push_back(2); });
  EXPECT_TRUE(order.empty());
  event.complete();
  event.then([&] { order.push_back(3); });
  Event().then([&] { order.push_back(4); });
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(Event, WhatAContinuationThrowsIsDropped) {
  Event event = Event::pending();
  bool reached = false;
  event.then([] { throw std::runtime_error("nobody listens"); });
  event.then([&] { reached = true; });
  event.complete();
  EXPECT_TRUE(reached);
}

TEST(Event, AContinuationThatNeverRunsIsFreed) {
  auto kept = std::make_shared<int>(1);
  {
    Event event = Event::pending();
    event.then([kept] {});
    EXPECT_EQ(kept.use_count(), 2);
  }
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(Event, ALongChainNeedsNoStack) {
  constexpr int length = 200'000;
  std::vector<Event> events;
  for (int i = 0; i < length; ++i) events.push_back(Event::pending());
  for (int i = 0; i + 1 < length; ++i) {
    events[i].then([&events, i] { events[i + 1].complete(events[i].error()); });
  }
  events.front().complete(error("from the front"));
  EXPECT_EQ(message(events.back()), "from the front");
}

TEST(Event, ManyThreadsCompleteWaitAndContinue) {
  for (int round = 0; round < 200; ++round) {
    Event event = Event::pending();
    std::atomic<int> continued{0}, waited{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        event.then([&] { ++continued; });
        event.then([&] { ++continued; });
        event.wait();
        ++waited;
      });
    }
    threads.emplace_back([&] { event.complete(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(waited, 4);
    EXPECT_EQ(continued, 8);
  }
}

}  // namespace
}  // namespace anabranch
