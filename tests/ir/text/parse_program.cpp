#include <gtest/gtest.h>

#include <random>
#include <string>

#include "anabranch/error.h"
#include "ir/custom_call.h"
#include "ir/program/binary.h"
#include "ir/text/parse.h"

namespace anabranch {
namespace {

// Every kind of step and of line.
const std::string whole =
    R"(kernel twice(in in0: f32[4], out out0: f32[4]) bytes_read=16 bytes_written=16 operations=4 {
  for i < 4 parallel {
    %0: f32 = load in0[%i]
    %1: f32 = add %0, %0
    store out0[%i] = %1
  }
}

kernel bias(in in0: f32[6], out out0: f32[6]) {
  for i < 6 parallel {
    %0: f32 = load in0[%i]
    store out0[%i] = %0
  }
}

program "every kind" {
  device cpu:0 arena_bytes=576 live_bytes=512
  device cpu:1 arena_bytes=64 live_bytes=64
  %0: f32[4] = input 0
  %1: i32[] = input 1
  %2: f32[4] = constant 0
  %3: f32[2,2] = constant 1
  %4: f32[4] = temporary at 0
  %5: f32[4] = temporary at 0 on cpu:1
  %6: f32[4] = temporary at 64
  %7: f32[2,3] = output 1
  %8: u8[64] = temporary at 448
  %9: f32[4] = temporary at 128
  %9.workspace: u8[64] = temporary at 192
  %10: f32[4] = temporary at 256
  %10.workspace: u8[0] = temporary at 0
  %11: f32[4] = output 0
  %12: f32[2,3] = input 2
  constant 0: f32[4] = [1, -0, nan, inf]
  constant 1: f32[2,2] = 0.5
  kernel twice(%0, out %4) kernel=0 in_place=[%0 -> %4] bytes_read=16 bytes_written=16 operations=4 predicted_ns=12.5 parallelism=1 location="model.cpp:7 in encoder"
  transfer send(%4, out %5) bytes_read=16 bytes_written=16 operations=0 predicted_ns=20 parallelism=1
  call solve.6(%5, out %6) op=custom_call operands=[f32[4]] name=parse_program_solve results=[f32[4]] title="custom_call parse_program_solve" bytes_read=16 bytes_written=16 operations=0 predicted_ns=10000 parallelism=1
  pack dot7_pack(%3, out %8) lhs=f32[2,2] rhs=f32[2,3] result=f32[2,3] lhs_contracting=[1] rhs_contracting=[0] packed=0 activation=none bytes_read=16 bytes_written=64 operations=0 predicted_ns=5 parallelism=1
  dot dot7(%8, %12, out %7) lhs=f32[2,2] rhs=f32[2,3] result=f32[2,3] lhs_contracting=[1] rhs_contracting=[0] epilogue={kernel=1 inputs=0 outputs=1 in_place=true} packed=0 activation=relu tf32=true finishes=[1] lets_go=[1] bytes_read=40 bytes_written=24 operations=24 predicted_ns=30 parallelism=1
  loop while9(%6, out %9, out %9.workspace) written=[0] rotation=[0] in_place=[%6 -> %9] bytes_read=32 bytes_written=32 operations=4 predicted_ns=10000 parallelism=1 {
    program while9.condition {
      device cpu:0 arena_bytes=0 live_bytes=0
      %0: f32[4] = input 0
      %1: bool[] = constant 0
      %2: bool[] = output 0
      constant 0: bool[] = false
      copy copy0(%1, out %2) finishes=[0] bytes_read=1 bytes_written=1 operations=0 predicted_ns=1 parallelism=1
      stream 0 on cpu:0 {
        launch copy0
      }
      return %2
    }
    program while9.body {
      device cpu:0 arena_bytes=0 live_bytes=0
      %0: f32[4] = input 0
      %1: f32[4] = output 0
      kernel while9.body.twice(%0, out %1) kernel=0 in_place=[%0 -> %1] finishes=[0] bytes_read=16 bytes_written=16 operations=4 predicted_ns=1 parallelism=1
      stream 0 on cpu:0 {
        launch while9.body.twice
      }
      return %1
    }
  }
  branch case10(%1, %9, out %10, out %10.workspace) is_whole=true bytes_read=16 bytes_written=16 operations=4 predicted_ns=10 parallelism=1 {
    program case10.branch0 {
      device cpu:0 arena_bytes=0 live_bytes=0
      %0: f32[4] = input 0
      %1: f32[4] = output 0
      copy copy0(%0, out %1) bytes_read=16 bytes_written=16 operations=0 predicted_ns=1 parallelism=1
      stream 0 on cpu:0 {
        launch copy0
      }
      return %1
    }
  }
  copy copy0(%10, out %11) in_place=[%10 -> %11] finishes=[0] lets_go=[0] bytes_read=16 bytes_written=16 operations=0 predicted_ns=3 parallelism=1
  stream 0 on cpu:0 {
    launch twice
    record e0
    wait e1
    launch solve.6
    launch while9
    launch case10
    launch copy0
  }
  stream 1 on cpu:1 copy {
    wait e0
    launch send
    record e1
  }
  stream 2 on cpu:0 {
    launch dot7_pack
    launch dot7
  }
  events 2
  output 0 over input 0
  degradation "1 stream fewer"
  predicted 33.5 ns [twice 12.5, send 20]
  return %11, %7
}
)";

