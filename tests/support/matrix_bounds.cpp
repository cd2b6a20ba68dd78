#include "tests/support/matrix_bounds.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "ir/interpret/interpret.h"

namespace anabranch {
namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<double>;
using ComplexNumbers = std::vector<Complex>;

Numbers numbers_of(const Literal& literal) {
  const Node convert{Op::convert, {Type{f64, literal.type().shape}}, {}, NoAttributes{}, {}, {}};
  const Literal wide = interpret(convert, {&literal, 1})[0];
  return {wide.values<double>().begin(), wide.values<double>().end()};
}

ComplexNumbers complex_numbers_of(const Literal& literal) {
  const Node convert{Op::convert, {Type{c128, literal.type().shape}}, {}, NoAttributes{}, {}, {}};
  const Literal wide = interpret(convert, {&literal, 1})[0];
  return {wide.values<Complex>().begin(), wide.values<Complex>().end()};
}

bool is_finite_number(Complex x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

Bounded with_bound(Literal value, Numbers bound) {
  const Literal made = Literal::of(std::span<const double>(bound), value.type().shape);
  return {std::move(value), made, made};
}

Numbers all(const Literal& value, double number) {
  return Numbers(static_cast<std::size_t>(value.type().size()), number);
}

// Of a complex number's parts, of which a product has some more roundings.
double unit_of(Dtype dtype) {
  return (part_dtype(dtype) == f32 ? 0x1p-24 : 0x1p-53) * (is_complex(dtype) ? 4 : 1);
}
double least_of(Dtype dtype) { return part_dtype(dtype) == f32 ? 0x1p-149 : 0x1p-1074; }
double greatest_of(Dtype dtype) { return part_dtype(dtype) == f32 ? 1e37 : 1e300; }

// Whether sums and products of such numbers stay among the normal ones.
bool is_moderate(Dtype dtype, Complex number) {
  const double most = part_dtype(dtype) == f32 ? 1e30 : 1e290;
  return std::abs(number) < most && std::abs(number) > 1 / most;
}

// One matrix of a batch, its bounds beside it; what is not read is 0.
struct Part {
  std::int64_t rows = 0, columns = 0;
  ComplexNumbers numbers;
  Numbers bounds;

  Part(const Bounded& operand, std::int64_t index) {
    const Shape& shape = operand.value.type().shape;
    rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
    const std::int64_t size = rows * columns;
    const ComplexNumbers all = complex_numbers_of(operand.value);
    numbers.assign(all.begin() + index * size, all.begin() + (index + 1) * size);
    const auto errors = operand.bound.values<double>();
    bounds.assign(errors.begin() + index * size, errors.begin() + (index + 1) * size);
  }

  Complex& at(std::int64_t i, std::int64_t j) {
    return numbers[static_cast<std::size_t>(i * columns + j)];
  }
  void keep_triangle(bool lower) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        if (lower ? j <= i : j >= i) continue;
        at(i, j) = 0;
        bounds[static_cast<std::size_t>(i * columns + j)] = 0;
      }
    }
  }
  bool is_finite() const { return std::ranges::all_of(numbers, is_finite_number); }
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
      Literal::of(std::span<const Complex>(part.numbers), Shape{part.rows, part.columns});
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
  ComplexNumbers a, x;  // x: the solution that was found

  System(const TriangularSolveAttributes& how, Part triangle, Part solution) {
    triangle.keep_triangle(how.lower);
    size = triangle.rows, sides = how.left_side ? solution.columns : solution.rows;
    const bool turned = (how.transpose_a != Transpose::no) == how.left_side;
    const bool lower = how.lower != turned;
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t j = 0; j < size; ++j) {
        const std::int64_t row = lower ? i : size - 1 - i, column = lower ? j : size - 1 - j;
        const bool is_one = i == j && how.unit_diagonal;
        a.push_back(is_one   ? Complex(1)
                    : turned ? triangle.at(column, row)
                             : triangle.at(row, column));
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
        sum += std::abs(system.a[i * n + k] * system.x[k * sides + side]);
      }
      if (!std::isfinite(sum) || sum > greatest_of(dtype)) return false;
      for (std::size_t k = 0; k < i; ++k)
        sum += std::abs(system.a[i * n + k]) * z[k * sides + side];
      z[i * sides + side] = sum / std::abs(system.a[i * n + i]);
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

