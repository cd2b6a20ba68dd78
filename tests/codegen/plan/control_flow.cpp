// What loops and branches compile to: one function or steps, in place or by turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "codegen/compile.h"
#include "codegen/kernel/facts.h"
#include "ir/text/parse.h"
#include "runtime/cpu/hot_team.h"
#include "tests/support/flows.h"

namespace anabranch {
namespace {

Compilation compiled(const std::string& text, const std::string& type, int streams = 1) {
  Options options;
  options.streams = streams;
  options.use_all_streams = streams > 1;
  options.device = Device::cpu();
  options.verify = true;
  Compilation compilation = compile(parse(with_type(text, type)), options);
  verify(compilation.program());
  return compilation;
}

// In the order of their launches.
std::vector<const Step*> steps_of(const Program& program) {
  std::vector<const Step*> steps;
  for (const Stream& stream : program.streams) {
    for (const Command& command : stream) {
      if (const Step* step = step_of(program, command)) steps.push_back(step);
    }
  }
  return steps;
}

StepId loop_id_of(const Compilation& compilation) {
  const Program& program = compilation.program();
  for (StepId id = 0; id < program.steps.size(); ++id) {
    if (std::holds_alternative<LoopStep>(program.steps[id].work)) return id;
  }
  throw InternalError("test", "no loop", to_string(program));
}

const Step& loop_step_of(const Compilation& compilation) {
  return compilation.program().steps[loop_id_of(compilation)];
}

const LoopStep& loop_of(const Compilation& compilation) {
  return std::get<LoopStep>(loop_step_of(compilation).work);
}

const std::string head = R"(graph main(%0: S, %1: S) {
  %2: i32[] = constant 0
  %3: i32[], %4: S, %5: S = while %2, %0, %1 graph c(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 999
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
)";
const std::string tail = R"(  }
  return %4, %5
})";

TEST(ControlFlow, ALoopOfSmallStepsIsOneFunction) {
  const std::string body = "    %5: S = multiply %1, %2\n    return %4, %5, %2\n";
  for (const char* type : {"f32[]", "f32[64,64]"}) {
    const Compilation compilation = compiled(head + body + tail, type);
    EXPECT_TRUE(loop_of(compilation).is_whole) << type;
    EXPECT_TRUE(compilation.code().steps[loop_id_of(compilation)].host_task()) << type;
    const std::string text = dump(compilation, Stage::schedule);
    EXPECT_NE(text.find("loop while3(%2, %0, %1, out %3, out %4, out %3.workspace) written="),
              text.npos)
        << text;
    EXPECT_NE(text.find(" is_whole=true "), text.npos) << text;
    EXPECT_NE(text.find("program while3.body {"), text.npos) << text;
  }
  const Compilation large = compiled(head + body + tail, "f32[1500,500]");
  EXPECT_FALSE(loop_of(large).is_whole);
  EXPECT_FALSE(large.code().steps[loop_id_of(large)].host_task());
}

