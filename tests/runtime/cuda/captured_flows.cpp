// Loops and branches of large steps on a GPU: step by step, then captured, then replayed, held
// against the interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "anabranch/anabranch.h"
#include "codegen/compile.h"
#include "fake_driver.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "runtime/cuda/gpu.h"
#include "runtime/executor/run.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"
#include "tests/codegen/cuda/flow_forms.h"
#include "tests/support/compare.h"
#include "tests/support/random_graph.h"

namespace anabranch::testing {
namespace {

// All that has been freed can be given out again.
void settle() {
  wait_all();
  cuda::Gpu::of(0).main().record()->wait();
}

/// Memory that is freed is given out again, so that runs come by in the same memory.
class CapturedFlows : public ::testing::Test {
 protected:
  CapturedFlows() {
    if (is_pretended()) reuse_memory(true);  // as a real pool does
  }
  ~CapturedFlows() override {
    wait_all();
    if (is_pretended()) reuse_memory(false);
  }
};

class GpuProgram {
 public:
  explicit GpuProgram(Graph graph) : graph_(std::move(graph)) {
    Options options;
    options.device = Device::cuda(0);
    options.use_all_streams = true;
    options.parameters.assign(graph_.parameter_count(), options.device);
    executable_ = compile(graph_, options).first.executable;
    verify(program());
    // Where steps are measured, the first runs would go step by step.
    state_ = ExecutionState::of(*executable_, false);
  }

  const Graph& graph() const { return graph_; }
  const Program& program() const { return executable_->program; }
  bool is_captured() const { return state_ && state_->graph_cache; }

  std::vector<Literal> inputs(std::int32_t number) const { return inputs_for(graph_, number); }

  std::vector<Buffer> there(const std::vector<Literal>& inputs) const {
    std::vector<Buffer> buffers;
    for (const Literal& input : inputs) {
      buffers.push_back(copy_to_device(Device::cuda(0), input.bytes()));
    }
    return buffers;
  }

  std::vector<Buffer> start(std::vector<Buffer> inputs) const {
    return run(executable_, std::move(inputs), state_);
  }

  std::vector<Literal> back(const std::vector<Buffer>& results) const {
    std::vector<Literal> outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      outputs.push_back(read_literal(results[i], graph_.type(graph_.outputs()[i])));
    }
    return outputs;
  }

  /// Alone, so that what it needs lies where the run before had it.
  std::vector<Literal> operator()(const std::vector<Literal>& inputs) const {
    std::vector<Literal> outputs = back(start(there(inputs)));
    settle();
    return outputs;
  }

 private:
  Graph graph_;
  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<ExecutionState> state_;
};

/// A real driver does not count.
std::int64_t calls(const char* name) { return is_pretended() ? driver_calls(name) : 0; }

struct Counts {
  std::int64_t graphs = calls("cuGraphLaunch");
  std::int64_t captures = calls("cuGraphInstantiateWithFlags");
  std::int64_t kernels = calls("cuLaunchKernel");
  std::int64_t copies = calls("cuMemcpyAsync");
};

/// Every number comes by in turns: first step by step, then in a graph that others have captured.
void expect_replays(const GpuProgram& program, const std::vector<std::int32_t>& numbers) {
  ASSERT_TRUE(program.is_captured()) << to_string(program.program());
  std::vector<std::vector<Literal>> inputs;
  std::vector<std::vector<Bounded>> expected;
  for (std::int32_t number : numbers) {
    inputs.push_back(program.inputs(number));
    expected.push_back(interpret_bounded(program.graph(), inputs.back()));
  }
  const Counts before;
  std::vector<std::vector<Literal>> first;
  const auto graph_cache = [&] {
    const Counts now;
    return now.graphs - before.graphs - (now.captures - before.captures);
  };
  // What was given back in another order comes by in another order.
  for (int round = 0; round < 12 && graph_cache() < std::ssize(numbers); ++round) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::vector<Literal> got = program(inputs[i]);
      const auto wrong = difference(expected[i], got);
      ASSERT_FALSE(wrong) << *wrong << "\nround " << round << " with " << numbers[i] << "\n"
                          << to_string(program.graph());
      if (round == 0) first.push_back(got);
      for (std::size_t out = 0; out < got.size(); ++out) {
        EXPECT_TRUE(std::ranges::equal(got[out].bytes(), first[i][out].bytes())) << numbers[i];
      }
    }
  }
  if (!is_pretended()) return;
  EXPECT_GE(Counts().captures - before.captures, 1);
  EXPECT_GE(graph_cache(), std::ssize(numbers));
}

const std::vector<std::int32_t> counts = {0, 1, 2, 3, 4, 5, 6, 9};

const Spec square = spec(f32, {8, 8}), number = spec(i32, {});

Array product(const Array& x, const Array& y) { return tanh(matmul(x, y)); }

// A product makes a step large, whatever its size. It goes to another place at every step.
GpuProgram dot_in_a_loop() {
  return GpuProgram(trace(
      [](Array x, Array w, Array n) {
        return fori_loop(
            0, n, [&](Array, Array y) { return product(y, w); }, x);
      },
      square, square, number));
}

