// The special cases of power and atan2 (C99 annex F.9.4.4 and F.9.1.4), lane counts, and misuse.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "anabranch/error.h"
#include "codegen/cpu/math/math.h"
#include "tests/support/math_jit.h"
#include "tests/support/ulp.h"

namespace anabranch {
namespace {

using test::MathLoop;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const double pi = std::acos(-1.0);

struct Row {
  double a, b, result;
};

const Row power_rows[] = {
    // 1 from everything, NaN included
    {1, nan, 1},
    {1, inf, 1},
    {nan, 0, 1},
    {nan, -0.0, 1},
    {inf, 0, 1},
    {0, 0, 1},
    {-1, inf, 1},
    {-1, -inf, 1},
    {-inf, -0.0, 1},
    // zeros
    {0, -3, inf},
    {-0.0, -3, -inf},
    {0, -2, inf},
    {-0.0, -2, inf},
    {-0.0, -2.5, inf},
    {0, -inf, inf},
    {0, 3, 0},
    {-0.0, 3, -0.0},
    {-0.0, 2, 0},
    {-0.0, 2.5, 0},
    {0, inf, 0},
    {-0.0, inf, 0},
    // infinite powers
    {0.5, inf, 0},
    {0.5, -inf, inf},
    {2, inf, inf},
    {2, -inf, 0},
    {-0.5, inf, 0},
    {-2, inf, inf},
    {-0.5, -inf, inf},
    {-2, -inf, 0},
    {inf, inf, inf},
    {inf, -inf, 0},
    {-inf, inf, inf},
    {-inf, -inf, 0},
    // infinite bases
    {inf, 2, inf},
    {inf, -2, 0},
    {inf, 0.5, inf},
    {-inf, 3, -inf},
    {-inf, 2, inf},
    {-inf, 2.5, inf},
    {-inf, -3, -0.0},
    {-inf, -2, 0},
    {-inf, -2.5, 0},
    // negative bases
    {-2, 3, -8},
    {-2, 2, 4},
    {-2, -3, -0.125},
    {-8, 1.0 / 3, nan},
    {-2, 0.5, nan},
    {-1, 3, -1},
    {-1, 4, 1},
    // NaN
    {nan, 1, nan},
    {2, nan, nan},
    {nan, nan, nan},
    {0, nan, nan},
    {inf, nan, nan},
    {-1, nan, nan},
    // exact ones
    {2, 10, 1024},
    {10, 2, 100},
    {9, 0.5, 3},
    {4, -1, 0.25},
};

const Row atan2_rows[] = {
    {0, 0, 0},
    {-0.0, 0, -0.0},
    {0, -0.0, pi},
    {-0.0, -0.0, -pi},
    {0, 1, 0},
    {-0.0, 1, -0.0},
    {0, -1, pi},
    {-0.0, -1, -pi},
    {1, 0, pi / 2},
    {1, -0.0, pi / 2},
    {-1, 0, -pi / 2},
    {-1, -0.0, -pi / 2},
    {1, inf, 0},
    {-1, inf, -0.0},
    {1, -inf, pi},
    {-1, -inf, -pi},
    {inf, 1, pi / 2},
    {-inf, 1, -pi / 2},
    {inf, inf, pi / 4},
    {-inf, inf, -pi / 4},
    {inf, -inf, 3 * pi / 4},
    {-inf, -inf, -3 * pi / 4},
    {0, inf, 0},
    {-0.0, -inf, -pi},
    {inf, 0, pi / 2},
    {nan, 1, nan},
    {1, nan, nan},
    {nan, 0, nan},
    {0, nan, nan},
    {inf, nan, nan},
    {nan, inf, nan},
    {1, 1, pi / 4},
    {-1, -1, -3 * pi / 4},
};

template <class T, std::size_t n>
void expect_rows(Op op, const Row (&rows)[n]) {
  std::vector<T> a, b;
  for (const Row& row : rows) {
    a.push_back(static_cast<T>(row.a));
    b.push_back(static_cast<T>(row.b));
  }
  a.resize((n + 15) / 16 * 16, T(1));
  b.resize(a.size(), T(1));
  std::vector<T> out(a.size());
  MathLoop<T>{op}(a.data(), b.data(), out.data(), static_cast<std::int64_t>(a.size()));
  for (std::size_t i = 0; i < n; ++i) {
    const Row& row = rows[i];
    EXPECT_LE(test::ulp_error(out[i], row.result), 1)
        << name(op) << "(" << row.a << ", " << row.b << ") is " << out[i] << ", not " << row.result;
  }
}

TEST(MathSpecial, PowerAsInAnnexF) {
  expect_rows<float>(Op::power, power_rows);
  expect_rows<double>(Op::power, power_rows);
}

TEST(MathSpecial, Atan2AsInAnnexF) {
  expect_rows<float>(Op::atan2, atan2_rows);
  expect_rows<double>(Op::atan2, atan2_rows);
}

// Scalars and short vectors give the same bits as full vectors, huge angles included.
template <class T>
void expect_same_bits_for_any_width(Op op) {
  std::vector<T> a = {T(0.3), T(-1.7),  T(1e30), T(5), T(-0.0), T(0.99), T(1e6), T(-3e9),
                      T(2.5), T(1e-30), T(77),   T(1), T(-0.5), T(inf),  T(nan), T(123456)};
  std::vector<T> b = a;
  std::vector<T> expected(a.size()), out(a.size());
  const auto count = static_cast<std::int64_t>(a.size());
  MathLoop<T>{op}(a.data(), b.data(), expected.data(), count);
  for (unsigned width : {1u, 2u, 4u, 16u}) {
    MathLoop<T>{op, width}(a.data(), b.data(), out.data(), count);
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(test::ulp_error(out[i], static_cast<long double>(expected[i])), 0)
          << name(op) << " of " << a[i] << " with " << width << " lanes: " << out[i] << ", not "
          << expected[i];
    }
  }
}

TEST(MathSpecial, EveryLaneCountGivesTheSameBits) {
  for (Op op : {Op::sine, Op::cosine, Op::tan, Op::exponential, Op::power, Op::cbrt}) {
    expect_same_bits_for_any_width<float>(op);
    expect_same_bits_for_any_width<double>(op);
  }
}

TEST(MathSpecial, RefusesOtherOpsAndTypes) {
  llvm::LLVMContext context;
  llvm::IRBuilder<> builder(context);
  llvm::Value* number = llvm::ConstantFP::get(builder.getFloatTy(), 1);
  llvm::Value* half = llvm::ConstantFP::get(builder.getHalfTy(), 1);
  EXPECT_THROW(cpu::emit_math(builder, Op::add, {number, number}), InternalError);
  EXPECT_THROW(cpu::emit_math(builder, Op::exponential, {number, number}), InternalError);
  EXPECT_THROW(cpu::emit_math(builder, Op::exponential, {half}), InternalError);
  EXPECT_THROW(cpu::emit_math(builder, Op::exponential, {builder.getInt32(1)}), InternalError);
}

}  // namespace
}  // namespace anabranch
