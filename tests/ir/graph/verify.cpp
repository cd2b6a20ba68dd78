#include "ir/graph/verify.h"

#include <gtest/gtest.h>

#include "anabranch/error.h"
#include "ir/text/parse.h"

namespace anabranch {

// Opens a graph that the builder has closed, so that it can be broken.
struct BrokenGraph {
  Graph graph;

  std::vector<Node>& nodes() {
    auto own = std::make_shared<std::vector<Node>>(*graph.nodes_);
    graph.nodes_ = own;
    return *own;
  }
  std::vector<Value>& outputs() { return graph.outputs_; }
  std::size_t& parameter_count() { return graph.parameter_count_; }
};

namespace {

const char* const text = R"(graph f(%0: f32[4,3]) {
  %1: f32[4,3] = tanh %0
  %2: f32[4] = fusion %1 kind=reduction graph(%0: f32[4,3]) {
    %1: f32[4] = reduce_sum %0 axes=[1]
    return %1
  }
  return %2
}
)";

TEST(Verify, AcceptsWhatTheBuilderMakes) { EXPECT_NO_THROW(verify(parse(text))); }

struct Break {
  const char* name;
  void (*apply)(BrokenGraph&);
  const char* message;
};

const Break breaks[] = {
    {"UseBeforeDefinition", [](BrokenGraph& g) { g.nodes()[1].inputs[0].node = 2; },
     "%1 (tanh) uses node 2, result 0, which does not come before it"},
    {"UseOfItself", [](BrokenGraph& g) { g.nodes()[1].inputs[0].node = 1; },
     "%1 (tanh) uses node 1"},
    {"UseOfNothing", [](BrokenGraph& g) { g.nodes()[1].inputs[0].node = 77; }, "uses node 77"},
    {"UseOfAResultThatIsNot", [](BrokenGraph& g) { g.nodes()[1].inputs[0].result = 3; },
     "result 3"},
    {"OutputOfNothing", [](BrokenGraph& g) { g.outputs()[0].node = 9; },
     "an output is node 9 of 3"},
    {"WrongType", [](BrokenGraph& g) { g.nodes()[1].types[0].dtype = Dtype::f64; },
     "%1 (tanh) states f64[4,3], and its operands give f32[4,3]"},
    {"NoResults", [](BrokenGraph& g) { g.nodes()[2].types.clear(); }, "has no results"},
    {"RefusedOperand", [](BrokenGraph& g) { g.nodes()[0].types[0].dtype = Dtype::i32; },
     "%1 (tanh) is refused: tanh: takes floating-point numbers: i32[4,3]"},
    {"WrongAttributes", [](BrokenGraph& g) { g.nodes()[1].attributes = AxisAttributes{}; },
     "tanh needs NoAttributes"},
    {"MissingRegion", [](BrokenGraph& g) { g.nodes()[2].regions.clear(); }, "given 0 regions"},
    {"ParameterBehind", [](BrokenGraph& g) { g.parameter_count() = 0; },
     "parameters are the first"},
    {"NodeAmongParameters", [](BrokenGraph& g) { g.parameter_count() = 2; },
     "%1 (tanh) breaks the rule that the parameters are the first nodes"},
    {"TooManyParameters", [](BrokenGraph& g) { g.parameter_count() = 4; },
     "counts more parameters than it has nodes"},
    {"FusionOfAnotherKind",
     [](BrokenGraph& g) { g.nodes()[2].attributes = FusionAttributes{FusionKind::dot}; },
     "%2 (fusion) is refused: fusion: the region is no dot group"},
    {"FusionThatReturnsItsOperand",
     [](BrokenGraph& g) {
       BrokenGraph region{g.nodes()[2].regions[0]};
       region.outputs()[0].node = 0;
       g.nodes()[2].regions[0] = region.graph;
     },
     "%2 (fusion) is refused: fusion: the region cannot be one kernel: it hands on an operand"},
    {"BrokenRegion",
     [](BrokenGraph& g) {
       BrokenGraph region{g.nodes()[2].regions[0]};
       region.nodes()[1].types[0] = Type{f32, {9}};
       g.nodes()[2].regions[0] = region.graph;
     },
     "%1 (reduce_sum) states f32[9], and its operands give f32[4]"},
};

class VerifyBreaks : public testing::TestWithParam<Break> {};

TEST_P(VerifyBreaks, AreNamed) {
  BrokenGraph broken{parse(text)};
  GetParam().apply(broken);
  try {
    verify(broken.graph);
    FAIL() << "nothing was found wrong";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos)
        << error.what();
    EXPECT_EQ(error.stage(), "verify");
  }
}

INSTANTIATE_TEST_SUITE_P(All, VerifyBreaks, testing::ValuesIn(breaks),
                         [](const auto& info) { return info.param.name; });

TEST(Verify, ShowsTheGraph) {
  BrokenGraph broken{parse(text)};
  broken.nodes()[1].types[0].dtype = Dtype::f64;
  try {
    verify(broken.graph);
    FAIL() << "nothing was found wrong";
  } catch (const InternalError& error) {
    EXPECT_NE(error.dump().find("%1: f64[4,3] = tanh %0"), std::string::npos) << error.dump();
  }
}

}  // namespace
}  // namespace anabranch
