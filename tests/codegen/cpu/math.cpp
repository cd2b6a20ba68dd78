// Every approximate op, f32 and f64, against wider arithmetic: at most 2 ULP anywhere.
#include "codegen/cpu/math/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "tests/support/math_jit.h"
#include "tests/support/math_reference.h"
#include "tests/support/ulp.h"

namespace anabranch {
namespace {

using test::MathLoop;
using test::Quad;

constexpr double limit = 2;

/// The greatest error seen, and where.
struct Worst {
  double ulp = 0;
  double a = 0, b = 0;
  double computed = 0;

  void see(double error, double at_a, double at_b, double value) {
    if (!(error > ulp)) return;
    *this = {error, at_a, at_b, value};
  }
  std::string text(Op op, const char* dtype) const {
    char line[200];
    std::snprintf(line, sizeof line, "%-22s %s  %5.2f ULP at (%.17g [%a], %.17g [%a]): %.17g",
                  std::string(name(op)).c_str(), dtype, ulp, a, a, b, b, computed);
    return line;
  }
};

// Measures `op` on all of `a` (and `b`), 4096 at a time.
template <class T, class Reference>
Worst measure(const MathLoop<T>& loop, const std::vector<T>& a, const std::vector<T>& b,
              Reference reference) {
  Worst worst;
  std::vector<T> out(a.size());
  loop(a.data(), b.data(), out.data(), static_cast<std::int64_t>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const T second = b.empty() ? T(0) : b[i];
    worst.see(test::ulp_error(out[i], reference(a[i], second)), a[i], second, out[i]);
  }
  return worst;
}

void expect_within_limit(const Worst& worst, Op op, const char* dtype) {
  const std::string text = worst.text(op, dtype);
  std::printf("    %s\n", text.c_str());
  EXPECT_LE(worst.ulp, limit) << text;
}

class UnaryMath : public testing::TestWithParam<test::UnaryReference> {};

// A prime stride through all bit patterns: every exponent, both signs, all kinds of NaN.
TEST_P(UnaryMath, F32IsWithin2UlpOverAllBitPatterns) {
  const auto& reference = GetParam();
  // An inverse has no double libm: its reference is slow.
  const std::uint64_t stride = reference.op == Op::erf_inv ? 104729 : 1021;
  const MathLoop<float> loop(reference.op);
  Worst worst;
  std::vector<float> a(4096);
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32;) {
    for (float& x : a) {
      x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      bits += stride;
    }
    Worst block = measure(loop, a, {}, [&](float x, float) { return reference.f32(x); });
    worst.see(block.ulp, block.a, block.b, block.computed);
  }
  expect_within_limit(worst, reference.op, "f32");
}

// Where functions change their formula, their sign or their finiteness; and neighbours of such
// places.
template <class T>
std::vector<T> landmarks() {
  using limits = std::numeric_limits<T>;
  std::vector<T> places = {0,
                           limits::denorm_min(),
                           limits::min(),
                           limits::max(),
                           limits::infinity(),
                           T(1e-8),
                           T(1e-4),
                           T(0.25),
                           T(0.5),
                           T(2.0 / 3),
                           T(1),
                           T(4.0 / 3),
                           T(2),
                           T(4),
                           T(16),
                           T(1e5),
                           T(1e10),
                           T(1e30),
                           T(88.72284),
                           T(87.33655),
                           T(103.9721),
                           T(709.782712893384),
                           T(708.3964185322641),
                           T(745.1332191019411)};
  for (int i = 1; i < 400; ++i) places.push_back(static_cast<T>(i * (std::numbers::pi_v<T> / 4)));
  for (int i = 1; i < 100; ++i) places.push_back(static_cast<T>(i * (std::numbers::ln2_v<T> / 2)));
  for (int i = limits::min_exponent; i < limits::max_exponent; i += 3)
    places.push_back(std::ldexp(T(1), i));
  std::vector<T> result = {limits::quiet_NaN(), -limits::quiet_NaN()};
  for (T place : places) {
    T above = place, below = place;
    for (int i = 0; i < 3; ++i) {
      for (T x : {above, -above, below, -below}) result.push_back(x);
      above = std::nextafter(above, limits::infinity());
      below = std::nextafter(below, -limits::infinity());
    }
  }
  result.resize((result.size() + 15) / 16 * 16, T(1));
  return result;
}

// Numbers of every size, and more of them where most functions are interesting.
std::vector<double> random_numbers(std::mt19937_64& random, std::size_t count) {
  std::vector<double> numbers(count);
  const double scales[] = {1, 1, 2, 6, 30, 750};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const double unit = 2 * std::ldexp(static_cast<double>(bits >> 11), -53) - 1;
    switch (i % 8) {
      case 6:
        numbers[i] = std::bit_cast<double>(bits);
        break;
      case 7:
        numbers[i] = std::copysign(std::exp2(40 * unit), std::sin(double(i)));
        break;
      default:
        numbers[i] = scales[i % 8] * unit;
    }
  }
  return numbers;
}