// Larger steps, of which each thread of a team has a part: the same of all arrays, or none is one
// function.
TEST(ControlFlow, ALoopOverPartsOfArraysIsOneFunctionForATeam) {
  const auto is_of_team = [](const std::string& body) {
    const Compilation compilation = compiled(head + body + tail, "f32[500,500]");
    const HostTask* task = compilation.code().steps[loop_id_of(compilation)].host_task();
    EXPECT_EQ(loop_of(compilation).is_whole, task != nullptr);
    return task && cpu::HotTeam::is_task(*task);
  };
  EXPECT_TRUE(is_of_team("    %5: S = multiply %1, %2\n    return %4, %5, %1\n"));
  EXPECT_TRUE(is_of_team(R"(    %5: f32[498,500] = slice %1 start=[0,0] limit=[498,500] stride=[1,1]
    %6: f32[498,500] = slice %2 start=[2,0] limit=[500,500] stride=[1,1]
    %7: f32[498,500] = add %5, %6
    %8: f32[] = constant 1
    %9: S = pad %7, %8 low=[1,0] high=[1,0] interior=[0,0]
    return %4, %9, %1
)"));
  const char* const others[] = {
      "    %5: S = reverse %1 axes=[0]\n    %6: S = add %5, %2\n    return %4, %6, %1\n",
      "    %5: S = transpose %1 axes=[1,0]\n    %6: S = add %5, %2\n    return %4, %6, %1\n",
      // The column is the work of one thread.
      R"(    %5: S = add %1, %2
    %6: i32[] = constant 0
    %7: f32[500,1] = slice %2 start=[0,3] limit=[500,4] stride=[1,1]
    %8: S = dynamic_update_slice %5, %7, %6, %6
    return %4, %8, %1
)"};
  for (const char* body : others) EXPECT_FALSE(is_of_team(body)) << body;
}

TEST(ControlFlow, ACarryIsUpdatedWhereItLies) {
  const auto compilation =
      compiled(head + "    %5: S = multiply %1, %2\n    return %4, %5, %2\n" + tail, "f32[64,64]");
  const LoopStep& loop = loop_of(compilation);
  EXPECT_EQ(loop.written, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(loop.rotation, (std::vector<std::uint32_t>{0, 1}));
}

TEST(ControlFlow, CarriesThatChangePlacesAreNotCopied) {
  const auto compilation = compiled(head + "    return %4, %2, %1\n" + tail, "f32[64,64]");
  const LoopStep& loop = loop_of(compilation);
  EXPECT_EQ(loop.rotation, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(loop.body().steps.size(), 1u) << to_string(loop.body());
}

// before, now -> now, 2 now - before: three arrays' worth of memory would be one too many.
TEST(ControlFlow, ALeapfrogNeedsNoThirdPlace) {
  const auto compilation = compiled(head + R"(    %5: S = add %2, %2
    %6: S = subtract %5, %1
    return %4, %2, %6
)" + tail,
                                    "f32[64,64]");
  EXPECT_EQ(loop_of(compilation).rotation, (std::vector<std::uint32_t>{0, 2, 1}));
}

// The reverse reads what an in-place kernel would have written.
TEST(ControlFlow, ACarryThatCannotBeInPlaceGoesByTurns) {
  const auto compilation = compiled(
      head + "    %5: S = reverse %1 axes=[0]\n    return %4, %5, %2\n" + tail, "f32[64,64]");
  const LoopStep& loop = loop_of(compilation);
  EXPECT_EQ(loop.written, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(loop.rotation, (std::vector<std::uint32_t>{0, 2, 1}));
}

// Boundary conditions: two updates, the second of which reads what the first has made.
TEST(ControlFlow, ACarryIsUpdatedTwiceWhereItLies) {
  for (const char* type : {"f32[64,64]", "f32[500,500]"}) {
    const auto compilation = compiled(head + R"(    %5: i32[] = constant 0
    %6: i32[] = constant 3
    %7: f32[1,9] = slice %1 start=[5,0] limit=[6,9] stride=[1,1]
    %8: S = dynamic_update_slice %1, %7, %6, %5
    %9: f32[1,9] = slice %8 start=[3,0] limit=[4,9] stride=[1,1]
    %10: f32[1,9] = negate %9
    %11: S = dynamic_update_slice %8, %10, %5, %5
    return %4, %11, %2
)" + tail,
                                      type);
    const LoopStep& loop = loop_of(compilation);
    EXPECT_EQ(loop.rotation, (std::vector<std::uint32_t>{0, 1})) << to_string(loop.body());
    EXPECT_LT(loop.body().arena_bytes(), 128u) << to_string(loop.body());  // two slices
  }
}

// A step of a scan: reads a row, writes a row.
const std::string scan = R"(graph main(%0: S, %1: S) {
  %2: i32[] = constant 0
  %3: i32[], %4: S = while %2, %0, %1 graph c(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 999
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 1
    %4: i32[] = constant 0
    %5: f32[1,64] = dynamic_slice %2, %0, %4 sizes=[1,64]
    %6: f32[1,64] = dynamic_slice %1, %0, %4 sizes=[1,64]
    %7: f32[1,64] = add %5, %6
    %8: S = dynamic_update_slice %1, %7, %0, %4
    %9: i32[] = add %0, %3
    return %9, %8
  }
  return %4
})";

