#include "ir/log.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/log_lines.h"

namespace anabranch {
namespace {

TEST(Log, LinesGoToTheSinkAndNowhereWithoutOne) {
  log_line("dropped");
  {
    testing::LogLines log;
    log_line("first");
    log_line("second");
    EXPECT_EQ(log.lines(), (std::vector<std::string>{"first", "second"}));
  }
  log_line("dropped too");
}

TEST(Log, WhatTheSinkThrowsIsDropped) {
  int calls = 0;
  set_log([&](const std::string&) {
    ++calls;
    throw std::runtime_error("a full disk");
  });
  log_line("lost");
  log_line("lost too");
  set_log({});
  EXPECT_EQ(calls, 2);
}

// Neither waits for the lock that is held while the sink runs.
TEST(Log, ASinkMaySetAnotherOneAndLog) {
  int calls = 0;
  std::string other;
  set_log([&](const std::string&) {
    ++calls;
    log_line("within the sink");  // dropped
    set_log([&](const std::string& line) { other = line; });
    log_line("still within it");  // dropped
  });
  log_line("first");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(other, "");
  log_line("second");
  set_log({});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(other, "second");
}

}  // namespace
}  // namespace anabranch
