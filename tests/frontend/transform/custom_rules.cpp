// Derivatives of the user's, and constants.
#include "tests/support/values.h"

namespace {

using ab::Array;

Array f32s(std::vector<float> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return ab::array(values, ab::Shape{size});
}

void expect_values_of(const Array& found, const std::vector<double>& wanted) {
  expect_close(doubles(found), wanted, 1e-5, "derivative");
}

using One = std::tuple<Array>;

// Twice the derivative that it has, so that one sees whose it is.
const auto square_as_told = ab::custom_jvp([](Array x) { return x * x; },
                                           [](const One& primals, const One& tangents) {
                                             const auto& [x] = primals;
                                             const auto& [dx] = tangents;
                                             return std::pair(x * x, 4 * x * dx);
                                           });

TEST(CustomJvp, IsWhatAllModesGoBy) {
  const Array x = f32s({1, 2});
  expect_values_of(square_as_told(x), {1, 4});
  const auto f = [](Array y) { return ab::sum(square_as_told(y)); };
  expect_values_of(ab::grad(f)(x), {4, 8});
  expect_values_of(ab::jit(ab::grad(f))(x), {4, 8});
  const auto [y, dy] = ab::jvp(square_as_told, std::tuple{x}, std::tuple{f32s({1, 1})});
  expect_values_of(dy, {4, 8});
  expect_values_of(ab::hessian(f)(x), {4, 0, 0, 4});
  expect_values_of(ab::vmap(ab::grad([](Array z) { return square_as_told(z); }))(x), {4, 8});
  expect_values_of(ab::grad([](Array z) { return ab::sum(ab::vmap(square_as_told)(z)); })(x),
                   {4, 8});
}

TEST(CustomJvp, HasSeveralArgumentsAndCapturesConstants) {
  const Array c = f32s({10, 10});
  const auto f = ab::custom_jvp([&](Array x, Array n) { return x * n.astype(ab::f32) + c; },
                                [&](const auto& primals, const auto& tangents) {
                                  const auto& [x, n] = primals;
                                  const auto& [dx, dn] = tangents;
                                  return std::pair(x * n.astype(ab::f32) + c, dx * c);
                                });
  const Array n = ab::array(std::vector<std::int32_t>{2, 3}, ab::Shape{2});
  const auto g = [&](Array x) { return ab::sum(f(x, n)); };
  expect_values_of(ab::grad(g)(f32s({1, 1})), {10, 10});
  expect_values_of(ab::jit([&](Array x) { return f(x, n); })(f32s({1, 1})), {12, 13});
}

TEST(CustomVjp, IsWhatReverseModeGoesBy) {
  // The gradient is cut at 1.
  const auto f =
      ab::custom_vjp([](Array x) { return x * x; }, [](Array x) { return std::pair(x * x, x); },
                     [](const Array& x, const Array& dy) { return ab::minimum(2 * x * dy, 1.0f); });
  const Array x = f32s({0.25f, 2});
  expect_values_of(ab::grad([&](Array y) { return ab::sum(f(y)); })(x), {0.5, 1});
  expect_values_of(ab::jit(ab::grad([&](Array y) { return ab::sum(f(y)); }))(x), {0.5, 1});
  expect_values_of(ab::vmap(ab::grad(f))(x), {0.5, 1});
  expect_values_of(ab::grad([&](Array y) { return ab::sum(ab::vmap(f)(y)); })(x), {0.5, 1});
  // Through a loop, with the residuals of each turn.
  const auto loop = [&](Array y) {
    return ab::sum(ab::fori_loop(
        0, 2, [&](const Array&, Array z) { return f(z); }, y));
  };
  expect_values_of(ab::grad(loop)(x), {0.5 * 2 * 0.0625, 1});
}

TEST(CustomVjp, OfSeveralArgumentsAndTrees) {
  struct Pair {
    Array a, b;
  };
  const auto f =
      ab::custom_vjp([](const Pair& p, Array n) { return p.a * p.b + n.astype(ab::f32); },
                     [](const Pair& p, Array n) {
                       return std::pair(p.a * p.b + n.astype(ab::f32), std::tuple{p, n});
                     },
                     [](const auto& kept, Array dy) {
                       const auto& [p, n] = kept;
                       return std::tuple{Pair{dy * p.b * 2, dy * p.a * 3}, ab::zeros_like(n)};
                     });
  const Pair p{f32s({1, 2}), f32s({3, 4})};
  const Array n = ab::array(std::vector<std::int32_t>{7, 7}, ab::Shape{2});
  const Pair d = ab::grad([&](const Pair& q) { return ab::sum(f(q, n)); })(p);
  expect_values_of(d.a, {6, 8});
  expect_values_of(d.b, {3, 6});
}

TEST(StopGradient, IsAConstant) {
  const auto f = [](Array x) { return ab::sum(x * ab::stop_gradient(x)); };
  const Array x = f32s({2, 3});
  expect_values_of(ab::grad(f)(x), {2, 3});
  expect_values_of(ab::stop_gradient(x), {2, 3});
  expect_values_of(ab::jit(f)(x), {13});
  const auto [y, dy] = ab::jvp(f, std::tuple{x}, std::tuple{f32s({1, 1})});
  expect_values_of(dy, {5});
}

}  // namespace
