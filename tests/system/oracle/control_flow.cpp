// Loops, branches and slices at places known later, run in every way: small ones become one native
// function, large ones go through the executor.
#include <gtest/gtest.h>

#include <string>

#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "tests/support/flows.h"
#include "tests/support/random_literal.h"
#include "ways.h"

namespace anabranch {
namespace {

class ControlFlow : public testing::TestWithParam<Flow> {};

TEST_P(ControlFlow, GivesWhatTheInterpreterGives) {
  // Blocks have their types in the text. Elsewhere arrays may be less than a vector, or just one.
  std::vector<std::string> types = {"i32[5,6]", "i32[5,3]", "i32[500,301]"};
  if (std::string(GetParam().text).find("dynamic") == std::string::npos) {
    types.insert(types.end(), {"i32[3,4]", "i32[1,2]", "i32[1,3]", "i32[3,5]", "i64[1,7]",
                               "i64[5,6]", "i8[3,11]", "i8[8,8]", "i16[31,1]", "i32[0,3]"});
  }
  for (const std::string& type : types) {
    const Graph graph = parse(with_type(GetParam().text, type));
    for (std::uint64_t seed : {1, 2}) {
      Random random(seed);
      std::vector<Literal> inputs;
      for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
        const Type& in = graph.parameter_type(i);
        inputs.push_back(in.rank() == 0 ? Literal::scalar(static_cast<std::int32_t>(seed - 1))
                                        : random_literal(random, in, Flavour::ordinary));
      }
      const std::vector<Literal> expected = interpret(graph, inputs);
      for (const Way& way : ways()) {
        const std::vector<Literal> found = way.run({graph, inputs});
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t k = 0; k < found.size(); ++k) {
          EXPECT_TRUE(found[k] == expected[k])
              << way.name << ", " << type << ", output " << k << ", seed " << seed;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, ControlFlow, testing::ValuesIn(flows),
                         [](const auto& flow) { return std::string(flow.param.name); });

}  // namespace
}  // namespace anabranch