TEST(ControlFlow, AScanWritesItsRowsWhereTheyStay) {
  const auto compilation = compiled(scan, "f32[1000,64]");
  const LoopStep& loop = loop_of(compilation);
  EXPECT_EQ(loop.written[1], 1u);
  EXPECT_EQ(loop.rotation[1], 1u);
  EXPECT_LE(loop.body().arena_bytes(), 1024u);
  Cost rotation;
  for (const Step& step : loop.body().steps) rotation += step.cost;
  EXPECT_LE(rotation.bytes_read + rotation.bytes_written, 8 * 64 * 4) << to_string(loop.body());
}

// The reader comes later in the text, and as a kernel first: the update then needs no copy.
TEST(ControlFlow, WhatReadsAnArrayRunsBeforeItsUpdate) {
  const std::string body = R"(    %5: i32[] = constant 0
    %6: f32[1,64] = dynamic_slice %2, %0, %5 sizes=[1,64]
    %7: S = dynamic_update_slice %1, %6, %0, %5
    %8: S = reverse %1 axes=[0]
    return %4, %7, %8
)";
  const auto compilation = compiled(head + body + tail, "f32[1000,64]");
  const Program& inside = loop_of(compilation).body();
  const std::vector<const Step*> steps = steps_of(inside);
  const auto updates = [](const Step* step) { return !step->in_place_updates.empty(); };
  const auto update = std::ranges::find_if(steps, updates);
  ASSERT_NE(update, steps.end());
  const SlotId array = (*update)->in_place_updates[0].first;
  for (const Step* step : std::span(update + 1, steps.end())) {
    EXPECT_EQ(std::ranges::count(step->buffers, array), 0) << to_string(inside);
  }
  EXPECT_EQ(loop_of(compilation).written[1], 1u);
}

// As one function, since the array itself is neither read nor copied.
TEST(ControlFlow, ScattersIntoACarryInPlace) {
  const std::string body = R"(    %5: i32[1] = reshape %0
    %6: f32[1,64] = dynamic_slice %2, %0, %0 sizes=[1,64]
    %7: S = scatter %1, %5, %6 window_axes=[1] inserted_axes=[0] start_axes=[0] index_vector_axis=1 combiner=add
    return %4, %7, %2
)";
  const auto compilation = compiled(head + body + tail, "f32[100000,64]");
  const LoopStep& loop = loop_of(compilation);
  EXPECT_EQ(loop.written[1], 1u);
  EXPECT_TRUE(loop.is_whole);
}

TEST(ControlFlow, ABodyThatUpdatesKeepsToOneStream) {
  const std::string row = R"(    %5: i32[] = constant 0
    %6: f32[1,65536] = dynamic_slice %1, %0, %5 sizes=[1,65536]
    %7: f32[1,65536] = tanh %6
    %8: S = dynamic_update_slice %1, %7, %0, %5
    %9: S = exponential %2
    return %4, %8, %9
)";
  const std::string whole = R"(    %5: S = tanh %1
    %6: S = reverse %2 axes=[0]
    return %4, %5, %6
)";
  const auto streams_of = [](const std::string& body) {
    return loop_of(compiled(head + body + tail, "f32[1000,65536]", 4)).body().streams.size();
  };
  EXPECT_EQ(streams_of(row), 1u);
  EXPECT_GT(streams_of(whole), 1u);
}

