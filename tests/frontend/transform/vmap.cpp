// vmap as a user writes it: trees, axes, compositions, loops and branches that differ among the
// examples, and its errors.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "tests/support/values.h"

namespace {

using ab::Array;

// Numbers from `first` on, in f32.
Array counting(std::vector<std::int64_t> sizes, float first = 0) {
  const ab::Shape shape(std::move(sizes));
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  std::iota(values.begin(), values.end(), first);
  return ab::array(values, shape);
}

Array i32s(std::vector<std::int32_t> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return ab::array(values, ab::Shape{size});
}

void expect_equal(const Array& found, const Array& wanted) {
  ASSERT_EQ(to_string(found.shape()), to_string(wanted.shape()));
  expect_close(doubles(found), doubles(wanted), 1e-5, "vmap");
}

TEST(Vmap, ADotOfVectorsIsOneOfMatrices) {
  auto predict = [](Array w, Array x) { return ab::matmul(w, x); };
  const Array w = counting({2, 3}), x = counting({4, 3});
  const Array all = ab::vmap(predict, ab::in_axes(ab::unmapped, 0))(w, x);
  expect_equal(all, ab::matmul(x, ab::permute_dims(w, {1, 0})));
  const ab::Graph graph = ab::trace(ab::vmap(predict, ab::in_axes(ab::unmapped, 0)),
                                    ab::spec(ab::f32, {2, 3}), ab::spec(ab::f32, {4, 3}));
  EXPECT_EQ(std::ranges::count(graph.nodes(), ab::Op::dot, &ab::Node::op), 1);
}

TEST(Vmap, ArgumentsAndResultsAreTrees) {
  struct Layer {
    Array weight, bias;
  };
  auto f = [](const Layer& layer, const std::vector<Array>& xs,
              const std::map<std::string, Array>& more) {
    return std::tuple{Layer{layer.weight * xs[0], layer.bias + more.at("a")}, xs[1]};
  };
  const Layer layer{counting({3, 2}), counting({3})};
  const std::vector<Array> xs = {counting({3, 2}, 1), counting({3, 1}, 5)};
  const auto [scaled, second] =
      ab::vmap(f)(layer, xs, std::map<std::string, Array>{{"a", counting({3}, 7)}});
  expect_equal(scaled.weight, layer.weight * xs[0]);
  expect_equal(scaled.bias, layer.bias + counting({3}, 7));
  expect_equal(second, xs[1]);
}

TEST(Vmap, AnyAxisIsMappedAndAnyAxisOfAResult) {
  auto f = [](Array x, Array y) { return std::pair{x + y, ab::sum(x * y)}; };
  const Array x = counting({2, 3, 4}), y = counting({2, 3});
  const auto [sums, dots] = ab::vmap(f, ab::in_axes(-1, ab::unmapped), ab::out_axes(1, -1))(x, y);
  EXPECT_EQ(sums.shape(), (ab::Shape{2, 4, 3}));
  const Array wide = ab::reshape(y, {2, 3, 1});
  expect_equal(sums, ab::permute_dims(x + wide, {0, 2, 1}));
  expect_equal(dots, ab::sum(x * wide, {0, 1}));
}

TEST(Vmap, WhatDependsOnNothingMappedMayStaySingle) {
  auto f = [](Array x, Array y) { return std::pair{x + 1, ab::exp(y)}; };
  const auto [all, one] = ab::vmap(f, ab::in_axes(0, ab::unmapped), ab::out_axes(0, ab::unmapped))(
      counting({3}), counting({2}));
  EXPECT_EQ(all.shape(), (ab::Shape{3}));
  expect_equal(one, ab::exp(counting({2})));
  const auto repeated =
      ab::vmap(f, ab::in_axes(0, ab::unmapped), ab::out_axes(0))(counting({3}), counting({2}));
  EXPECT_EQ(repeated.second.shape(), (ab::Shape{3, 2}));
}

TEST(Vmap, NumbersAndCapturesAreUnmapped) {
  const Array captured = counting({2}, 1);
  auto f = [&](Array x, Array scale) { return x * scale + captured; };
  const Array x = counting({3, 2});
  expect_equal(ab::vmap(f)(x, 2.0f), x * 2 + captured);
  EXPECT_EQ(ab::vmap(f)(x, 2).dtype(), ab::f32);
}

TEST(Vmap, OneWithinAnother) {
  auto dot = [](Array a, Array b) { return ab::sum(a * b); };
  const Array a = counting({3, 4}), b = counting({5, 4});
  auto rows = ab::vmap(dot, ab::in_axes(ab::unmapped, 0));
  expect_equal(ab::vmap(rows, ab::in_axes(0, ab::unmapped))(a, b),
               ab::matmul(a, ab::permute_dims(b, {1, 0})));
}

TEST(Vmap, WithinJitAndOfJit) {
  auto f = [](Array x, Array y) { return ab::sum(ab::tanh(x)) * y; };
  const Array x = counting({3, 4}), y = counting({3}, 1);
  const Array wanted = ab::sum(ab::tanh(x), {1}) * y;
  expect_equal(ab::vmap(f)(x, y), wanted);
  expect_equal(ab::jit(ab::vmap(f))(x, y), wanted);
  expect_equal(ab::vmap(ab::jit(f))(x, y), wanted);
  expect_equal(ab::jit(ab::vmap(ab::jit(f)))(x, y), wanted);
}

TEST(Vmap, WithinALoopOfTheProgram) {
  auto step = [](Array x) { return x / 2 + 1; };
  const Array x = counting({3});
  auto f = [&](Array start) {
    return ab::fori_loop(
        0, 2, [&](Array, Array c) { return ab::vmap(step)(c) + x; }, start);
  };
  expect_equal(f(x), ((x / 2 + 1 + x) / 2 + 1) + x);
  expect_equal(ab::jit(f)(x), ((x / 2 + 1 + x) / 2 + 1) + x);
}

TEST(Vmap, EachExampleEndsItsLoopAtItsOwnTurn) {
  auto halvings = [](Array n) {
    auto [left, turns] = ab::while_loop([](auto& c) { return std::get<0>(c) > 1; },
                                        [](auto& c) {
                                          return std::tuple{std::get<0>(c) / 2, std::get<1>(c) + 1};
                                        },
                                        std::tuple{n, 0});
    return std::pair{left, turns};
  };
  const auto [left, turns] = ab::vmap(halvings)(i32s({1, 9, 64, 0}));
  EXPECT_EQ(left.to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 1, 1, 0}));
  EXPECT_EQ(turns.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 3, 6, 0}));
}

