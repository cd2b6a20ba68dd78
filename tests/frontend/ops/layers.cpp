// Layers against plain loops, for several dtypes; and what they refuse.
#include <functional>

#include "tests/support/values.h"

namespace {

using ab::Array;
using ab::f32;
using Doubles = std::vector<double>;

Doubles waves(std::size_t count, double step) {
  Doubles values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(std::sin(step * double(i) + 0.3));
  return values;
}

Array array_of(const Doubles& values, const ab::Sizes& sizes, ab::Dtype dtype = f32) {
  return ab::array(values, sizes).astype(dtype);
}

TEST(Layers, DenseIsAProductAndASum) {
  const Doubles x = waves(2 * 3 * 4, 0.7), w = waves(4 * 5, 1.1), b = waves(5, 2);
  Doubles expected;
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t j = 0; j < 5; ++j) {
      double sum = b[j];
      for (std::size_t k = 0; k < 4; ++k) sum += x[row * 4 + k] * w[k * 5 + j];
      expected.push_back(sum);
    }
  }
  for (const auto& [dtype, tolerance] :
       {std::pair(f32, 1e-6), std::pair(ab::f64, 1e-14), std::pair(ab::bf16, 3e-2)}) {
    expect_values(
        [&] {
          return ab::dense(array_of(x, {2, 3, 4}, dtype), array_of(w, {4, 5}, dtype),
                           array_of(b, {5}, dtype));
        },
        {dtype, {2, 3, 5}}, expected, tolerance);
  }
  expect_values(
      [&] {
        return ab::dense(ab::ones({4}), array_of(w, {4, 5})) - ab::sum(array_of(w, {4, 5}), 0);
      },
      {f32, {5}}, {0, 0, 0, 0, 0}, 1e-6);
}

TEST(Layers, RmsNormDividesByTheRootOfTheMeanSquare) {
  const Doubles x = waves(3 * 8, 0.9), scale = waves(8, 0.4);
  Doubles expected;
  for (std::size_t row = 0; row < 3; ++row) {
    double power = 0;
    for (std::size_t j = 0; j < 8; ++j) power += x[row * 8 + j] * x[row * 8 + j] / 8;
    for (std::size_t j = 0; j < 8; ++j) {
      expected.push_back(x[row * 8 + j] / std::sqrt(power + 1e-3) * scale[j]);
    }
  }
  for (const auto& [dtype, tolerance] :
       {std::pair(f32, 1e-6), std::pair(ab::f64, 1e-14), std::pair(ab::f16, 2e-3)}) {
    expect_values(
        [&] {
          return ab::rms_norm(array_of(x, {3, 8}, dtype), array_of(scale, {8}, dtype), -1, 1e-3);
        },
        {dtype, {3, 8}}, expected, tolerance);
  }
}

TEST(Layers, EmbeddingPicksRows) {
  const auto table = [] { return ab::reshape(ab::arange(12, f32), {4, 3}); };
  expect_values(
      [&] {
        return ab::embedding(table(), ab::array({{3, 0}, {-1, 1}}));
      },
      {f32, {2, 2, 3}}, {9, 10, 11, 0, 1, 2, 9, 10, 11, 3, 4, 5});
  expect_values([&] { return ab::embedding(table(), ab::array({4})); }, {f32, {1, 3}},
                {NAN, NAN, NAN});
}

TEST(Layers, DropoutKeepsTheMean) {
  const Array key = ab::random::key(5), x = ab::full({20000}, 3.0);
  for (const double rate : {0.1, 0.5, 0.8}) {
    const Array y = ab::dropout(key, x, rate);
    const Array zeros = ab::mean((y == 0).astype(f32));
    EXPECT_NEAR(zeros.item<float>(), rate, 0.015);
    EXPECT_NEAR(ab::mean(y).item<float>(), 3, 0.1);
    EXPECT_NEAR(ab::max(y).item<float>(), 3 / (1 - rate), 1e-5);
    EXPECT_EQ(doubles(ab::jit([&](Array k) { return ab::dropout(k, x, rate); })(key)), doubles(y));
  }
  EXPECT_EQ(doubles(ab::dropout(key, x, 0)), doubles(x));
  EXPECT_EQ(doubles(ab::dropout(key, x, 1)), Doubles(20000, 0));
  EXPECT_EQ(ab::dropout(key, x.astype(ab::bf16), 0.5).dtype(), ab::bf16);
}

