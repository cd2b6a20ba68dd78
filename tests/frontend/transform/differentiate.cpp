// grad, vjp, jvp, linearize, jacobian and hessian as a user writes them: trees, arguments,
// compositions, loops, kinks.
#include <map>
#include <optional>
#include <string>

#include "tests/support/values.h"

namespace {

using ab::Array;

Array f32s(std::vector<float> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return ab::array(values, ab::Shape{size});
}

void expect_values_of(const Array& found, const std::vector<double>& wanted,
                      double tolerance = 1e-5) {
  expect_close(doubles(found), wanted, tolerance, "derivative");
}

struct Params {
  Array w, b;
};

Array loss(const Params& p, const Array& x, const Array& t) {
  return ab::mean(ab::square(ab::matmul(x, p.w) + p.b - t));
}

TEST(Grad, OfAStructIsTheSameStruct) {
  const Params p{ab::full({3, 2}, 0.5f), ab::zeros({2})};
  const Array x = ab::ones({4, 3}), t = ab::zeros({4, 2});
  const auto [value, d] = ab::value_and_grad(loss)(p, x, t);
  expect_values_of(value, {2.25});
  expect_values_of(d.w, std::vector<double>(6, 1.5));
  expect_values_of(d.b, {1.5, 1.5});
  const Params only = ab::grad(loss)(p, x, t);
  expect_values_of(only.b, {1.5, 1.5});
}

TEST(Grad, ByChosenArguments) {
  const auto f = [](Array x, Array y, Array z) { return ab::sum(x * y * y + z); };
  const Array x = f32s({1, 2}), y = f32s({3, 4}), z = f32s({5, 6});
  expect_values_of(ab::grad(f, ab::argument(1))(x, y, z), {6, 16});
  const auto [dz, dx] = ab::grad(f, ab::arguments(2, 0))(x, y, z);
  expect_values_of(dz, {1, 1});
  expect_values_of(dx, {9, 16});
  const auto [value, gradients] = ab::value_and_grad(f, ab::arguments(0, 1))(x, y, z);
  expect_values_of(value, {52});
  expect_values_of(std::get<1>(gradients), {6, 16});

  const Params p{ab::ones({2, 1}), ab::zeros({1})};
  const Array rows = ab::ones({3, 2}), t = ab::zeros({3, 1});
  expect_values_of(ab::grad(loss, ab::argument(2))(p, rows, t), std::vector<double>(3, -4.0 / 3));
  const auto [dp, dt] = ab::grad(loss, ab::arguments<0, 2>())(p, rows, t);
  expect_values_of(dp.b, {4});
  expect_values_of(dt, std::vector<double>(3, -4.0 / 3));
}

TEST(Grad, ComesWithSomethingElse) {
  const auto f = [](Array x) {
    return std::pair(ab::sum(x * x), std::tuple{x + 1, x.astype(ab::i32)});
  };
  const Array x = f32s({1, 2});
  const auto [both, d] = ab::value_and_grad(f, ab::has_aux)(x);
  expect_values_of(both.first, {5});
  expect_values_of(std::get<0>(both.second), {2, 3});
  expect_values_of(d, {2, 4});
  const auto [gradient, aux] = ab::grad(f, ab::argument(0), ab::has_aux)(x);
  expect_values_of(gradient, {2, 4});
  EXPECT_EQ(std::get<1>(aux).dtype(), ab::i32);
}

TEST(Grad, OfTreesOfManyKinds) {
  const auto f = [](const std::map<std::string, std::vector<Array>>& m, std::optional<Array> o) {
    return ab::sum(m.at("a")[0] * m.at("b")[1]) + ab::sum(*o * 3);
  };
  const std::map<std::string, std::vector<Array>> m = {{"a", {f32s({1, 2})}},
                                                       {"b", {f32s({0}), f32s({5, 6})}}};
  const auto d = ab::grad(f)(m, std::optional(f32s({1})));
  expect_values_of(d.at("a")[0], {5, 6});
  expect_values_of(d.at("b")[0], {0});
  expect_values_of(d.at("b")[1], {1, 2});
}

TEST(Grad, OfHigherOrder) {
  const auto f = [](Array x) { return ab::sin(x); };
  const double x = 0.7;
  expect_values_of(ab::grad(f)(x), {std::cos(x)}, 1e-12);
  expect_values_of(ab::grad(ab::grad(f))(x), {-std::sin(x)}, 1e-12);
  expect_values_of(ab::grad(ab::grad(ab::grad(f)))(x), {-std::cos(x)}, 1e-12);
  expect_values_of(ab::jit(ab::grad(ab::jit(ab::grad(f))))(x), {-std::sin(x)}, 1e-12);
}

TEST(Grad, KeepsTheDtype) {
  const auto f = [](Array x) { return ab::sum(x * 2 + ab::exp(x)); };
  for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    EXPECT_EQ(ab::grad(f)(ab::ones({3}, dtype)).dtype(), dtype);
  }
  const auto g = [](Array x) { return ab::sum(x.astype(ab::f64) * 3).astype(ab::f32); };
  EXPECT_EQ(ab::grad(g)(ab::ones({3})).dtype(), ab::f32);
}