// Vectors are longer than what they are for: from zeros this loop would not come to an end.
TEST(Vmap, WhatIsBesideTheExamplesDoesNotKeepALoopGoing) {
  const auto doubled = ab::vmap([](Array x) {
    return ab::while_loop([](auto& c) { return c < 1000; }, [](auto& c) { return c + c; }, x);
  });
  for (std::int64_t size : {1, 3, 13, 31, 65, 1001}) {
    const Array x = ab::arange(0, size) % 7 + 1;
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 0; i < size; ++i) {
      std::int64_t value = i % 7 + 1;
      while (value < 1000) value += value;
      expected.push_back(value);
    }
    EXPECT_EQ(ab::jit(doubled)(x).to_vector<std::int64_t>(), expected) << size;
  }
}

// Collatz's sequence until 1: the steps, and the largest number.
TEST(Vmap, ALoopUnderTwoVmapsEndsForEachElement) {
  const auto collatz = [](Array start) {
    const auto next = [](auto& carry) {
      auto [x, steps, most] = carry;
      x = ab::where(x % 2 == 0, x / 2, 3 * x + 1);
      return std::tuple(x, steps + 1, ab::maximum(most, x));
    };
    const auto goes_on = [](auto& carry) { return std::get<0>(carry) > 1; };
    const auto [x, steps, most] = ab::while_loop(goes_on, next, std::tuple(start, 0, start));
    return std::pair(steps, most);
  };
  for (const ab::Shape& shape : {ab::Shape{0, 3}, {1, 1}, {7, 13}, {33, 31}}) {
    const Array starts = ab::reshape(ab::arange(0, shape.size()) % 97, shape);
    const auto [steps, most] = ab::jit(ab::vmap(ab::vmap(collatz)))(starts);
    std::vector<std::int64_t> expected_steps, expected_most;
    for (std::int64_t i = 0; i < shape.size(); ++i) {
      std::int64_t x = i % 97, taken = 0, largest = x;
      for (; x > 1; ++taken) {
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        largest = std::max(largest, x);
      }
      expected_steps.push_back(taken);
      expected_most.push_back(largest);
    }
    EXPECT_EQ(steps.astype(ab::i64).to_vector<std::int64_t>(), expected_steps);
    EXPECT_EQ(most.to_vector<std::int64_t>(), expected_most);
  }
}

