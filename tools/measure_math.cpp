// Measures the inline functions of one operand: the greatest error of each, where it is, and
// whether bounds and symmetries hold at every argument. docs/math.md quotes it.
//
//   measure_math [--threads N] [op ...]      f32, over all 2^32 floats
//   measure_math --f64 MILLIONS [op ...]     f64, over so many random doubles
//
// The truth of f32 is the double function of libm, within 2^-28 ULP of f32 (of erf_inv, a step of
// Halley's iteration in double); that of f64 is libquadmath's. Exits with 1 where an error is above
// 2 ULP or a law is broken.
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/math_jit.h"
#include "tests/support/math_reference.h"
#include "tests/support/ulp.h"

namespace {

using anabranch::Op;
namespace test = anabranch::test;

constexpr double limit = 2;
constexpr std::size_t block = 4096;

/// What holds of a function at every argument.
struct Law {
  Op op;
  enum Symmetry : std::uint8_t { none, odd, even } symmetry;
  double least, greatest;  // of its values
};
constexpr double infinite = std::numeric_limits<double>::infinity();
// As f32 rounds them: greater than the exact numbers, and than f64's.
const auto half_pi = static_cast<double>(std::numbers::pi_v<float> / 2);
const auto pi = static_cast<double>(std::numbers::pi_v<float>);
const Law laws[] = {
    {Op::rsqrt, Law::none, -infinite, infinite},  // -inf of -0
    {Op::cbrt, Law::odd, -infinite, infinite},
    {Op::exponential, Law::none, 0, infinite},
    {Op::exponential_minus_one, Law::none, -1, infinite},
    {Op::log, Law::none, -infinite, infinite},
    {Op::log_plus_one, Law::none, -infinite, infinite},
    {Op::logistic, Law::none, 0, 1},
    {Op::sine, Law::odd, -1, 1},
    {Op::cosine, Law::even, -1, 1},
    {Op::tan, Law::odd, -infinite, infinite},
    {Op::asin, Law::odd, -half_pi, half_pi},
    {Op::acos, Law::none, 0, pi},
    {Op::atan, Law::odd, -half_pi, half_pi},
    {Op::sinh, Law::odd, -infinite, infinite},
    {Op::cosh, Law::even, 1, infinite},
    {Op::tanh, Law::odd, -1, 1},
    {Op::asinh, Law::odd, -infinite, infinite},
    {Op::acosh, Law::none, 0, infinite},
    {Op::atanh, Law::odd, -infinite, infinite},
    {Op::erf, Law::odd, -1, 1},
    {Op::erf_inv, Law::odd, -infinite, infinite},
};

struct Measured {
  double ulp = 0;
  double at = 0, value = 0;
  std::uint64_t out_of_bounds = 0, asymmetric = 0;
  double first_broken = 0;

  void add(const Measured& other) {
    if (other.ulp > ulp) {
      ulp = other.ulp;
      at = other.at;
      value = other.value;
    }
    if (out_of_bounds + asymmetric == 0) first_broken = other.first_broken;
    out_of_bounds += other.out_of_bounds;
    asymmetric += other.asymmetric;
  }
};

/// The inverse of erf by Halley's iteration from a value that may be any number.
double erf_inv(double x, double y) {
  const double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(infinite, x) : std::nan("");
  if (a < 1e-18) return x * (std::sqrt(std::numbers::pi) / 2);
  y = std::fabs(y) < 6 ? std::fabs(y) : a;
  for (int i = 0; i < 50; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step = error * std::sqrt(std::numbers::pi) / 2 * std::exp(y * y);
    const double change = step / (1 + y * step);
    y -= change;
    if (std::fabs(change) < 1e-5 * y) break;  // what is left is its cube
  }
  return std::copysign(y, x);
}

template <class T, class Truth>
struct BlockOf {
  alignas(64) T x[block], y[block], minus_x[block], mirrored[block];
  Truth truth[block];
};
using Block = BlockOf<float, double>;
using WideBlock = BlockOf<double, test::Quad>;

/// 1 / ULP of a number of that size. Of what is no finite f32, whatever makes it look at closely.
double per_ulp(double truth) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(truth));
  const std::uint32_t exponent = std::max(bits >> 23 & 0xff, 1u);
  const std::uint64_t scale = 1023 + 150 - exponent;
  return exponent == 255 ? std::nan("") : std::bit_cast<double>(scale << 52);
}

template <class AnyBlock>
void see_each_error(const AnyBlock& b, Measured& measured) {
  for (std::size_t i = 0; i < block; ++i) {
    const double error = test::ulp_error(b.y[i], b.truth[i]);
    if (error > measured.ulp) {
      measured.ulp = error;
      measured.at = static_cast<double>(b.x[i]);
      measured.value = static_cast<double>(b.y[i]);
    }
  }
}

/// The same, fast where all are finite and none is the worst so far.
void see_errors(const Block& b, Measured& measured) {
  double most = 0;
  bool special = false;
  for (std::size_t i = 0; i < block; ++i) {
    const double error = std::fabs(static_cast<double>(b.y[i]) - b.truth[i]) * per_ulp(b.truth[i]);
    special |= !(error < infinite);
    most = std::max(most, error);
  }
  if (special || most > measured.ulp) see_each_error(b, measured);
}

