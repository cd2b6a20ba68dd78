#include <gtest/gtest.h>

#include <string>

#include "anabranch/error.h"
#include "runtime/executor/run.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;
using testing::scheduled;
using testing::values_of;

// Chains side by side, each through one temporary of 1,024 bytes.
FakeProgram wide(int chains) {
  FakeProgram program(128);
  const SlotId in = program.input();
  for (int i = 0; i < chains; ++i) {
    const SlotId middle = program.temporary();
    program.step({in}, middle);
    program.step({middle}, program.output());
  }
  return program;
}

Options limited(std::size_t bytes) {
  Options options;
  options.device = Device::cpu();
  options.streams = 8;
  options.use_all_streams = true;
  options.memory_limit = bytes;
  return options;
}

TEST(MemoryLimit, GivesUpStreams) {
  FakeProgram program = wide(4);
  const Program all = scheduled(program.program(), limited(0));
  EXPECT_EQ(all.streams.size(), 4u);
  EXPECT_EQ(all.arena_bytes(), 4096u);
  EXPECT_EQ(all.degradation, "");
  const Program some = scheduled(program.program(), limited(2048));
  EXPECT_EQ(some.streams.size(), 2u);
  EXPECT_EQ(some.degradation,
            "2 streams fewer, so that temporaries take 2048 bytes instead of 4096; the limit is "
            "2048");
  EXPECT_NE(to_string(some).find("degradation \"2 streams fewer"), std::string::npos);
  EXPECT_EQ(scheduled(program.program(), limited(1024)).streams.size(), 1u);
}

// All chains' first halves, then all second halves.
FakeProgram breadth_first(int chains) {
  FakeProgram program(128);
  const SlotId in = program.input();
  std::vector<SlotId> middles;
  for (int i = 0; i < chains; ++i) {
    middles.push_back(program.temporary());
    program.step({in}, middles.back());
  }
  for (SlotId middle : middles) program.step({middle}, program.output());
  return program;
}

TEST(MemoryLimit, TakesAnotherOrderWhereOneStreamIsNotEnough) {
  FakeProgram program = breadth_first(5);
  Options options = limited(1024);
  options.streams = 1;
  const Program made = scheduled(program.program(), options);
  EXPECT_EQ(made.arena_bytes(), 1024u);
  EXPECT_EQ(made.degradation,
            "another order of the launches, so that temporaries take 1024 bytes instead of 5120; "
            "the limit is 1024");
  EXPECT_NO_THROW(verify(made));
  const auto values = counting(128);
  const auto expected = program.expected({{values}});
  const auto outputs = run(program.executable(made), {buffer_of(Device::cpu(), values)});
  for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(values_of(outputs[i]), expected[i]);
}

TEST(MemoryLimit, SaysHowMuchIsNeededWhereNothingHelps) {
  FakeProgram program = wide(4);
  try {
    scheduled(program.program(), limited(512));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "compile: the temporaries of fake need 1024 bytes on one stream, and "
                 "Options::memory_limit is 512; raise it, or make the arrays smaller");
  }
}

}  // namespace
}  // namespace anabranch