// A vector and a number for each example, of which a place cannot be computed by itself.
TEST(Vmap, AnExampleOfManyElementsEndsAsAWhole) {
  const auto normalised = [](Array x) {
    const auto halve = [](auto& carry) {
      auto [v, turns] = carry;
      return std::tuple(v / 2, turns + 1);
    };
    const auto is_long = [](auto& carry) { return ab::sum(std::get<0>(carry)) > 8; };
    return ab::while_loop(is_long, halve, std::tuple(x, 0));
  };
  const Array x = ab::reshape(ab::arange(12, ab::f32), {2, 2, 3});  // sums of 3, 12, 21, 30
  const auto [v, turns] = ab::jit(ab::vmap(ab::vmap(normalised)))(x);
  EXPECT_EQ(turns.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 2, 2}));
  EXPECT_EQ(v.to_vector<float>(),
            (std::vector<float>{0, 1, 2, 1.5, 2, 2.5, 1.5, 1.75, 2, 2.25, 2.5, 2.75}));
}

// Points that fall until they are below 0: three coordinates each, and the turns.
TEST(Vmap, PointsMoveUntilEachIsThere) {
  const auto fall = [](Array start, Array speed) {
    const auto next = [](auto& carry) {
      auto [p, v, turns] = carry;
      return std::tuple(p + v, v + ab::array({0.0f, 0.0f, -1.0f}) * ab::max(p), turns + 1);
    };
    const auto is_above = [](auto& carry) { return std::get<0>(carry)[2] >= 0; };
    const auto [p, v, turns] = ab::while_loop(is_above, next, std::tuple(start, speed, 0));
    return std::pair(p, turns);
  };
  const std::int64_t count = 37;
  const Array start = ab::reshape(ab::arange(3 * count, ab::f32) % 11, {count, 3});
  const Array speed = ab::reshape(ab::arange(3 * count, ab::f32) % 5 - 1, {count, 3});
  const auto [places, turns] = ab::jit(ab::vmap(fall))(start, speed);
  const std::vector<float> found = places.to_vector<float>();
  const std::vector<std::int32_t> taken = turns.to_vector<std::int32_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(3 * i);
    float p[3], v[3];
    for (std::size_t k = 0; k < 3; ++k) {
      p[k] = static_cast<float>((at + k) % 11);
      v[k] = static_cast<float>((at + k) % 5) - 1;
    }
    std::int32_t steps = 0;
    for (; p[2] >= 0; ++steps) {
      const float most = std::max({p[0], p[1], p[2]});
      for (std::size_t k = 0; k < 3; ++k) p[k] += v[k];
      v[2] -= most;
    }
    EXPECT_EQ(taken[static_cast<std::size_t>(i)], steps) << i;
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(found[at + k], p[k]) << i;
  }
}

// The product of a sparse matrix: rows of no values, of one, and of many.
TEST(Vmap, EachRowGoesOverItsOwnValues) {
  const auto product = [](Array rows, Array columns, Array values, Array x) {
    const auto row = [&](Array first, Array end) {
      const auto next = [&](auto& carry) {
        auto [k, sum] = carry;
        return std::tuple(k + 1, sum + ab::take(values, k) * ab::take(x, ab::take(columns, k)));
      };
      const auto is_inside = [&](auto& carry) { return std::get<0>(carry) < end; };
      return std::get<1>(
          ab::while_loop(is_inside, next, std::tuple(first, ab::zeros({}, ab::f32))));
    };
    return ab::vmap(row)(rows(ab::range(0, -1)), rows(ab::range(1)));
  };
  const Array rows = i32s({0, 0, 1, 6, 6, 8}), columns = i32s({2, 0, 1, 2, 1, 0, 0, 2});
  const Array values = ab::array({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f});
  const Array x = ab::array({1.f, 10.f, 100.f});
  const std::vector<float> expected = {0, 100, 488, 0, 807};
  EXPECT_EQ(product(rows, columns, values, x).to_vector<float>(), expected);
  EXPECT_EQ(ab::jit(product)(rows, columns, values, x).to_vector<float>(), expected);
}

