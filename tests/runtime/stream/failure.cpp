// Failures and futures: each reader has an exception of its own.
#include "anabranch/failure.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "anabranch/error.h"
#include "anabranch/future.h"

namespace anabranch {
namespace {

template <class Exception>
Failure failure_of(const Exception& exception) {
  return Failure(std::make_exception_ptr(exception));
}

// Two reads give two objects of this type and text.
template <class Exception>
void expect_copied(const Exception& exception) {
  const Failure failure = failure_of(exception);
  try {
    failure.rethrow();
  } catch (const std::exception& first) {
    EXPECT_EQ(typeid(first), typeid(Exception));
    EXPECT_STREQ(first.what(), exception.what());
    try {
      failure.rethrow();
    } catch (const std::exception& second) {
      EXPECT_EQ(typeid(second), typeid(Exception));
      EXPECT_STREQ(second.what(), exception.what());
      EXPECT_NE(&first, &second);
    }
  }
}

TEST(Failure, GivesEachReaderAnExceptionOfItsOwn) {
  expect_copied(Error("what is wrong"));
  expect_copied(InternalError("stage", "what is wrong"));
  expect_copied(InternalError("stage", "what is wrong", "a dump\nof two lines"));
  expect_copied(std::runtime_error("text"));
  expect_copied(std::logic_error("text"));
  expect_copied(std::out_of_range("text"));
  expect_copied(std::invalid_argument("text"));
  expect_copied(std::bad_alloc());
}

struct Own : std::runtime_error {
  using std::runtime_error::runtime_error;
  int number = 7;
};

// The text is known outside; the object itself is the inner one.
TEST(Failure, NestsWhatNothingCanCopy) {
  const Failure failures[] = {failure_of(Own("own")), failure_of(5)};
  try {
    failures[0].rethrow();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "own");
    EXPECT_THROW(std::rethrow_if_nested(error), Own);
  }
  try {
    failures[1].rethrow();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "something was thrown that is no std::exception");
    EXPECT_THROW(std::rethrow_if_nested(error), int);
  }
}

template <class Exception>
Failure nested_failure(const Exception& exception) {
  try {
    try {
      throw exception;
    } catch (...) {
      std::throw_with_nested(Error("outer"));
    }
  } catch (...) {
    return std::current_exception();
  }
}

TEST(Failure, KeepsWhatIsNested) {
  const auto inner_of = [](const Failure& failure, const auto& look) {
    try {
      failure.rethrow();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "outer");
      try {
        std::rethrow_if_nested(error);
        ADD_FAILURE() << "nothing is nested";
      } catch (const std::exception& inner) {
        look(inner);
      }
    }
  };
  inner_of(nested_failure(std::out_of_range("inner")), [](const std::exception& inner) {
    EXPECT_EQ(typeid(inner), typeid(std::out_of_range));
    EXPECT_STREQ(inner.what(), "inner");
  });
  inner_of(nested_failure(Own("inner")),
           [](const std::exception& inner) { EXPECT_EQ(typeid(inner), typeid(Own)); });
}

// For ThreadSanitizer: readers race for the last handle.
TEST(Failure, ManyThreadsReadOne) {
  for (int round = 0; round < 200; ++round) {
    Failure failure = nested_failure(std::out_of_range("inner"));
    std::atomic<int> read = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&read, failure] {
        try {
          failure.rethrow();
        } catch (const Error& error) {
          read += std::string(error.what()) == "outer";
        }
      });
    }
    failure = {};
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(read, 2);
  }
}

TEST(Future, ThrowsAnewOnTheThreadThatReads) {
  Promise<int> promise;
  Future<int> future = promise.get_future();
  EXPECT_TRUE(future.valid());
  EXPECT_FALSE(future.wait_for(std::chrono::milliseconds(0)));
  const Failure failure = failure_of(Error("what is wrong"));
  std::thread([&] { promise.set_failure(failure); }).join();
  future.wait();
  try {
    future.get();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "what is wrong");
  }
  EXPECT_FALSE(future.valid());
}

TEST(Future, ThrowsWhereNobodyWillMakeTheValue) {
  Future<int> future;
  EXPECT_THROW(future.get(), Error);
  EXPECT_THROW(future.wait(), Error);
  {
    Promise<int> promise;
    future = promise.get_future();
  }
  EXPECT_TRUE(future.wait_for(std::chrono::hours::max()));
  EXPECT_THROW(future.get(), Error);
}

TEST(Future, GivesTheValueOnce) {
  Promise<std::vector<int>> promise;
  Future<std::vector<int>> future = promise.get_future();
  promise.set_value({1, 2});
  EXPECT_TRUE(future.wait_until(std::chrono::steady_clock::now()));
  EXPECT_EQ(future.get(), (std::vector{1, 2}));
  EXPECT_FALSE(future.valid());
}

}  // namespace
}  // namespace anabranch
