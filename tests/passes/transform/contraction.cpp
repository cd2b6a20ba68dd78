// Derivatives of dots and convolutions of random axes, sizes and attributes: against central
// differences, and both modes against each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ir/graph/builder.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/transform/transpose.h"
#include "passes/transform/vjp.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using testing::check_derivatives;
using testing::DerivativeCheck;
using testing::spread_numbers;
using Axes = std::vector<std::int64_t>;

std::int64_t between(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
}

Axes shuffled(std::mt19937& random, std::size_t count) {
  Axes axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t i = count; i > 1; --i) std::swap(axes[i - 1], axes[random() % i]);
  return axes;
}

// Axis axes[i] has sizes[i] elements.
Shape placed(const Axes& axes, const Axes& sizes) {
  Axes result(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    result[static_cast<std::size_t>(axes[i])] = sizes[i];
  return Shape(std::move(result));
}

// Whether one operand is differentiated by, or both are.
std::vector<std::size_t> random_fixed(std::mt19937& random) {
  const std::int64_t which = between(random, 0, 2);
  return which == 2 ? std::vector<std::size_t>{} : std::vector{static_cast<std::size_t>(which)};
}

void check(Op op, const Type& lhs, const Type& rhs, const Attributes& attributes,
           std::mt19937& random) {
  GraphBuilder builder;
  const Value x = builder.parameter(lhs), y = builder.parameter(rhs);
  const Graph graph = builder.build({builder.add(op, {x, y}, attributes)});
  check_derivatives(graph, {spread_numbers(lhs, random), spread_numbers(rhs, random)}, random,
                    to_string(graph),
                    {.tolerance = 1e-6, .order = 2, .fixed = random_fixed(random)});
}

TEST(DerivativesOfContractions, Dot) {
  std::mt19937 random(1);
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    const Dtype dtype = between(random, 0, 1) == 0 ? f64 : c128;
    const std::int64_t batch = between(random, 0, 2), contracting = between(random, 0, 2);
    Axes lhs_sizes, rhs_sizes;
    for (std::int64_t k = 0; k < batch + contracting; ++k) {
      lhs_sizes.push_back(between(random, 0, 9) == 0 ? 0 : between(random, 1, 3));
    }
    rhs_sizes = lhs_sizes;
    for (Axes* sizes : {&lhs_sizes, &rhs_sizes}) {
      for (std::int64_t k = between(random, 0, 2); k > 0; --k) {
        sizes->push_back(between(random, 0, 9) == 0 ? 0 : between(random, 1, 3));
      }
    }
    const Axes lhs = shuffled(random, lhs_sizes.size()), rhs = shuffled(random, rhs_sizes.size());
    const auto part = [](const Axes& axes, std::int64_t from, std::int64_t count) {
      return Axes(axes.begin() + from, axes.begin() + from + count);
    };
    check(Op::dot, {dtype, placed(lhs, lhs_sizes)}, {dtype, placed(rhs, rhs_sizes)},
          DotAttributes{part(lhs, 0, batch), part(rhs, 0, batch), part(lhs, batch, contracting),
                        part(rhs, batch, contracting)},
          random);
  }
}

// So that a step of descent fuses with the product: for y = x w, the cotangent of w is x^T ct.
TEST(DerivativesOfContractions, AMatrixProductsCotangentsNeedNoTranspose) {
  constexpr const char* texts[] = {R"(graph f(%0: f32[8,3], %1: f32[3,5]) {
  %2: f32[8,5] = dot %0, %1 lhs_batch=[] rhs_batch=[] lhs_contracting=[1] rhs_contracting=[0]
  %3: f32[] = reduce_sum %2 axes=[0,1]
  return %3
})",
                                   R"(graph f(%0: f32[2,8,3], %1: f32[2,3,5]) {
  %2: f32[2,8,5] = dot %0, %1 lhs_batch=[0] rhs_batch=[0] lhs_contracting=[2] rhs_contracting=[1]
  return %2
})",
                                   R"(graph f(%0: f32[2,8,3], %1: f32[3,5]) {
  %2: f32[2,8,5] = dot %0, %1 lhs_batch=[] rhs_batch=[] lhs_contracting=[2] rhs_contracting=[0]
  return %2
})"};
  for (const char* text : texts) {
    for (const std::vector<bool>& by : {std::vector{false, true}, {true, false}, {true, true}}) {
      const ForwardAndLinear pulled = vjp(parse(text), by);
      const auto count = [&](Op op) {
        return std::ranges::count(pulled.linear.nodes(), op, &Node::op);
      };
      EXPECT_EQ(count(Op::transpose), 0) << to_string(pulled.linear);
      EXPECT_EQ(count(Op::dot), std::ranges::count(by, true)) << to_string(pulled.linear);
    }
  }
}

TEST(DerivativesOfContractions, Convolution) {
  std::mt19937 random(2);
  int made = 0;
  while (made < 300 && !HasFailure()) {
    const std::size_t spatial = random() % 4;
    const std::int64_t groups = between(random, 1, 3);
    const std::int64_t inputs = between(random, 0, 9) == 0 ? 0 : between(random, 1, 2);
    const std::int64_t outputs = between(random, 0, 9) == 0 ? 0 : between(random, 1, 2);
    const std::int64_t batch = between(random, 0, 9) == 0 ? 0 : between(random, 1, 2);
    ConvolutionAttributes how;
    how.groups = groups;
    how.lhs_axes = shuffled(random, spatial + 2);
    how.rhs_axes = shuffled(random, spatial + 2);
    how.result_axes = shuffled(random, spatial + 2);
    Axes lhs_sizes = {batch, groups * inputs}, rhs_sizes = {groups * outputs, inputs};
    bool fits = true;
    for (std::size_t k = 0; k < spatial; ++k) {
      const std::int64_t size = between(random, 0, 9) == 0 ? 0 : between(random, 1, 5);
      lhs_sizes.push_back(size);
      rhs_sizes.push_back(between(random, 1, 3));
      how.strides.push_back(between(random, 1, 3));
      how.lhs_dilations.push_back(between(random, 1, 3));
      how.rhs_dilations.push_back(between(random, 1, 3));
      how.low.push_back(between(random, -2, 3));
      how.high.push_back(between(random, -2, 3));
      how.rhs_reversals.push_back(between(random, 0, 1));
      const std::int64_t dilated = size == 0 ? 0 : (size - 1) * how.lhs_dilations[k] + 1;
      fits = fits && how.low[k] + dilated + how.high[k] >= 0;
    }
    if (!fits) continue;
    ++made;
    const Dtype dtype = between(random, 0, 2) == 0 ? c128 : f64;
    check(Op::convolution, {dtype, placed(how.lhs_axes, lhs_sizes)},
          {dtype, placed(how.rhs_axes, rhs_sizes)}, how, random);
  }
}

TEST(DerivativesOfContractions, ASplitConvolutionHasNone) {
  GraphBuilder builder;
  ConvolutionAttributes how;
  how.lhs_axes = how.rhs_axes = how.result_axes = {0, 1};
  how.feature_splits = 2;
  const Value x = builder.parameter({f64, Shape{1, 4}}), y = builder.parameter({f64, Shape{3, 4}});
  const Graph graph = builder.build({builder.add(Op::convolution, {x, y}, how)});
  try {
    transpose(graph, {.linear = {true, false}, .outputs = {true}});
    FAIL() << "nothing is thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "a convolution with feature_splits, as passes make them, has no derivative");
  }
}

}  // namespace
}  // namespace anabranch
