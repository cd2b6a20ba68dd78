// Native loops around tasks that are called, not compiled in.
#include "codegen/cpu/native_flow.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "anabranch/error.h"

namespace anabranch::cpu {
namespace {

/// A program of one step, from its only input to its only output.
Program of_one_step(const Type& input, const Type& output) {
  Program program;
  program.inputs = {input};
  program.slots = {{Slot::Kind::input, 0, 0, input, "%0"},
                   {Slot::Kind::output, 0, 0, output, "%1"}};
  program.outputs = {1};
  Step step;
  step.work = CallStep{Op::custom_call, {input}, CustomCallAttributes{"task", {output}}};
  step.name = "task";
  step.buffers = {0, 1};
  step.writes = {1};
  program.steps = {std::move(step)};
  program.streams = {{{Launch{0}}}};
  return program;
}

LinkedCode code_of(HostTask::Function function) {
  LinkedCode code;
  code.steps.emplace_back().task = HostTask{function, nullptr, 1, 1};
  return code;
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
  LoopStep loop;
  loop.regions = {of_one_step(array, Type{bool_, {}}), of_one_step(array, array)};
  loop.written = {1};
  loop.rotation = {1, 0};
  Step flow;
  flow.work = std::move(loop);
  flow.name = "loop";
  LinkedStep code;
  code.regions = {code_of(below_ten), code_of(body)};
  const HostTask task = native_flow(flow, code, {}, nullptr);
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