void solve(const CustomCall&) {}

class ParseProgram : public ::testing::Test {
 protected:
  ParseProgram() { register_custom_call("parse_program_solve", solve); }
};

std::string error_of(const std::string& text) {
  try {
    parse_program(text);
  } catch (const Error& error) {
    const std::string what = error.what();
    return what.substr(0, what.find('\n'));
  }
  return "none";
}

TEST_F(ParseProgram, ReadsWhatIsPrinted) {
  const Program program = parse_program(whole);
  EXPECT_EQ(to_string(program), whole);
  EXPECT_EQ(program.kernels.size(), 2u);
  EXPECT_EQ(program.steps[0].cost, (Cost{16, 16, 4}));
  EXPECT_EQ(to_string(program.steps[0].location), "model.cpp:7 in encoder");
  EXPECT_EQ(program.prediction.critical_path[1].step, 1u);
}

TEST_F(ParseProgram, ReadsAProgramThatIsNotScheduled) {
  const std::string text = R"(program {
  device null:3 arena_bytes=0 live_bytes=0
  %0: f32[4] = input 0
  %1: f32[4] = temporary
  %2: f32[4] = output 0
  copy a(%0, out %1) bytes_read=0 bytes_written=0 operations=0 predicted_ns=0 parallelism=1
  copy b(%1, out %2) bytes_read=0 bytes_written=0 operations=0 predicted_ns=0 parallelism=1
  return %2
}
)";
  const Program program = parse_program(text);
  EXPECT_TRUE(program.streams.empty());
  EXPECT_EQ(to_string(program), text);
}

TEST_F(ParseProgram, TheOutlineLeavesOutKernelsAndValues) {
  const std::string text = to_string(parse_program(whole), ProgramText::outline());
  EXPECT_EQ(text.find("kernel twice(in "), text.npos);
  EXPECT_NE(text.find("  constant 0: f32[4]\n"), text.npos);
  EXPECT_NE(text.find("predicted_ns=13 "), text.npos);  // 12.5
}

struct Wrong {
  const char* what;
  const char* good;  // a part of `whole`
  const char* bad;   // in its place
  const char* error;
};

