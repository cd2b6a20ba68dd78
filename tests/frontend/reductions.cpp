// Reductions over axes, kept or not.
#include "values.h"

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ab::Array x() { return ab::array({1.0f, 5.0f, 2.0f, 4.0f, 3.0f, 9.0f}, {2, 3}); }
const ab::Type none{ab::f32, {}}, rows{ab::f32, {2}}, columns{ab::f32, {3}};

TEST(Reductions, SumsAndExtremes) {
  expect_values([] { return ab::sum(x()); }, none, {24});
  expect_values([] { return ab::sum(x(), 1); }, rows, {8, 16});
  expect_values([] { return ab::sum(x(), -2); }, columns, {5, 8, 11});
  expect_values([] { return ab::sum(x(), {0, 1}); }, none, {24});
  expect_values([] { return ab::sum(x(), 1, ab::keepdims); }, {ab::f32, {2, 1}}, {8, 16});
  expect_values([] { return ab::sum(x(), {}, ab::keepdims); }, {ab::f32, {1, 1}}, {24});
  expect_values([] { return ab::prod(x(), 1); }, rows, {10, 108});
  expect_values([] { return ab::max(x(), 0); }, columns, {4, 5, 9});
  expect_values([] { return ab::min(x()); }, none, {1});
}

TEST(Reductions, OfBools) {
  auto p = [] { return x() > 3; };
  expect_values([&] { return ab::any(p(), 1); }, {ab::bool_, {2}}, {1, 1});
  expect_values([&] { return ab::all(p(), 0); }, {ab::bool_, {3}}, {0, 0, 0});
  expect_values([&] { return ab::sum(p()); }, {ab::i64, {}}, {3});
}

TEST(Reductions, Averages) {
  expect_values([] { return ab::mean(x(), 1); }, rows, {8.0 / 3, 16.0 / 3});
  expect_values([] { return ab::var(x()); }, none, {20.0 / 3});
  expect_values([] { return ab::var(x(), {}, false, 1); }, none, {8});
  expect_values([] { return ab::stddev(x(), 1, ab::keepdims); }, {ab::f32, {2, 1}},
                {std::sqrt(26.0 / 9), std::sqrt(62.0 / 9)});
  expect_values([] { return ab::norm(ab::array({3.0f, 4.0f})); }, none, {5});
  expect_values([] { return ab::logsumexp(x(), 1); }, rows,
                {std::log(std::exp(1) + std::exp(5) + std::exp(2)),
                 std::log(std::exp(4) + std::exp(3) + std::exp(9))});
  expect_values(
      [] {
        return ab::logsumexp(ab::array({1000.0f, 1000.0f}));
      },
      none, {1000 + std::log(2.0)}, 1e-6);
}

TEST(Reductions, Positions) {
  expect_values([] { return ab::argmax(x(), 1); }, {ab::i64, {2}}, {1, 2});
  expect_values([] { return ab::argmin(x(), 0); }, {ab::i64, {3}}, {0, 1, 0});
  expect_values([] { return ab::argmax(x()); }, {ab::i64, {}}, {5});
  expect_values([] { return ab::argmax(x(), 1, ab::keepdims); }, {ab::i64, {2, 1}}, {1, 2});
}

TEST(Reductions, OfNothing) {
  expect_values([] { return ab::sum(ab::zeros(ab::f32, {2, 0}), 1); }, rows, {0, 0});
  expect_values([] { return ab::prod(ab::zeros(ab::f32, {0})); }, none, {1});
  expect_values([] { return ab::mean(ab::zeros(ab::f32, {0})); }, none, {nan});
  expect_values([] { return ab::max(ab::zeros(ab::f32, {0, 3}), 1); }, {ab::f32, {0}}, {});
  EXPECT_THROW(ab::max(ab::zeros(ab::f32, {0, 3}), 0), ab::Error);
}

TEST(Reductions, OfNetworks) {
  expect_values([] { return ab::softmax(ab::array({0.0f, std::log(3.0f)})); }, rows, {0.25, 0.75});
  expect_values(
      [] {
        return ab::log_softmax(ab::array({1000.0f, 1000.0f}));
      },
      rows, {-std::log(2.0), -std::log(2.0)});
  expect_values([] { return ab::softmax(x(), 0); }, {ab::f32, {2, 3}},
                {1 / (1 + std::exp(3)), 1 / (1 + std::exp(-2)), 1 / (1 + std::exp(7)),
                 1 / (1 + std::exp(-3)), 1 / (1 + std::exp(2)), 1 / (1 + std::exp(-7))});
  expect_values(
      [] {
        return ab::layer_norm(ab::array({-1.0f, 1.0f}), 2, ab::array({0.0f, 1.0f}), -1, 0);
      },
      rows, {-2, 3});
  expect_values(
      [] {
        return ab::gelu(ab::array({-1.0f, 2.0f}));
      },
      rows, {-0.15865525393145707, 1.9544997361036416});
  expect_values(
      [] {
        return ab::gelu(ab::array({-1.0f, 2.0f}), ab::Gelu::tanh);
      },
      rows, {-0.15880800939172324, 1.954597694087775});
}

}  // namespace