TEST(Grad, AtKinks) {
  const Array x = f32s({-1, 0, 2});
  const auto by = [&](auto f) { return ab::grad([f](Array y) { return ab::sum(f(y)); })(x); };
  expect_values_of(by([](Array y) { return ab::relu(y); }), {0, 0, 1});
  expect_values_of(by([](Array y) { return ab::abs(y); }), {-1, 0, 1});
  expect_values_of(by([](Array y) { return ab::maximum(y, 0.0f); }), {0, 0.5, 1});
  expect_values_of(by([](Array y) { return ab::clip(y, 0, 2); }), {0, 0, 0});
  const Array equal = f32s({3, 1, 3});
  expect_values_of(ab::grad([](Array y) { return ab::max(y); })(equal), {0.5, 0, 0.5});
  const Array twice = ab::array(std::vector<std::int64_t>{1, 1, 0}, ab::Shape{3});
  expect_values_of(ab::grad([&](Array y) {
                     return ab::sum(ab::take(y, twice) * f32s({1, 10, 100}));
                   })(x),
                   {100, 11, 0});
}

// More than an f16 holds.
TEST(Grad, OfManyEqualHalvesIsShared) {
  const std::int64_t count = 70000;
  const Array x = ab::ones({count}, ab::f16), ids = ab::zeros({count}, ab::i32);
  const auto expect_shared = [&](auto f) {
    for (double share : {doubles(ab::grad(f)(x)).front(), doubles(ab::grad(f)(x)).back()}) {
      EXPECT_NEAR(share, 1.0 / 70000, 0x1p-24);
    }
  };
  expect_shared([](Array y) { return ab::max(y); });
  expect_shared([](Array y) { return ab::min(y); });
  expect_shared([&](Array y) { return ab::sum(ab::segment_max(y, ids, 1)); });
}

TEST(Grad, OfWhatIsConstantIsZero) {
  const Array x = f32s({1, 2});
  expect_values_of(ab::grad([](Array) { return ab::scalar(3.0f); })(x), {0, 0});
  expect_values_of(ab::grad([](Array y) { return ab::sum(ab::floor(y)); })(x), {0, 0});
  expect_values_of(ab::grad([&](Array) { return ab::sum(x * x); })(x), {0, 0});
}

TEST(Grad, GoesThroughCapturedValuesOfAnOuterTrace) {
  // d/dy of d/dx (x^2 y) = 2x.
  const auto outer = [](Array y) { return ab::grad([&](Array x) { return x * x * y; })(3.0f); };
  expect_values_of(ab::grad(outer)(5.0f), {6});
  expect_values_of(ab::jit(ab::grad(outer))(5.0f), {6});
}

// --- loops ---------------------------------------------------------------------------------------

