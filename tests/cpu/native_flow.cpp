// Native loops around tasks that are called, not compiled in.
#include "codegen/cpu/native_flow.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ir/error.h"

namespace anabranch::cpu {
namespace {

/// An executable of one launch of `function`, from its only input to its only output.
std::shared_ptr<const Executable> of_one_task(HostTask::Function function, const Type& input,
                                              const Type& output) {
  Executable executable;
  executable.inputs = {input};
  executable.slots = {{Slot::Kind::input, 0, 0, input, "%0"},
                      {Slot::Kind::output, 0, 0, output, "%1"}};
  executable.outputs = {1};
  Launch launch;
  launch.name = "task";
  HostTask task;
  task.function = function;
  launch.task = task;
  launch.buffers = {0, 1};
  launch.writes = {1};
  executable.streams.emplace_back();
  executable.streams[0].steps.emplace_back(std::move(launch));
  return std::make_shared<const Executable>(std::move(executable));
}

void below_ten(const void*, void* const* buffers, std::int64_t, std::int64_t) {
  *static_cast<bool*>(buffers[1]) = *static_cast<const std::int64_t*>(buffers[0]) < 10;
}

void one_more(const void*, void* const* buffers, std::int64_t, std::int64_t) {
  const auto* from = static_cast<const std::int64_t*>(buffers[0]);
  auto* to = static_cast<std::int64_t*>(buffers[1]);
  for (int i = 0; i < 20; ++i) to[i] = from[i] + 1;
}

void throws_at_seven(const void* context, void* const* buffers, std::int64_t begin,
                     std::int64_t end) {
  if (*static_cast<const std::int64_t*>(buffers[0]) == 7) throw Error("step 7 failed");
  one_more(context, buffers, begin, end);
}

/// Runs a loop over i64[20] that goes between two places.
std::vector<std::int64_t> run_loop(HostTask::Function body) {
  const Type array{i64, Shape{20}};
  LoopTask loop;
  loop.condition = of_one_task(below_ten, array, Type{bool_, {}});
  loop.body = of_one_task(body, array, array);
  loop.written = {1};
  loop.turn = {1, 0};
  const HostTask task = native_loop("loop", loop, {}, nullptr);
  std::vector<std::int64_t> initial(20, 3), home(20), other(20);
  std::vector<std::byte> room(loop_flag_bytes);
  void* buffers[] = {initial.data(), home.data(), other.data(), room.data()};
  task.function(task.context.get(), buffers, 0, 1);
  EXPECT_EQ(initial, std::vector<std::int64_t>(20, 3));
  return home;
}

// Seven steps: the last carry lies in the other place and has to come home.
TEST(NativeLoop, CallsTasksAndEndsWhereItsResultsBelong) {
  EXPECT_EQ(run_loop(one_more), std::vector<std::int64_t>(20, 10));
}

TEST(NativeLoop, LetsAnErrorOfATaskThrough) {
  EXPECT_THROW(
      {
        try {
          run_loop(throws_at_seven);
        } catch (const Error& error) {
          EXPECT_STREQ(error.what(), "step 7 failed");
          throw;
        }
      },
      Error);
}

}  // namespace
}  // namespace anabranch::cpu
