// Arguments and results of any plain shape.
#include <array>
#include <map>
#include <optional>

#include "tests/support/values.h"

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
  EXPECT_EQ(step.last_retrace(), "argument 0.layers.size(): 1 instead of 2");
  n.named.erase("a");
  n.named["c"] = ab::ones(ab::f32, {2});
  step(n);
  EXPECT_NE(step.last_retrace().find("key"), std::string::npos) << step.last_retrace();
  n.depth = {3};
  step(n);
  EXPECT_EQ(step.last_retrace(), "argument 0.depth: static 3 instead of static 2");
  EXPECT_EQ(step.traces(), 4);
}

enum class Activation { relu, tanh };

struct Settings {
  std::array<ab::Array, 2> moments;
  ab::Array corners[2];
  std::optional<ab::Array> mask;
  float rate = 0.5f;
  Activation activation = Activation::relu;
  std::string label;
  std::vector<std::int64_t> sizes;
};

Settings settings() {
  return {.moments = {ab::scalar(1.0f), ab::scalar(2.0f)},
          .corners = {ab::scalar(3.0f), ab::scalar(4.0f)},
          .mask = {},
          .label = "first",
          .sizes = {2, 3}};
}

TEST(Trees, FieldsMayBeArraysOfArrays) {
  static_assert(ab::tree::field_count<Settings> == 7);
  static_assert(ab::tree::field_count<Network> == 5);
  std::vector<float> found;
  const Settings s = settings();
  ab::tree::for_each_array(s, [&](const ab::Array& x) { found.push_back(x.item<float>()); });
  EXPECT_EQ(found, (std::vector<float>{1, 2, 3, 4}));
}

TEST(Trees, PlainMembersArePartOfTheKey) {
  auto scale = ab::jit([](Settings s) {
    s.moments[1] = s.corners[1] * s.rate + (s.activation == Activation::relu ? 0 : 100);
    if (s.mask) s.moments[1] += *s.mask;
    return s;
  });
  Settings s = settings();
  Settings out = scale(s);
  EXPECT_EQ(out.moments[1].item<float>(), 2);
  EXPECT_EQ(out.corners[0].item<float>(), 3);
  EXPECT_EQ(out.label, "first");
  scale(s);
  EXPECT_EQ(scale.traces(), 1);

  s.rate = 0.25f;
  EXPECT_EQ(scale(s).moments[1].item<float>(), 1);
  EXPECT_EQ(scale.last_retrace(), "argument 0.rate: static 0.25 instead of static 0.5");
  s.activation = Activation::tanh;
  EXPECT_EQ(scale(s).moments[1].item<float>(), 101);
  EXPECT_EQ(scale.last_retrace(), "argument 0.activation: static 1 instead of static 0");
  s.mask = ab::scalar(1000.0f);
  EXPECT_EQ(scale(s).moments[1].item<float>(), 1101);
  EXPECT_EQ(scale.traces(), 4);
}

TEST(Trees, FieldsOfALocalStructHaveTheirNames) {
  struct Address {
    ab::Array street;
    int number = 1;
  };
  auto f = ab::jit([](Address a) { return a.street + a.number; });
  f(Address{ab::scalar(1)});
  f(Address{ab::scalar(1), 2});
  EXPECT_EQ(f.last_retrace(), "argument 0.number: static 2 instead of static 1");
}

TEST(Trees, FieldsWithoutNamesAreNumbered) {
  using namespace ab::tree::detail;
  EXPECT_STREQ(numbered_name<0>.data(), "field 0");
  EXPECT_STREQ(numbered_name<25>.data(), "field 25");
  EXPECT_EQ(last_name("f() [with auto A = {(& e.main()::L::weights)}]"), "weights");
  EXPECT_EQ(last_name("f() [A = {&e.value.last_}]"), "last_");
  EXPECT_EQ(last_name("f() [A = <unknown>]"), "");
}

TEST(Trees, AnEnumOrATextMayBeAnArgument) {
  auto apply = ab::jit([](ab::Array x, Activation activation) {
    return activation == Activation::relu ? ab::relu(x) : ab::tanh(x);
  });
  EXPECT_EQ(apply(ab::scalar(-1.0f), Activation::relu).item<float>(), 0);
  EXPECT_LT(apply(ab::scalar(-1.0f), Activation::tanh).item<float>(), -0.5f);
}

// The call before differs in two ways, of which the first is all that can be compared.
TEST(Trees, ARetraceIsComparedWithCallsOfTheSameLengths) {
  struct Choice {
    std::optional<ab::Array> o;
    int n = 1;
    std::string tag;
  };
  auto f = ab::jit([](Choice c, ab::Array x) { return c.o ? *c.o + x : x; });
  const ab::Array x = ab::scalar(1.0f);
  f(Choice{std::nullopt, 1, "a"}, x);
  f(Choice{x, 1, "a"}, x);
  f(Choice{std::nullopt, 1, "b"}, x);
  EXPECT_EQ(f.last_retrace(), R"(argument 0.tag: static "b" instead of static "a")");
}

}  // namespace
