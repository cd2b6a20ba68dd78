// First values: their moments, ranges and shapes, of fixed keys.
#include "tests/support/values.h"

namespace {

namespace init = ab::init;
using ab::Array;
using Draw = Array (*)(const ab::Operand&, const ab::Sizes&, const init::FanAxes&, ab::Dtype);

TEST(Initializers, HaveTheirVariancesAndBounds) {
  struct Row {
    const char* name;
    Draw draw;
    bool is_uniform;
    double dense, conv;  // variances of [100, 300], and of 40 outputs of 20 inputs by 5 by 5
  };
  const Row rows[] = {
      {"glorot_uniform", init::glorot_uniform, true, 2.0 / 400, 2.0 / 1500},
      {"glorot_normal", init::glorot_normal, false, 2.0 / 400, 2.0 / 1500},
      {"he_uniform", init::he_uniform, true, 2.0 / 100, 2.0 / 500},
      {"he_normal", init::he_normal, false, 2.0 / 100, 2.0 / 500},
      {"lecun_uniform", init::lecun_uniform, true, 1.0 / 100, 1.0 / 500},
      {"lecun_normal", init::lecun_normal, false, 1.0 / 100, 1.0 / 500},
  };
  std::uint64_t seed = 40;
  for (const Row& row : rows) {
    for (const ab::Dtype dtype : {ab::f32, ab::f64, ab::f16}) {
      SCOPED_TRACE(std::string(row.name) + " " + std::string(name(dtype)));
      const Array key = ab::random::key(seed++);
      const Array dense = row.draw(key, {100, 300}, init::dense_axes, dtype);
      const Array conv = row.draw(key, {40, 20, 5, 5}, init::conv_axes, dtype);
      EXPECT_EQ(dense.type(), (ab::Type{dtype, {100, 300}}));
      EXPECT_EQ(conv.type(), (ab::Type{dtype, {40, 20, 5, 5}}));
      for (const auto& [x, variance] : {std::pair(dense, row.dense), std::pair(conv, row.conv)}) {
        const Array wide = x.astype(ab::f64);
        EXPECT_NEAR(ab::var(wide).item<double>() / variance, 1, 0.04);
        EXPECT_NEAR(ab::mean(wide).item<double>(), 0, 5 * std::sqrt(variance / 20000));
        const double bound = std::sqrt(3 * variance), top = ab::max(wide).item<double>();
        EXPECT_EQ(top <= bound * 1.001, row.is_uniform);
        EXPECT_GT(top, 0.99 * bound);
      }
    }
  }
}

TEST(Initializers, TruncatedNormalCutsItsTails) {
  const Array x = init::truncated_normal(ab::random::key(3), {200, 200}, 0.5, ab::f64);
  EXPECT_LE(ab::max(ab::abs(x)).item<double>(), 1);
  EXPECT_NEAR(ab::stddev(x).item<double>(), 0.5 * 0.8796, 0.01);
}

TEST(Initializers, OrthogonalColumnsOrRows) {
  for (const ab::Sizes& sizes : {ab::Sizes{7, 4}, ab::Sizes{4, 7}, ab::Sizes{5, 5}}) {
    const Array x = init::orthogonal(ab::random::key(8), sizes, 2, ab::f64);
    const bool wide = sizes.list()[0] < sizes.list()[1];
    const Array products =
        wide ? ab::matmul(x, ab::matrix_transpose(x)) : ab::matmul(ab::matrix_transpose(x), x);
    const std::int64_t count = std::min(sizes.list()[0], sizes.list()[1]);
    const Array error = ab::max(ab::abs(products - 4 * ab::eye(count, ab::f64)));
    EXPECT_LT(error.item<double>(), 1e-13);
  }
  EXPECT_EQ(init::orthogonal(ab::random::key(8), {2, 3, 4}, 1, ab::bf16).type(),
            (ab::Type{ab::bf16, {2, 3, 4}}));
  // The signs of reflections are evened out: the first element is as often above 0 as below.
  int positive = 0;
  for (const Array& key : ab::random::split(ab::random::key(9), 100)) {
    positive += init::orthogonal(key, {3, 3})(0, 0).item<float>() > 0;
  }
  EXPECT_NEAR(positive, 50, 20);
}

}  // namespace
