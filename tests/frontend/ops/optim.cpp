// Optimisers against the papers' formulas in plain C++, several steps of each, on trees; and what
// they refuse.
#include <array>
#include <functional>

#include "tests/support/values.h"

namespace {

namespace optim = ab::optim;
using ab::Array;
using ab::f32;

struct Layer {
  Array weight, bias;
};
struct Params {
  std::vector<Layer> layers;
  Array scale;
};

using Doubles = std::vector<double>;
constexpr std::size_t elements = 6 + 3 + 1;

Params params_of(const Doubles& x, ab::Dtype dtype) {
  const auto part = [&](std::size_t begin, std::size_t size) {
    return Doubles(x.begin() + static_cast<std::ptrdiff_t>(begin),
                   x.begin() + static_cast<std::ptrdiff_t>(begin + size));
  };
  return {{{ab::array(part(0, 6), {2, 3}).astype(dtype), ab::array(part(6, 3)).astype(dtype)}},
          ab::array(part(9, 1), ab::Sizes(ab::Shape{})).astype(dtype)};
}

template <class Tree>
Doubles flat(const Tree& tree) {
  Doubles all;
  ab::tree::for_each_array(tree, [&](const Array& x) {
    for (double value : doubles(x)) all.push_back(value);
  });
  return all;
}

const Doubles start = {0.5, -1, 2, 0.25, 3, -0.75, 0, 1.5, -2, 4};

Doubles gradient_at(int step) {
  Doubles g;
  for (std::size_t i = 0; i < elements; ++i) {
    g.push_back(std::sin(1.7 * static_cast<double>(i) + step) * (i == 3 ? 0 : 1));
  }
  return g;
}

// What an optimiser keeps of each element, and one step of it in plain doubles.
struct Plain {
  Doubles p = start, first = Doubles(elements, 0), second = Doubles(elements, 0);
  int steps = 0;
};

void plain_momentum(Plain& x, const Doubles& g, double rate, double mu, bool nesterov,
                    double decay) {
  for (std::size_t i = 0; i < elements; ++i) {
    const double d = g[i] + decay * x.p[i];
    x.first[i] = mu * x.first[i] + d;
    x.p[i] -= rate * (nesterov ? d + mu * x.first[i] : x.first[i]);
  }
}

void plain_adam(Plain& x, const Doubles& g, double rate, double b1, double b2, double epsilon,
                double decay, bool trust) {
  ++x.steps;
  Doubles u(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    x.first[i] = b1 * x.first[i] + (1 - b1) * g[i];
    x.second[i] = b2 * x.second[i] + (1 - b2) * g[i] * g[i];
    const double m = x.first[i] / (1 - std::pow(b1, x.steps));
    const double v = x.second[i] / (1 - std::pow(b2, x.steps));
    u[i] = m / (std::sqrt(v) + epsilon) + decay * x.p[i];
  }
  for (const auto& [begin, end] : {std::pair(0u, 6u), std::pair(6u, 9u), std::pair(9u, 10u)}) {
    double of_p = 0, of_u = 0;
    for (std::size_t i = begin; i < end; ++i) {
      of_p += x.p[i] * x.p[i];
      of_u += u[i] * u[i];
    }
    const double ratio = trust && of_p > 0 && of_u > 0 ? std::sqrt(of_p / of_u) : 1;
    for (std::size_t i = begin; i < end; ++i) x.p[i] -= rate * ratio * u[i];
  }
}

// Takes five steps outside of jit and inside, and compares them with the plain ones.
template <class State, class Init, class Step>
void expect_steps(const Init& init, const Step& step,
                  const std::function<void(Plain&, const Doubles&)>& plain) {
  for (const auto& [dtype, tolerance] : {std::pair(ab::f32, 3e-6), std::pair(ab::f64, 1e-13)}) {
    SCOPED_TRACE(name(dtype));
    const auto jitted = ab::jit(step);
    Params p = params_of(start, dtype), q = p;
    State of_p = init(p), of_q = init(q);
    Plain x;
    for (int i = 1; i <= 5; ++i) {
      const Doubles g = gradient_at(i);
      std::tie(p, of_p) = step(p, params_of(g, dtype), of_p);
      std::tie(q, of_q) = jitted(q, params_of(g, dtype), of_q);
      plain(x, g);
      expect_close(flat(p), x.p, tolerance, "recorded");
      expect_close(flat(q), x.p, tolerance, "jitted");
    }
    EXPECT_EQ(p.layers[0].weight.type(), (ab::Type{dtype, {2, 3}}));
  }
}

TEST(Optim, SgdStepsDownTheGradient) {
  struct None {};
  const auto step = [](const Params& p, const Params& g, const None&) {
    return std::pair(optim::sgd(p, g, {.learning_rate = 0.1, .weight_decay = 0.5}), None{});
  };
  expect_steps<None>([](const Params&) { return None{}; }, step,
                     [](Plain& x, const Doubles& g) { plain_momentum(x, g, 0.1, 0, false, 0.5); });
}

TEST(Optim, MomentumAddsUp) {
  for (const bool nesterov : {false, true}) {
    const optim::MomentumOptions options = {
        .learning_rate = 0.05, .momentum = 0.8, .nesterov = nesterov, .weight_decay = 0.01};
    expect_steps<optim::MomentumState<Params>>(
        [](const Params& p) { return optim::momentum_init(p); },
        [options](const Params& p, const Params& g, const optim::MomentumState<Params>& s) {
          return optim::momentum(p, g, s, options);
        },
        [nesterov](Plain& x, const Doubles& g) {
          plain_momentum(x, g, 0.05, 0.8, nesterov, 0.01);
        });
  }
}

using Adam = optim::AdamState<Params>;
Adam adam_init(const Params& p) { return optim::adam_init(p); }

TEST(Optim, AdamFollowsThePaper) {
  expect_steps<Adam>(
      adam_init,
      [](const Params& p, const Params& g, const Adam& s) { return optim::adam(p, g, s); },
      [](Plain& x, const Doubles& g) { plain_adam(x, g, 1e-3, 0.9, 0.999, 1e-8, 0, false); });
  expect_steps<Adam>(
      adam_init,
      [](const Params& p, const Params& g, const Adam& s) {
        return optim::adam(p, g, s,
                           {.learning_rate = 0.2, .beta1 = 0.0, .beta2 = 0.5, .epsilon = 1e-2});
      },
      [](Plain& x, const Doubles& g) { plain_adam(x, g, 0.2, 0, 0.5, 1e-2, 0, false); });
}

TEST(Optim, AdamwDecaysByItself) {
  expect_steps<Adam>(
      adam_init,
      [](const Params& p, const Params& g, const Adam& s) {
        return optim::adamw(p, g, s, {.learning_rate = 0.1, .weight_decay = 0.3});
      },
      [](Plain& x, const Doubles& g) { plain_adam(x, g, 0.1, 0.9, 0.999, 1e-8, 0.3, false); });
}

TEST(Optim, LambScalesByTheTrustRatioOfEachArray) {
  expect_steps<Adam>(
      adam_init,
      [](const Params& p, const Params& g, const Adam& s) {
        return optim::lamb(p, g, s, {.learning_rate = 0.1, .weight_decay = 0.2});
      },
      [](Plain& x, const Doubles& g) { plain_adam(x, g, 0.1, 0.9, 0.999, 1e-6, 0.2, true); });
  // The ratio is 1 where a norm is 0.
  const auto none = ab::zeros({3});
  const auto [p, s] = optim::lamb(none, ab::ones({3}), optim::adam_init(none));
  expect_close(doubles(p), {-1e-3, -1e-3, -1e-3}, 1e-6, "of zeros");
  const auto [q, t] = optim::lamb(ab::ones({3}), none, optim::adam_init(none), {.weight_decay = 0});
  EXPECT_EQ(doubles(q), (Doubles{1, 1, 1}));
}

// By itself 0.9 times the smallest numbers is rounded to the same again, and never ends.
TEST(Optim, MomentsThatNothingIsAddedToEndAsZeros) {
  for (const auto& [dtype, steps] : {std::pair(f32, 900), std::pair(ab::f64, 6800)}) {
    SCOPED_TRACE(name(dtype));
    const Array p = ab::ones(dtype, {2});
    // Element 0 has a gradient in step 0 alone.
    const auto gradient = [&, own = dtype](const Array& step) {
      const Array is_first = ab::arange(2) + step.astype(ab::i32) < 2;
      return ab::where(is_first, 1.0, ab::arange(2).astype(own));
    };
    const auto adam = [&](const Array& step, auto& carry) {
      auto& [q, state] = carry;
      return optim::adam(q, gradient(step), state, {.beta2 = 0.5});
    };
    const auto run = [&, count = steps](const auto& step, const auto& begin) {
      return ab::jit([&](auto start) { return ab::fori_loop(0, count, step, start); })(begin)
          .second;
    };
    const auto moments = run(adam, std::pair(p, optim::adam_init(p)));
    EXPECT_EQ(doubles(moments.m)[0], 0);
    EXPECT_EQ(doubles(moments.v)[0], 0);
    EXPECT_NEAR(doubles(moments.m)[1], 1, 1e-6);
    const auto momentum = [&](const Array& step, auto& carry) {
      auto& [q, state] = carry;
      return optim::momentum(q, gradient(step), state, {});
    };
    const auto velocity = run(momentum, std::pair(p, optim::momentum_init(p))).velocity;
    EXPECT_EQ(doubles(velocity)[0], 0);
    EXPECT_NEAR(doubles(velocity)[1], 10, 1e-5);
  }
}

TEST(Optim, MomentsOfOrdinarySizeKeepTheirBits) {
  const Array p = ab::random::normal(ab::random::key(1), {1000});
  const auto plain = ab::jit([](Array m, Array v, Array g) {
    return std::pair(0.9 * m + (1 - 0.9) * g, 0.999 * v + (1 - 0.999) * ab::square(g));
  });
  const auto step = ab::jit([](Array q, Array g, optim::AdamState<Array> state) {
    return optim::adam(q, g, state).second;
  });
  auto state = optim::adam_init(p);
  for (std::uint64_t i = 0; i < 5; ++i) {
    const Array g = ab::random::normal(ab::random::key(2 + i), {1000});
    const auto [m, v] = plain(state.m, state.v, g);
    state = step(p, g, state);
    EXPECT_EQ(state.m.to_vector<float>(), m.to_vector<float>());
    EXPECT_EQ(state.v.to_vector<float>(), v.to_vector<float>());
  }
}

TEST(Optim, CarriesOfAScanKeepTheirTypes) {
  for (const ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    SCOPED_TRACE(name(dtype));
    const Params p = params_of(start, dtype);
    const auto step = [](auto& carry) {
      auto& [p, s] = carry;
      const Array rate = optim::schedule::cosine(s.step, 0.1, 10);
      const auto g = ab::tree_map([](const Array& x) { return x * 2; }, p);
      return std::pair(optim::adamw(p, g, s, {.learning_rate = rate}), std::tuple<>());
    };
    const auto run = [&](const Params& p) {
      return ab::scan(step, std::pair(p, optim::adam_init(p)), 4).first;
    };
    const auto [last, state] = ab::jit(run)(p);
    EXPECT_EQ(last.layers[0].bias.dtype(), dtype);
    EXPECT_EQ(state.m.scale.dtype(), dtype == ab::f64 ? ab::f64 : f32);
    EXPECT_EQ(state.step.item<std::int64_t>(), 4);
    Plain x;
    for (int i = 0; i < 4; ++i) {
      Doubles g = x.p;
      for (double& value : g) value *= 2;
      const double rate = 0.05 * (1 + std::cos(std::acos(-1.0) * i / 10));
      plain_adam(x, g, rate, 0.9, 0.999, 1e-8, 0.01, false);
    }
    const double tolerance = dtype == ab::f64 ? 1e-6 : dtype == f32 ? 1e-5 : 3e-2;
    expect_close(flat(last), x.p, tolerance, "scanned");
  }
}

TEST(Optim, SmallGradientsOfNarrowFloatsAddUp) {
  const Array p = ab::zeros({2}, ab::bf16);
  auto state = optim::adam_init(p);
  Array q = p;
  for (int i = 0; i < 20; ++i) {
    std::tie(q, state) = optim::adam(q, ab::full({2}, 1e-3, ab::bf16), state);
  }
  const double mean = 1 - std::pow(0.999, 20), g = doubles(ab::full({1}, 1e-3, ab::bf16))[0];
  EXPECT_NEAR(doubles(state.v)[0] / (mean * g * g), 1, 1e-4);
}

TEST(Optim, RatesAreNumbersOrScalarsOfAnyFloat) {
  const Array p = ab::ones({3}), g = ab::ones({3});
  for (const ab::Operand& rate :
       {ab::Operand(0.25), ab::Operand(ab::scalar(0.25f)), ab::Operand(ab::scalar(0.25, ab::f64)),
        ab::Operand(ab::scalar(0.25, ab::bf16))}) {
    const Array next = optim::sgd(p, g, {.learning_rate = rate});
    EXPECT_EQ(next.dtype(), f32);
    EXPECT_EQ(doubles(next), (Doubles{0.75, 0.75, 0.75}));
  }
  EXPECT_EQ(doubles(optim::sgd(ab::scalar(1.0), ab::scalar(2.0, ab::f64), {1})), (Doubles{-1}));
  EXPECT_EQ(optim::sgd(ab::scalar(1.0), ab::scalar(2.0, ab::f64)).dtype(), f32);
}

TEST(Optim, ClipsByValueAndByNorm) {
  const std::pair tree(ab::array({3.0f, -4.0f}), ab::array({12.0}, ab::f64));
  EXPECT_EQ(optim::global_norm(tree).type(), (ab::Type{ab::f64, {}}));
  EXPECT_EQ(optim::global_norm(tree).item<double>(), 13);
  EXPECT_EQ(optim::global_norm(ab::full({4}, 300, ab::f16)).item<float>(), 600);
  EXPECT_EQ(optim::global_norm(std::vector<Array>()).item<float>(), 0);
  const auto [a, b] = optim::clip_by_global_norm(tree, 6.5);
  EXPECT_EQ(a.dtype(), f32);
  EXPECT_EQ(b.dtype(), ab::f64);
  EXPECT_EQ(doubles(a), (Doubles{1.5, -2}));
  EXPECT_EQ(doubles(b), (Doubles{6}));
  EXPECT_EQ(flat(optim::clip_by_global_norm(tree, ab::scalar(20.0f))), (Doubles{3, -4, 12}));
  EXPECT_EQ(flat(optim::clip_by_global_norm(ab::zeros({2}), 1)), (Doubles{0, 0}));
  EXPECT_EQ(flat(optim::clip_by_value(tree, -3.5, 5)), (Doubles{3, -3.5, 5}));
  EXPECT_TRUE(std::isnan(flat(optim::clip_by_global_norm(ab::array({NAN, 1.0f}), 1))[1]));
  EXPECT_TRUE(std::isnan(flat(optim::clip_by_global_norm(ab::array({INFINITY, 1.0f}), 1))[1]));
  for (const ab::Dtype dtype : {ab::f32, ab::f64}) {
    const double large = dtype == ab::f32 ? 1e30 : 1e300;
    const Array x = ab::array(Doubles{3 * large, -4 * large}, dtype);
    expect_close(flat(optim::clip_by_global_norm(x, 10)), {6, -8}, 1e-6, "clipped");
    EXPECT_NEAR(flat(optim::global_norm(x) / large)[0], 5, 1e-6);
  }
}

TEST(Optim, ParametersKeepWhatIsStatic) {
  struct Model {
    int width;
    Array w;
  };
  const Model model = {7, ab::ones({2})};
  const auto state = optim::adam_init(model);
  const auto [next, after] = optim::adam(model, Model{7, ab::ones({2})}, state);
  EXPECT_EQ(next.width, 7);
  EXPECT_EQ(after.step.item<std::int64_t>(), 1);
}

TEST(Schedules, FollowTheirFormulas) {
  namespace schedule = optim::schedule;
  const double pi = std::acos(-1.0);
  for (const std::int64_t step : {0, 1, 3, 7, 10, 11, 25, 1000}) {
    const double t = static_cast<double>(step);
    const Array at = ab::scalar(step);
    const auto expect = [&](const std::function<Array(Array, ab::Dtype)>& rate, double expected) {
      EXPECT_EQ(rate(at, f32).type(), (ab::Type{f32, {}}));
      EXPECT_NEAR(rate(at, ab::f64).item<double>(), expected, 1e-14) << step;
      EXPECT_NEAR(ab::jit([&](Array s) { return rate(s, f32); })(at).item<float>(), expected, 1e-7)
          << step;
    };
    const double done = std::min(t / 10, 1.0);
    expect([](Array s, ab::Dtype d) { return schedule::constant(s, 0.3, d); }, 0.3);
    expect([](Array s, ab::Dtype d) { return schedule::linear(s, 0.5, 0.1, 10, d); },
           0.5 + (0.1 - 0.5) * done);
    expect([](Array s, ab::Dtype d) { return schedule::warmup(s, 0.4, 10, d); },
           0.4 * std::min((t + 1) / 10, 1.0));
    const double wave = 0.1 + 0.4 * (1 + std::cos(pi * done)) / 2;
    expect([](Array s, ab::Dtype d) { return schedule::cosine(s, 0.5, 10, 0.1, d); }, wave);
    const double late = 0.1 + 0.4 * (1 + std::cos(pi * std::min((t - 4) / 16, 1.0))) / 2;
    expect(
        [](Array s, ab::Dtype d) {
          return schedule::warmup_cosine(s, {0.5, 4, 20, 0.1}, d);
        },
        t < 4 ? 0.5 * (t + 1) / 4 : late);
    expect([](Array s, ab::Dtype d) { return schedule::exponential(s, 0.5, 0.9, 5, d); },
           0.5 * std::pow(0.9, t / 5));
    expect([](Array s, ab::Dtype d) { return schedule::stepwise(s, 0.5, 0.1, 10, d); },
           0.5 * std::pow(0.1, std::floor(t / 10)));
  }
}

TEST(TreeMap, AppliesAFunctionToTheArraysOfEachPlace) {
  const Params p = params_of(start, f32);
  const Params sums = ab::tree_map([](const Array& a, const Array& b) { return a + b; }, p, p);
  Doubles expected = start;
  for (double& value : expected) value *= 2;
  EXPECT_EQ(flat(sums), expected);
  EXPECT_EQ(flat(ab::tree_map([](const Array&) { return 3; }, std::pair(p.scale, 0.5))),
            (Doubles{3}));
  const Params ranks = ab::tree_map([](const Array& x) { return x.rank(); }, p);
  EXPECT_EQ(flat(ranks), (Doubles{2, 1, 0}));
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Optim, ErrorsNameThePlaceAndTheRemedy) {
  const Array one = ab::ones({3}), ids = ab::arange(3);
  const Params p = params_of(start, f32);
  Params other = p, longer = p, empty = p;
  other.layers[0].bias = ab::ones({4});
  longer.layers.push_back(p.layers[0]);
  empty.scale = {};
  const auto state = optim::adam_init(p);
  const std::pair<std::function<void()>, const char*> cases[] = {
      {[&] { optim::sgd(p, other); },
       "optim::sgd: gradients.layers[0].bias is f32[4], and params.layers[0].bias is f32[3]; give "
       "the same shape, at optim.cpp:"},
      {[&] { optim::adam(p, longer, state); },
       "optim::adam: params.scale is beside gradients.layers[1].weight; give trees of the same "
       "lists, keys and structs, at"},
      {[&] { optim::adam(longer, longer, state); },
       "optim::adam: params.layers[1].weight is beside m.scale"},
      {[&] { optim::sgd(p, empty); }, "optim::sgd: gradients.scale is an empty Array; give it"},
      {[&] { optim::adam_init(ids); },
       "optim::adam_init: params is i32[3], and only floats are optimised"},
      {[&] { optim::momentum(one, one, {ids}); }, "optim::momentum: velocity is i32[3]"},
      {[&] { optim::sgd(one, one, {.learning_rate = one}); },
       "optim::sgd: the learning rate is f32[3], and has to be a number or a scalar float"},
      {[&] { optim::adam(p, p, state, {.beta1 = 1}); },
       "optim::adam: beta1 is 1; give at least 0 and less than 1"},
      {[&] { optim::adamw(p, p, state, {.beta2 = -0.5}); }, "optim::adamw: beta2 is -0.5"},
      {[&] { optim::momentum(one, one, {one}, {.momentum = 1.5}); },
       "optim::momentum: momentum is 1.5"},
      {[&] {
         optim::lamb(one, one, {one, one, one});
       },
       "optim::lamb: the state's step is f32[3], and has to be an integer scalar"},
      {[&] {
         optim::adam(one, one, {one, one, {}});
       },
       "optim::adam: the state's step is an empty Array"},
      {[&] { optim::clip_by_global_norm(ids, 1); },
       "optim::clip_by_global_norm: gradients is i32[3]"},
      {[&] { optim::clip_by_global_norm(one, one); },
       "optim::clip_by_global_norm: the greatest norm is f32[3]"},
      {[&] { optim::schedule::cosine(one, 1, 10); }, "optim::schedule::cosine: "},
      {[&] { optim::schedule::cosine(ids, 1, 10); },
       "optim::schedule::cosine: the step is i32[3], and has to be an integer scalar"},
      {[&] { optim::schedule::linear(0, 1, 0, 0); },
       "optim::schedule::linear: steps is 0; give at least 1"},
      {[&] { optim::schedule::warmup_cosine(0, {.warmup = 5, .steps = 5}); },
       "5 steps with a warm-up of 5; give more steps"},
      {[&] { optim::schedule::exponential(0, 1, -1); },
       "optim::schedule::exponential: factor is -1; give more than 0"},
      {[&] { optim::schedule::constant(0, 1, ab::f16); },
       "optim::schedule::constant: gives f32 or f64, not f16"},
      {[&] { ab::tree_map([](const Array& a, const Array&) { return a; }, p, longer); },
       "tree_map: tree 0 has an array at tree.scale, and tree 1 at tree.layers[1].weight"},
      {[&] { ab::tree_map([](const Array&) { return Array(); }, p); }, "tree_map: "},
  };
  for (const auto& [call, expected] : cases) {
    EXPECT_NE(error_of(call).find(expected), std::string::npos)
        << error_of(call) << "\n instead of " << expected;
  }
}

}  // namespace
