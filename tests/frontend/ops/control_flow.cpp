// Loops and branches as a user writes them, traced: what the graphs hold and what they compute.
#include "ir/graph/verify.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "tests/support/values.h"

namespace {

using ab::Array;
using ab::Literal;

std::vector<Literal> run(const ab::Graph& graph, std::vector<Literal> inputs) {
  verify(graph);
  EXPECT_EQ(ab::parse(to_string(graph)), graph);
  return interpret(graph, inputs);
}

Literal vector_of(std::vector<float> values) {
  return Literal::of<float>(values, {static_cast<std::int64_t>(values.size())});
}

const ab::Node& only(const ab::Graph& graph, ab::Op op) {
  const ab::Node* found = nullptr;
  for (const ab::Node& node : graph.nodes()) {
    if (node.op != op) continue;
    EXPECT_EQ(found, nullptr) << "more than one " << name(op);
    found = &node;
  }
  if (!found) throw std::runtime_error("no " + std::string(name(op)));
  return *found;
}

TEST(WhileLoop, CarriesAStructAndCapturesArrays) {
  struct State {
    Array steps, value;
  };
  auto f = [](Array x, Array limit) {
    return ab::while_loop([&](const State& s) { return ab::sum(s.value) < limit; },
                          [&](const State& s) {
                            return State{s.steps + 1, s.value + x};
                          },
                          State{ab::scalar(0), ab::zeros(ab::f32, {2})});
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::f32, {2}), ab::spec(ab::f32, {}));
  const auto results = run(graph, {vector_of({1, 2}), Literal::scalar(10.0f)});
  EXPECT_EQ(results[0], Literal::scalar(4));
  EXPECT_EQ(results[1], vector_of({4, 8}));
}

TEST(WhileLoop, ANumberTakesTheDtypeThatTheBodyGivesIt) {
  auto f = [](Array x) {
    return ab::while_loop([](auto& c) { return std::get<0>(c) < 3; },
                          [&](auto& c) {
                            return std::tuple{std::get<0>(c) + 1, std::get<1>(c) + x};
                          },
                          std::tuple{0, 0});
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::f16, {}));
  EXPECT_EQ(graph.type(graph.outputs()[0]), (ab::Type{ab::i32, {}}));
  EXPECT_EQ(graph.type(graph.outputs()[1]), (ab::Type{ab::f16, {}}));
  const auto back = ab::trace(
      [](Array x) {
        return ab::while_loop([](Array) { return false; }, [](Array) { return 1; }, x);
      },
      ab::spec(ab::f32, {}));
  EXPECT_EQ(back.type(back.outputs()[0]), (ab::Type{ab::f32, {}}));
}

TEST(ForiLoop, CountsAndNests) {
  // The sum of i * j + x over i < 3 and j < i.
  auto f = [](Array x, Array n) {
    return ab::fori_loop(
        0, n,
        [&](Array i, Array total) {
          return ab::fori_loop(
              0, i, [&](Array j, Array inner) { return inner + (i * j).astype(ab::f32) + x; },
              total);
        },
        ab::zeros(ab::f32, {}));
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::f32, {}), ab::spec(ab::i32, {}));
  EXPECT_EQ(run(graph, {Literal::scalar(10.0f), Literal::scalar(3)})[0], Literal::scalar(32.0f));
  EXPECT_EQ(run(graph, {Literal::scalar(10.0f), Literal::scalar(0)})[0], Literal::scalar(0.0f));
  EXPECT_EQ(only(only(graph, ab::Op::while_).regions[1], ab::Op::while_).types.size(), 2u);
}

TEST(ForiLoop, WhatItsBodyComputesFromOutsideAloneIsComputedOnce) {
  auto f = [](Array w, Array x) {
    return ab::fori_loop(
        0, 5, [&](Array, Array y) { return y + ab::exp(w); }, x);
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::f32, {3}), ab::spec(ab::f32, {3}));
  only(graph, ab::Op::exponential);
}

