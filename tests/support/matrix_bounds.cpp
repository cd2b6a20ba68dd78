#include "tests/support/matrix_bounds.h"

#include <algorithm>
#include <cmath>

#include "ir/interpret/interpret.h"

namespace anabranch {
namespace {

using Numbers = std::vector<double>;

Numbers numbers_of(const Literal& literal) {
  const Node convert{Op::convert, {Type{f64, literal.type().shape}}, {}, NoAttributes{}, {}, {}};
  const Literal wide = interpret(convert, {&literal, 1})[0];
  return {wide.values<double>().begin(), wide.values<double>().end()};
}

Bounded with_bound(Literal value, Numbers bound) {
  const Literal made = Literal::of(std::span<const double>(bound), value.type().shape);
  return {std::move(value), made, made};
}

Numbers all(const Literal& value, double number) {
  return Numbers(static_cast<std::size_t>(value.type().size()), number);
}

double unit_of(Dtype dtype) { return dtype == f32 ? 0x1p-24 : 0x1p-53; }
double least_of(Dtype dtype) { return dtype == f32 ? 0x1p-149 : 0x1p-1074; }

// Whether sums and products of such numbers stay among the normal ones.
bool is_moderate(Dtype dtype, double number) {
  const double most = dtype == f32 ? 1e30 : 1e290;
  return std::fabs(number) < most && std::fabs(number) > 1 / most;
}

// One matrix of a batch, its bounds beside it; what is not read is 0.
struct Part {
  std::int64_t rows = 0, columns = 0;
  Numbers numbers, bounds;

  Part(const Bounded& operand, std::int64_t index) {
    const Shape& shape = operand.value.type().shape;
    rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
    const std::int64_t size = rows * columns;
    const Numbers all = numbers_of(operand.value);
    numbers.assign(all.begin() + index * size, all.begin() + (index + 1) * size);
    const auto errors = operand.bound.values<double>();
    bounds.assign(errors.begin() + index * size, errors.begin() + (index + 1) * size);
  }

  double& at(std::int64_t i, std::int64_t j) {
    return numbers[static_cast<std::size_t>(i * columns + j)];
  }
  void keep_triangle(bool lower) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        if (lower ? j <= i : j >= i) continue;
        at(i, j) = bounds[static_cast<std::size_t>(i * columns + j)] = 0;
      }
    }
  }
  bool is_finite() const {
    return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
  }
  bool is_exact() const {
    return std::ranges::all_of(bounds, [](double x) { return x == 0; });
  }
  /// Twice the Frobenius norm of the bounds: a triangle stands for two.
  double error() const {
    double sum = 0;
    for (double bound : bounds) sum += bound * bound;
    return 2 * std::sqrt(sum);
  }
};

std::int64_t batch_of(const Type& type) {
  std::int64_t count = 1;
  for (int axis = 0; axis + 2 < type.rank(); ++axis) count *= type.shape[axis];
  return count;
}

// The share of each matrix in a result.
void set_part(Numbers& bound, std::int64_t index, std::int64_t count, double value) {
  const auto size = static_cast<std::int64_t>(bound.size()) / std::max<std::int64_t>(count, 1);
  std::fill_n(bound.begin() + index * size, size, value);
}

Numbers eigenvalues(const Part& part, bool lower) {
  const Literal a =
      Literal::of(std::span<const double>(part.numbers), Shape{part.rows, part.columns});
  const Node node{Op::eigh, {Type{f64, Shape{part.rows}}}, {}, EighAttributes{false, lower}, {},
                  {}};
  return numbers_of(interpret(node, {&a, 1})[0]);
}

// Of every element of a matrix's Cholesky factor.
double cholesky_bound(const Node& node, Part part, Dtype dtype) {
  const bool lower = node.as<TriangleAttributes>().lower;
  part.keep_triangle(lower);
  if (!part.is_finite() && part.is_exact()) return 0;
  if (!part.is_finite() || part.rows == 0) return unknown;
  const Numbers values = eigenvalues(part, lower);
  const double least = values.front(), greatest = values.back();
  const double size = std::max(std::fabs(least), std::fabs(greatest));
  if (!is_moderate(dtype, size)) return unknown;
  const double n = static_cast<double>(part.rows);
  const double error = 8 * (n + 2) * unit_of(dtype) * size * n + part.error();
  if (least < -10 * error) return 0;  // there is none
  if (least < 100 * error || !is_moderate(dtype, least)) return unknown;
  return 4 * error / least * std::sqrt(n * greatest);
}

Bounded bounded_cholesky(const Node& node, const Bounded& a, Literal value) {
  const bool lower = node.as<TriangleAttributes>().lower;
  const std::int64_t count = batch_of(a.value.type());
  Numbers bound = all(value, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    set_part(bound, i, count, cholesky_bound(node, Part(a, i), a.value.type().dtype));
  }
  const Shape& shape = value.type().shape;
  const std::int64_t n = shape[shape.rank() - 1];
  for (std::int64_t i = 0; i < value.type().size(); ++i) {
    const std::int64_t row = i / n % n, column = i % n;
    if (lower ? column > row : column < row) bound[static_cast<std::size_t>(i)] = 0;
  }
  return with_bound(std::move(value), std::move(bound));
}

// The triangle and right sides as A X = B, A lower.
struct System {
  std::int64_t size, sides;
  Numbers a, x;  // x: the solution that was found

