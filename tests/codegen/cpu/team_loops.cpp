// Loops that several threads run as a team, against the interpreter.
#include "codegen/cpu/team_loops.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "codegen/compile.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"

namespace anabranch {
namespace {

// Integers, whose results are exact; the second kernel of a turn reads what another thread wrote.
constexpr const char* waves = R"(graph main(%0: ALL, %1: ALL) {
  %2: i32[] = constant 0
  %3: i32[], %4: ALL, %5: ALL = while %2, %0, %1 graph c(%0: i32[], %1: ALL, %2: ALL) {
    %3: i32[] = constant 60
    %4: bool[] = compare %0, %3 direction=lt
    return %4
  } graph b(%0: i32[], %1: ALL, %2: ALL) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
    %5: i32[] = constant 3
    %6: INNER = slice %1 FIRST
    %7: INNER = slice %1 LAST
    %8: INNER = add %6, %7
    %9: ALL = pad %8, %5 low=[1] high=[1] interior=[0]
    %10: ALL = multiply %9, %2
    %11: INNER = slice %10 FIRST
    %12: INNER = slice %10 LAST
    %13: INNER = subtract %11, %12
    %14: ALL = pad %13, %5 low=[1] high=[1] interior=[0]
    return %4, %14, %2
  }
  return %4
})";

std::string with(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at; (at = text.find(what)) != text.npos;) text.replace(at, what.size(), by);
  return text;
}

TEST(TeamLoops, EqualTheInterpreter) {
  for (const std::int64_t size : {40'001, 65'536, 100'003}) {
    const std::string all = "i32[" + std::to_string(size) + "]";
    const std::string inner = "i32[" + std::to_string(size - 2) + "]";
    std::string text = with(waves, "ALL", all);
    text = with(text, "INNER", inner);
    text = with(text, "FIRST", "start=[0] limit=[" + std::to_string(size - 2) + "] stride=[1]");
    text = with(text, "LAST", "start=[2] limit=[" + std::to_string(size) + "] stride=[1]");
    const Graph graph = parse(text);
    std::vector<std::int32_t> values(static_cast<std::size_t>(size)), factors(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<std::int32_t>(i % 17) - 8;
      factors[i] = static_cast<std::int32_t>(i % 5);
    }
    const Shape shape({size});
    const std::vector<Literal> inputs = {
        Literal::of(std::span<const std::int32_t>(values), shape),
        Literal::of(std::span<const std::int32_t>(factors), shape)};
    Options options;
    options.device = Device::cpu();
    const Compilation compilation = compile(graph, options);
    std::vector<Buffer> buffers;
    for (const Literal& input : inputs) {
      buffers.push_back(copy_to_device(options.device, input.bytes()));
    }
    for (const Step& step : compilation.program().steps) {
      const auto* loop = std::get_if<LoopStep>(&step.work);
      EXPECT_TRUE(!loop || loop->is_whole);
    }
    const Literal expected = interpret(graph, inputs)[0];
    for (int run_number = 0; run_number < 20; ++run_number) {
      const std::vector<Buffer> outputs = run(compilation, buffers);
      ASSERT_EQ(read_literal(outputs[0], expected.type()), expected) << size;
    }
  }
}

}  // namespace
}  // namespace anabranch