TEST(Grad, ThroughLoopsIsThatOfTheUnrolledOnes) {
  const auto step = [](const Array& y, const Array& x) { return ab::tanh(y * x + 0.25f); };
  const auto unrolled = [&](Array x) {
    Array y = x;
    for (int i = 0; i < 5; ++i) y = step(y, x);
    return ab::sum(y);
  };
  const auto counted = [&](Array x) {
    return ab::sum(ab::fori_loop(
        0, 5, [&](const Array&, Array y) { return step(y, x); }, x));
  };
  const auto until = [&](Array x) {
    const auto [i, y] =
        ab::while_loop([](const auto& state) { return std::get<0>(state) != 5; },
                       [&](const auto& state) {
                         return std::tuple{std::get<0>(state) + 1, step(std::get<1>(state), x)};
                       },
                       std::tuple{0, x});
    return ab::sum(y);
  };
  const auto bound = [&](Array x, Array n) {
    return ab::sum(ab::fori_loop(
        0, n, [&](const Array&, Array y) { return step(y, x); }, x));
  };
  const Array x = f32s({0.3f, -0.6f, 1.2f});
  const std::vector<double> wanted = doubles(ab::grad(unrolled)(x));
  expect_values_of(ab::grad(counted)(x), wanted);
  expect_values_of(ab::jit(ab::grad(counted))(x), wanted);
  expect_values_of(ab::grad(until)(x), wanted);
  expect_values_of(ab::jit(ab::grad(until))(x), wanted);
  expect_values_of(ab::jit(ab::grad(bound))(x, ab::scalar(5)), wanted);
  const std::vector<double> second = doubles(ab::hessian(unrolled)(x));
  expect_values_of(ab::hessian(counted)(x), second, 1e-4);
}

TEST(Grad, ThroughBranches) {
  const auto f = [](Array x) {
    return ab::cond(
        ab::sum(x) > 0, [](Array y) { return ab::sum(y * y); },
        [](Array y) { return ab::sum(3 * y); }, x);
  };
  expect_values_of(ab::grad(f)(f32s({1, 2})), {2, 4});
  expect_values_of(ab::jit(ab::grad(f))(f32s({-1, -2})), {3, 3});
}

TEST(Grad, OfAScanGathersWhatEachStepReads) {
  const auto f = [](Array xs) {
    const auto [last, ys] = ab::scan(
        [](Array c, Array x) {
          const Array next = c * x;
          return std::pair(next, next + x);
        },
        ab::scalar(2.0f), xs);
    return last + ab::sum(ys * f32s({1, 2, 3}));
  };
  const auto by_hand = [](Array xs) {
    const Array a = 2 * xs[0], b = a * xs[1], c = b * xs[2];
    return c + (a + xs[0]) + 2 * (b + xs[1]) + 3 * (c + xs[2]);
  };
  const Array xs = f32s({1.5f, -0.5f, 2});
  expect_values_of(ab::grad(f)(xs), doubles(ab::grad(by_hand)(xs)));
  expect_values_of(ab::hessian(f)(xs), doubles(ab::hessian(by_hand)(xs)));
}

// A turn of the loop backwards adds to the slab that it has read, and copies nothing else: so time
// per turn does not grow with the number of turns, which the program's cost shows.
TEST(Grad, OfAScanMovesEachSlabOnce) {
  const auto f = [](Array xs) {
    return ab::sum(ab::scan(
                       [](Array c, Array x) {
                         const Array next = ab::tanh(c + x);
                         return std::pair(next, next);
                       },
                       ab::zeros({64}), xs)
                       .first);
  };
  const auto bytes = [&](std::int64_t turns) {
    return static_cast<double>(
        ab::jit(ab::grad(f)).memory(ab::spec(ab::f32, {turns, 64})).temporaries);
  };
  EXPECT_LT(bytes(400), 4.5 * bytes(100));
}

// --- the linear maps -----------------------------------------------------------------------------

