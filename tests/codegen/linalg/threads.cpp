// Large matrices that threads work on together: factors and solutions of the sizes around those of
// blocks and pieces, the same bits whatever the number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <thread>

#include "codegen/linalg/task.h"
#include "ir/interpret/interpret.h"
#include "tests/support/random_literal.h"

namespace anabranch {
namespace {

constexpr Dtype dtypes[] = {f32, f64, c64, c128};
template <class T>
constexpr bool is_factored = dtype_of<T> == f32 || dtype_of<T> == f64 || is_complex_storage<T>;

// What `call` leaves in its result on so many threads, which all run at the same time.
Literal run(const CallStep& call, std::span<const Literal> operands, int threads) {
  const Type type = result_types(call)[0];
  std::vector<std::byte> result(type.bytes(), std::byte{0xab});
  std::vector<void*> buffers;
  for (const Literal& operand : operands) {
    buffers.push_back(const_cast<std::byte*>(operand.bytes().data()));
  }
  buffers.push_back(result.data());
  const HostTask task = linear_algebra_task(call, threads);
  if (threads == 1) {
    EXPECT_EQ(task.share, nullptr);
    task.function(task.context.get(), buffers.data(), 0, task.extent);
  } else {
    std::shared_ptr<const void> context = task.context;
    if (task.share) context = task.share(context.get(), buffers.data());
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        const std::int64_t begin = task.extent * i / threads;
        task.function(context.get(), buffers.data(), begin, task.extent * (i + 1) / threads);
      });
    }
    for (std::thread& thread : running) thread.join();
  }
  return Literal(type, std::move(result));
}

// The same bits on one thread and on several.
Literal result_of(const CallStep& call, std::span<const Literal> operands) {
  const Literal alone = run(call, operands, 1);
  for (const int threads : {2, 5}) {
    EXPECT_EQ(run(call, operands, threads), alone)
        << to_string(operands[0].type()) << " on " << threads << " threads";
  }
  return alone;
}

Literal interpreted(const CallStep& call, std::span<const Literal> operands) {
  Node node;
  node.op = call.op;
  node.types = result_types(call);
  node.attributes = call.attributes;
  return interpret(node, operands)[0];
}

template <class T>
struct Matrices {
  std::int64_t count, rows, columns;
  std::vector<T> elements;

  Matrices(std::int64_t count, std::int64_t rows, std::int64_t columns)
      : count(count),
        rows(rows),
        columns(columns),
        elements(static_cast<std::size_t>(count * rows * columns)) {}
  Matrices(std::int64_t count, std::int64_t rows, std::int64_t columns, const Literal& literal)
      : Matrices(count, rows, columns) {
    std::ranges::copy(literal.values<T>(), elements.begin());
  }
  T& at(std::int64_t index, std::int64_t row, std::int64_t column) {
    return elements[static_cast<std::size_t>((index * rows + row) * columns + column)];
  }
  Literal literal() const { return Literal::of<T>(elements, Shape{count, rows, columns}); }
};

template <class T>
T random_element(Random& random) {
  const auto real = [&] { return static_cast<float>(2 * random.fraction() - 1); };
  if constexpr (is_complex_storage<T>) {
    const float re = real();
    return T(re, real());
  } else {
    return static_cast<T>(real());
  }
}

template <class T>
T conjugate(T x) {
  if constexpr (is_complex_storage<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

template <class T>
using RealPart = decltype(std::abs(T{}));

template <class T>
constexpr double tolerance = std::is_same_v<RealPart<T>, float> ? 2e-5 : 2e-14;

template <class T>
constexpr T nan = std::numeric_limits<RealPart<T>>::quiet_NaN();

bool is_beside(bool lower, std::int64_t row, std::int64_t column) {
  return lower ? column > row : column < row;
}

// Hermitian and positive definite; beside the triangle NaN, which no result may depend on.
template <class T>
Matrices<T> triangle_to_factor(Random& random, std::int64_t count, std::int64_t size, bool lower) {
  Matrices<T> a(count, size, size);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t row = 0; row < size; ++row) {
      for (std::int64_t column = 0; column < size; ++column) {
        T& element = a.at(i, row, column);
        element = is_beside(lower, row, column) ? nan<T> : random_element<T>(random);
        if (row == column) element = static_cast<RealPart<T>>(2 * size);
      }
    }
  }
  return a;
}

CallStep cholesky_call(const Literal& a, bool lower) {
  return {Op::cholesky, {a.type()}, TriangleAttributes{lower}};
}