// %2 is handed on in place of %1, and copied in place of %3.
TEST(ControlFlow, ACarryIsHandedOnOnce) {
  const auto compilation = compiled(R"(graph main(%0: S, %1: S, %2: S) {
  %3: i32[] = constant 0
  %4: i32[], %5: S, %6: S, %7: S = while %3, %0, %1, %2 graph c(%0: i32[], %1: S, %2: S, %3: S) {
    %4: i32[] = constant 999
    %5: bool[] = compare %0, %4 direction=le
    return %5
  } graph b(%0: i32[], %1: S, %2: S, %3: S) {
    %4: i32[] = constant 1
    %5: i32[] = add %0, %4
    %6: S = add %1, %3
    return %5, %2, %6, %2
  }
  return %5, %6, %7
})",
                                    "f32[64,64]");
  const LoopStep& loop = loop_of(compilation);
  std::vector<std::uint32_t> rotation = loop.rotation;
  std::ranges::sort(rotation);
  for (std::uint32_t i = 0; i < rotation.size(); ++i) EXPECT_EQ(rotation[i], i);
  const auto copies = [](const Step& step) { return std::holds_alternative<CopyStep>(step.work); };
  EXPECT_EQ(std::ranges::count_if(loop.body().steps, copies), 1) << to_string(loop.body());
}

// The initial value of %4 is still read when %4 is written.
TEST(ControlFlow, ACarryThatIsCapturedTooIsNotWrittenOver) {
  const auto compilation = compiled(R"(graph main(%0: S, %1: S) {
  %2: i32[] = constant 0
  %3: i32[], %4: S, %5: S = while %2, %0, %1, %0 graph c(%0: i32[], %1: S, %2: S, %3: S) {
    %4: i32[] = constant 999
    %5: bool[] = compare %0, %4 direction=le
    return %5
  } graph b(%0: i32[], %1: S, %2: S, %3: S) {
    %4: i32[] = constant 1
    %5: i32[] = add %0, %4
    %6: S = add %1, %3
    %7: S = add %2, %3
    return %5, %6, %7
  }
  return %4, %5
})",
                                    "f32[64,64]");
  const Step& step = loop_step_of(compilation);
  ASSERT_EQ(loop_of(compilation).captures(), 1u);
  const auto is_written_over = [&](std::size_t carry) {
    return std::ranges::count(step.in_place, step.buffers[carry],
                              &std::pair<SlotId, SlotId>::first) > 0;
  };
  EXPECT_FALSE(is_written_over(1)) << dump(compilation, Stage::schedule);
  EXPECT_TRUE(is_written_over(2));
}

// A sum of a whole array has partial results; the body has nothing that lies anywhere.
TEST(ControlFlow, TheRoomOfALoopHoldsWhatItsConditionComputes) {
  const auto compilation = compiled(R"(graph main(%0: S) {
  %1: i32[] = constant 0
  %2: i32[], %3: S = while %1, %0 graph c(%0: i32[], %1: S) {
    %2: f32[] = reduce_sum %1 axes=[0,1]
    %3: i32[] = convert %2
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: S) {
    %2: i32[] = constant 1
    %3: i32[] = add %0, %2
    %4: S = multiply %1, %1
    return %3, %4
  }
  return %3
})",
                                    "f32[1000,1000]");
  const Step& step = loop_step_of(compilation);
  const LoopStep& loop = loop_of(compilation);
  ASSERT_GT(loop.condition().arena_bytes(), loop.body().arena_bytes());
  const Slot& room = compilation.program().slots[step.writes.back()];
  EXPECT_GE(room.type.bytes(), loop_flag_bytes + loop.condition().arena_bytes());
}

// One array under two names, of which one is read elsewhere than the result is written.
TEST(ControlFlow, NothingIsWrittenOverWhatIsGivenTwice) {
  const std::string text = R"(graph main(%0: S, %1: S) {
  %2: S = fusion %0, GIVEN kind=elementwise graph(%0: S, %1: S) {
    %2: S = reverse %1 axes=[0]
    %3: S = add %0, %2
    return %3
  }
  return %2
})";
  for (const std::string second : {"%0", "%1"}) {
    std::string given = text;
    given.replace(given.find("GIVEN"), 5, second);
    const auto compilation = compiled(given, "f32[64,64]");
    const std::vector<Step>& steps = compilation.program().steps;
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].in_place.size(), second == "%0" ? 0u : 1u);
  }
}