TEST(Vmap, ALoopOfAsManyTurnsForAllKeepsItsCount) {
  auto f = [](Array x) {
    return ab::fori_loop(
        0, 3, [](Array i, Array c) { return c * 2 + i; }, x);
  };
  const ab::Graph graph = ab::trace(ab::vmap(f), ab::spec(ab::i32, {4}));
  for (const ab::Node& node : graph.nodes()) {
    if (node.op != ab::Op::while_) continue;
    EXPECT_EQ(node.types[0], (ab::Type{ab::i32, {}}));
  }
  const Array found = ab::vmap(f)(i32s({0, 1, 2, 3}));
  EXPECT_EQ(found.to_vector<std::int32_t>(), (std::vector<std::int32_t>{4, 12, 20, 28}));
}

TEST(Vmap, EachExampleTakesItsOwnBranch) {
  auto f = [](Array x) {
    return ab::cond(
        x > 0, [](Array v) { return v * 10; }, [](Array v) { return -v; }, x);
  };
  const Array found = ab::vmap(f)(i32s({3, -4, 0, 5}));
  EXPECT_EQ(found.to_vector<std::int32_t>(), (std::vector<std::int32_t>{30, 4, 0, 50}));
  auto g = [](Array i, Array x) {
    return ab::switch_(i,
                       std::tuple{[](Array v) { return v; }, [](Array v) { return v + 100; },
                                  [](Array v) { return v * v; }},
                       x);
  };
  const Array chosen = ab::vmap(g)(i32s({-1, 1, 7, 0}), i32s({2, 3, 4, 5}));
  EXPECT_EQ(chosen.to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 103, 16, 5}));
}

TEST(Vmap, KeysGiveTheNumbersThatEachGivesAlone) {
  const Array keys = ab::stack(ab::random::split(ab::random::key(7), 3));
  auto draw = [](Array key) { return ab::random::normal(key, ab::Shape{4}); };
  const Array all = ab::vmap(draw)(keys);
  for (std::int64_t i = 0; i < 3; ++i) {
    const Array alone = draw(keys(i));
    expect_equal(all(i), alone);
  }
}

// `f` of every pair of rows, one after the other.
template <class Function>
void expect_as_in_a_loop(const Function& f, const Array& x, const Array& y, const char* what) {
  SCOPED_TRACE(what);
  std::vector<Array> all, half;
  for (std::int64_t i = 0; i < x.shape()[0]; ++i) {
    all.push_back(f(x(i), y(i)));
    half.push_back(f(x(0), y(i)));
  }
  expect_equal(ab::vmap(f)(x, y), ab::stack(all));
  expect_equal(ab::jit(ab::vmap(f))(x, y), ab::stack(all));
  expect_equal(ab::vmap(f, ab::in_axes(ab::unmapped, 0))(x(0), y), ab::stack(half));
}

TEST(Vmap, GivesWhatALoopOverTheExamplesGives) {
  const Array x = ab::sin(counting({3, 4}, 1)), y = ab::cos(counting({3, 4}, 1));
  const auto place = [](Array v) { return ab::astype(ab::abs(v(0)) * 3, ab::i32); };
  const auto check = [&](const char* what, const auto& f) { expect_as_in_a_loop(f, x, y, what); };
  check("softmax", [](Array a, Array b) { return ab::softmax(a + b); });
  check("outer product", [](Array a, Array b) { return ab::tensordot(a, b, 0); });
  check("dynamic index", [&](Array a, Array b) { return a(place(b)); });
  check("update", [&](Array a, Array b) { return ab::at(a, place(b)).add(b(1)); });
  check("take", [](Array a, Array b) { return ab::take(a, ab::argsort(b), 0); });
  check("cumsum", [](Array a, Array b) { return ab::cumsum(a * b); });
  check("solve", [](Array a, Array b) {
    return ab::linalg::solve(ab::tensordot(a, a, 0) + ab::eye(4), ab::reshape(b, {4, 1}));
  });
  check("scan", [](Array a, Array b) {
    auto step = [](Array carry, Array v) { return std::pair(carry * 0.5f + v, carry); };
    return ab::scan(step, b(0), a).second;
  });
  check("loop of its own length", [&](Array a, Array b) {
    return ab::fori_loop(
        0, place(b), [&](Array, Array c) { return c + b; }, a);
  });
  check("loop in a branch", [&](Array a, Array b) {
    auto loop = [&](Array v) {
      return ab::fori_loop(
          0, place(b), [](Array i, Array c) { return c + i; }, v);
    };
    return ab::cond(
        ab::sum(b) > 0, loop, [](Array v) { return v * 2; }, a);
  });
  check("function of the user", [](Array a, Array b) {
    auto turn = [](const ab::CustomCall& call) {
      std::ranges::reverse_copy(call.operand<float>(0), call.result<float>(0).begin());
    };
    return ab::custom_call("vmap_turn", turn, ab::spec(ab::f32, {4}), a) + b;
  });
}