TEST(Scan, GivesTheLastCarryAndStacksTheRest) {
  auto f = [](Array init, Array xs) {
    return ab::scan(
        [](Array carry, Array x) {
          Array next = carry + x;
          return std::pair{next, std::tuple{next * 2, ab::stack({x, carry})}};
        },
        init, xs);
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::f32, {}), ab::spec(ab::f32, {3}));
  const auto results = run(graph, {Literal::scalar(1.0f), vector_of({1, 2, 3})});
  EXPECT_EQ(results[0], Literal::scalar(7.0f));
  EXPECT_EQ(results[1], vector_of({4, 8, 14}));
  const std::vector<float> pairs = {1, 1, 2, 2, 3, 4};
  EXPECT_EQ(results[2], Literal::of<float>(pairs, {3, 2}));
}

TEST(Scan, RunsWithoutXsAndForNoSteps) {
  auto powers = [](Array x) {
    return ab::scan([&](Array c) { return std::pair{c * x, c}; }, 1, 4).second;
  };
  const ab::Graph graph = ab::trace(powers, ab::spec(ab::f32, {}));
  EXPECT_EQ(run(graph, {Literal::scalar(3.0f)})[0], vector_of({1, 3, 9, 27}));
  auto sums = [](Array xs) {
    return ab::scan(
        [](Array c, Array x) {
          return std::pair{c + x, c};
        },
        ab::zeros(ab::f32, {2}), xs);
  };
  const ab::Graph none = ab::trace(sums, ab::spec(ab::f32, {0, 2}));
  EXPECT_EQ(none.type(none.outputs()[0]), (ab::Type{ab::f32, {2}}));
  EXPECT_EQ(none.type(none.outputs()[1]), (ab::Type{ab::f32, {0, 2}}));
}

// And once more where the carry begins as a number whose dtype follows what comes back.
TEST(Scan, NamesMapWhereThereIsNothingToStepAlong) {
  const auto message_of = [](const auto& xs) -> std::string {
    try {
      ab::map([](auto x) { return x; }, xs);
    } catch (const ab::Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string none = message_of(std::tuple<>()), scalar = message_of(ab::scalar(1.0f));
  EXPECT_TRUE(none.starts_with("map or scan: xs has no arrays to step along; ")) << none;
  EXPECT_TRUE(scalar.starts_with("map or scan: xs, f32[], has no axis to step along")) << scalar;
}

TEST(Scan, StepsOfScansInsideOfScansAreTracedOnce) {
  int calls = 0;
  const auto nested = [&](const auto& self, const Array& x, int depth) -> Array {
    return ab::scan(
               [&](Array c) {
                 ++calls;
                 return std::pair{depth == 0 ? c + x : self(self, c, depth - 1), c};
               },
               x, 2)
        .first;
  };
  const auto f = [&](Array x) { return nested(nested, x, 5); };
  ab::trace(f, ab::spec(ab::f32, {}));
  EXPECT_EQ(calls, 6);
  // Two turns of the innermost give three times x, and each scan around it does that twice.
  EXPECT_EQ(run(ab::trace([&](Array x) { return nested(nested, x, 2); }, ab::spec(ab::f32, {})),
                {Literal::scalar(1.0f)})[0],
            Literal::scalar(81.0f));

  calls = 0;
  const auto halves = [&](Array x) {
    return ab::scan(
               [&](Array c) {
                 ++calls;
                 return std::pair{c * x, c};
               },
               1, 3)
        .second;
  };
  EXPECT_EQ(run(ab::trace(halves, ab::spec(ab::f32, {})), {Literal::scalar(0.5f)})[0],
            vector_of({1, 0.5, 0.25}));
  EXPECT_EQ(calls, 2);
}

TEST(Cond, ComputesWhatABranchComputesInTheBranch) {
  auto f = [](Array p, Array x) {
    return ab::cond(
        p, [&] { return ab::exp(x) * 2; }, [&](const auto&...) { return x; });
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::bool_, {}), ab::spec(ab::f32, {2}));
  const ab::Node& node = only(graph, ab::Op::case_);
  only(node.regions[1], ab::Op::exponential);
  for (const ab::Node& outside : graph.nodes()) EXPECT_NE(outside.op, ab::Op::exponential);
  EXPECT_EQ(run(graph, {Literal::scalar(false), vector_of({1, 2})})[0], vector_of({1, 2}));
  EXPECT_EQ(run(graph, {Literal::scalar(true), vector_of({0, 0})})[0], vector_of({2, 2}));
}

TEST(Cond, NestsInLoopsAndCapturesThroughThem) {
  // Collatz: how many steps lead from x to 1, plus `extra` for each odd one.
  auto f = [](Array x, Array extra) {
    return ab::while_loop([](auto& c) { return c.first > 1; },
                          [&](auto& c) {
                            Array next = ab::cond(
                                c.first % 2 == 0, [](Array n) { return n / 2; },
                                [](Array n) { return n * 3 + 1; }, c.first);
                            Array more = ab::cond(
                                c.first % 2 == 0, [&] { return c.second + 1; },
                                [&] { return c.second + 1 + extra; });
                            return std::pair{next, more};
                          },
                          std::pair{x, 0});
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::i64, {}), ab::spec(ab::i64, {}));
  const auto one = [](std::int64_t v) { return Literal::scalar(v); };
  EXPECT_EQ(run(graph, {one(6), one(0)})[1], one(8));
  EXPECT_EQ(run(graph, {one(6), one(100)})[1], one(208));
}