  System(const TriangularSolveAttributes& how, Part triangle, Part solution) {
    triangle.keep_triangle(how.lower);
    size = triangle.rows, sides = how.left_side ? solution.columns : solution.rows;
    const bool turned = (how.transpose_a != Transpose::no) == how.left_side;
    const bool lower = how.lower != turned;
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t j = 0; j < size; ++j) {
        const std::int64_t row = lower ? i : size - 1 - i, column = lower ? j : size - 1 - j;
        const bool is_one = i == j && how.unit_diagonal;
        a.push_back(is_one ? 1 : turned ? triangle.at(column, row) : triangle.at(row, column));
      }
      for (std::int64_t side = 0; side < sides; ++side) {
        const std::int64_t row = lower ? i : size - 1 - i;
        x.push_back(how.left_side ? solution.at(row, side) : solution.at(side, row));
      }
    }
  }
};

// |A| |X|, solved with what A is compared with: its diagonal less the magnitudes beside it.
bool bounds_of_system(const System& system, Dtype dtype, Numbers& z) {
  const auto n = static_cast<std::size_t>(system.size),
             sides = static_cast<std::size_t>(system.sides);
  z.assign(n * sides, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_moderate(dtype, system.a[i * n + i])) return false;
    for (std::size_t side = 0; side < sides; ++side) {
      double sum = static_cast<double>(n) * least_of(dtype);
      for (std::size_t k = 0; k <= i; ++k) {
        sum += std::fabs(system.a[i * n + k] * system.x[k * sides + side]);
      }
      if (!std::isfinite(sum) || (sum != 0 && sum > (dtype == f32 ? 1e37 : 1e300))) return false;
      for (std::size_t k = 0; k < i; ++k)
        sum += std::fabs(system.a[i * n + k]) * z[k * sides + side];
      z[i * sides + side] = sum / std::fabs(system.a[i * n + i]);
    }
  }
  return true;
}

Bounded bounded_solution(const Node& node, std::span<const Bounded> operands, Literal value) {
  const auto& how = node.as<TriangularSolveAttributes>();
  const Dtype dtype = value.type().dtype;
  const std::int64_t count = batch_of(value.type());
  const Bounded found = with_bound(value, all(value, 0));
  Numbers bound = all(value, unknown);
  for (std::int64_t i = 0; i < count; ++i) {
    Part a(operands[0], i);
    const Part b(operands[1], i), x(found, i);
    a.keep_triangle(how.lower);
    if (!a.is_exact() || !b.is_exact() || !b.is_finite() || !x.is_finite()) continue;
    const System system(how, a, x);
    Numbers z;
    if (!bounds_of_system(system, dtype, z)) continue;
    const double units = 4 * (static_cast<double>(system.size) + 4) * unit_of(dtype);
    const bool turned = (how.transpose_a != Transpose::no) == how.left_side;
    const bool lower = how.lower != turned;
    for (std::int64_t row = 0; row < system.size; ++row) {
      for (std::int64_t side = 0; side < system.sides; ++side) {
        const std::int64_t place = lower ? row : system.size - 1 - row;
        const std::int64_t to = how.left_side ? place * x.columns + side : side * x.columns + place;
        bound[static_cast<std::size_t>(i * x.rows * x.columns + to)] =
            units * z[static_cast<std::size_t>(row * system.sides + side)] + least_of(dtype);
      }
    }
  }
  return with_bound(std::move(value), std::move(bound));
}

// Eigenvalues or singular values: each moves by no more than the matrix does.
Bounded bounded_values(const Node& node, const Bounded& a, Literal value) {
  const std::int64_t count = batch_of(a.value.type());
  const Dtype dtype = value.type().dtype;
  const Numbers numbers = numbers_of(value);
  Numbers bound = all(value, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    Part part(a, i);
    if (node.op == Op::eigh) part.keep_triangle(node.as<EighAttributes>().lower);
    const auto size = static_cast<std::int64_t>(numbers.size()) / count;
    double greatest = 0;
    for (std::int64_t k = 0; k < size; ++k) {
      greatest = std::max(greatest, std::fabs(numbers[static_cast<std::size_t>(i * size + k)]));
    }
    const double axes = static_cast<double>(part.rows + part.columns);
    double error =
        30 * axes * unit_of(dtype) * greatest + 30 * axes * least_of(dtype) + part.error();
    if (!part.is_finite()) error = part.is_exact() ? 0 : unknown;
    if (part.is_finite() && greatest > (dtype == f32 ? 1e37 : 1e300)) error = unknown;
    set_part(bound, i, count, error);
  }
  return with_bound(std::move(value), std::move(bound));
}

}  // namespace

std::vector<Bounded> matrix_bounds(const Node& node, std::span<const Bounded> operands,
                                   std::vector<Literal> values) {
  std::vector<Bounded> results;
  for (Literal& value : values) {
    if (node.op == Op::cholesky) {
      results.push_back(bounded_cholesky(node, operands[0], std::move(value)));
    } else if (node.op == Op::triangular_solve) {
      results.push_back(bounded_solution(node, operands, std::move(value)));
    } else if ((node.op == Op::svd || node.op == Op::eigh) && results.empty()) {
      results.push_back(bounded_values(node, operands[0], std::move(value)));
    } else {
      results.push_back(with_bound(value, all(value, unknown)));
    }
  }
  return results;
}

}  // namespace anabranch