TEST(Vjp, PullsCotangentsBack) {
  const auto f = [](Array x, Array y) { return std::pair(x * y, ab::sum(x)); };
  const Array x = f32s({1, 2}), y = f32s({3, 4});
  const auto [value, pull] = ab::vjp(f, x, y);
  expect_values_of(value.first, {3, 8});
  const auto [dx, dy] = pull(std::pair(f32s({1, 10}), ab::scalar(100.0f)));
  expect_values_of(dx, {103, 140});
  expect_values_of(dy, {1, 20});
  const auto [z, pull_one] = ab::vjp([](Array a) { return a * a; }, x);
  expect_values_of(pull_one(f32s({1, 1})), {2, 4});
}

TEST(Vjp, OfIntegersIsZero) {
  const auto f = [](Array x, Array n) { return x * n.astype(ab::f32); };
  const Array n = ab::array(std::vector<std::int32_t>{2, 3}, ab::Shape{2});
  const auto [y, pull] = ab::vjp(f, f32s({1, 1}), n);
  const auto [dx, dn] = pull(f32s({1, 1}));
  expect_values_of(dx, {2, 3});
  EXPECT_EQ(dn.dtype(), ab::i32);
  expect_values_of(dn, {0, 0});
}

TEST(Jvp, IsThePushOfLinearize) {
  const auto f = [](const Params& p, Array x) { return Params{ab::exp(p.w) * x, p.b / x}; };
  const Params p{f32s({0.1f, 0.2f}), f32s({3, 4})}, dp{f32s({1, 2}), f32s({-1, 0})};
  const Array x = f32s({5, 6}), dx = f32s({1, -1});
  const auto [y, dy] = ab::jvp(f, std::tuple{p, x}, std::tuple{dp, dx});
  const auto [z, push] = ab::linearize(f, p, x);
  const Params dz = push(dp, dx);
  expect_values_of(dy.w, doubles(dz.w));
  expect_values_of(dy.b, doubles(dz.b));
  expect_values_of(y.w, doubles(z.w));
  expect_values_of(dy.b, {-1.0 / 5 - 3.0 / 25, 4.0 / 36});
}

TEST(Jacobian, OfBothModes) {
  const auto f = [](Array x) { return ab::stack({x[0] * x[1], ab::sin(x[0]), x[1] * x[1]}); };
  const Array x = f32s({2, 3});
  const std::vector<double> wanted = {3, 2, std::cos(2), 0, 0, 6};
  expect_values_of(ab::jacobian(f)(x), wanted);
  expect_values_of(ab::jacobian_forward(f)(x), wanted);
  EXPECT_EQ(to_string(ab::jit(ab::jacobian(f))(x).shape()), "[3,2]");
  const auto g = [](const Params& p) { return p.w * ab::sum(p.b); };
  const Params d = ab::jacobian(g)(Params{f32s({1, 2}), f32s({3, 4, 5})});
  expect_values_of(d.w, {12, 0, 0, 12});
  expect_values_of(d.b, {1, 1, 1, 2, 2, 2});
  const auto tree = ab::jacobian_forward([](Array y) { return std::pair(y * y, ab::sum(y)); })(x);
  expect_values_of(tree.first, {4, 0, 0, 6});
  expect_values_of(tree.second, {1, 1});
}

TEST(Hessian, IsTheDerivativeOfTheGradient) {
  const auto f = [](Array x) { return x[0] * x[0] * x[1] + ab::exp(x[1]); };
  const Array x = f32s({2, 0.5f});
  const std::vector<double> wanted = {1, 4, 4, std::exp(0.5)};
  expect_values_of(ab::hessian(f)(x), wanted);
  expect_values_of(ab::jacobian(ab::grad(f))(x), wanted);
  expect_values_of(ab::jit(ab::hessian(f))(x), wanted);
}