constexpr Wrong wrongs[] = {
    {"NoProgram", "program \"every kind\"", "graph", "expected 'program', found 'graph'"},
    {"TwoSlotsOfAName", "%6: f32[4] = temp", "%5: f32[4] = temp", "%5 is defined already"},
    {"NoSuchSlot", "twice(%0, out %4)", "twice(%0, out %44)", "there is no slot %44"},
    {"NoSuchStep", "launch send", "launch sent", "there is no step sent"},
    {"TwoStepsOfAName", "transfer send(", "transfer twice(", "twice is defined already"},
    {"AnUnknownKind", "transfer send(", "move send(",
     "expected a device, a slot, a constant, a step, a stream or 'return', in this order, found "
     "'move'"},
    {"AnUnknownField", "predicted_ns=12.5", "ns=12.5",
     "unknown attribute 'ns'; twice takes kernel"},
    {"AFieldTooFew", "kernel=0 in_place=[%0 -> %4]", "in_place=[%0 -> %4]",
     "expected kernel=... after twice"},
    {"NoSuchKernel", "kernel=0 in_place=[%0 -> %4]", "kernel=2 in_place=[%0 -> %4]",
     "twice runs kernel 2, which does not exist"},
    {"AKernelOfOtherSizes", "in in0: f32[4], out", "in in0: f32[5], out",
     "twice needs f32[5] in %0, which is f32[4]"},
    {"AStepThatHidesItsWrite", "twice(%0, out %4)", "twice(%0, %4)",
     "twice does not say that twice"},
    {"AProductOfOtherSizes",
     "lhs=f32[2,2] rhs=f32[2,3] result=f32[2,3] lhs_contracting=[1] "
     "rhs_contracting=[0] epilogue",
     "lhs=f32[2,2] rhs=f32[2,3] result=f32[3,3] lhs_contracting=[1] rhs_contracting=[0] epilogue",
     "dot7 says f32[3,3], and the product is f32[2,3]"},
    {"OutsideTheArena", "temporary at 448", "temporary at 513", "%8 lies outside the arena"},
    {"FarOutsideTheArena", "temporary at 448", "temporary at 18446744073709551615",
     "does not fit in 64 bits"},
    {"AMissingWait", "    wait e0\n", "", "which are not ordered"},
    {"AnEventTooMany", "events 2", "events 4000000000", "4000000000 events, and "},
    {"NoEvent", "wait e1", "wait 1", "expected an event, such as e0, found '1'"},
    {"AStreamOfNoDevice", "stream 1 on cpu:1", "stream 1 on cpu:2", "cpu:2 is no device of the"},
    {"AStreamOutOfOrder", "stream 1 on", "stream 2 on", "streams stand in their order"},
    {"AnInputOutOfOrder", "= input 1", "= input 2", "inputs stand in their order"},
    {"AConstantOfAnotherType", "constant 0: f32[4] = [1, -0, nan, inf]", "constant 0: f32[2] = 1",
     "%2 is not of the type of its constant"},
    {"AConstantWithoutValue", " = [1, -0, nan, inf]", "", "expected '=' and what the constant"},
    {"ALoopWithoutABody",
     "launch copy0\n      }\n      return %2\n    }\n    program while9.body {",
     "launch copy0\n      }\n      return %2\n    }\n  }\n  loop x() {\n    program b {",
     "a loop runs a condition and a body"},
    {"ALoopThatLosesItsCarry", "written=[0] rotation=[0]", "written=[1] rotation=[0]",
     "while9 writes a place that does not exist"},
    {"ACallOfWhatIsNoCall",
     "op=custom_call operands=[f32[4]] name=parse_program_solve results=[f32[4]]",
     "op=abs operands=[f32[4]]", "solve.6 calls abs, which is no call"},
    {"ACallOfNoOp", "op=custom_call", "op=invert", "unknown op 'invert'"},
    {"ACallWithoutAnOp", "op=custom_call ", "", "expected op=..."},
    {"ACallOfOtherResults", "name=parse_program_solve results=[f32[4]]",
     "name=parse_program_solve results=[f32[4],f32[4]]", "solve.6 has 2 buffers instead of 3"},
    {"ALocationWithoutALine", "location=\"model.cpp:7 in", "location=\"model.cpp: in",
     "location is a file and a line, not 'model.cpp: in encoder'"},
    {"ALocationOfTooManyLines", "location=\"model.cpp:7 in", "location=\"model.cpp:99999999999 in",
     "location is a file and a line, not 'model.cpp:99999999999 in encoder'"},
    {"AnUnknownCustomCall", "name=parse_program_solve", "name=parse_program_solve function=7",
     "parse_program_solve"},
};

