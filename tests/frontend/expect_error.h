// That a call is refused, and with which words.
#pragma once

#include <anabranch/error.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

template <class Function>
void expect_error(Function function, const std::string& start) {
  try {
    function();
    ADD_FAILURE() << "taken, instead of: " << start;
  } catch (const anabranch::Error& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with(start))
        << error.what() << "\n   instead of " << start;
  }
}