TEST_P(UnaryMath, F64IsWithin2Ulp) {
  const auto& reference = GetParam();
  const MathLoop<double> loop(reference.op);
  std::mt19937_64 random(2024);
  std::vector<double> a = landmarks<double>();
  const std::vector<double> more =
      random_numbers(random, reference.op == Op::erf_inv ? 16000 : 100000);
  a.insert(a.end(), more.begin(), more.end());
  expect_within_limit(measure(loop, a, {}, [&](Quad x, Quad) { return reference.f64(x); }),
                      reference.op, "f64");
}

TEST_P(UnaryMath, F32AtLandmarks) {
  const auto& reference = GetParam();
  const MathLoop<float> loop(reference.op);
  const Worst worst =
      measure(loop, landmarks<float>(), {}, [&](float x, float) { return reference.f32(x); });
  EXPECT_LE(worst.ulp, limit) << worst.text(reference.op, "f32");
}

template <class Reference>
std::string test_name(const testing::TestParamInfo<Reference>& info) {
  return std::string(name(info.param.op));
}

// Floats and doubles whose sine or cosine is near 1, for angles up to 1,000. tools/measure_math
// looks at all floats.
template <class T>
void expect_within_one(Op op) {
  const MathLoop<T> loop(op);
  constexpr int around = 256;
  std::vector<T> x, y;
  for (int quarter = 0; quarter < 640; ++quarter) {
    const auto top = static_cast<T>(quarter * (std::numbers::pi / 2));
    T up = top, down = top;
    for (int i = 0; i < around; ++i) {
      // Ever farther away: until the value is 1 less some millionths.
      for (T at : {up, -up, down, -down}) x.push_back(at);
      up = std::nextafter(up + T(i) * T(1e-5), T(1e9));
      down = std::nextafter(down - T(i) * T(1e-5), T(-1e9));
    }
  }
  y.resize(x.size());
  loop(x.data(), nullptr, y.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(std::fabs(y[i]), 1) << name(op) << " of " << std::hexfloat << x[i];
  }
}

TEST(SineAndCosine, AreNeverBeyondOne) {
  for (Op op : {Op::sine, Op::cosine}) {
    expect_within_one<float>(op);
    expect_within_one<double>(op);
  }
}

// Doubles next to a pole: all that the reduced angle misses shows there.
TEST(Tangent, IsWithin2UlpNextToItsPoles) {
  const MathLoop<double> loop(Op::tan);
  std::vector<double> x;
  std::mt19937_64 random(7);
  for (int i = 0; i < 1 << 16; ++i) {
    const auto odd = static_cast<double>(random() % (1 << (2 + i % 24)) * 2 + 1);
    x.push_back(odd * (std::numbers::pi / 2));
  }
  x.push_back(0x1.8b5aba1e54649p+18);
  x.resize((x.size() + 15) / 16 * 16, 1.0);
  expect_within_limit(measure(loop, x, {}, [](Quad at, Quad) { return tanq(at); }), Op::tan, "f64");
}

// Numbers so large that their reduction is the slow one, whose tangents are close to 1 or -1: twice
// of what the reduced angle misses shows there.
template <class T>
std::vector<T> far_eighths_of_a_turn() {
  std::vector<T> x = {T(0x1.08287p+115)};
  std::mt19937_64 random(8);
  while (x.size() < 4096) {
    const int exponent =
        30 + static_cast<int>(random() % (std::numeric_limits<T>::max_exponent - 30));
    const auto at = static_cast<T>(std::ldexp(static_cast<double>(random() >> 11), exponent - 53));
    const double size = std::fabs(std::tan(static_cast<double>(at)));
    if (size > 0.9 && size < 1.1) x.push_back(at);
  }
  return x;
}