TEST(Vmap, ABatchOfNone) {
  auto f = [](Array x) { return ab::linalg::inv(x); };
  EXPECT_EQ(ab::vmap(f)(ab::zeros(ab::f32, {0, 3, 3})).shape(), (ab::Shape{0, 3, 3}));
}

// --- errors --------------------------------------------------------------------------------------

// What is thrown, without where.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const ab::Error& error) {
    const std::string text = error.what();
    const std::size_t place = text.rfind(", at vmap.cpp:");
    EXPECT_NE(place, std::string::npos) << text;
    return text.substr(0, place);
  }
  return "no error";
}

struct Layer {
  Array weight, bias;
};

TEST(Vmap, ErrorsNameTheArgumentAndTheRemedy) {
  auto same = [](Array x) { return x; };
  auto sum = [](Array x, Array y) { return x + y; };
  auto bias = [](const Layer& l) { return l.bias; };
  const Array x = counting({3, 4}), y = counting({5, 4}), one = ab::scalar(1.0f);
  const std::pair<std::string, std::string> cases[] = {
      {error_of([&] { ab::vmap(same, ab::in_axes(ab::unmapped))(x); }),
       "vmap: no argument is mapped; give at least one argument that has arrays an axis in "
       "in_axes"},
      {error_of([&] { ab::vmap(same)(2.0f); }),
       "vmap: no argument is mapped; give at least one argument that has arrays an axis in "
       "in_axes"},
      {error_of([&] { ab::vmap(sum)(x, y); }),
       "vmap: the mapped axes differ in size: argument 0, f32[3,4], has 3 on axis 0, and argument "
       "1, f32[5,4], has 5 on axis 0; map axes of one size, or mark an argument with ab::unmapped "
       "in in_axes"},
      {error_of([&] { ab::vmap(same, ab::in_axes(2))(x); }),
       "vmap: argument 0, f32[3,4], has no axis 2; in_axes takes 0 to 1, or -2 to -1 from the end"},
      {error_of([&] { ab::vmap(same, ab::in_axes(-3))(x); }),
       "vmap: argument 0, f32[3,4], has no axis -3; in_axes takes 0 to 1, or -2 to -1 from the "
       "end"},
      {error_of([&] {
         ab::vmap(bias)(Layer{x, {}});
       }),
       "vmap: argument 0.bias is an empty Array; give it a value first"},
      {error_of([&] {
         ab::vmap(bias)(Layer{x, one});
       }),
       "vmap: argument 0.bias, f32[], is a scalar and has no axis to map; mark it with "
       "ab::unmapped in in_axes"},
      {error_of([&] { ab::vmap(sum, ab::in_axes(0, 0))(x, 2.0f); }),
       "vmap: argument 1, f32[], is a scalar and has no axis to map; mark it with ab::unmapped in "
       "in_axes"},
      {error_of([&] { ab::vmap(same, ab::out_axes(2))(x); }),
       "vmap: result, f32[4] of each example, cannot have its mapped axis at 2; out_axes takes 0 "
       "to 1, or -2 to -1 from the end"},
      {error_of([&] { ab::vmap(same, ab::out_axes(ab::unmapped))(x); }),
       "vmap: result, f32[4] of each example, depends on a mapped argument; give it an axis in "
       "out_axes instead of ab::unmapped"},
      {error_of([&] { ab::vmap([](Array) { return Array(); })(x); }),
       "vmap: result is an empty Array; give it a value first"},
      {error_of([&] { ab::vmap([](Array) { return std::vector<Array>(); })(x); }),
       "vmap: the function returns no arrays"},
  };
  for (const auto& [found, wanted] : cases) EXPECT_EQ(found, wanted);
}

}  // namespace