// A v == L (L^H v), and zeros beside the triangle.
template <class T>
void expect_factor(Random& random, Matrices<T> a, Matrices<T> factor, bool lower) {
  const std::int64_t size = a.rows;
  const auto n = static_cast<std::size_t>(size);
  for (std::int64_t i = 0; i < a.count; ++i) {
    std::vector<T> v(n), product(n), inner(n), wanted(n);
    for (T& x : v) x = random_element<T>(random);
    // F = L, or U^H.
    const auto f = [&](std::int64_t row, std::int64_t column) {
      return lower ? factor.at(i, row, column) : conjugate(factor.at(i, column, row));
    };
    const auto given = [&](std::int64_t row, std::int64_t column) {
      return is_beside(lower, row, column) ? conjugate(a.at(i, column, row)) : a.at(i, row, column);
    };
    for (std::int64_t row = 0; row < size; ++row) {
      for (std::int64_t column = 0; column < size; ++column) {
        const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
        wanted[r] += given(row, column) * v[c];
        if (column <= row) inner[c] += conjugate(f(row, column)) * v[r];
        if (!is_beside(lower, row, column)) continue;
        ASSERT_EQ(factor.at(i, row, column), T(0));
      }
    }
    for (std::int64_t row = 0; row < size; ++row) {
      const auto r = static_cast<std::size_t>(row);
      for (std::int64_t column = 0; column <= row; ++column) {
        product[r] += f(row, column) * inner[static_cast<std::size_t>(column)];
      }
      ASSERT_LE(std::abs(product[r] - wanted[r]), tolerance<T> * static_cast<double>(2 * size))
          << size << ", lower " << lower << ", matrix " << i << ", row " << row;
    }
  }
}

TEST(LargeMatrices, CholeskyFactors) {
  Random random(1);
  for (const Dtype dtype : dtypes) {
    visit_any_dtype(dtype, [&]<class T>() {
      if constexpr (is_factored<T>) {
        for (const std::int64_t size : {191, 192, 193, 257, 400, 641, 769}) {
          for (const bool lower : {false, true}) {
            const std::int64_t count = size < 300 ? 1 + random.below(2) : 1;
            const Matrices<T> a = triangle_to_factor<T>(random, count, size, lower);
            const Literal given = a.literal();
            const Literal found = result_of(cholesky_call(given, lower), std::span(&given, 1));
            expect_factor(random, a, Matrices<T>(count, size, size, found), lower);
          }
        }
      }
    });
  }
}

// NaN in the whole triangle of those that have none, and of no other.
TEST(LargeMatrices, WithoutACholeskyFactor) {
  Random random(2);
  constexpr std::int64_t size = 260;
  for (const bool lower : {false, true}) {
    for (const std::int64_t place : {0, 63, 64, 150, 259}) {
      for (const double wrong : {-1.0, 0.0, double(INFINITY), double(NAN)}) {
        Matrices<double> a = triangle_to_factor<double>(random, 2, size, lower);
        a.at(0, place, place) = wrong;
        const Literal given = a.literal();
        Matrices<double> found(2, size, size,
                               result_of(cholesky_call(given, lower), std::span(&given, 1)));
        for (std::int64_t row = 0; row < size; ++row) {
          for (std::int64_t column = 0; column < size; ++column) {
            const double x = found.at(0, row, column);
            ASSERT_TRUE(is_beside(lower, row, column) ? x == 0 : std::isnan(x))
                << place << ": " << row << ", " << column;
            ASSERT_FALSE(std::isnan(found.at(1, row, column)));
          }
        }
      }
    }
  }
}

template <class T>
void expect_close(const Literal& found, const Literal& wanted, double bound) {
  const auto x = found.values<T>(), y = wanted.values<T>();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LE(std::abs(x[i] - y[i]), bound) << i;
}

TEST(LargeMatrices, FactorsAreThoseOfTheInterpreter) {
  Random random(3);
  for (const bool lower : {false, true}) {
    const Literal a = triangle_to_factor<double>(random, 1, 257, lower).literal();
    const CallStep call = cholesky_call(a, lower);
    expect_close<double>(run(call, std::span(&a, 1), 2), interpreted(call, std::span(&a, 1)),
                         1e-12);
  }
}

// A triangle that is far from singular; NaN beside it, and on its diagonal where that is one.
template <class T>
Matrices<T> triangle_to_solve(Random& random, std::int64_t count, std::int64_t size,
                              const TriangularSolveAttributes& how) {
  Matrices<T> a(count, size, size);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t row = 0; row < size; ++row) {
      for (std::int64_t column = 0; column < size; ++column) {
        T& element = a.at(i, row, column);
        element = random_element<T>(random) / static_cast<RealPart<T>>(size / 4);
        if (is_beside(how.lower, row, column)) element = nan<T>;
        if (row == column) element = how.unit_diagonal ? nan<T> : T(2);
      }
    }
  }
  return a;
}

template <class T>
Matrices<T> random_sides(Random& random, std::int64_t count, std::int64_t rows,
                         std::int64_t columns) {
  Matrices<T> b(count, rows, columns);
  for (T& x : b.elements) x = random_element<T>(random);
  return b;
}

CallStep solve_call(std::span<const Literal> operands, const TriangularSolveAttributes& how) {
  return {Op::triangular_solve, {operands[0].type(), operands[1].type()}, how};
}