TEST(Grad, ComposesWithVmap) {
  const auto single = [](const Params& p, Array x, Array t) {
    return ab::mean(ab::square(ab::matmul(p.w, x) + p.b - t));
  };
  const Params p{ab::full({2, 3}, 0.5f), ab::zeros({2})};
  const Array xs = ab::reshape(ab::arange(12).astype(ab::f32), {4, 3}) / 10, ts = ab::ones({4, 2});
  const auto axes = ab::in_axes(ab::unmapped, 0, 0);
  const Params each = ab::vmap(ab::grad(single), axes)(p, xs, ts);
  const Params all =
      ab::grad([&](const Params& q) { return ab::mean(ab::vmap(single, axes)(q, xs, ts)); })(p);
  EXPECT_EQ(to_string(each.w.shape()), "[4,2,3]");
  expect_values_of(ab::mean(each.w, 0), doubles(all.w));
  expect_values_of(ab::jit(ab::vmap(ab::grad(single), axes))(p, xs, ts).b, doubles(each.b));
}

// What is not differentiated may have an infinite derivative.
TEST(Grad, HasNoPartOfAnAuxiliaryResult) {
  const auto f = [](Array x) { return std::pair(ab::sum(x * x), ab::sqrt(x)); };
  const auto [gradient, roots] = ab::grad(f, ab::has_aux)(f32s({0, 1, 4}));
  expect_values_of(gradient, {0, 2, 8});
  expect_values_of(roots, {0, 1, 2});
}

TEST(Grad, HasNoPartOfResultsThatNobodyUses) {
  const Array x = f32s({0, 1, 2});
  const auto checkpointed = [](Array x) {
    return ab::checkpoint([](Array y) { return std::pair(ab::sum(y * y), ab::sum(ab::sqrt(y))); })(
               x)
        .first;
  };
  expect_values_of(ab::grad(checkpointed)(x), {0, 2, 4});
  const auto carried = [](Array x) {
    const auto turn = [](Array, std::pair<Array, Array> ab_) {
      return std::pair(ab_.first * 1.5f, ab::sqrt(ab_.second));
    };
    return ab::sum(ab::fori_loop(0, 3, turn, std::pair(x, x)).first);
  };
  expect_values_of(ab::grad(carried)(x), {3.375, 3.375, 3.375});
  const auto nested = [](Array x) {
    const auto turn = [](Array, std::pair<Array, Array> of) {
      const auto inner = [](Array, std::pair<Array, Array> in) {
        return std::pair(ab::sin(in.first), ab::sqrt(in.second));
      };
      return ab::fori_loop(0, 2, inner, of);
    };
    return ab::sum(ab::fori_loop(0, 2, turn, std::pair(x * 0, x)).first);
  };
  expect_values_of(ab::grad(nested)(x), {0, 0, 0});
}

TEST(Grad, OfPowersOfZeroIsZero) {
  const auto f = [](Array x) { return ab::sum(ab::pow(x, ab::zeros({3}))); };
  expect_values_of(ab::grad(f)(f32s({INFINITY, 0, 2})), {0, 0, 0});
}

// Each of a nest's branches is taken apart once.
TEST(Grad, OfANestOfBranches) {
  const std::function<Array(Array, int)> nest = [&](Array x, int depth) -> Array {
    if (depth == 0) return x;
    return ab::cond(
        ab::sum(x) > static_cast<float>(depth), [&](Array y) { return y * depth; },
        [&](Array y) { return nest(y, depth - 1); }, x);
  };
  const auto f = [&](Array x) { return ab::sum(nest(x, 24)); };
  expect_values_of(ab::grad(f)(f32s({3, 4.5f})), {7, 7});
}

TEST(Jacobian, BetweenRealAndComplexNumbersIsWholeInOneModeAlone) {
  const auto to_complex = [](Array x) { return ab::complex(x, 2 * x); };
  const auto to_real = [](Array z) { return 2 * ab::real(z) + 3 * ab::imag(z); };
  const Array x = f32s({1, 2}), z = to_complex(x);
  expect_values_of(ab::imag(ab::jacobian_forward(to_complex)(x)), {2, 0, 0, 2});
  expect_values_of(ab::imag(ab::jacobian(to_real)(z)), {-3, 0, 0, -3});
  EXPECT_THROW(ab::jacobian(to_complex)(x), ab::Error);
  EXPECT_THROW(ab::jacobian_forward(to_real)(z), ab::Error);
}

}  // namespace
