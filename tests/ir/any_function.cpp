// Functions of a signature, owned: what they hold, what copies hold, and calls of none.
#include "anabranch/detail/any_function.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "anabranch/error.h"

namespace anabranch::testing {
namespace {

using Append = detail::AnyFunction<std::string(std::string, int)>;

std::string append(std::string text, int number) { return text + std::to_string(number); }

TEST(AnyFunction, CallsWhatItHolds) {
  EXPECT_EQ(Append(append)("a", 1), "a1");
  EXPECT_EQ(Append(&append)("a", 2), "a2");
  EXPECT_EQ(Append(std::function(append))("a", 3), "a3");
  const auto owned = std::make_unique<int>(40);
  EXPECT_EQ(
      Append([&](std::string text, int number) { return append(text, *owned + number); })("a", 4),
      "a44");
  detail::AnyFunction<void(std::unique_ptr<int>, int&)> move = [](std::unique_ptr<int> from,
                                                                  int& to) { to = *from; };
  int to = 0;
  move(std::make_unique<int>(7), to);
  EXPECT_EQ(to, 7);
}

TEST(AnyFunction, CopiesAndMoves) {
  const auto shared = std::make_shared<int>(1);
  {
    detail::AnyFunction<int()> count = [shared, calls = 0]() mutable { return calls += *shared; };
    EXPECT_EQ(count(), 1);
    detail::AnyFunction<int()> copy = count;
    EXPECT_EQ(shared.use_count(), 3);
    EXPECT_EQ(count(), 2);
    EXPECT_EQ(copy(), 2);  // it counts by itself
    EXPECT_EQ(count(), 3);
    detail::AnyFunction<int()> moved = std::move(count);
    EXPECT_EQ(shared.use_count(), 3);
    EXPECT_EQ(moved(), 4);
    moved = copy;
    EXPECT_EQ(moved(), 3);
    EXPECT_EQ(shared.use_count(), 3);
    moved = nullptr;
    EXPECT_EQ(shared.use_count(), 2);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(AnyFunction, ThrowsWhereItHoldsNone) {
  std::string (*const pointer)(std::string, int) = nullptr;
  for (const Append& none : {Append(), Append(nullptr), Append(pointer),
                             Append(std::function<std::string(std::string, int)>())}) {
    EXPECT_FALSE(none);
    EXPECT_THROW(none("a", 1), Error);
  }
  EXPECT_TRUE(Append(append));
}

}  // namespace
}  // namespace anabranch::testing
