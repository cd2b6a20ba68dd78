// What tracing records.
#include <map>
#include <sstream>

#include "ir/text/parse.h"
#include "tests/support/values.h"

namespace {

TEST(Trace, RecordsTheFunctionAsAGraph) {
  auto layer = [](ab::Array w, ab::Array x) { return ab::tanh(ab::matmul(x, w)); };
  ab::Graph graph = ab::trace(layer, ab::spec(ab::f32, {128, 32}), ab::spec(ab::f32, {64, 128}));
  EXPECT_EQ(to_string(graph, false),
            "graph main(%0: f32[128,32], %1: f32[64,128]) {\n"
            "  %2: f32[64,32] = dot %1, %0 lhs_contracting=[1] rhs_contracting=[0]\n"
            "  %3: f32[64,32] = tanh %2\n"
            "  return %3\n"
            "}\n");
}

TEST(Trace, NodesKnowTheUsersLine) {
  int line = 0;
  ab::Graph graph = ab::trace(
      [&](ab::Array a, ab::Array b) {
        line = __LINE__ + 1;
        ab::Array sum = a + b;
        ab::Array twice = 2 * sum;
        ab::Array flat = ab::sum(twice, 0, ab::keepdims);
        return ab::softmax(flat.astype(ab::f64));
      },
      ab::spec(ab::f32, {3}), ab::spec(ab::f32, {3}));
  auto line_of = [&](ab::Op op) {
    for (const ab::Node& node : graph.nodes()) {
      if (node.op == op) return static_cast<int>(node.location.line) - line;
    }
    return -1;
  };
  EXPECT_EQ(line_of(ab::Op::add), 0);
  EXPECT_EQ(line_of(ab::Op::multiply), 1);
  EXPECT_EQ(line_of(ab::Op::reduce_sum), 2);
  EXPECT_EQ(line_of(ab::Op::convert), 3);
  EXPECT_EQ(line_of(ab::Op::exponential), 3);
  for (const ab::Node& node : graph.nodes()) {
    if (node.op == ab::Op::parameter) continue;
    EXPECT_EQ(to_string(node.location).rfind("trace.cpp:", 0), 0u);
  }
}

ab::Array scoped_layer(ab::Array x) {
  auto layer = ab::named_scope("layer1");
  return ab::tanh(x);
}

TEST(Trace, NodesKnowTheScopesAroundThem) {
  auto network = [](ab::Array x) {
    ab::Array hidden = [&] {
      auto encoder = ab::named_scope("encoder");
      return scoped_layer(x) * 2;
    }();
    return ab::exp(hidden);
  };
  std::map<ab::Op, std::string> scopes;
  const ab::Graph graph = ab::trace(network, ab::spec(ab::f32, {2, 3}));
  for (const ab::Node& node : graph.nodes()) {
    scopes[node.op] = node.location.scope ? node.location.scope : "";
  }
  EXPECT_EQ(scopes[ab::Op::tanh], "encoder/layer1");
  EXPECT_EQ(scopes[ab::Op::multiply], "encoder");
  EXPECT_EQ(scopes[ab::Op::exponential], "");
  EXPECT_NE(ab::to_string(graph).find(" in encoder/layer1\n"), std::string::npos);
  EXPECT_NE(ab::to_dot(graph).find(" in encoder/layer1"), std::string::npos);
  const std::string steps = ab::jit([](ab::Array x) {
                              return scoped_layer(x);
                            }).dump(ab::Stage::schedule, ab::spec(ab::f32, {2, 3}));
  EXPECT_NE(steps.find(" in layer1\"\n"), std::string::npos) << steps;
}

TEST(Trace, AnErrorNamesTheScopeItWasThrownIn) {
  auto scope = ab::named_scope("decoder");
  std::string message;
  try {
    ab::matmul(ab::ones(ab::f32, {2, 3}), ab::ones(ab::f32, {2, 3}));
  } catch (const ab::Error& error) {
    message = error.what();
  }
  EXPECT_TRUE(message.ends_with(" in decoder")) << message;
  EXPECT_THROW((void)ab::named_scope(""), ab::Error);
  EXPECT_THROW((void)ab::named_scope("two\nlines"), ab::Error);
}

TEST(Trace, WhatWasRecordedOutsideBecomesPartOfTheTrace) {
  ab::Array recorded = ab::arange(3, ab::f32) * 2;
  ab::Array memory = ab::array({1.0f, 2.0f, 3.0f});
  ab::Graph graph =
      ab::trace([&](ab::Array x) { return x + recorded * memory; }, ab::spec(ab::f32, {3}));
  std::vector<ab::Op> ops;
  for (const ab::Node& node : graph.nodes()) ops.push_back(node.op);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), ab::Op::iota), 1);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), ab::Op::constant), 2);
  auto f = ab::jit([&](ab::Array x) { return x + recorded * memory; });
  EXPECT_EQ(f(memory).to_vector<float>(), (std::vector<float>{1, 6, 15}));
}

TEST(Trace, NumbersInsideAreConstantsAndNumbersPassedInAreParameters) {
  ab::Graph graph = ab::trace([](ab::Array x, ab::Array rate) { return x * rate + 2; },
                              ab::spec(ab::f32, {}), 0.5);
  EXPECT_EQ(graph.parameter_count(), 2u);
  EXPECT_EQ(graph.parameter_type(1), (ab::Type{ab::f64, {}}));
}

TEST(Trace, JitInsideATraceIsInlined) {
  auto inner = ab::jit([](ab::Array x, ab::Array s) { return ab::tanh(x) * s; });
  ab::Graph graph = ab::trace([&](ab::Array x) { return inner(x, 3) + 1; }, ab::spec(ab::f32, {2}));
  EXPECT_EQ(inner.traces(), 0);
  EXPECT_EQ(graph.type(graph.outputs()[0]), (ab::Type{ab::f32, {2}}));
}

TEST(Trace, TheTextReadsBack) {
  ab::Graph graph = ab::trace([](ab::Array x) { return ab::layer_norm(ab::gelu(x), 2, 1); },
                              ab::spec(ab::f32, {4, 8}));
  EXPECT_EQ(ab::parse(to_string(graph)), graph);
}

TEST(Trace, WhatDescribesAnArrayPrints) {
  const ab::Array x = ab::zeros({64, 128});
  std::ostringstream out;
  out << x.shape() << " " << x.dtype() << " " << x.type() << " " << x.device() << " "
      << ab::Stage::schedule;
  EXPECT_EQ(out.str(), "[64,128] f32 f32[64,128] " + to_string(ab::default_device()) + " schedule");
}

TEST(Trace, AnEmptyResultIsRefused) {
  try {
    ab::trace([](ab::Array x) { return std::pair{x, ab::Array()}; }, ab::spec(ab::f32, {2}));
    FAIL() << "no error";
  } catch (const ab::Error& error) {
    EXPECT_EQ(error.what(),
              "trace: the function's result[1] is an empty Array; give it a value before it "
              "returns, at trace.cpp:" +
                  std::to_string(__LINE__ - 6));
  }
}

}  // namespace
