// reduce, reduce_window and select_and_scatter against plain loops.
#include <algorithm>
#include <functional>

#include "tests/support/random_literal.h"
#include "tests/support/values.h"

namespace {

using ab::Array;
using ab::f32;
using ab::i32;
using Scalars = std::vector<Array>;
using List = std::vector<std::int64_t>;

Scalars add(const Scalars& s) { return {s[0] + s[1]}; }

TEST(Reduce, NamedAndOtherBodies) {
  const auto x = [] { return ab::array({1, 2, 3, 4, 5, 6}, {2, 3}); };
  expect_values([&] { return ab::reduce({x()}, {10}, add, 1)[0]; }, {i32, {2}}, {16, 25});
  expect_values([&] { return ab::reduce({x()}, {0}, add)[0]; }, {i32, {}}, {21});
  const auto largest = [](const Scalars& s) -> Scalars {
    const Array keeps = s[0] >= s[2];
    return {ab::where(keeps, s[0], s[2]), ab::where(keeps, s[1], s[3])};
  };
  const auto both = [&] { return ab::reduce({x() % 4, x()}, {-1, 0}, largest, 1)[1]; };
  expect_values(both, {i32, {2}}, {3, 6});
  // A body that reads another array runs slab by slab.
  const Array three = ab::scalar(3);
  const auto modular = [&](const Scalars& s) -> Scalars { return {(s[0] + s[1]) % three}; };
  expect_values([&] { return ab::reduce({x()}, {0}, modular, 0)[0]; }, {i32, {3}}, {2, 1, 0});
}

struct Window {
  List sizes, strides, base, dilations, low, high;
};

// One axis at a time, by hand: the sum of weights that differ by place in the window.
std::vector<std::int64_t> windows_by_hand(
    const std::vector<std::int64_t>& x, const Window& w, std::int64_t initial,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& body) {
  std::vector<std::int64_t> padded;
  const auto size = static_cast<std::int64_t>(x.size());
  const std::int64_t spread = size == 0 ? 0 : (size - 1) * w.base[0] + 1;
  for (std::int64_t i = -w.low[0]; i < spread + w.high[0]; ++i) {
    const bool inside = i >= 0 && i < spread && i % w.base[0] == 0;
    padded.push_back(inside ? x[static_cast<std::size_t>(i / w.base[0])] : initial);
  }
  std::vector<std::int64_t> result;
  const std::int64_t span = (w.sizes[0] - 1) * w.dilations[0] + 1;
  const auto length = static_cast<std::int64_t>(padded.size());
  for (std::int64_t begin = 0; begin + span <= length; begin += w.strides[0]) {
    std::int64_t total = initial;
    for (std::int64_t k = 0; k < w.sizes[0]; ++k) {
      total = body(total, padded[static_cast<std::size_t>(begin + k * w.dilations[0])]);
    }
    result.push_back(total);
  }
  return result;
}

TEST(ReduceWindow, AgainstPlainLoops) {
  ab::Random random(5);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t size = random.below(12);
    std::vector<std::int64_t> x;
    for (std::int64_t i = 0; i < size; ++i) x.push_back(random.below(20) - 10);
    const Window w{{1 + random.below(4)}, {1 + random.below(3)}, {1 + random.below(3)},
                   {1 + random.below(3)}, {random.below(4)},     {random.below(4)}};
    const ab::WindowOptions options{w.strides, w.base, w.dilations, w.low, w.high};
    const auto check = [&](const ab::ScalarBody& body, std::int64_t initial, auto by_hand) {
      const auto got = ab::reduce_window({ab::array(x, {size})}, {initial}, body,
                                         ab::Sizes(w.sizes), options)[0];
      EXPECT_EQ(got.to_vector<std::int64_t>(), windows_by_hand(x, w, initial, by_hand));
    };
    check(add, 0, [](auto a, auto b) { return a + b; });
    check([](const Scalars& s) -> Scalars { return {ab::maximum(s[0], s[1])}; }, -5,
          [](auto a, auto b) { return std::max(a, b); });
    check([](const Scalars& s) -> Scalars { return {s[0] ^ s[1]}; }, 0,
          [](auto a, auto b) { return a ^ b; });
  }
}

TEST(ReduceWindow, OfTwoAxes) {
  const auto x = [] { return ab::reshape(ab::arange(12, ab::f32), {3, 4}); };
  expect_values(
      [&] {
        return ab::reduce_window({x()}, {0.f}, add, {2, 2}, {.strides = {1, 2}})[0];
      },
      {f32, {2, 2}}, {10, 18, 26, 34});
}

std::size_t count_of(const ab::Graph& graph, ab::Op op) {
  return static_cast<std::size_t>(
      std::ranges::count_if(graph.nodes(), [&](const ab::Node& node) { return node.op == op; }));
}