// What attention of one head is, written out. `seen(i, j)` says whether query i sees key j.
Doubles plain_attention(const Doubles& q, const Doubles& k, const Doubles& v, std::size_t queries,
                        std::size_t keys, std::size_t d, std::size_t e, double scale,
                        const std::function<bool(std::size_t, std::size_t)>& seen) {
  Doubles out;
  for (std::size_t i = 0; i < queries; ++i) {
    Doubles weights(keys, 0);
    double total = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      double score = 0;
      for (std::size_t f = 0; f < d; ++f) score += q[i * d + f] * k[j * d + f];
      weights[j] = seen(i, j) ? std::exp(scale * score) : 0;
      total += weights[j];
    }
    for (std::size_t f = 0; f < e; ++f) {
      double sum = 0;
      for (std::size_t j = 0; j < keys; ++j) sum += weights[j] / total * v[j * e + f];
      out.push_back(sum);
    }
  }
  return out;
}

TEST(Attention, IsAWeightedMeanOfValues) {
  const Doubles q = waves(3 * 4, 0.7), k = waves(5 * 4, 1.3), v = waves(5 * 2, 0.5);
  const auto all = [](std::size_t, std::size_t) { return true; };
  const auto causal = [](std::size_t i, std::size_t j) { return j <= i + 2; };
  const auto odd = [](std::size_t i, std::size_t j) { return (i + j) % 2 == 1; };
  std::vector<bool> mask;
  for (std::size_t i = 0; i < 15; ++i) mask.push_back(odd(i / 5, i % 5));
  for (const auto& [dtype, tolerance] :
       {std::pair(f32, 2e-6), std::pair(ab::f64, 1e-14), std::pair(ab::bf16, 3e-2)}) {
    const auto attend = [&, type = dtype](const ab::AttentionOptions& options) {
      return ab::attention(array_of(q, {3, 4}, type), array_of(k, {5, 4}, type),
                           array_of(v, {5, 2}, type), options);
    };
    const ab::Type type{dtype, {3, 2}};
    expect_values([&] { return attend({}); }, type, plain_attention(q, k, v, 3, 5, 4, 2, 0.5, all),
                  tolerance);
    expect_values([&] { return attend({.causal = true}); }, type,
                  plain_attention(q, k, v, 3, 5, 4, 2, 0.5, causal), tolerance);
    const Array bools = ab::array(mask, {3, 5});
    expect_values([&] { return attend({.mask = bools, .scale = 2}); }, type,
                  plain_attention(q, k, v, 3, 5, 4, 2, 2, odd), 2 * tolerance);
    const Array floats = ab::where(bools, 0, -std::numeric_limits<double>::infinity());
    expect_values([&] { return attend({.mask = floats.astype(f32)}); }, type,
                  plain_attention(q, k, v, 3, 5, 4, 2, 0.5, odd), tolerance);
  }
}

TEST(Attention, HeadsAttendByThemselves) {
  constexpr std::size_t batch = 2, heads = 3, places = 4, d = 2;
  const std::size_t width = heads * d;
  const Doubles x = waves(batch * places * width, 0.37);
  Doubles expected(x.size());
  for (std::size_t n = 0; n < batch * heads; ++n) {
    const std::size_t from = n / heads * places * width + n % heads * d;
    Doubles own;
    for (std::size_t i = 0; i < places * d; ++i) own.push_back(x[from + i / d * width + i % d]);
    const Doubles out = plain_attention(own, own, own, places, places, d, d, 1 / std::sqrt(2),
                                        [](std::size_t i, std::size_t j) { return j <= i; });
    for (std::size_t i = 0; i < places * d; ++i) expected[from + i / d * width + i % d] = out[i];
  }
  expect_values(
      [&] {
        const Array y = array_of(x, {batch, places, width});
        return ab::attention(y, y, y, {.heads = heads, .causal = true});
      },
      {f32, {batch, places, width}}, expected);
}

TEST(Attention, AQueryThatSeesNothingGetsTheMean) {
  const auto attend = [] {
    return ab::attention(ab::ones({1, 2}), ab::ones({2, 2}), ab::array({{1.0f}, {3.0f}}),
                         {.causal = true, .mask = ab::zeros({1, 2}, ab::bool_)});
  };
  expect_values(attend, {f32, {1, 1}}, {2});
}

