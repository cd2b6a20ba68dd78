// Memory that ends on a worker in the midst of a run: an error of what the run makes, or nothing at
// all, and later runs work. Without oneDNN, which does not look whether it got memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <thread>

#include "anabranch/anabranch.h"
#include "failing_malloc.h"

namespace anabranch::testing {
namespace {

constexpr std::int64_t size = 600;

Array on_streams(Array x) { return sum(sin(x)) + tanh(x - sum(x, 0)) * max(cos(x), 1, true); }

Array in_a_loop(Array x) {
  return fori_loop(
      0, 3, [](Array, Array y) { return tanh(y - sum(y, 0)) + max(y); }, x);
}

Array by_the_user(Array x) {
  const auto fails = [](const CustomCall& call) {
    if (call.operand<float>(0)[0] > 0) throw std::runtime_error("a custom error");
  };
  return custom_call("fails", fails, spec(f32, {size, size}), sin(x));
}

bool is_expected(std::string_view what) {
  return what.find("memory") != std::string_view::npos ||
         what.find("bad_alloc") != std::string_view::npos ||
         what.find("a custom error") != std::string_view::npos;
}

// A thread that waits would work on them itself, with memory.
void leave_to_workers(std::span<const Array> arrays) {
  for (int i = 0; i < 100; ++i) {
    if (std::ranges::all_of(arrays, &Array::ready)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Runs it with one allocation of the workers refused after the other, until none is left to refuse.
[[noreturn]] void refuse_each(Array (*function)(Array)) {
  alarm(60);  // instead of a deadlock
  set_default_device(Device::cpu());
  const auto f = jit(function);
  const Array x = zeros(f32, {size, size}), y = ones(f32, {size, size});
  f(x).wait();
  wait_all();
  int failures = 0, errors = 0;
  for (long after = 0, unrefused = 0; unrefused < 3 && after < 300; ++after) {
    {
      const OutOfMemoryElsewhere out_of_memory(after);
      const Array lost[] = {f(y), f(y)};
      leave_to_workers(lost);
      for (const Array& array : lost) {
        try {
          array.wait();
        } catch (const std::exception& error) {
          ++errors;
          failures += !is_expected(error.what());
        }
      }
      wait_all();
      unrefused = out_of_memory.refused() ? 0 : unrefused + 1;
    }
    try {
      f(x).wait();
    } catch (const std::exception& error) {
      ++failures;
      std::fprintf(stderr, "later, after %ld: %s\n", after, error.what());
    }
  }
  std::fprintf(stderr, "%d failures, %d errors\n", failures, errors);
  std::fflush(nullptr);
  _exit(failures == 0 && errors > 0 ? 0 : 1);
}

TEST(NoMemoryOnWorkers, IsAnErrorOfTheRun) {
  for (Array (*function)(Array) : {on_streams, in_a_loop, by_the_user}) {
    EXPECT_EXIT(refuse_each(function), ::testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace anabranch::testing
