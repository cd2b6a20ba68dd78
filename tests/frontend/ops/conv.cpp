// conv against sums written out.
#include "tests/support/values.h"

namespace {

ab::Array counted(std::vector<std::int64_t> sizes) {
  const ab::Shape shape(sizes);
  return ab::reshape(ab::arange(shape.size(), ab::f32), shape);
}

ab::Array row() { return ab::array({1.0f, 2.0f, 3.0f, 4.0f}, {1, 1, 4}); }

template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// The greatest distance of two arrays.
ab::Array apart(const ab::Array& a, const ab::Array& b) { return ab::max(ab::abs(a - b)); }

TEST(Conv, OfARow) {
  const auto w = [] { return ab::array({1.0f, 10.0f}, {1, 1, 2}); };
  expect_values([&] { return ab::conv(row(), w()); }, {ab::f32, {1, 1, 3}}, {21, 32, 43});
  expect_values([&] { return ab::conv(row(), w(), {.strides = {2}}); }, {ab::f32, {1, 1, 2}},
                {21, 43});
  expect_values([&] { return ab::conv(row(), w(), {.padding_low = {1}, .padding_high = {2}}); },
                {ab::f32, {1, 1, 6}}, {10, 21, 32, 43, 4, 0});
  expect_values([&] { return ab::conv(row(), w(), {.padding_low = {-1}}); }, {ab::f32, {1, 1, 2}},
                {32, 43});
  expect_values([&] { return ab::conv(row(), w(), {.lhs_dilation = {2}}); }, {ab::f32, {1, 1, 6}},
                {1, 20, 2, 30, 3, 40});
  expect_values([&] { return ab::conv(row(), w(), {.rhs_dilation = {3}}); }, {ab::f32, {1, 1, 1}},
                {41});
  expect_values([&] { return ab::conv(row(), w(), {.rhs_dilation = {4}}); }, {ab::f32, {1, 1, 0}},
                {});
  expect_values([&] { return ab::conv(ab::astype(row(), ab::i8), ab::astype(w(), ab::i8)); },
                {ab::i8, {1, 1, 3}}, {21, 32, 43});
}

TEST(Conv, WithoutSpatialAxesIsAProduct) {
  const auto x = [] { return counted({2, 3}); };
  const auto w = [] { return counted({4, 3}); };
  expect_values(
      [&] {
        return apart(ab::conv(x(), w()), ab::matmul(x(), ab::permute_dims(w(), {1, 0})));
      },
      {ab::f32, {}}, {0});
}

TEST(Conv, OfImagesIsASumOfShiftedProducts) {
  const auto x = [] { return counted({2, 3, 5, 6}); };
  const auto w = [] { return counted({4, 3, 2, 3}); };
  expect_values(
      [&] {
        ab::Array sum = ab::zeros({2, 4, 4, 4});
        for (int i = 0; i < 2; ++i) {
          for (int k = 0; k < 3; ++k) {
            const auto part = ab::slice_in_dim(ab::slice_in_dim(x(), i, i + 4, 2), k, k + 4, 3);
            const auto of = ab::reshape(
                ab::slice_in_dim(ab::slice_in_dim(w(), i, i + 1, 2), k, k + 1, 3), {4, 3});
            sum = sum + ab::einsum("nchw,oc->nohw", part, of);
          }
        }
        return apart(sum, ab::conv(x(), w()));
      },
      {ab::f32, {}}, {0});
}

TEST(Conv, OfLayoutsIsTheSame) {
  const auto x = [] { return counted({2, 3, 5, 6}); };
  const auto w = [] { return counted({4, 3, 2, 3}); };
  const ab::ConvOptions by_letters{.strides = {2, 1},
                                   .padding_low = {1, 0},
                                   .lhs_layout = "NHWC",
                                   .rhs_layout = "HWIO",
                                   .result_layout = "NHWC"};
  expect_values(
      [&] {
        const auto plain = ab::conv(x(), w(), {.strides = {2, 1}, .padding_low = {1, 0}});
        const auto other = ab::conv(ab::permute_dims(x(), {0, 2, 3, 1}),
                                    ab::permute_dims(w(), {2, 3, 1, 0}), by_letters);
        return apart(ab::permute_dims(plain, {0, 2, 3, 1}), other);
      },
      {ab::f32, {}}, {0});
}

TEST(Conv, InGroups) {
  const auto x = [] { return counted({2, 4, 5}); };
  for (std::int64_t outputs : {2, 6}) {
    const auto w = [&] { return counted({outputs, 2, 2}); };
    expect_values(
        [&] {
          std::vector<ab::Operand> parts;
          for (int g = 0; g < 2; ++g) {
            const std::int64_t size = outputs / 2;
            parts.emplace_back(ab::conv(ab::slice_in_dim(x(), 2 * g, 2 * g + 2, 1),
                                        ab::slice_in_dim(w(), size * g, size * (g + 1), 0)));
          }
          return apart(ab::concat(parts, 1), ab::conv(x(), w(), {.groups = 2}));
        },
        {ab::f32, {}}, {0});
  }
}

TEST(Conv, InGroupsOfTheBatch) {
  const auto x = [] { return counted({4, 3, 5}); };
  const auto w = [] { return counted({6, 3, 2}); };
  expect_values(
      [&] {
        std::vector<ab::Operand> parts;
        for (int g = 0; g < 2; ++g) {
          parts.emplace_back(ab::conv(ab::slice_in_dim(x(), 2 * g, 2 * g + 2, 0),
                                      ab::slice_in_dim(w(), 3 * g, 3 * g + 3, 0)));
        }
        return apart(ab::concat(parts, 1), ab::conv(x(), w(), {.batch_groups = 2}));
      },
      {ab::f32, {}}, {0});
}

TEST(Conv, RefusesWhatDoesNotFit) {
  EXPECT_NE(refusal([] {
              return ab::conv(row(), counted({1, 2, 2}));
            }).find("input features differ"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              return ab::conv(row(), counted({1, 1}));
            }).find("both need a batch or output axis"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              return ab::conv(row(), row(), {.strides = {1, 1}});
            }).find("strides needs one entry per spatial axis"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              return ab::conv(row(), row(), {.lhs_layout = "NHC", .rhs_layout = "OIW"});
            }).find("rhs_layout \"OIW\" has to name each axis once: OIH"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              return ab::conv(row(), row(), {.batch_groups = 2});
            }).find("2 groups of a batch of 1"),
            std::string::npos);
}

}  // namespace