TEST(ReduceWindow, OfAllThatIsBeforeIsARunningSum) {
  const auto running = [](const ab::ScalarBody& body, float initial, bool reverse) {
    return [=](Array x) {
      ab::WindowOptions options;
      (reverse ? options.padding_high : options.padding_low) = {0, 3};
      (reverse ? options.padding_low : options.padding_high) = {0, 0};
      return ab::reduce_window({x}, {initial}, body, {1, 4}, options)[0];
    };
  };
  const ab::ScalarBody greatest = [](const Scalars& s) -> Scalars {
    return {ab::maximum(s[1], s[0])};
  };
  const auto spec = ab::spec(f32, {2, 4});
  const Array x = ab::array({1.f, 2.f, 3.f, 4.f, 4.f, 3.f, 2.f, 1.f}, {2, 4});
  for (const bool reverse : {false, true}) {
    EXPECT_EQ(count_of(ab::trace(running(add, 0, reverse), spec), ab::Op::cumulative), 1u);
    EXPECT_EQ(count_of(ab::trace(running(greatest, 2.5f, reverse), spec), ab::Op::cumulative), 1u);
    EXPECT_EQ(count_of(ab::trace(running(add, 1, reverse), spec), ab::Op::cumulative), 0u);
  }
  const std::vector<float> sums = {1, 3, 6, 10, 4, 7, 9, 10};
  const std::vector<float> from_end = {10, 9, 7, 4, 10, 6, 3, 1};
  EXPECT_EQ(running(add, 0, false)(x).to_vector<float>(), sums);
  EXPECT_EQ(running(add, 0, true)(x).to_vector<float>(), from_end);
  EXPECT_EQ(running(greatest, 2.5f, false)(x).to_vector<float>(),
            (std::vector<float>{2.5, 2.5, 3, 4, 4, 4, 4, 4}));
  // Each window has initial values in it, and begins with one.
  EXPECT_EQ(running(add, 1, false)(x).to_vector<float>(),
            (std::vector<float>{5, 6, 8, 11, 8, 10, 11, 11}));
}

TEST(SelectAndScatter, GradientOfAMaximumOverWindows) {
  // StableHLO's own example (the specification, select_and_scatter).
  const auto x = [] { return ab::array({1, 5, 2, 5, 3, 6, 4, 4}, {4, 2}); };
  const auto source = [] { return ab::array({5, 6, 7, 8}, {2, 2}); };
  const ab::Comparator select = [](const Scalars& s) { return s[0] >= s[1]; };
  const auto scattered = [&] {
    return ab::select_and_scatter(
        x(), source(), 0, select, add, {3, 1},
        {.strides = {2, 1}, .padding_low = {0, 0}, .padding_high = {1, 0}});
  };
  expect_values(scattered, {i32, {4, 2}}, {0, 0, 0, 0, 5, 14, 7, 0});
}

TEST(SelectAndScatter, AgainstPlainLoops) {
  ab::Random random(8);
  for (int round = 0; round < 30; ++round) {
    const std::int64_t size = 1 + random.below(12), window = 1 + random.below(4);
    const std::int64_t stride = 1 + random.below(3);
    const std::int64_t low = random.below(window + 1), high = random.below(window + 1);
    std::vector<int> x, source;
    for (std::int64_t i = 0; i < size; ++i) x.push_back(static_cast<int>(random.below(4)));
    std::vector<int> expected(x.size(), 7);
    for (std::int64_t begin = -low; begin + window <= size + high; begin += stride) {
      source.push_back(static_cast<int>(random.below(9)));
      std::int64_t best = -1;
      for (std::int64_t i = std::max<std::int64_t>(begin, 0); i < std::min(begin + window, size);
           ++i) {
        const bool keeps =
            best >= 0 && x[static_cast<std::size_t>(best)] >= x[static_cast<std::size_t>(i)];
        if (!keeps) best = i;
      }
      if (best >= 0) expected[static_cast<std::size_t>(best)] += source.back();
    }
    const auto windows = static_cast<std::int64_t>(source.size());
    const Array got =
        ab::select_and_scatter(ab::array(x, {size}), ab::array(source, {windows}), 7,
                               [](const Scalars& s) { return s[0] >= s[1]; }, add, {window},
                               {.strides = {stride}, .padding_low = {low}, .padding_high = {high}});
    EXPECT_EQ(got.to_vector<int>(), expected);
  }
}

TEST(MapElements, ElementwiseAndInTurns) {
  const auto x = [] { return ab::array({1, 2, 3, 4}, {2, 2}); };
  const auto body = [](const Scalars& s) -> Scalars { return {s[0] * s[0] + 1, s[0] > 2}; };
  expect_values([&] { return ab::map_elements({x()}, body)[0]; }, {i32, {2, 2}}, {2, 5, 10, 17});
  // The factorial of each: a loop within.
  const auto factorial = [](const Scalars& s) -> Scalars {
    return {ab::fori_loop(
        ab::scalar(1), s[0] + 1, [](auto i, auto& p) { return p * i; }, ab::scalar(1))};
  };
  expect_values([&] { return ab::map_elements({x()}, factorial)[0]; }, {i32, {2, 2}},
                {1, 2, 6, 24});
  EXPECT_EQ(ab::map_elements({ab::zeros({0, 3}, i32)}, factorial)[0].size(), 0);
}

}  // namespace
