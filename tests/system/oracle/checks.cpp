// Programs whose checks fail for some inputs, compiled and interpreted: the same values, or the
// same message.
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "anabranch/error.h"
#include "codegen/compile.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "passes/transform/batch.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"

namespace anabranch {
namespace {

using Outcome = std::variant<std::vector<Literal>, std::string>;

template <class Run>
Outcome outcome_of(const Run& run) {
  try {
    return run();
  } catch (const Error& error) {
    return std::string(error.what());
  }
}

std::vector<Literal> compiled(const Graph& graph, const Options& options,
                              const std::vector<Literal>& inputs) {
  const Compilation compilation = compile(graph, options);
  std::vector<Buffer> buffers;
  for (const Literal& input : inputs)
    buffers.push_back(copy_to_device(options.device, input.bytes()));
  const std::vector<Buffer> results = run(compilation, std::move(buffers));
  std::vector<Literal> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    outputs.push_back(read_literal(results[i], graph.type(graph.outputs()[i])));
  }
  return outputs;
}

// Of two numbers from 0 to 5.
const char* const programs[] = {
    // Two checks, one behind the other, each with two messages.
    R"(graph two(%0: i32[], %1: i32[]) {
         %2: i32[] = constant 3
         %3: i32[] = subtract %0, %2
         %4: i32[] = check %3, %1 messages=[a,b]
         %5: i32[] = subtract %1, %2
         %6: i32[], %7: i32[] = check %5, %4, %0 messages=[c,d]
         return %6, %7
       })",
    // In the condition and in the body of a loop that counts, and in one within it that does not.
    R"(graph loops(%0: i32[], %1: i32[]) {
         %2: i32[] = constant 0
         %3: i32[], %4: i32[], %5: i32[] = while %2, %2, %0, %1 graph condition(%0: i32[], %1: i32[], %2: i32[], %3: i32[]) {
           %4: i32[] = constant 4
           %5: bool[] = compare %1, %4 direction=ge
           %6: i32[] = convert %5
           %7: bool[] = compare %0, %2 direction=lt
           %8: bool[] = check %6, %7 messages=[condition]
           return %8
         } graph body(%0: i32[], %1: i32[], %2: i32[], %3: i32[]) {
           %4: i32[] = constant 1
           %5: i32[] = add %0, %4
           %6: bool[] = compare %0, %3 direction=gt
           %7: i32[] = convert %6
           %8: i32[], %9: i32[] = while %1, %3 graph inner_condition(%0: i32[], %1: i32[]) {
             %2: bool[] = compare %0, %1 direction=ne
             return %2
           } graph inner_body(%0: i32[], %1: i32[]) {
             %2: i32[] = constant 1
             %3: i32[] = add %0, %2
             %4: bool[] = compare %0, %1 direction=gt
             %5: i32[] = convert %4
             %6: i32[] = check %5, %3 messages=[inner]
             return %6, %1
           }
           %10: i32[] = add %8, %4
           %11: i32[], %12: i32[] = check %7, %5, %10 messages=[body]
           return %11, %12, %2
         }
         return %4
       })",
    // In branches, one of them in a loop.
    R"(graph branches(%0: i32[], %1: i32[]) {
         %2: i32[] = constant 0
         %3: i32[], %4: i32[] = while %2, %2, %0, %1 graph condition(%0: i32[], %1: i32[], %2: i32[], %3: i32[]) {
           %4: bool[] = compare %0, %2 direction=lt
           return %4
         } graph body(%0: i32[], %1: i32[], %2: i32[], %3: i32[]) {
           %4: i32[] = constant 1
           %5: i32[] = add %0, %4
           %6: i32[] = case %1, %0, %3 graph zero(%0: i32[], %1: i32[]) {
             return %1
           } graph one(%0: i32[], %1: i32[]) {
             %2: bool[] = compare %0, %1 direction=gt
             %3: i32[] = convert %2
             %4: i32[] = check %3, %1 messages=[one]
             return %4
           } graph more(%0: i32[], %1: i32[]) {
             %2: i32[] = constant 2
             %3: i32[] = subtract %0, %2
             %4: i32[] = check %3, %0 messages=["more by one","more by two","more by three"]
             return %4
           }
           return %5, %6
         }
         return %4
       })",
};

class Checks : public ::testing::TestWithParam<const char*> {};

TEST_P(Checks, CompiledFailAsInterpreted) {
  const Graph graph = parse(GetParam());
  Options unfused;
  unfused.disabled = {"fuse", "simplify_control_flow"};
  int failures = 0;
  for (std::int32_t a = 0; a < 6; ++a) {
    for (std::int32_t b = 0; b < 6; ++b) {
      const std::vector<Literal> inputs = {Literal::scalar(a), Literal::scalar(b)};
      const Outcome expected = outcome_of([&] { return interpret(graph, inputs); });
      failures += static_cast<int>(expected.index());
      EXPECT_EQ(outcome_of([&] { return compiled(graph, {}, inputs); }), expected) << a << " " << b;
      EXPECT_EQ(outcome_of([&] { return compiled(graph, unfused, inputs); }), expected)
          << a << " " << b;
    }
  }
  EXPECT_GT(failures, 3);
  EXPECT_LT(failures, 33);
}

// A batch fails where one of its elements alone would.
TEST_P(Checks, BatchedFailWhereAnElementDoes) {
  const Graph graph = parse(GetParam());
  const Graph both = batch(graph, 2, {true, true}, std::vector(graph.outputs().size(), true)).graph;
  for (std::int32_t a = 0; a < 6; ++a) {
    for (std::int32_t b = 0; b < 6; ++b) {
      const auto fails = [&](std::int32_t x, std::int32_t y) {
        const std::vector<Literal> inputs = {Literal::scalar(x), Literal::scalar(y)};
        return outcome_of([&] { return interpret(graph, inputs); }).index() == 1;
      };
      const std::int32_t as[] = {a, 1}, bs[] = {b, 1};
      const std::vector<Literal> inputs = {Literal::of(std::span<const std::int32_t>(as), {2}),
                                           Literal::of(std::span<const std::int32_t>(bs), {2})};
      const bool expected = fails(a, b) || fails(1, 1);
      EXPECT_EQ(outcome_of([&] { return compiled(both, {}, inputs); }).index() == 1, expected)
          << a << " " << b;
      EXPECT_EQ(outcome_of([&] { return interpret(both, inputs); }).index() == 1, expected)
          << a << " " << b;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Checks, ::testing::ValuesIn(programs));

}  // namespace
}  // namespace anabranch
