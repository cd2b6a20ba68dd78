// Convolutions through oneDNN, in its three forms, with and without an epilogue, against the
// interpreter.
#include "codegen/cpu/convolution/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codegen/compile.h"
#include "codegen/cpu/convolution/tiles.h"
#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "ir/text/print.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"

namespace anabranch::cpu {
namespace {

using Sizes = std::vector<std::int64_t>;
using Kind = ConvolutionForm::Kind;

struct Case {
  const char* name;
  Kind kind;
  Sizes lhs, rhs;  ///< by lhs_axes and rhs_axes: batch, feature, spatial ones
  ConvolutionAttributes attributes;
};

ConvolutionAttributes plain(std::size_t spatial) {
  ConvolutionAttributes a;
  for (std::size_t i = 0; i < spatial + 2; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    for (auto* axes : {&a.lhs_axes, &a.rhs_axes, &a.result_axes}) axes->push_back(axis);
  }
  a.strides = a.lhs_dilations = a.rhs_dilations = Sizes(spatial, 1);
  a.low = a.high = a.rhs_reversals = Sizes(spatial, 0);
  return a;
}

ConvolutionAttributes padded(std::size_t spatial, std::int64_t low, std::int64_t high) {
  ConvolutionAttributes a = plain(spatial);
  a.low = Sizes(spatial, low);
  a.high = Sizes(spatial, high);
  return a;
}

ConvolutionAttributes strided(ConvolutionAttributes a, std::int64_t stride,
                              std::int64_t lhs_dilation, std::int64_t rhs_dilation) {
  std::ranges::fill(a.strides, stride);
  std::ranges::fill(a.lhs_dilations, lhs_dilation);
  std::ranges::fill(a.rhs_dilations, rhs_dilation);
  return a;
}

ConvolutionAttributes grouped(ConvolutionAttributes a, std::int64_t groups) {
  a.groups = groups;
  return a;
}

ConvolutionAttributes backwards(ConvolutionAttributes a, Sizes reversals) {
  a.rhs_reversals = std::move(reversals);
  return a;
}

ConvolutionAttributes in_splits(ConvolutionAttributes a, std::int64_t splits) {
  a.feature_splits = splits;
  return a;
}

// Images with their features last, filters with their outputs last.
ConvolutionAttributes features_last(ConvolutionAttributes a) {
  a.lhs_axes = a.result_axes = {0, 3, 1, 2};
  a.rhs_axes = {3, 2, 0, 1};
  return a;
}

// The same of the gradient of filters, whose batch is features and the other way round.
ConvolutionAttributes by_images(ConvolutionAttributes a) {
  a.lhs_axes = a.rhs_axes = {3, 0, 1, 2};
  return a;
}

const Case cases[] = {
    {"Images", Kind::forward, {2, 3, 9, 8}, {5, 3, 3, 3}, padded(2, 1, 1)},
    {"ManyFeatures", Kind::forward, {3, 32, 12, 12}, {48, 32, 3, 3}, padded(2, 1, 1)},
    {"FeaturesLast",
     Kind::forward,
     {3, 32, 12, 12},
     {48, 32, 3, 3},
     features_last(padded(2, 1, 1))},
    {"OneImageInTiles", Kind::forward, {1, 32, 64, 64}, {32, 32, 3, 3}, padded(2, 1, 2)},
    {"TilesOfFeaturesLast",
     Kind::forward,
     {1, 32, 65, 63},
     {32, 32, 5, 5},
     features_last(strided(padded(2, 2, 2), 2, 1, 1))},
    {"OneByOne", Kind::forward, {2, 20, 7, 7}, {9, 20, 1, 1}, plain(2)},
    {"StrideLeavesARest",
     Kind::forward,
     {2, 16, 10, 10},
     {16, 16, 3, 3},
     strided(padded(2, 0, 0), 2, 1, 1)},
    {"DilatedFilters",
     Kind::forward,
     {2, 16, 12, 12},
     {16, 16, 3, 3},
     strided(padded(2, 2, 2), 1, 1, 2)},
    {"Groups", Kind::forward, {2, 32, 8, 8}, {32, 16, 3, 3}, grouped(padded(2, 1, 1), 2)},
    {"EachFeatureByItself",
     Kind::forward,
     {2, 32, 8, 8},
     {32, 1, 3, 3},
     features_last(grouped(padded(2, 1, 1), 32))},
    {"Rows", Kind::forward, {3, 16, 50}, {16, 16, 5}, padded(1, 2, 2)},
    {"Volumes", Kind::forward, {2, 16, 6, 7, 8}, {16, 16, 3, 3, 3}, padded(3, 1, 1)},
    {"GradientOfData",
     Kind::backward_data,
     {2, 16, 6, 6},
     {16, 16, 3, 3},
     strided(padded(2, 1, 2), 1, 2, 1)},
    {"GradientOfDataOfManyImages",
     Kind::backward_data,
     {9, 32, 16, 16},
     {32, 32, 3, 3},
     features_last(strided(padded(2, 1, 2), 1, 2, 1))},
    {"GradientOfDataInGroups",
     Kind::backward_data,
     {2, 32, 6, 6},
     {48, 16, 3, 3},
     grouped(strided(padded(2, 1, 2), 1, 2, 1), 2)},
    {"GradientOfFilters",
     Kind::backward_filters,
     {32, 4, 12, 12},
     {32, 4, 12, 12},
     padded(2, 1, 1)},
    {"GradientOfFiltersOfAStride",
     Kind::backward_filters,
     {16, 5, 12, 12},
     {80, 5, 6, 6},
     strided(padded(2, 1, 0), 1, 1, 2)},
    {"ReadBackwards",
     Kind::backward_data,
     {3, 32, 12, 12},
     {48, 32, 3, 3},
     backwards(features_last(padded(2, 1, 1)), {1, 1})},
    {"ReadBackwardsAlongAnAxis",
     Kind::forward,
     {2, 32, 9, 8},
     {40, 32, 2, 3},
     backwards(padded(2, 1, 1), {0, 1})},
    {"GradientOfDataReadBackwards",
     Kind::backward_data,
     {2, 16, 6, 6},
     {16, 16, 3, 3},
     backwards(strided(padded(2, 1, 2), 1, 2, 1), {1, 0})},
    {"GradientOfDataInTiles",
     Kind::backward_data,
     {1, 32, 64, 63},
     {32, 32, 5, 3},
     backwards(features_last(padded(2, 2, 1)), {1, 1})},
    {"GradientOfDataOfWidePadding",
     Kind::forward,
     {2, 32, 12, 12},
     {32, 32, 3, 3},
     backwards(features_last(padded(2, 1, 3)), {1, 1})},
    {"GradientOfFiltersInSplits",
     Kind::backward_filters,
     {32, 4, 12, 12},
     {32, 4, 12, 12},
     in_splits(padded(2, 1, 1), 2)},
    {"GradientOfFiltersInSplitsOfFeaturesLast",
     Kind::backward_filters,
     {32, 6, 12, 12},
     {48, 6, 12, 12},
     in_splits(by_images(padded(2, 1, 1)), 6)},
};

Literal random_values(const Type& type, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(type.size()));
  // Sums of products of small integers are exact in any order.
  for (float& value : values) value = static_cast<float>(random() % 5) - 2;
  return Literal::of(std::span<const float>(values), type.shape);
}

Type placed(const Sizes& sizes, const Sizes& axes) {
  Sizes in_memory(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    in_memory[static_cast<std::size_t>(axes[i])] = sizes[i];
  }
  return {f32, Shape(in_memory)};
}

enum class After : std::uint8_t { nothing, in_place, another_type };

Graph graph_of(const Case& tested, After after) {
  GraphBuilder builder;
  const Value x = builder.parameter(placed(tested.lhs, tested.attributes.lhs_axes));
  const Value w = builder.parameter(placed(tested.rhs, tested.attributes.rhs_axes));
  const Value y = builder.add(Op::convolution, {x, w}, tested.attributes);
  if (after == After::nothing) return builder.build({y});
  const Type& type = builder.type(y);
  const Value one = builder.constant(Literal::scalar(1.0f));
  const Value ones = builder.add(Op::broadcast_in_dim, {one}, AxesAttributes{}, type);
  Value result = builder.add(Op::maximum, {y, ones});
  if (after == After::another_type) {
    result = builder.add(Op::convert, {result}, NoAttributes{}, Type{i32, type.shape});
  }
  return builder.build({result});
}

class Convolutions : public ::testing::TestWithParam<std::tuple<Case, After>> {};

TEST_P(Convolutions, AreTheInterpreters) {
  const auto& [tested, after] = GetParam();
  const Graph graph = graph_of(tested, after);
  Options options;
  options.device = Device::cpu();
  options.verify = true;
  const Compilation compilation = compile(graph, options);
  const auto is_convolution = [](const Step& step) {
    return std::holds_alternative<ConvolutionStep>(step.work);
  };
  const Program& program = compilation.program();
  const auto found = std::ranges::find_if(program.steps, is_convolution);
  ASSERT_NE(found, program.steps.end()) << to_string(program);
  const auto& step = std::get<ConvolutionStep>(found->work);
  EXPECT_EQ(epilogue_of(*found) != nullptr, after != After::nothing && has_tiles_of_one_run(step));
  EXPECT_EQ(form_of(step)->kind, tested.kind);

  std::vector<Literal> inputs;
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < 2; ++i) {
    inputs.push_back(random_values(graph.parameter_type(i), static_cast<std::uint32_t>(7 + i)));
    buffers.push_back(copy_to_device(Device::cpu(), inputs.back().bytes()));
  }
  const Literal expected = interpret(graph, inputs)[0];
  for (int again = 0; again < 2; ++again) {
    const std::vector<Buffer> results = run(compilation, buffers);
    EXPECT_EQ(read_literal(results[0], expected.type()), expected);
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Case, After>>& info) {
  const char* const after[] = {"", "ThenInPlace", "ThenAnotherType"};
  return std::string(std::get<0>(info.param).name) +
         after[static_cast<std::size_t>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Of, Convolutions,
                         ::testing::Combine(::testing::ValuesIn(cases),
                                            ::testing::Values(After::nothing, After::in_place,
                                                              After::another_type)),
                         name_of);

// Filters that a reverse gives are read backwards where the library has code for that; whether or
// not, the values are right.
TEST(ConvolutionSteps, TakeInAReverseOfTheFilters) {
  int taken_in = 0;
  for (const Case& tested : cases) {
    SCOPED_TRACE(tested.name);
    GraphBuilder builder;
    const Value x = builder.parameter(placed(tested.lhs, tested.attributes.lhs_axes));
    const Value w = builder.parameter(placed(tested.rhs, tested.attributes.rhs_axes));
    Sizes spatial(tested.attributes.rhs_axes.begin() + 2, tested.attributes.rhs_axes.end());
    std::ranges::sort(spatial);
    const Value turned = builder.add(Op::reverse, {w}, AxesAttributes{spatial});
    const Graph graph =
        builder.build({builder.add(Op::convolution, {x, turned}, tested.attributes)});
    Options options;
    options.device = Device::cpu();
    const Compilation compilation = compile(graph, options);
    for (const Step& step : compilation.program().steps) {
      const auto* convolution = std::get_if<ConvolutionStep>(&step.work);
      taken_in +=
          convolution && convolution->attributes.rhs_reversals != tested.attributes.rhs_reversals;
    }
    std::vector<Literal> inputs;
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < 2; ++i) {
      inputs.push_back(random_values(graph.parameter_type(i), static_cast<std::uint32_t>(7 + i)));
      buffers.push_back(copy_to_device(Device::cpu(), inputs.back().bytes()));
    }
    const Literal expected = interpret(graph, inputs)[0];
    const std::vector<Buffer> results = run(compilation, buffers);
    EXPECT_EQ(read_literal(results[0], expected.type()), expected);
  }
  EXPECT_GE(taken_in, 12);
}

// What the library has no code for is written as a dot by the pass `expand`.
TEST(ConvolutionSteps, AreOfWhatTheLibraryComputes) {
  const auto step = [](Dtype dtype, ConvolutionAttributes attributes) {
    return ConvolutionStep{{dtype, {2, 16, 6, 6}},
                           {dtype, {16, 16, 3, 3}},
                           {dtype, {2, 16, 4, 4}},
                           std::move(attributes)};
  };
  EXPECT_TRUE(has_library_convolution(step(f32, plain(2))));
  EXPECT_FALSE(has_library_convolution(step(f64, plain(2))));
  EXPECT_FALSE(has_library_convolution(step(i32, plain(2))));
  ConvolutionStep cropped = step(f32, padded(2, -1, 0));
  cropped.result = {f32, {2, 16, 3, 3}};
  EXPECT_FALSE(has_library_convolution(cropped));
}

ConvolutionStep step_of(const Case& tested) {
  const Graph graph = graph_of(tested, After::nothing);
  return {graph.parameter_type(0), graph.parameter_type(1), graph.type(graph.outputs()[0]),
          tested.attributes};
}

// Rows of an image are one run of memory where its features are stored last; else what follows the
// convolution is a kernel of its own.
TEST(ConvolutionTiles, AreOneRunOrTakeNoEpilogue) {
  const auto found = [](const std::string& name) {
    return step_of(*std::ranges::find(cases, name, &Case::name));
  };
  EXPECT_FALSE(has_tiles_of_one_run(found("OneImageInTiles")));
  EXPECT_TRUE(has_tiles_of_one_run(found("TilesOfFeaturesLast")));
  EXPECT_TRUE(has_tiles_of_one_run(found("Images")));
}

TEST(ConvolutionTiles, CoverTheResultOnce) {
  for (const Case& tested : cases) {
    const ConvolutionStep step = step_of(tested);
    const ConvolutionTiles tiles = convolution_tiles(step, std::nullopt);
    std::int64_t elements = 0;
    for (std::int64_t i = 0; i < tiles.extent(); ++i) {
      const Runs runs = runs_of(tiles.box(tiles.at(i), step), step.result.shape);
      elements += runs.count * runs.length;
    }
    EXPECT_EQ(elements, step.result.size()) << tested.name;
  }
}

}  // namespace
}  // namespace anabranch::cpu