TEST(Tangent, IsWithin2UlpFarOut) {
  const MathLoop<float> narrow(Op::tan);
  const auto of_float = [](float at, float) { return std::tan(static_cast<double>(at)); };
  expect_within_limit(measure(narrow, far_eighths_of_a_turn<float>(), {}, of_float), Op::tan,
                      "f32");
  const MathLoop<double> wide(Op::tan);
  const auto of_double = [](Quad at, Quad) { return tanq(at); };
  expect_within_limit(measure(wide, far_eighths_of_a_turn<double>(), {}, of_double), Op::tan,
                      "f64");
}

class BinaryMath : public testing::TestWithParam<test::BinaryReference> {};

// Random pairs: of any bits, of moderate size, and (for power) such that the result is finite.
template <class T>
void random_pairs(std::size_t count, std::vector<T>& a, std::vector<T>& b) {
  std::mt19937_64 random(2025);
  const std::vector<double> x = random_numbers(random, count), y = random_numbers(random, count);
  for (std::size_t i = 0; i < count; ++i) {
    const double choose = static_cast<double>(random() % 4);
    a.push_back(static_cast<T>(choose == 0 ? x[i] : std::fabs(x[i])));
    const double logarithm = std::log(std::fabs(x[i]));
    const double largest = std::log(static_cast<double>(std::numeric_limits<T>::max()));
    const double near_limit =
        (y[i] < 0 ? -1.05 : 1) * largest / logarithm * std::fmod(std::fabs(y[i]), 1);
    b.push_back(static_cast<T>(choose == 1 ? y[i] : choose == 2 ? std::rint(y[i]) : near_limit));
  }
}

TEST_P(BinaryMath, F32IsWithin2Ulp) {
  const auto& reference = GetParam();
  std::vector<float> a, b;
  random_pairs(1 << 20, a, b);
  const MathLoop<float> loop(reference.op);
  expect_within_limit(measure(loop, a, b, reference.f32), reference.op, "f32");
}

TEST_P(BinaryMath, F64IsWithin2Ulp) {
  const auto& reference = GetParam();
  std::vector<double> a, b;
  random_pairs(1 << 17, a, b);
  const MathLoop<double> loop(reference.op);
  expect_within_limit(measure(loop, a, b, reference.f64), reference.op, "f64");
}

template <class T>
void expect_landmark_pairs(const test::BinaryReference& reference, const char* dtype) {
  std::vector<T> few, a, b;
  const std::vector<T> all = landmarks<T>();
  for (std::size_t i = 0; i < all.size(); i += 29) few.push_back(all[i]);
  for (T whole : {-3, -2, -1, 1, 2, 3}) few.push_back(whole);
  for (T x : few) {
    for (T y : few) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  a.resize(a.size() / 16 * 16);
  const Worst worst =
      measure(MathLoop<T>(reference.op), a, b, [&](Quad x, Quad y) { return reference.f64(x, y); });
  EXPECT_LE(worst.ulp, limit) << worst.text(reference.op, dtype);
}

TEST_P(BinaryMath, LandmarkPairs) {
  expect_landmark_pairs<float>(GetParam(), "f32");
  expect_landmark_pairs<double>(GetParam(), "f64");
}

// AVX-512 scales by an instruction of its own: the same bits as on any other CPU.
TEST(ScaledExponential, EqualsTheGeneralCode) {
  const MathLoop<float> scaled(Op::exponential), general(Op::exponential, 16, false);
  std::vector<float> x(1 << 16), one(x.size()), other(x.size());
  for (std::uint32_t high = 0; high < (1 << 16); high += 16) {
    for (std::uint32_t i = 0; i < x.size(); ++i) {
      x[i] = std::bit_cast<float>((high << 16) + 16 * i + high / 16 % 16);
    }
    scaled(x.data(), nullptr, one.data(), static_cast<std::int64_t>(x.size()));
    general(x.data(), nullptr, other.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]) && std::isnan(one[i]) && std::isnan(other[i])) continue;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(one[i]), std::bit_cast<std::uint32_t>(other[i]))
          << std::hexfloat << x[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, BinaryMath, testing::ValuesIn(test::binary_references),
                         test_name<test::BinaryReference>);
INSTANTIATE_TEST_SUITE_P(Ops, UnaryMath, testing::ValuesIn(test::unary_references),
                         test_name<test::UnaryReference>);

}  // namespace
}  // namespace anabranch
