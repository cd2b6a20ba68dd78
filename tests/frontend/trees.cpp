// Arguments and results of any plain shape.
#include <array>
#include <map>

#include "values.h"

namespace {

struct Layer {
  ab::Array weights, bias;
};

struct Network {
  std::vector<Layer> layers;
  std::pair<ab::Array, ab::Array> ends;
  std::vector<std::array<ab::Array, 2>> spare;
  std::map<std::string, ab::Array> named;
  ab::static_arg<int> depth;
};

Network network(float first) {
  auto number = [&](float add) { return ab::full({2}, first + add); };
  return {{{number(0), number(1)}, {number(2), number(3)}},
          {number(4), number(5)},
          {{number(6), number(7)}},
          {{"a", number(8)}, {"b", number(9)}},
          {2}};
}

Network plus_one(Network n) {
  ab::tree::for_each_array(n, [](ab::Array& array) { array = array + 1; });
  return n;
}

TEST(Trees, ArraysComeInOrder) {
  std::vector<float> found;
  const Network n = network(0);
  ab::tree::for_each_array(
      n, [&](const ab::Array& array) { found.push_back(array.to_vector<float>()[1]); });
  EXPECT_EQ(found, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Trees, NestedStructsGoThroughJit) {
  auto step = ab::jit(plus_one);
  Network out = step(step(network(10)));
  EXPECT_EQ(step.traces(), 1);
  EXPECT_EQ(out.layers.size(), 2u);
  EXPECT_EQ(out.layers[1].bias.to_vector<float>(), (std::vector<float>{15, 15}));
  EXPECT_EQ(out.ends.second.to_vector<float>()[0], 17);
  EXPECT_EQ(out.spare[0][1].to_vector<float>()[0], 19);
  EXPECT_EQ(out.named.at("b").to_vector<float>()[0], 21);
  EXPECT_EQ(out.depth.value, 2);
}

TEST(Trees, TuplesComeBack) {
  auto both = ab::jit([](ab::Array x, std::tuple<ab::Array, ab::Array> y) {
    return std::tuple{x + std::get<0>(y), Layer{x, std::get<1>(y)}};
  });
  auto [sum, layer] = both(ab::array({1}), std::tuple{ab::array({2}), ab::array({3})});
  EXPECT_EQ(sum.item<std::int32_t>(), 3);
  EXPECT_EQ(layer.bias.item<std::int32_t>(), 3);
}

TEST(Trees, TheParametersOfATraceAreTheArrays) {
  ab::Graph graph = ab::trace(plus_one, network(0));
  EXPECT_EQ(graph.parameter_count(), 10u);
  EXPECT_EQ(graph.outputs().size(), 10u);
}

TEST(Trees, LengthsKeysAndStaticArgumentsArePartOfTheKey) {
  auto step = ab::jit(plus_one);
  Network n = network(0);
  step(n);
  n.layers.pop_back();
  step(n);
  EXPECT_EQ(step.last_retrace(), "argument 0[0].size(): 1 instead of 2");
  n.named.erase("a");
  n.named["c"] = ab::ones(ab::f32, {2});
  step(n);
  EXPECT_NE(step.last_retrace().find("key"), std::string::npos) << step.last_retrace();
  n.depth = {3};
  step(n);
  EXPECT_EQ(step.last_retrace(), "argument 0[4]: static 3 instead of static 2");
  EXPECT_EQ(step.traces(), 4);
}

}  // namespace