// op(A) x == b of a few right sides, the first and the last among them.
template <class T>
void expect_solution(Random& random, Matrices<T> a, Matrices<T> b, Matrices<T> x,
                     const TriangularSolveAttributes& how) {
  const std::int64_t size = a.rows, sides = how.left_side ? b.columns : b.rows;
  const auto op = [&](std::int64_t i, std::int64_t row, std::int64_t column) -> T {
    if (how.transpose_a != Transpose::no) std::swap(row, column);
    if (is_beside(how.lower, row, column)) return 0;
    if (row == column && how.unit_diagonal) return 1;
    const T element = a.at(i, row, column);
    return how.transpose_a == Transpose::adjoint ? conjugate(element) : element;
  };
  for (std::int64_t i = 0; i < a.count; ++i) {
    for (const std::int64_t side : {std::int64_t{0}, random.below(sides), sides - 1}) {
      const auto at = [&](Matrices<T>& m, std::int64_t k) {
        return how.left_side ? m.at(i, k, side) : m.at(i, side, k);
      };
      for (std::int64_t row = 0; row < size; ++row) {
        T product = 0;
        for (std::int64_t k = 0; k < size; ++k) {
          product += (how.left_side ? op(i, row, k) : op(i, k, row)) * at(x, k);
        }
        ASSERT_LE(std::abs(product - at(b, row)), 20 * tolerance<T>)
            << to_string(a.literal().type()) << " x " << to_string(b.literal().type()) << ", side "
            << side << ", row " << row;
      }
    }
  }
}

template <class T>
void solve(Random& random, std::int64_t count, std::int64_t size, std::int64_t sides,
           const TriangularSolveAttributes& how) {
  const Matrices<T> a = triangle_to_solve<T>(random, count, size, how);
  const std::int64_t rows = how.left_side ? size : sides, columns = how.left_side ? sides : size;
  const Matrices<T> b = random_sides<T>(random, count, rows, columns);
  const Literal operands[] = {a.literal(), b.literal()};
  const Literal found = result_of(solve_call(operands, how), operands);
  expect_solution(random, a, b, Matrices<T>(count, rows, columns, found), how);
}

// Of every form with one right side, few, and so many that they are cut into pieces.
TEST(LargeMatrices, TriangularSystems) {
  struct Form {
    std::int64_t count, size, sides;
    bool left;
  };
  constexpr Form forms[] = {{1, 999, 1, true},   {1, 1000, 1, true},   {1, 1300, 1, true},
                            {2, 1025, 1, true},  {1, 384, 7, true},    {1, 385, 63, true},
                            {1, 383, 63, true},  {1, 300, 127, false}, {2, 129, 300, true},
                            {2, 129, 300, false}};
  Random random(4);
  for (const Dtype dtype : dtypes) {
    visit_any_dtype(dtype, [&]<class T>() {
      if constexpr (is_factored<T>) {
        for (const auto& [count, size, sides, left] : forms) {
          for (const auto op : {Transpose::no, Transpose::transpose, Transpose::adjoint}) {
            for (const bool lower : {false, true}) {
              solve<T>(random, count, size, sides, {left, lower, random.percent(50), op});
              if (testing::Test::HasFatalFailure()) return;
            }
          }
        }
      }
    });
  }
}

TEST(LargeMatrices, SolutionsAreThoseOfTheInterpreter) {
  Random random(5);
  for (const auto op : {Transpose::no, Transpose::transpose, Transpose::adjoint}) {
    for (const bool lower : {false, true}) {
      const TriangularSolveAttributes how{true, lower, false, op};
      const Literal operands[] = {
          triangle_to_solve<std::complex<double>>(random, 1, 400, how).literal(),
          random_sides<std::complex<double>>(random, 1, 400, 8).literal()};
      const CallStep call = solve_call(operands, how);
      expect_close<std::complex<double>>(run(call, operands, 2), interpreted(call, operands),
                                         1e-12);
    }
  }
}

// What is solved after a zero of the diagonal is not finite, what is solved before it is.
TEST(LargeMatrices, SingularTriangles) {
  Random random(6);
  for (const std::int64_t place : {0, 127, 128, 700, 1023}) {
    const TriangularSolveAttributes how{true, true, false, Transpose::no};
    Matrices<float> a = triangle_to_solve<float>(random, 1, 1024, how);
    a.at(0, place, place) = 0;
    const Literal operands[] = {a.literal(), random_sides<float>(random, 1, 1024, 1).literal()};
    const Literal found = result_of(solve_call(operands, how), operands);
    for (std::int64_t row = 0; row < 1024; ++row) {
      const float x = found.values<float>()[static_cast<std::size_t>(row)];
      ASSERT_EQ(std::isfinite(x), row < place) << place << ", " << row;
    }
  }
}

TEST(LargeMatrices, SmallOnesAreLeftToOneThread) {
  const Type a{f64, {191, 191}}, b{f64, {191, 1}};
  const CallStep cholesky{Op::cholesky, {a}, TriangleAttributes{true}};
  EXPECT_EQ(linear_algebra_task(cholesky, 8).extent, 1);
  const CallStep solve{Op::triangular_solve, {a, b}, TriangularSolveAttributes{true}};
  EXPECT_EQ(linear_algebra_task(solve, 8).extent, 1);
}

}  // namespace
}  // namespace anabranch