TEST_F(CapturedFlows, ADotInALoop) { expect_replays(dot_in_a_loop(), counts); }

/// What is captured when, by the counts of the pretended driver.
class PretendedCaptures : public CapturedFlows {};

// The captured loop asks nobody: a replay is one launch.
TEST_F(PretendedCaptures, AReplayIsOneLaunchWithoutLooks) {
  const GpuProgram program = dot_in_a_loop();
  const std::vector<Buffer> inputs = program.there(program.inputs(20));
  const auto run_once = [&] {
    for (const Buffer& result : program.start(inputs)) result.ready().wait();
    settle();
  };
  const Counts at_first;
  run_once();
  const Counts stepped;
  EXPECT_GE(stepped.copies - at_first.copies, 21);
  EXPECT_GE(stepped.kernels - at_first.kernels, 40);
  EXPECT_EQ(stepped.graphs - at_first.graphs, 0);
  run_once();
  const Counts captured;
  EXPECT_EQ(captured.captures - stepped.captures, 1);
  EXPECT_EQ(captured.graphs - stepped.graphs, 1);
  run_once();
  const Counts replayed;
  EXPECT_EQ(replayed.captures - captured.captures, 0);
  EXPECT_EQ(replayed.graphs - captured.graphs, 1);
  EXPECT_EQ(replayed.kernels - captured.kernels, 0);
  EXPECT_EQ(replayed.copies - captured.copies, 0);
}

// Where the host would have to look as often again, a run in memory never seen is captured too.
TEST_F(PretendedCaptures, AfterManyLooksARunIsCapturedAtOnce) {
  const GpuProgram program = dot_in_a_loop();
  const std::vector<Literal> inputs = program.inputs(40);
  const auto expected = interpret_bounded(program.graph(), inputs);
  reuse_memory(false);
  for (int run = 0; run < 3; ++run) {
    const Counts before;
    const auto wrong = difference(expected, program(inputs));
    EXPECT_FALSE(wrong) << *wrong;
    const Counts after;
    EXPECT_EQ(after.captures - before.captures, run == 0 ? 0 : 1) << run;
  }
}

TEST_F(PretendedCaptures, AfterFewLooksARunIsNotCapturedAtOnce) {
  const GpuProgram program = dot_in_a_loop();
  reuse_memory(false);
  const Counts before;
  for (int run = 0; run < 3; ++run) program(program.inputs(5));
  EXPECT_EQ(Counts().captures, before.captures);
}

// What sets the conditions in a graph comes last. Nothing else is lost without it.
TEST_F(PretendedCaptures, WhereConditionsCannotBeSetLoopsGoStepByStep) {
  fail_driver_call("cuModuleLoadData", 1);
  const GpuProgram program = dot_in_a_loop();
  EXPECT_FALSE(will_fail());
  const std::vector<Literal> inputs = program.inputs(40);
  const auto expected = interpret_bounded(program.graph(), inputs);
  const Counts before;
  for (int run = 0; run < 3; ++run) {
    const auto wrong = difference(expected, program(inputs));
    EXPECT_FALSE(wrong) << *wrong;
  }
  EXPECT_EQ(Counts().graphs, before.graphs);
}

// Each carry becomes the one before, and the last a product: more places than a captured turn has
// steps, or fewer.
TEST_F(CapturedFlows, CarriesThatRotate) {
  for (int carries : {2, 3, 4, 6}) {
    const auto rotate = [=](Array x, Array n) {
      std::vector<Array> start;
      for (int i = 0; i < carries; ++i) start.push_back(x + static_cast<float>(i));
      const auto step = [](Array, const std::vector<Array>& from) {
        std::vector<Array> to(from.begin() + 1, from.end());
        to.push_back(product(from[0], from[1]));
        return to;
      };
      return fori_loop(0, n, step, start);
    };
    expect_replays(GpuProgram(trace(rotate, square, number)), counts);
  }
}

TEST_F(CapturedFlows, CarriesThatTakeTurnsOfTwoAndOfThree) {
  const auto turn = [](Array x, Array y, Array n) {
    const std::vector<Array> start = {x, y, x + 1, y + 1, x - 1};
    const auto step = [](Array, const std::vector<Array>& c) {
      return std::vector<Array>{c[1], c[0], c[3], c[4], product(c[2], c[4])};
    };
    return fori_loop(0, n, step, start);
  };
  expect_replays(GpuProgram(trace(turn, square, square, number)), counts);
}

// How often it runs follows from what it computes.
TEST_F(CapturedFlows, AsLongAsTheDataSays) {
  const auto shrink = [](Array x, Array w, Array n) {
    return while_loop(
        [&](const auto& state) {
          return (state.first < 50) & (sum(state.second * state.second) * n.astype(f32) > 1);
        },
        [&](const auto& state) {
          return std::pair{state.first + 1, product(state.second, w) * 0.25f};
        },
        std::pair{0, x});
  };
  expect_replays(GpuProgram(trace(shrink, square, square, number)), {0, 1, 10, 100, 10000});
}

