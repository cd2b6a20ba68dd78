// Reductions over axes, kept or not.
#include "tests/support/values.h"

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

// As the Array API widens where the default integer is i64.
TEST(Reductions, SmallIntegersWiden) {
  const std::pair<ab::Dtype, ab::Dtype> sums[] = {
      {ab::bool_, ab::i64}, {ab::i8, ab::i64},  {ab::i16, ab::i64}, {ab::i32, ab::i64},
      {ab::i64, ab::i64},   {ab::u8, ab::u64},  {ab::u16, ab::u64}, {ab::u32, ab::u64},
      {ab::u64, ab::u64},   {ab::f16, ab::f16}, {ab::f32, ab::f32}};
  for (const auto& [from, to] : sums) {
    SCOPED_TRACE(ab::name(from));
    auto x = [from = from] { return ab::ones({300, 2}, from); };
    expect_values([&] { return ab::sum(x(), 0); }, {to, {2}}, {300, 300});
    expect_values([&] { return ab::prod(x(), 0, ab::keepdims); }, {to, {1, 2}}, {1, 1});
    expect_values([&] { return ab::sum(x(), ab::Axes(std::vector<std::int64_t>{})); },
                  {to, {300, 2}}, std::vector<double>(600, 1));
  }
  auto tens = [] { return ab::full({12}, 10, ab::i32); };
  expect_values([&] { return ab::prod(tens()); }, {ab::i64, {}}, {1e12});
}

// Products of arrays keep the dtype that the arrays have.
TEST(Reductions, ContractionsDoNotWiden) {
  auto x = [] { return ab::array({1, 2, 3, 4}, {2, 2}, ab::i16); };
  expect_values([&] { return ab::vecdot(x(), x()); }, {ab::i16, {2}}, {5, 25});
  expect_values([&] { return ab::einsum("ij->i", x()); }, {ab::i16, {2}}, {3, 7});
  expect_values([&] { return ab::einsum("ii", x()); }, {ab::i16, {}}, {5});
}

// What is too large or too fine for the dtype on the way fits at the end.
class HalfReductions : public testing::TestWithParam<ab::Dtype> {
 protected:
  // 1,024 numbers with mean 100 and deviation 10.
  ab::Array row() const { return row_of(90, 110); }
  ab::Array row_of(float low, float high) const {
    return ab::where(ab::arange(1024) % 2 == 0, low, high).astype(GetParam());
  }
};

TEST_P(HalfReductions, Averages) {
  const ab::Type none{GetParam(), {}};
  expect_values([&] { return ab::mean(ab::ones({70000}, GetParam())); }, none, {1});
  expect_values([&] { return ab::mean(row()); }, none, {100});
  expect_values([&] { return ab::var(row()); }, none, {100});
  expect_values([&] { return ab::var(row_of(-200, 200)); }, none, {40000}, 4e-3);
  expect_values([&] { return ab::stddev(row_of(-500, 500)); }, none, {500});
  expect_values([&] { return ab::norm(row_of(-300, 300)); }, none, {9600});
  expect_values([&] { return ab::logsumexp(ab::zeros({70000}, GetParam())); }, none,
                {std::log(70000.0)}, 4e-3);
}

TEST_P(HalfReductions, Rows) {
  const ab::Type type{GetParam(), {1024}};
  std::vector<double> normal, small(1024, 1.0 / 1024), logarithms(1024, -std::log(1024.0));
  for (int i = 0; i < 1024; ++i) normal.push_back(i % 2 == 0 ? -1 : 1);
  expect_values([&] { return ab::layer_norm(row(), 1, 0); }, type, normal, 4e-3);
  expect_values([&] { return ab::softmax(ab::zeros({1024}, GetParam())); }, type, small);
  expect_values([&] { return ab::log_softmax(ab::zeros({1024}, GetParam())); }, type, logarithms,
                4e-3);
  auto many = [&] { return ab::zeros({70000}, GetParam()); };
  expect_values([&] { return ab::log_softmax(many()); }, {GetParam(), {70000}},
                std::vector<double>(70000, -std::log(70000.0)), 4e-3);
  const ab::Array scale = ab::full({1024}, 2.0f), shift = ab::ones({1024});
  expect_values([&] { return ab::layer_norm(row(), scale, shift)[0]; }, {ab::f32, {}}, {-1}, 1e-4);
}

TEST_P(HalfReductions, InnerProducts) {
  expect_values([&] { return ab::vecdot(row_of(-300, 300), row_of(300, 300)); }, {GetParam(), {}},
                {0});
}

INSTANTIATE_TEST_SUITE_P(Dtypes, HalfReductions, testing::Values(ab::f16, ab::bf16),
                         [](const auto& test) { return std::string(ab::name(test.param)); });

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

// A row for each place: what one element says must survive whichever lanes and partial results are
// combined.
TEST(Reductions, ExtremesHearOfEveryPlace) {
  constexpr std::int64_t n = 300;
  auto rows_of = [](float usual, float odd) {
    std::vector<float> all(n * n, usual);
    for (std::int64_t i = 0; i < n; ++i) all[static_cast<std::size_t>(i * n + i)] = odd;
    return ab::array(all, {n, n});
  };
  const ab::Array with_nan = rows_of(1, NAN), with_zero = rows_of(-0.0f, 0),
                  with_minus = rows_of(0, -0.0f);
  const auto greatest = ab::max(with_nan, 1).to_vector<float>();
  const auto least = ab::min(with_nan, 1).to_vector<float>();
  const auto greatest_zero = ab::max(with_zero, 1).to_vector<float>();
  const auto least_zero = ab::min(with_minus, 1).to_vector<float>();
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_TRUE(std::isnan(greatest[i]) && std::isnan(least[i])) << i;
    EXPECT_FALSE(std::signbit(greatest_zero[i])) << i;
    EXPECT_TRUE(std::signbit(least_zero[i])) << i;
  }
}

}  // namespace
