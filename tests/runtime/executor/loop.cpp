// Loops and branches of steps: programs of plain C++ tasks over i64[4].
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anabranch/error.h"
#include "runtime/executor/run.h"
#include "runtime/null/run_null.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::scheduled;
using testing::values_of;
using Values = std::vector<std::int64_t>;

const Device cpu = Device::cpu();
const Type array{Dtype::i64, Shape{4}};
const Type flag{Dtype::bool_, {}};

/// Of one element, from those of the operands at its place.
using Element = std::function<std::int64_t(const Values&)>;

HostTask task_of(Element element, std::size_t operands) {
  struct Context {
    Element element;
    std::size_t operands;
  };
  HostTask task;
  task.context = std::make_shared<Context>(std::move(element), operands);
  task.extent = task.grain = 4;
  task.function = [](const void* context, void* const* buffers, std::int64_t begin,
                     std::int64_t end) {
    const auto& [element, operands] = *static_cast<const Context*>(context);
    for (std::int64_t i = begin; i < end; ++i) {
      Values values;
      for (std::size_t k = 0; k < operands; ++k) {
        values.push_back(static_cast<const std::int64_t*>(buffers[k])[i]);
      }
      static_cast<std::int64_t*>(buffers[operands])[i] = element(values);
    }
  };
  return task;
}

/// Writes a program step by step, and what runs each.
struct Writer {
  explicit Writer(std::size_t inputs) {
    for (std::uint32_t i = 0; i < inputs; ++i) {
      program.inputs.push_back(array);
      slot(Slot::Kind::input, i, array);
    }
  }

  SlotId slot(Slot::Kind kind, std::uint32_t index, const Type& type) {
    program.slots.push_back(
        {kind, index, Slot::unplaced, type, "%" + std::to_string(program.slots.size())});
    return static_cast<SlotId>(program.slots.size() - 1);
  }
  SlotId temporary() { return slot(Slot::Kind::temporary, 0, array); }
  SlotId output(const Type& type = array) {
    const auto index = static_cast<std::uint32_t>(program.outputs.size());
    program.outputs.push_back(slot(Slot::Kind::output, index, type));
    return program.outputs.back();
  }

  void compute(std::vector<SlotId> from, SlotId to, Element element) {
    Step step;
    step.name = "f" + std::to_string(program.steps.size());
    HostTask task = task_of(std::move(element), from.size());
    for (SlotId id : from) step.in_place.emplace_back(id, to);
    step.buffers = std::move(from);
    step.buffers.push_back(to);
    step.writes = {to};
    step.predicted_ns = 1e5;
    add(std::move(step)).task = std::move(task);
  }
  /// A flag: whether element 0 of `of` is below `bound`.
  void below(SlotId of, std::int64_t bound) {
    Step step;
    step.name = "below";
    step.buffers = {of, output(flag)};
    step.writes = {step.buffers[1]};
    HostTask task;
    task.context = std::make_shared<std::int64_t>(bound);
    task.function = [](const void* bound, void* const* buffers, std::int64_t, std::int64_t) {
      *static_cast<bool*>(buffers[1]) =
          *static_cast<const std::int64_t*>(buffers[0]) < *static_cast<const std::int64_t*>(bound);
    };
    add(std::move(step)).task = std::move(task);
  }
  LinkedStep& add(Step step) {
    program.steps.push_back(std::move(step));
    return code.steps.emplace_back();
  }

  Executable done(int streams, const Device& device = cpu) {
    Options options;
    options.device = device;
    options.streams = streams;
    options.use_all_streams = streams > 1;
    program.name = "fake";
    Program made = scheduled(std::move(program), options);
    for (Step& step : made.steps) step.finishes.clear();
    return {std::move(made), std::make_shared<const LinkedCode>(std::move(code))};
  }

  Program program;
  LinkedCode code;
};

/// A loop, and the code of its condition and its body.
struct FakeLoop {
  LoopStep step;
  std::vector<LinkedCode> code;
};

