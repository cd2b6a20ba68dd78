// Activations and losses against their equations.
#include <cmath>
#include <numeric>

#include "tests/frontend/expect_error.h"
#include "tests/support/values.h"

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double relu6(double x) { return std::fmin(std::fmax(x, 0), 6); }
double elu(double x) { return x > 0 ? x : std::expm1(x); }

struct Row {
  const char* name;
  ab::Array (*function)(const ab::Operand&);
  double (*expected)(double);
};

const Row rows[] = {
    {"relu6", ab::relu6, relu6},
    {"leaky_relu", [](const ab::Operand& x) { return ab::leaky_relu(x); },
     [](double x) { return x >= 0 ? x : 0.01 * x; }},
    {"leaky_relu", [](const ab::Operand& x) { return ab::leaky_relu(x, 0.3); },
     [](double x) { return x >= 0 ? x : 0.3 * x; }},
    {"elu", [](const ab::Operand& x) { return ab::elu(x); }, elu},
    {"elu", [](const ab::Operand& x) { return ab::elu(x, 2); },
     [](double x) { return x > 0 ? x : 2 * std::expm1(x); }},
    {"celu", [](const ab::Operand& x) { return ab::celu(x, 2); },
     [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }},
    {"selu", ab::selu,
     [](double x) {
       return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
     }},
    {"mish", ab::mish,
     [](double x) { return x * std::tanh(x > 30 ? x : std::log1p(std::exp(x))); }},
    {"soft_sign", ab::soft_sign, [](double x) { return x / (1 + std::fabs(x)); }},
    {"log_sigmoid", ab::log_sigmoid,
     [](double x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); }},
    {"hard_sigmoid", ab::hard_sigmoid, [](double x) { return relu6(x + 3) / 6; }},
    {"hard_swish", ab::hard_swish, [](double x) { return x * relu6(x + 3) / 6; }},
    {"hard_tanh", ab::hard_tanh, [](double x) { return std::fmin(std::fmax(x, -1), 1); }},
    {"sparse_plus", ab::sparse_plus,
     [](double x) { return x <= -1  ? 0
                           : x >= 1 ? x
                                    : (x + 1) * (x + 1) / 4; }},
    {"sparse_sigmoid", ab::sparse_sigmoid,
     [](double x) { return std::fmin(std::fmax((x + 1) / 2, 0), 1); }},
    {"squareplus", [](const ab::Operand& x) { return ab::squareplus(x); },
     [](double x) { return (x + std::sqrt(x * x + 4)) / 2; }},
};

TEST(Activations, FollowTheirEquations) {
  const std::vector<double> at = {-200, -20, -3.5, -1,   -0.25, -1e-3, 0,
                                  1e-3, 0.5, 1,    2.75, 6.5,   30};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
      SCOPED_TRACE(name(dtype));
      const ab::Array in = ab::array(at).astype(dtype);
      std::vector<double> expected;
      for (double x : doubles(in)) expected.push_back(row.expected(x));
      const double tolerance = dtype == ab::f64   ? 1e-14
                               : dtype == ab::f32 ? 2e-6
                               : dtype == ab::f16 ? 1e-3
                                                  : 8e-3;
      expect_values([&] { return row.function(in); }, {dtype, {13}}, expected, tolerance);
    }
  }
  const std::vector<double> ends = {-inf, inf};
  expect_values([&] { return ab::elu(ab::array(ends)); }, {ab::f64, {2}}, {-1, inf});
  expect_values([&] { return ab::log_sigmoid(ab::array(ends)); }, {ab::f64, {2}}, {-inf, 0});
  expect_values([&] { return ab::hard_tanh(ab::array(ends)); }, {ab::f64, {2}}, {-1, 1});
  EXPECT_THROW(ab::celu(ab::zeros({2}), 0), ab::Error);
}