template <class AnyBlock>
void see_laws(const AnyBlock& b, const Law& law, Measured& measured) {
  for (std::size_t i = 0; i < block; ++i) {
    if (std::isnan(b.y[i])) continue;
    const bool in_bounds = b.y[i] >= law.least && b.y[i] <= law.greatest;
    bool symmetric = true;
    if (law.symmetry != Law::none) {
      const auto expected = law.symmetry == Law::odd ? -b.mirrored[i] : b.mirrored[i];
      symmetric = b.y[i] == expected && std::signbit(b.y[i]) == std::signbit(expected);
    }
    if (in_bounds && symmetric) continue;
    if (measured.out_of_bounds + measured.asymmetric == 0) measured.first_broken = b.x[i];
    measured.out_of_bounds += !in_bounds;
    measured.asymmetric += !symmetric;
  }
}

/// The floats whose bits are `first` and the next ones. Of a function with a symmetry also the
/// floats of the other sign, whose values have to be the same but for the sign.
void measure_block(const test::MathLoop<float>& loop, const test::UnaryReference& reference,
                   const Law& law, std::uint32_t first, Block& b, Measured& measured) {
  for (std::uint32_t i = 0; i < block; ++i) {
    b.x[i] = std::bit_cast<float>(first + i);
    b.minus_x[i] = -b.x[i];
  }
  loop(b.x, nullptr, b.y, block);
  if (law.symmetry != Law::none) loop(b.minus_x, nullptr, b.mirrored, block);
  for (std::size_t i = 0; i < block; ++i) {
    const auto x = static_cast<double>(b.x[i]);
    b.truth[i] = reference.op == Op::erf_inv ? erf_inv(x, b.y[i]) : reference.f32(x);
  }
  see_errors(b, measured);
  see_laws(b, law, measured);
}

Measured measure(const test::UnaryReference& reference, const Law& law, unsigned threads) {
  const test::MathLoop<float> loop(reference.op);
  const std::uint64_t floats = std::uint64_t{1} << (law.symmetry == Law::none ? 32 : 31);
  const auto blocks = static_cast<std::uint32_t>(floats / block);
  std::atomic<std::uint32_t> next = 0;
  std::mutex mutex;
  Measured all;
  const auto work = [&] {
    Measured own;
    const auto memory = std::make_unique<Block>();
    for (std::uint32_t i; (i = next.fetch_add(1)) < blocks;) {
      measure_block(loop, reference, law, i * static_cast<std::uint32_t>(block), *memory, own);
    }
    const std::lock_guard lock(mutex);
    all.add(own);
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
  workers.clear();
  return all;
}

/// A double of any bits, or of moderate size, or close to a multiple of pi / 4.
double random_double(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  const double unit = std::ldexp(static_cast<double>(bits >> 11), -52) - 1;  // in [-1, 1)
  switch (random() % 4) {
    case 0:
      return std::bit_cast<double>(bits);
    case 1:
      return std::copysign(std::exp2(static_cast<double>(random() % 50) - 40 + unit), unit);
    case 2:
      return unit * (random() % 2 ? 1 : 20);
    default: {
      const auto turns = static_cast<double>(random() % (random() % 2 ? 16 : 1 << 20));
      const double near = std::exp2(-static_cast<double>(random() % 60)) * unit;
      return std::copysign(turns * (std::numbers::pi / 4) + near, unit);
    }
  }
}

Measured measure_f64(const test::UnaryReference& reference, const Law& law, std::int64_t count) {
  const test::MathLoop<double> loop(reference.op);
  std::mt19937_64 random(1);
  Measured all;
  const auto b = std::make_unique<WideBlock>();
  for (; count > 0; count -= block) {
    for (std::size_t i = 0; i < block; ++i) {
      b->x[i] = random_double(random);
      b->minus_x[i] = -b->x[i];
      b->truth[i] = reference.f64(b->x[i]);
    }
    loop(b->x, nullptr, b->y, block);
    if (law.symmetry != Law::none) loop(b->minus_x, nullptr, b->mirrored, block);
    see_each_error(*b, all);
    see_laws(*b, law, all);
  }
  return all;
}

bool is_wanted(Op op, const std::vector<std::string>& wanted) {
  return wanted.empty() || std::ranges::find(wanted, anabranch::name(op)) != wanted.end();
}

const Law& law_of(Op op) {
  return *std::ranges::find_if(laws, [op](const Law& law) { return law.op == op; });
}

/// Whether everything holds.
bool report(Op op, const Measured& m) {
  std::printf("%-22s %.4f ULP at %.17g [%a]: %.17g\n", std::string(anabranch::name(op)).c_str(),
              m.ulp, m.at, m.at, m.value);
  const std::uint64_t broken = m.out_of_bounds + m.asymmetric;
  if (broken > 0) {
    std::printf("  %llu values out of bounds, %llu without their symmetry; one at %.17g [%a]\n",
                static_cast<unsigned long long>(m.out_of_bounds),
                static_cast<unsigned long long>(m.asymmetric), m.first_broken, m.first_broken);
  }
  std::fflush(stdout);
  return m.ulp <= limit && broken == 0;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 1, millions_of_f64 = 0;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      threads = std::max(std::atoi(argv[++i]), 1);
    } else if (std::strcmp(argv[i], "--f64") == 0 && i + 1 < argc) {
      millions_of_f64 = std::max(std::atoi(argv[++i]), 1);
    } else {
      wanted.emplace_back(argv[i]);
    }
  }
  bool holds = true;
  for (const test::UnaryReference& reference : test::unary_references) {
    if (!is_wanted(reference.op, wanted)) continue;
    const Law& law = law_of(reference.op);
    const Measured measured =
        millions_of_f64 > 0 ? measure_f64(reference, law, std::int64_t{millions_of_f64} * 1'000'000)
                            : measure(reference, law, static_cast<unsigned>(threads));
    holds &= report(reference.op, measured);
  }
  return holds ? 0 : 1;
}