// With a start that is only known when it runs, a row is read and written element by element in
// memory's order, so vectors are loaded and stored whole.
TEST(ControlFlow, SlicesAtUnknownPlacesKeepTheirStride) {
  int accesses = 0;
  const Compilation compilation = compiled(scan, "f32[1000,64]");
  for (const Kernel& kernel : compilation.program().kernels) {
    const KernelFacts facts(kernel);
    for (const KernelFacts::Access& access : facts.accesses()) {
      if (access.loops.empty()) continue;
      const Loop& loop = facts.loop(access.loops.back());
      if (loop.extent != 64) continue;
      EXPECT_GT(loop.vector_width, 1) << to_string(kernel);
      EXPECT_EQ(facts.stride(access, access.loops.back()), 1) << to_string(kernel);
      ++accesses;
    }
  }
  EXPECT_EQ(accesses, 3);  // two rows are read, and one is stored where it stays
}

// The mask, the exponent and the zeros, of 1 MB each, are computed outside as it is traced.
TEST(ControlFlow, WhatIsCheapToComputeTakesNoMemory) {
  const Compilation compilation = compiled(R"(graph main(%0: f32[512]) {
  %1: i32[] = constant 0
  %2: i32[512,512] = iota axis=0
  %3: i32[512,512] = iota axis=1
  %4: bool[512,512] = compare %2, %3 direction=eq
  %5: f32[] = constant 2.0
  %6: f32[512,512] = broadcast_in_dim %5 axes=[]
  %7: f32[] = constant 0.0
  %8: f32[512,512] = broadcast_in_dim %7 axes=[]
  %9: i32[], %10: f32[512] = while %1, %0, %4, %6, %8 graph c(%0: i32[], %1: f32[512], %2: bool[512,512], %3: f32[512,512], %4: f32[512,512]) {
    %5: i32[] = constant 100
    %6: bool[] = compare %0, %5 direction=le
    return %6
  } graph b(%0: i32[], %1: f32[512], %2: bool[512,512], %3: f32[512,512], %4: f32[512,512]) {
    %5: i32[] = constant 1
    %6: i32[] = add %0, %5
    %7: f32[512,512] = broadcast_in_dim %1 axes=[0]
    %8: f32[512,512] = broadcast_in_dim %1 axes=[1]
    %9: f32[512,512] = subtract %7, %8
    %10: f32[512,512] = power %9, %3
    %11: f32[512,512] = select %2, %4, %10
    %12: f32[512] = reduce_sum %11 axes=[1]
    return %6, %12
  }
  return %10
})",
                                           "f32[512]");
  EXPECT_LT(compilation.program().arena_bytes(), 16u << 10);
  for (const Kernel& kernel : compilation.program().kernels) {
    for (const Instruction& instruction : kernel.instructions) {
      const auto* compute = std::get_if<Compute>(&instruction.operation);
      EXPECT_FALSE(compute && compute->op == Op::power) << to_string(kernel);
    }
  }
}

TEST(ControlFlow, ABranchOfSmallBranchesIsOneFunction) {
  const auto compilation = compiled(R"(graph main(%0: i32[], %1: S) {
  %2: S = case %0, %1 graph b0(%0: S) {
    %1: S = negate %0
    return %1
  } graph b1(%0: S) {
    return %0
  }
  return %2
})",
                                    "f32[8]");
  const std::string text = dump(compilation, Stage::schedule);
  EXPECT_NE(text.find("branch case2(%0, %1, out %2, out %2.workspace) is_whole=true"), text.npos)
      << text;
  EXPECT_NE(text.find("program case2.branch1 {"), text.npos) << text;
}

}  // namespace
}  // namespace anabranch