TEST(Switch, ClampsItsIndex) {
  auto f = [](Array i, Array x) {
    return ab::switch_(
        i,
        std::tuple{[](Array a) { return a; }, [](Array a) { return -a; }, [](Array) { return 7; }},
        x);
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::i64, {}), ab::spec(ab::f32, {}));
  const auto taken = [&](std::int64_t i) {
    return run(graph, {Literal::scalar(i), Literal::scalar(3.0f)})[0];
  };
  EXPECT_EQ(taken(0), Literal::scalar(3.0f));
  EXPECT_EQ(taken(1), Literal::scalar(-3.0f));
  EXPECT_EQ(taken(2), Literal::scalar(7.0f));
  EXPECT_EQ(taken(-5), Literal::scalar(3.0f));
  EXPECT_EQ(taken(std::int64_t{1} << 40), Literal::scalar(7.0f));
}

TEST(DynamicSlice, TakesNumbersAndArraysAsStarts) {
  auto f = [](Array x, Array i) {
    return std::tuple{ab::dynamic_slice(x, {i, 1}, {1, 2}), ab::dynamic_slice_in_dim(x, i, 2, -1),
                      ab::dynamic_index_in_dim(x, i),
                      ab::dynamic_update_slice(x, ab::full({1, 1}, 9.0f), {0, i}),
                      ab::dynamic_update_index_in_dim(x, ab::full({2}, 8.0f), i, 1)};
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::f32, {2, 3}), ab::spec(ab::u8, {}));
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const auto results =
      run(graph, {Literal::of<float>(values, {2, 3}), Literal::scalar(std::uint8_t{1})});
  auto expect = [&](std::size_t at, ab::Shape shape, std::vector<float> wanted) {
    EXPECT_EQ(results[at], Literal::of<float>(wanted, shape)) << at;
  };
  expect(0, {1, 2}, {5, 6});
  expect(1, {2, 2}, {2, 3, 5, 6});
  expect(2, {3}, {4, 5, 6});
  expect(3, {2, 3}, {1, 9, 3, 4, 5, 6});
  expect(4, {2, 3}, {1, 8, 3, 4, 8, 6});
}

TEST(DynamicSlice, AnUpdateByIndexIsOneSlab) {
  const Array x = ab::zeros({4, 3});
  EXPECT_EQ(ab::dynamic_update_index_in_dim(x, ab::ones({1, 3}), 2).type(), x.type());
  EXPECT_EQ(ab::dynamic_update_index_in_dim(ab::zeros({4}), 1, 2).shape(), ab::Shape({4}));
  for (const Array& update : {ab::ones({2, 3}), ab::ones({1, 2}), ab::ones({2}), ab::ones({})}) {
    EXPECT_THROW(ab::dynamic_update_index_in_dim(x, update, 2), ab::Error);
  }
}

}  // namespace