TEST(Losses, CrossEntropySmoothsLabels) {
  const Doubles x = waves(3 * 4, 0.8);
  const Array logits = array_of(x, {3, 4}), labels = ab::array({2, 0, 7});
  Doubles expected, of_probabilities;
  for (std::size_t row = 0; row < 3; ++row) {
    double total = 0;
    for (std::size_t j = 0; j < 4; ++j) total += std::exp(x[row * 4 + j]);
    double loss = 0, other = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const double likelihood = x[row * 4 + j] - std::log(total);
      const bool is_class = (row == 0 && j == 2) || (row == 1 && j == 0);
      loss -= (0.9 * is_class + 0.1 / 4) * likelihood;
      other -= (0.9 * (j < 2 ? 0.5 : 0) + 0.1 / 4) * likelihood;
    }
    expected.push_back(row == 2 ? 0 : loss);
    of_probabilities.push_back(other);
  }
  const ab::CrossEntropyOptions options = {.reduction = ab::LossReduction::none,
                                           .label_smoothing = 0.1};
  expect_values([&] { return ab::cross_entropy_loss(logits, labels, options); }, {f32, {3}},
                expected);
  const Array halves = ab::broadcast_to(ab::array({0.5f, 0.5f, 0.0f, 0.0f}), {3, 4});
  expect_values([&] { return ab::cross_entropy_loss(logits, halves, options); }, {f32, {3}},
                of_probabilities);
  expect_values(
      [&] {
        return ab::cross_entropy_loss(
            ab::matrix_transpose(logits), labels,
            {.axis = 0, .reduction = ab::LossReduction::sum, .label_smoothing = 0.1});
      },
      {f32, {}}, {expected[0] + expected[1]});
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Layers, ErrorsNameTheOperandAndTheRemedy) {
  const Array x = ab::ones({2, 3}), w = ab::ones({4, 5}), key = ab::random::key(0);
  const std::pair<std::function<void()>, const char*> cases[] = {
      {[&] { ab::dense(x, w); },
       "dense: x is f32[2,3], whose last axis has 3 elements, and w is f32[4,5], for 4 inputs, at "
       "layers.cpp:"},
      {[&] { ab::dense(x, ab::ones({3})); },
       "dense: w is f32[3], and has to have the axes [inputs, outputs]"},
      {[&] { ab::dense(ab::scalar(1.0), w); }, "dense: x is f32[], and has to have the axes"},
      {[&] { ab::dense(ab::ones({4}), w, ab::ones({4})); },
       "dense: b is f32[4], and has to have one element for each of the 5 outputs"},
      {[&] { ab::dense(ab::arange(4), w); }, "dense: "},
      {[&] { ab::rms_norm(x, ab::ones({2})); }, "rms_norm: "},
      {[&] { ab::embedding(ab::ones({3}), ab::arange(2)); },
       "embedding: the table is f32[3], and has to have the axes [count, features]"},
      {[&] { ab::embedding(x, ab::ones({2})); }, "embedding: "},
      {[&] { ab::dropout(key, x, 1.5); },
       "dropout: the rate is 1.5; give a probability from 0 to 1"},
      {[&] { ab::dropout(x, x, 0.5); }, "the key is f32[2,3]"},
      {[&] {
         ab::attention(x, ab::ones({2, 4}), x);
       },
       "attention: query is f32[2,3] and key is f32[2,4]; give both as many features"},
      {[&] {
         ab::attention(x, x, ab::ones({3, 3}));
       },
       "attention: key is f32[2,3] and value is f32[3,3]; give a value for each key"},
      {[&] { ab::attention(x, x, x, {.heads = 2}); },
       "attention: query is f32[2,3], whose 3 features are not 2 heads of equal size"},
      {[&] {
         ab::attention(x, x, x, {.mask = ab::ones({3, 2}, ab::bool_)});
       },
       "attention: the mask is bool[3,2], and has to broadcast to the scores, f32[2,2]"},
      {[&] { ab::attention(x, x, x, {.mask = ab::arange(2)}); },
       "attention: the mask is i32[2]; give bools, or floats to add"},
      {[&] { ab::attention(ab::ones({3}), x, x); },
       "attention: query is f32[3], and has to have the axes [..., places, features]"},
      {[&] {
         ab::cross_entropy_loss(x, ab::array({0, 1}), {.label_smoothing = 2});
       },
       "cross_entropy_loss: label_smoothing is 2; give at least 0 and at most 1"},
      {[&] { ab::init::he_normal(key, {3}); },
       "init::he_normal: the shape is [3]; give a size for inputs and one for outputs"},
      {[&] {
         ab::init::glorot_uniform(key, {3, 4}, {0, -2});
       },
       "init::glorot_uniform: axis 0 is both the inputs' and the outputs'; give two"},
      {[&] {
         ab::init::lecun_normal(key, {3, 4}, ab::init::dense_axes, ab::i32);
       },
       "init::lecun_normal: draws floats, not i32"},
      {[&] {
         ab::init::orthogonal(key, {3, 4}, 1, ab::i32);
       },
       "init::orthogonal: draws floats, not i32"},
  };
  for (const auto& [call, expected] : cases) {
    EXPECT_NE(error_of(call).find(expected), std::string::npos)
        << error_of(call) << "\n instead of " << expected;
  }
}

}  // namespace