/// Adds `loop` from initial carries and captures, with places for what it writes.
void add_loop(Writer& writer, FakeLoop loop, const std::vector<SlotId>& operands,
              const std::vector<SlotId>& results) {
  const LoopStep& work = loop.step;
  Step step;
  step.name = "while";
  step.buffers = operands;
  step.writes = results;
  while (step.writes.size() < work.rotation.size()) step.writes.push_back(writer.temporary());
  const auto arena = std::max(work.condition().arena_bytes(), work.body().arena_bytes());
  const Type room{Dtype::u8, Shape{static_cast<std::int64_t>(loop_flag_bytes + arena)}};
  step.writes.push_back(writer.slot(Slot::Kind::temporary, 0, room));
  step.buffers.insert(step.buffers.end(), step.writes.begin(), step.writes.end());
  step.work = std::move(loop.step);
  writer.add(std::move(step)).regions = std::move(loop.code);
}

Executable below(std::size_t inputs, std::int64_t bound) {
  Writer writer(inputs);
  writer.below(0, bound);
  return writer.done(1);
}

FakeLoop turns(const Executable& condition, const Executable& body,
               std::vector<std::uint32_t> written, std::vector<std::uint32_t> turn) {
  FakeLoop loop;
  loop.step.regions = {condition.program, body.program};
  loop.step.written = std::move(written);
  loop.step.rotation = std::move(turn);
  loop.code = {*condition.code, *body.code};
  return loop;
}

/// A program that is one loop from its inputs.
Executable loop(FakeLoop loop, int streams = 1) {
  const std::size_t inputs = loop.step.body().inputs.size();
  Writer writer(inputs);
  std::vector<SlotId> operands, results;
  for (SlotId id = 0; id < inputs; ++id) operands.push_back(id);
  for (std::size_t i = 0; i < loop.step.carries(); ++i) results.push_back(writer.output());
  add_loop(writer, std::move(loop), operands, results);
  Executable made = writer.done(streams);
  verify(made.program);
  return made;
}

std::vector<Buffer> run(Executable executable, std::vector<Buffer> inputs) {
  return run(std::make_shared<const Executable>(std::move(executable)), std::move(inputs));
}

std::vector<Values> run_on(const Executable& executable, const std::vector<Values>& inputs) {
  std::vector<Buffer> buffers;
  for (const Values& values : inputs) buffers.push_back(buffer_of(cpu, values));
  std::vector<Values> results;
  for (const Buffer& buffer : run(executable, buffers)) {
    results.push_back(values_of(buffer));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(values_of(buffers[i]), inputs[i]);
  return results;
}

std::int64_t one_more(const Values& x) { return x[0] + 1; }
// It wraps, as sums of arrays do.
std::int64_t sum(const Values& x) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x[0]) +
                                   static_cast<std::uint64_t>(x.back()));
}

class Loops : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Streams, Loops, ::testing::Values(1, 4));

TEST_P(Loops, ACarryIsUpdatedInPlaceAndCapturesAreHandedOn) {
  Writer body(2);  // x, by how much
  body.compute({0, 1}, body.output(), sum);
  auto made = loop(turns(below(2, 10), body.done(GetParam()), {0}, {0}));
  const auto results = run_on(made, {{0, 1, 2, 3}, {3, 3, 3, 0}});
  EXPECT_EQ(results[0], (Values{12, 13, 14, 3}));
}

TEST_P(Loops, NoStepAtAllGivesTheInitialCarries) {
  Writer body(1);
  body.compute({0}, body.output(), one_more);
  auto made = loop(turns(below(1, 0), body.done(GetParam()), {0}, {0}));
  EXPECT_EQ(run_on(made, {{5, 6, 7, 8}})[0], (Values{5, 6, 7, 8}));
}