TEST(Activations, HaveDerivativesOfOneSideAtTheirEnds) {
  struct Row {
    const char* name;
    ab::Array (*function)(const ab::Array&);
    std::vector<double> at, expected;
  };
  const Row rows[] = {
      {"relu6", [](const ab::Array& x) { return ab::relu6(x); }, {0, 3, 6, inf}, {0, 1, 0, 0}},
      {"hard_sigmoid",
       [](const ab::Array& x) { return ab::hard_sigmoid(x); },
       {-3, 0, 3},
       {0, 1. / 6, 0}},
      {"hard_swish",
       [](const ab::Array& x) { return ab::hard_swish(x); },
       {-3, 0, 3, inf},
       {0, 0.5, 1, 1}},
      {"hard_tanh", [](const ab::Array& x) { return ab::hard_tanh(x); }, {-1, 0, 1}, {0, 1, 0}},
      {"sparse_sigmoid",
       [](const ab::Array& x) { return ab::sparse_sigmoid(x); },
       {-1, 0, 1},
       {0, 0.5, 0}},
      {"squareplus",
       [](const ab::Array& x) { return ab::squareplus(x); },
       {0, 1e10, -1e10},
       {0.5, 1, 1e-20}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto size = static_cast<std::int64_t>(row.at.size());
    const auto total = [&](const ab::Array& x) { return ab::sum(row.function(x)); };
    expect_values([&] { return ab::grad(total)(ab::array(row.at)); }, {ab::f64, {size}},
                  row.expected, 1e-14);
  }
}

TEST(Activations, OfAnAxis) {
  const auto x = [] {
    return ab::array({1.0f, 2.0f, -1.0f, 3.0f, 0.0f, 5.0f, 2.0f, -2.0f}, {2, 4});
  };
  expect_values([&] { return ab::glu(x()); }, {ab::f32, {2, 2}},
                {sigmoid(-1), 2 * sigmoid(3), 0, 5 * sigmoid(-2)});
  expect_values([&] { return ab::glu(x(), 0); }, {ab::f32, {1, 4}},
                {0.5, 2 * sigmoid(5), -sigmoid(2), 3 * sigmoid(-2)});
  EXPECT_THROW(ab::glu(ab::zeros({3, 5})), ab::Error);
  EXPECT_THROW(ab::glu(ab::zeros({3, 4}), 2), ab::Error);
  const double scale = 1 / std::sqrt(2 + 1e-5);
  expect_values(
      [] {
        return ab::standardize(ab::array({1.0f, 2.0f, 3.0f, 4.0f, 5.0f}));
      },
      {ab::f32, {5}}, {-2 * scale, -scale, 0, scale, 2 * scale});
}

TEST(Losses, OfSingleExamples) {
  const auto x = [] { return ab::array({0.5f, -2.0f, 3.0f, 40.0f}); };
  const auto t = [] { return ab::array({1.0f, -1.0f, 0.0f, 0.0f}); };
  constexpr auto none = ab::LossReduction::none;
  const ab::Type type{ab::f32, {4}};
  expect_values([&] { return ab::mse_loss(x(), t(), none); }, type, {0.25, 1, 9, 1600});
  expect_values([&] { return ab::l1_loss(x(), t(), none); }, type, {0.5, 1, 3, 40});
  expect_values([&] { return ab::huber_loss(x(), t(), 1, none); }, type, {0.125, 0.5, 2.5, 39.5});
  expect_values([&] { return ab::huber_loss(x(), t(), 2, none); }, type, {0.125, 0.5, 4, 78});
  expect_values([&] { return ab::hinge_loss(x(), t(), none); }, type, {0.5, 0, 1, 1});
  const auto binary = [](double a, double b) {
    return -b * std::log(sigmoid(a)) - (1 - b) * std::log(1 - sigmoid(a));
  };
  expect_values(
      [&] {
        return ab::binary_cross_entropy_with_logits(x(), ab::array({1.0f, 0.25f, 0.0f, 0.0f}),
                                                    none);
      },
      type, {binary(0.5, 1), binary(-2, 0.25), binary(3, 0), 40});
  expect_values(
      [&] {
        return ab::kl_div_loss(ab::log(ab::array({0.5f, 0.25f, 0.25f})),
                               ab::array({0.25f, 0.0f, 0.75f}), none);
      },
      {ab::f32, {3}}, {0.25 * std::log(0.5), 0, 0.75 * std::log(3)});
  EXPECT_THROW(ab::huber_loss(x(), t(), 0), ab::Error);
}

TEST(Losses, AreAveragedOrSummed) {
  for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    const auto x = [&] { return ab::array<double>({1, 2, 4, 8}).astype(dtype); };
    expect_values([&] { return ab::mse_loss(x(), 0); }, {dtype, {}}, {21.25}, 4e-3);
    expect_values(
        [&] {
          return ab::l1_loss(x(), ab::zeros({2, 1}, dtype), ab::LossReduction::sum);
        },
        {dtype, {}}, {30}, 4e-3);
  }
}

