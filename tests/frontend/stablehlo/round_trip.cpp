// Graphs written as StableHLO and read back mean the same.
#include <anabranch/stablehlo.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "frontend/stablehlo/parser.h"
#include "ir/custom_call.h"
#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "ir/text/print.h"
#include "tests/support/compare.h"
#include "tests/support/random_graph.h"

namespace {

namespace ab = anabranch;

bool is_written(const ab::Graph& graph) {
  for (const ab::Node& node : graph.nodes()) {
    switch (node.op) {
      case ab::Op::transfer:
      case ab::Op::custom_call:
      case ab::Op::check:
        return false;
      default:
        break;
    }
    for (const ab::Graph& region : node.regions) {
      if (!is_written(region)) return false;
    }
  }
  return true;
}

void expect_same_outputs(const ab::GraphCase& given, std::uint64_t seed) {
  const std::string text = ab::stablehlo::to_stablehlo(given.graph);
  const ab::Graph again = ab::stablehlo::parse(text, "again.mlir").function("main").graph();
  const auto expected = ab::interpret(given.graph, given.inputs);
  const auto found = ab::interpret(again, given.inputs);
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(expected[k].type(), found[k].type());
    for (std::int64_t i = 0; i < expected[k].type().size(); ++i) {
      ASSERT_TRUE(ab::is_within(expected[k], found[k], i, 0))
          << "seed " << seed << ", output " << k << ", element " << i << ": "
          << ab::element_to_string(expected[k], i) << " before, "
          << ab::element_to_string(found[k], i) << " after\n"
          << given.graph << text;
    }
  }
}