// The flag is a carry itself.
TEST_F(CapturedFlows, ACarryIsTheCondition) {
  const auto flagged = [](Array x, Array n) {
    return while_loop([](const auto& state) { return std::get<0>(state); },
                      [&](const auto& state) {
                        const auto& [goes_on, i, y] = state;
                        return std::tuple{i + 1 < n, i + 1, product(y, y)};
                      },
                      std::tuple{n > 0, 0, x});
  };
  expect_replays(GpuProgram(trace(flagged, square, number)), counts);
}

TEST_F(CapturedFlows, BranchesAndALoopInALoop) {
  const auto nested = [](Array x, Array w, Array n) {
    const auto step = [&](Array i, Array y) {
      const auto some = [&](Array z) { return product(z, w); };
      const auto none = [&](Array) { return w; };
      const auto many = [&](Array z) {
        return fori_loop(
            0, i, [&](Array, Array v) { return sin(matmul(w, v)); }, z);
      };
      return switch_(i - 1, std::tuple{some, none, many}, y);
    };
    return fori_loop(0, n, step, x);
  };
  expect_replays(GpuProgram(trace(nested, square, square, number)), counts);
}

TEST_F(CapturedFlows, ALoopInABranch) {
  const auto inside = [](Array x, Array w, Array n) {
    return cond(
        n > 2,
        [&](Array y) {
          return fori_loop(
              0, n, [&](Array, Array z) { return product(z, w); }, y);
        },
        [&](Array y) { return product(w, y); }, x);
  };
  expect_replays(GpuProgram(trace(inside, square, square, number)), counts);
}

// Loops on two streams, and chains of products side by side in each step of one.
TEST_F(CapturedFlows, SeveralStreamsInABodyAndAround) {
  const auto wide = [](Array x, Array w, Array n) {
    const auto step = [&](Array, Array y) {
      const Array left = product(product(y, w), y), right = product(product(w, y), w);
      return tanh(left - right);
    };
    const Array one = fori_loop(0, n, step, x);
    const Array other = fori_loop(
        0, n, [&](Array, Array y) { return product(w, y); }, w);
    return one + other;
  };
  const GpuProgram program(trace(wide, square, square, number));
  EXPECT_GT(program.program().streams.size(), 1u);
  std::size_t most = 0;
  for (const Step& step : program.program().steps) {
    const auto* loop = std::get_if<LoopStep>(&step.work);
    if (loop) most = std::max(most, loop->body().streams.size());
  }
  EXPECT_GT(most, 1u) << to_string(program.program());
  expect_replays(program, counts);
}

// --- the same flows that small ones are tested with, so large that they go step by step

// Those whose steps grow with their arrays.
template <std::size_t count>
std::vector<Flow> large(const Flow (&all)[count]) {
  const std::set<std::string_view> small = {"NoStepAtAll", "NewtonOnNumbers", "CarriesChangePlaces",
                                            "RowsOfACarriedArrayFromTheRowBefore",
                                            "AnUpdateTwiceFromOneArray"};
  std::vector<Flow> some;
  std::ranges::copy_if(all, std::back_inserter(some),
                       [&](const Flow& flow) { return !small.contains(flow.name); });
  return some;
}

class CapturedTable : public ::testing::WithParamInterface<Flow>, public CapturedFlows {};

TEST_P(CapturedTable, GiveWhatTheInterpreterGives) {
  expect_replays(GpuProgram(parse(with_type(GetParam().text, "i32[300,300]"))), {0, 1, -1, 7});
}

INSTANTIATE_TEST_SUITE_P(Flows, CapturedTable, ::testing::ValuesIn(large(flows)),
                         [](const auto& flow) { return std::string(flow.param.name); });

class CapturedForms : public ::testing::WithParamInterface<Flow>, public CapturedFlows {};

TEST_P(CapturedForms, GiveWhatTheInterpreterGives) {
  expect_replays(GpuProgram(parse(with_size(GetParam(), 300))), {0, 1, 4});
}

INSTANTIATE_TEST_SUITE_P(Forms, CapturedForms, ::testing::ValuesIn(large(flow_forms)),
                         [](const auto& flow) { return std::string(flow.param.name); });

TEST_F(CapturedFlows, OfRandomGraphs) {
  int graphs = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const GraphCase tested = random_graph(seed);
    const std::string text = to_string(tested.graph);
    if (text.find(" while ") == std::string::npos && text.find(" case ") == std::string::npos) {
      continue;
    }
    if (text.find("transfer") != std::string::npos) continue;
    if (text.find("custom_call") != std::string::npos) continue;
    const GpuProgram program(tested.graph);
    if (!program.is_captured()) continue;  // all of it is small
    ++graphs;
    const auto expected = interpret_bounded(tested.graph, tested.inputs);
    for (int run = 0; run < 3; ++run) {
      const auto wrong = difference(expected, program(tested.inputs));
      ASSERT_FALSE(wrong) << *wrong << "\nseed " << seed << ", run " << run << "\n" << text;
    }
  }
  EXPECT_GT(graphs, 3);
  std::printf("%d graphs\n", graphs);
}

}  // namespace
}  // namespace anabranch::testing