TEST(Losses, CrossEntropyOfClassesAndProbabilities) {
  const std::vector<float> logits = {1, 2, 3, 1000, 0, -1000};
  const auto x = [&] { return ab::array(logits, {2, 3}); };
  const double total = std::log(std::exp(1) + std::exp(2) + std::exp(3));
  constexpr auto none = ab::LossReduction::none;
  expect_values(
      [&] {
        return ab::cross_entropy_loss(x(), ab::array({2, 1}), -1, none);
      },
      {ab::f32, {2}}, {total - 3, 1000});
  expect_values(
      [&] {
        return ab::cross_entropy_loss(x(), ab::array({0, 0}));
      },
      {ab::f32, {}}, {(total - 1) / 2});
  expect_values(
      [&] {
        return ab::cross_entropy_loss(x(), ab::array({-1, 3}), 1, none);
      },
      {ab::f32, {2}}, {0, 0});
  expect_values(
      [&] {
        return ab::cross_entropy_loss(ab::matrix_transpose(x()), ab::array<std::int64_t>({2, 0}), 0,
                                      none);
      },
      {ab::f32, {2}}, {total - 3, 0});
  expect_values(
      [&] {
        return ab::cross_entropy_loss(
            x(), ab::array({0.5f, 0.25f, 0.25f, 1.0f, 0.0f, 0.0f}, {2, 3}), 1, none);
      },
      {ab::f32, {2}}, {total - 1.75, 0});
  EXPECT_THROW(ab::cross_entropy_loss(x(), ab::array({1, 2, 3})), ab::Error);
  EXPECT_THROW(ab::cross_entropy_loss(x(), ab::zeros({3, 2, 3})), ab::Error);
}

TEST(Losses, CosineSimilarity) {
  expect_values(
      [] {
        return ab::cosine_similarity(ab::array({3.0f, 4.0f, 0.0f, 0.0f}, {2, 2}),
                                     ab::array({4.0f, 3.0f}));
      },
      {ab::f32, {2}}, {24.0 / 25, 0});
}

TEST(Activations, RefuseComplexNumbersByName) {
  expect_error([] { ab::relu(ab::zeros(ab::c64, {2})); },
               "relu: c64[2] given to what takes real numbers");
}

TEST(Losses, HaveSecondDerivativesAtZero) {
  const auto second = [](auto loss) {
    return ab::grad(ab::grad(loss))(ab::scalar(0.0, ab::f64)).template item<double>();
  };
  EXPECT_EQ(second([](ab::Array x) { return ab::huber_loss(x, 0.0, 2.0); }), 1);
  for (double t : {0.0, 0.25, 1.0}) {
    const auto loss = [t](ab::Array x) { return ab::binary_cross_entropy_with_logits(x, t); };
    EXPECT_DOUBLE_EQ(second(loss), 0.25);
    EXPECT_DOUBLE_EQ(ab::grad(loss)(ab::scalar(0.0, ab::f64)).item<double>(), 0.5 - t);
  }
}

TEST(Losses, OfSureLogitsKeepTheirDigits) {
  const auto loss = [](double x, double t) {
    return ab::binary_cross_entropy_with_logits(ab::scalar(x, ab::f64), t).item<double>();
  };
  EXPECT_NEAR(loss(50, 1) / std::exp(-50), 1, 1e-15);
  EXPECT_NEAR(loss(-50, 0) / std::exp(-50), 1, 1e-15);
  EXPECT_EQ(loss(1e6, 0), 1e6);
  EXPECT_EQ(loss(-1e6, 1), 1e6);
}

TEST(Activations, SquareplusOfLargeNumbersIsFinite) {
  expect_values(
      [] {
        return ab::squareplus(ab::array({2e19f, -2e19f, 3e38f})) / ab::array({2e19f, 1.0f, 3e38f});
      },
      {ab::f32, {3}}, {1, 0, 1});
}

}  // namespace