TEST_P(Loops, ACarryGoesBetweenTwoPlacesByTurns) {
  for (std::int64_t trips : {1, 2, 3}) {
    Writer body(1);
    body.compute({0}, body.output(), one_more);
    auto made = loop(turns(below(1, trips), body.done(GetParam()), {1}, {1, 0}));
    EXPECT_EQ(run_on(made, {{0, 9, 9, 9}})[0], (Values{trips, 9 + trips, 9 + trips, 9 + trips}));
  }
}

TEST_P(Loops, CarriesChangePlacesWithoutACopy) {
  for (std::int64_t trips : {0, 1, 2, 5}) {
    Writer body(3);  // i, x, y -> i + 1, y, x
    body.compute({0}, body.output(), one_more);
    body.program.outputs.insert(body.program.outputs.end(), {2, 1});
    auto made = loop(turns(below(3, trips), body.done(GetParam()), {0, 1, 2}, {0, 2, 1}));
    const Values x = {1, 2, 3, 4}, y = {5, 6, 7, 8};
    const auto results = run_on(made, {{0, 0, 0, 0}, x, y});
    EXPECT_EQ(results[1], trips % 2 ? y : x) << trips;
    EXPECT_EQ(results[2], trips % 2 ? x : y) << trips;
  }
}

// before, now -> now, before + now: the sum takes the place of `before`.
TEST_P(Loops, AResultMayTakeThePlaceOfAnotherCarry) {
  Writer body(2);
  body.program.outputs = {1};
  body.compute({0, 1}, body.output(), sum);
  auto made = loop(turns(below(2, 50), body.done(GetParam()), {0, 0}, {1, 0}));
  const auto results = run_on(made, {{0, 0, 0, 0}, {1, 1, 1, 1}});
  EXPECT_EQ(results[0][3], 55);
  EXPECT_EQ(results[1][3], 89);
}

// The body forks, joins, and holds a loop of its own.
TEST_P(Loops, BodiesRunOnStreamsAndHoldLoops) {
  Writer inner(2);
  inner.compute({0}, inner.output(), one_more);
  inner.compute({0, 1}, inner.output(), sum);
  FakeLoop count = turns(below(2, 3), inner.done(GetParam()), {2, 3}, {2, 3, 0, 1});

  Writer body(2);
  const SlotId zero = body.temporary(), a = body.temporary(), b = body.temporary();
  const SlotId counted = body.temporary(), total = body.temporary();
  body.compute({1}, zero, [](const Values&) { return 0; });
  body.compute({1}, a, sum);  // with itself
  body.compute({1}, b, one_more);
  add_loop(body, std::move(count), {zero, a}, {counted, total});
  body.compute({0}, body.output(), one_more);
  body.compute({total, b}, body.output(), sum);
  FakeLoop whole = turns(below(2, 200), body.done(GetParam()), {2, 3}, {2, 3, 0, 1});

  const auto results = run_on(loop(std::move(whole), GetParam()), {{0, 0, 0, 0}, {0, 1, 2, 3}});
  for (std::int64_t i = 0; i < 4; ++i) {
    auto value = static_cast<std::uint64_t>(i);
    for (int trip = 0; trip < 200; ++trip) value = 2 * value + (0 + 1 + 2) + value + 1;
    EXPECT_EQ(results[1][static_cast<std::size_t>(i)], static_cast<std::int64_t>(value));
  }
}

TEST_P(Loops, AnErrorInAStepFailsWhatTheLoopWritesAndNothingElse) {
  Writer body(1);
  body.compute({0}, body.output(), [](const Values& x) {
    if (x[0] == 7) throw Error("step 7 failed");
    return x[0] + 1;
  });
  FakeLoop counting = turns(below(1, 10), body.done(GetParam()), {0}, {0});
  Writer writer(1);
  const SlotId looped = writer.temporary();
  add_loop(writer, std::move(counting), {0}, {looped});
  writer.compute({looped}, writer.output(), one_more);
  writer.compute({0}, writer.output(), one_more);
  const auto results = run(writer.done(GetParam()), {buffer_of(cpu, {0, 0, 0, 0})});
  try {
    values_of(results[0]);
    FAIL() << "the error is lost";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string_view(error.what()).ends_with(": step 7 failed")) << error.what();
  }
  EXPECT_EQ(values_of(results[1]), (Values{1, 1, 1, 1}));
}