// Of every element of column `column` of x, from the rows of a matrix of three diagonals. Where
// each row's diagonal element is greater than both beside it by a margin, the inverse is no greater
// than 1 / margin, and elimination makes elements no more than twice as great (Higham,
// theorem 9.9).
double tridiagonal_bound(std::span<const Part> diagonals, const Part& x, std::int64_t column,
                         Dtype dtype) {
  double greatest = 0, margin = unknown, solution = 0;
  const auto rows = static_cast<std::size_t>(x.rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const double on = std::abs(diagonals[1].numbers[i]);
    const double beside = (i == 0 ? 0 : std::abs(diagonals[0].numbers[i])) +
                          (i + 1 == rows ? 0 : std::abs(diagonals[2].numbers[i]));
    greatest = std::max(greatest, on + beside);
    margin = std::min(margin, on - beside);
    const std::size_t at =
        i * static_cast<std::size_t>(x.columns) + static_cast<std::size_t>(column);
    solution = std::max(solution, std::abs(x.numbers[at]));
  }
  const bool is_known = margin > 1e-3 * greatest && is_moderate(dtype, greatest) &&
                        (solution == 0 || is_moderate(dtype, solution));
  if (!is_known) return unknown;
  return 64 * unit_of(dtype) * greatest / margin * solution + 64 * least_of(dtype) / margin;
}

// A vector for each matrix as columns.
Bounded as_column(const Bounded& vectors) {
  const auto reshaped = [](const Literal& x) {
    const std::span<const std::int64_t> sizes = x.type().shape.sizes();
    std::vector<std::int64_t> longer(sizes.begin(), sizes.end());
    longer.push_back(1);
    const Type type{x.type().dtype, Shape(longer)};
    const Node node{Op::reshape, {type}, {}, NoAttributes{}, {}, {}};
    return interpret(node, {&x, 1})[0];
  };
  const Literal bound = reshaped(vectors.bound);
  return {reshaped(vectors.value), bound, bound};
}

Bounded bounded_tridiagonal(std::span<const Bounded> operands, Literal value) {
  const Bounded found = with_bound(value, all(value, 0));
  const std::int64_t count = batch_of(value.type());
  Numbers bound = all(value, unknown);
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Part> parts;
    for (std::size_t k = 0; k < 3; ++k) parts.emplace_back(as_column(operands[k]), i);
    const Part x(found, i);
    parts.emplace_back(operands[3], i);
    const bool is_known = std::ranges::all_of(parts, &Part::is_exact) &&
                          std::ranges::all_of(parts, &Part::is_finite) && x.is_finite();
    if (!is_known) continue;
    for (std::int64_t column = 0; column < x.columns; ++column) {
      const double error = tridiagonal_bound(parts, x, column, value.type().dtype);
      for (std::int64_t row = 0; row < x.rows; ++row) {
        bound[static_cast<std::size_t>((i * x.rows + row) * x.columns + column)] = error;
      }
    }
  }
  return with_bound(std::move(value), std::move(bound));
}

// Eigenvalues or singular values: each moves by no more than the matrix does.
Bounded bounded_values(const Node& node, const Bounded& a, Literal value) {
  const std::int64_t count = batch_of(a.value.type());
  const Dtype dtype = a.value.type().dtype;
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
    if (part.is_finite() && greatest > greatest_of(dtype)) error = unknown;
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
    } else if (node.op == Op::tridiagonal_solve) {
      results.push_back(bounded_tridiagonal(operands, std::move(value)));
    } else if ((node.op == Op::svd || node.op == Op::eigh) && results.empty()) {
      results.push_back(bounded_values(node, operands[0], std::move(value)));
    } else {
      results.push_back(with_bound(value, all(value, unknown)));
    }
  }
  return results;
}

}  // namespace anabranch