class WrongProgram : public ::testing::TestWithParam<Wrong> {
 protected:
  WrongProgram() { register_custom_call("parse_program_solve", solve); }
};

TEST_P(WrongProgram, IsRefused) {
  std::string text = whole;
  const auto at = text.find(GetParam().good);
  ASSERT_NE(at, text.npos);
  text.replace(at, std::string(GetParam().good).size(), GetParam().bad);
  const std::string error = error_of(text);
  EXPECT_NE(error.find(GetParam().error), error.npos) << error;
  EXPECT_EQ(error.find("line "), 0u) << error;
}

INSTANTIATE_TEST_SUITE_P(ParseProgram, WrongProgram, testing::ValuesIn(wrongs),
                         [](const auto& tested) { return std::string(tested.param.what); });

// Whatever stands there ends in a program or in an Error.
// Two and both of its epilogue's numbers come to 0 in 64 bits.
TEST_F(ParseProgram, RefusesAnEpilogueOfMoreBuffersThanThereAre) {
  const std::string text =
      "program p {\n  device cpu:0 arena_bytes=0 live_bytes=0\n"
      "  dot d() lhs=f32[2,2] rhs=f32[2,2] result=f32[2,2] lhs_contracting=[1] rhs_contracting=[0] "
      "epilogue={kernel=0 inputs=9223372036854775807 outputs=9223372036854775807} activation=none "
      "bytes_read=0 bytes_written=0 operations=0 predicted_ns=0 parallelism=1\n  return\n}\n";
  const std::string error = error_of(text);
  EXPECT_NE(error.find("d has 0 buffers, and its epilogue 9223372036854775807 inputs"), error.npos)
      << error;
}

TEST_F(ParseProgram, SurvivesMutatedText) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (std::size_t k = 0, changes = 1 + below(3); k < changes; ++k) {
      const std::size_t from = below(text.size()), to = below(text.size());
      const std::size_t count = 1 + below(12);
      switch (below(3)) {
        case 0:
          text.erase(from, count);
          break;
        case 1:
          text.insert(to, text.substr(from, count));
          break;
        default:
          text[from] = text[to];
      }
    }
    error_of(text);
  }
}

TEST_F(ParseProgram, TheBinaryFormReadsBack) {
  Program program = parse_program(whole);
  program.kernels[1].graph_text = "graph(%0: f32[6]) { return %0 }";
  const std::string bytes = to_binary(program);
  const Program read = program_from_binary(bytes);
  EXPECT_EQ(to_string(read), whole);
  EXPECT_EQ(read.constants, program.constants);
  EXPECT_EQ(read.kernels[1].graph_text, program.kernels[1].graph_text);
  EXPECT_EQ(to_binary(read), bytes);
}

TEST_F(ParseProgram, DamagedBytesAreNoProgram) {
  const std::string bytes = to_binary(parse_program(whole));
  const auto error_of = [](const std::string& damaged) -> std::string {
    try {
      program_from_binary(damaged);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(error_of(damaged).find("a program's binary form "), 0u) << "byte " << i;
  }
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_EQ(error_of(bytes.substr(0, size)).find("a program's binary form is "), 0u) << size;
  }
  EXPECT_EQ(error_of(bytes + "x"), "a program's binary form is not as long as it says");
  EXPECT_EQ(error_of("GIF89a"), "a program's binary form is truncated");
}

}  // namespace
}  // namespace anabranch