TEST(StablehloRoundTrip, RandomGraphsMeanTheSame) {
  int written = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const ab::GraphCase given = ab::random_graph(seed);
    if (!is_written(given.graph)) continue;
    ++written;
    try {
      expect_same_outputs(given, seed);
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << given.graph;
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(written, 1000);
}

TEST(StablehloRoundTrip, WritesRandomBitsAsIntegerOps) {
  const ab::Graph graph = ab::parse(
      "graph bits(%0: u64[3,3], %1: u64[3,3]) {\n  %2: u32[3,3] = random_bits %0, %1\n  return "
      "%2\n}\n");
  const std::vector<std::uint64_t> keys = {0, 1, 2, 3, ~0ull, 5, 6, 1ull << 40, 8};
  const std::vector<std::uint64_t> counters = {0, 1, 2, 3, 4, ~0ull, 1ull << 35, 7, 9};
  expect_same_outputs({.graph = graph,
                       .inputs = {ab::Literal::of(std::span(keys), ab::Shape{3, 3}),
                                  ab::Literal::of(std::span(counters), ab::Shape{3, 3})}},
                      0);
}

// StableHLO's conversion to bool looks at real parts alone.
TEST(StablehloRoundTrip, BoolsOfComplexNumbers) {
  const ab::Graph graph =
      ab::parse("graph any(%0: c64[3]) {\n  %1: bool[3] = convert %0\n  return %1\n}\n");
  const std::vector<std::complex<float>> numbers = {{0, 1}, {0, 0}, {2, 0}};
  expect_same_outputs(
      {.graph = graph, .inputs = {ab::Literal::of(std::span(numbers), ab::Shape{3})}}, 0);
}

// LAPACK has columns one after the other: XLA computes something else without these.
TEST(StablehloRoundTrip, SaysHowLapackLaysOutMatrices) {
  const ab::Graph graph = ab::parse(
      "graph svd(%0: f64[2,5,3]) {\n  %1: f64[2,3], %2: f64[2,5,3], %3: f64[2,3,3] = svd %0 "
      "vectors=true full_matrices=false\n  return %1\n}\n");
  const std::string text = ab::stablehlo::to_stablehlo(graph);
  const std::string matrices = "dense<[1, 2, 0]> : tensor<3xindex>";
  EXPECT_NE(text.find("operand_layouts = [" + matrices + "], result_layouts = [" + matrices +
                      ", dense<[1, 0]> : tensor<2xindex>, " + matrices + ", " + matrices +
                      ", dense<[0]> : tensor<1xindex>]"),
            std::string::npos)
      << text;
}

// StableHLO's verifier takes none of these ops on these types.
TEST(StablehloRoundTrip, OpsThatStablehloHasOfOtherTypes) {
  const ab::Graph graph = ab::parse(
      "graph others(%0: u8[3], %1: bool[4], %2: bool[4], %3: c64[4], %4: c128[4]) {\n"
      "  %5: u8[3] = abs %0\n"
      "  %6: u8[3] = sign %0\n"
      "  %7: bool[4] = popcnt %1\n"
      "  %8: bool[4] = count_leading_zeros %1\n"
      "  %9: bool[4] = shift_left %1, %2\n"
      "  %10: bool[4] = shift_right_arithmetic %1, %2\n"
      "  %11: bool[4] = shift_right_logical %1, %2\n"
      "  %12: bool[4] = is_finite %3\n"
      "  %13: bool[4] = is_finite %4\n"
      "  return %5, %6, %7, %8, %9, %10, %11, %12, %13\n}\n");
  const std::vector<std::uint8_t> bytes = {0, 1, 200};
  const bool x[] = {false, false, true, true}, y[] = {false, true, false, true};
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<std::complex<float>> narrow = {{1, 2}, {inf, 0}, {0, -inf}, {inf, inf}};
  const std::vector<std::complex<double>> wide = {{0, NAN}, {1e300, -1e300}, {NAN, 0}, {0, 0}};
  expect_same_outputs({.graph = graph,
                       .inputs = {ab::Literal::of(std::span(bytes), ab::Shape{3}),
                                  ab::Literal::of(std::span<const bool>(x), ab::Shape{4}),
                                  ab::Literal::of(std::span<const bool>(y), ab::Shape{4}),
                                  ab::Literal::of(std::span(narrow), ab::Shape{4}),
                                  ab::Literal::of(std::span(wide), ab::Shape{4})}},
                      0);
  const std::string text = ab::stablehlo::to_stablehlo(graph);
  for (const char* op : {"abs", "sign", "popcnt", "count_leading_zeros", "shift_"}) {
    EXPECT_EQ(text.find(std::string("stablehlo.") + op), text.npos) << text;
  }
}

TEST(StablehloRoundTrip, NamesAreEscaped) {
  const std::string name = "a\"b\\c\nd\xc3\xa9 e@";
  ab::GraphBuilder builder(name);
  const ab::Graph named = builder.build({builder.parameter({ab::f32, {1}})});
  const std::string text = ab::stablehlo::to_stablehlo(named);
  EXPECT_TRUE(text.starts_with("module @\"a\\22b\\\\c\\0Ad\\C3\\A9 e@\" {")) << text;
  EXPECT_EQ(ab::stablehlo::parse_module(ab::stablehlo::SourceText(text, "again.mlir")).name, name);

  ab::register_custom_call("a\"b", [](const ab::CustomCall&) {});
  const ab::Graph calling = ab::parse(
      "graph g(%0: f32[4]) {\n  %1: f32[4] = custom_call %0 name=\"a\\\"b\" results=[f32[4]]\n"
      "  return %1\n}\n");
  EXPECT_NE(ab::stablehlo::to_stablehlo(calling).find("custom_call @\"a\\22b\"("),
            std::string::npos);
}

TEST(StablehloRoundTrip, NamesWhatItCannotWrite) {
  const ab::Graph graph = ab::parse(
      "graph moved(%0: f32[4]) {\n  %1: f32[4] = transfer %0 device=cpu:0\n  return %1\n}\n");
  try {
    ab::stablehlo::to_stablehlo(graph);
    FAIL() << "no error";
  } catch (const ab::Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 63),
              "to_stablehlo: StableHLO has no operation like transfer; write t");
  }
}

}  // namespace