TEST_P(Loops, ABranchIsChosenByNumber) {
  BranchStep work;
  std::vector<LinkedCode> code;
  for (std::int64_t i = 0; i < 3; ++i) {
    Writer branch(1);
    const SlotId between = branch.temporary();
    branch.compute({0}, between, one_more);
    branch.compute({between}, branch.output(), [i](const Values& x) { return 10 * x[0] + i; });
    const Executable made = branch.done(GetParam());
    work.branches.push_back(made.program);
    code.push_back(*made.code);
  }
  Writer writer(2);
  Step step;
  step.name = "case";
  const auto arena = static_cast<std::int64_t>(work.branches[0].arena_bytes());
  step.writes = {writer.output(),
                 writer.slot(Slot::Kind::temporary, 0, Type{Dtype::u8, Shape{arena}})};
  step.buffers = {0, 1, step.writes[0], step.writes[1]};
  step.work = std::move(work);
  writer.add(std::move(step)).regions = std::move(code);
  const Executable made = writer.done(GetParam());
  verify(made.program);
  // The number is an i32: the lower half of the first element.
  for (auto [number, taken] : {std::pair{0, 0}, {1, 1}, {2, 2}, {3, 2}, {-1, 2}}) {
    EXPECT_EQ(run_on(made, {{number, 0, 0, 0}, {4, 5, 6, 7}})[0],
              (Values{50 + taken, 60 + taken, 70 + taken, 80 + taken}));
  }
}

TEST(Loop, PrintsWhatItRuns) {
  Writer body(1);
  body.compute({0}, body.output(), one_more);
  const std::string text = to_string(loop(turns(below(1, 3), body.done(1), {0}, {0})).program);
  EXPECT_NE(text.find("  loop while(%0, out %1, out %2) written=[0] rotation=[0]"), text.npos)
      << text;
  EXPECT_NE(text.find("      kernel below(%0, out %1)"), text.npos) << text;
  EXPECT_NE(text.find("      kernel f0(%0, out %1)"), text.npos) << text;
}

TEST(Loop, DotDrawsWhatItRunsInside) {
  Writer body(1);
  body.compute({0}, body.output(), one_more);
  const std::string text = to_dot(loop(turns(below(1, 3), body.done(1), {0}, {0})).program);
  EXPECT_NE(text.find("    subgraph cluster_s0_0_1_ {\n"
                      "      label=\"fake\";\n"
                      "      subgraph cluster_s0_0_1_0 {\n"
                      "        label=\"stream 0\";\n"
                      "        s0_0_1_s0_0 [label=\"f0\\n%1: i64[4]\""),
            std::string::npos)
      << text;
}

TEST(Loop, IsOneStepOfTheNullDevice) {
  const Device device = Device::null(11);
  Writer body(1);
  body.compute({0}, body.output(), one_more);
  FakeLoop counting = turns(below(1, 3), body.done(1), {0}, {0});
  Writer writer(1);
  add_loop(writer, std::move(counting), {0}, {writer.output()});
  run(writer.done(1, device), {Buffer::allocate(device, 32)});
  const auto log = null::take_log(device);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].name, "while");
}

TEST(Loop, LosingACarryIsFound) {
  Writer body(2);  // x, y -> x + y, x: the sum must not take the place of x
  body.compute({0, 1}, body.output(), sum);
  body.program.outputs.push_back(0);
  auto made = body.done(1);
  EXPECT_THROW(loop(turns(below(2, 9), made, {0, 1}, {0, 0})), InternalError);
  EXPECT_NO_THROW(loop(turns(below(2, 9), made, {1, 0}, {1, 0})));
}

}  // namespace
}  // namespace anabranch
