// Fourier transforms, linear algebra on what there is, and on matrices that it is well determined
// for.
#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

bool is_real(Dtype dtype) { return dtype == f32 || dtype == f64; }

constexpr Dtype matrix_dtypes[] = {f32, f64, f32, f64, c64, c128};

// The interpreter's rotations take long on large ones.
bool is_small_matrix(const Type& type) {
  return (is_real(type.dtype) || is_complex(type.dtype)) && type.rank() >= 2 && type.rank() <= 4 &&
         type.size() <= 600;
}

std::int64_t size_of(const Type& type, int from_last) {
  return type.shape[type.rank() - from_last];
}

// So many that what is done with them is written as arithmetic.
Shape many_small(RandomBuilder& b, std::int64_t rows, std::int64_t columns) {
  return {64 + b.random.below(3), rows, columns};
}

Value some_matrix(RandomBuilder& b) {
  if (const auto x = b.pick(is_small_matrix); x && b.random.percent(70)) return *x;
  const Dtype dtype = b.random.of(matrix_dtypes);
  if (b.random.percent(30)) {
    return b.parameter({dtype, many_small(b, 1 + b.random.below(4), 1 + b.random.below(4))});
  }
  return b.parameter({dtype, {b.random.below(4), b.random.below(8), b.random.below(8)}});
}

Shape with_matrix(const Shape& shape, std::int64_t rows, std::int64_t columns) {
  Axes sizes(shape.begin(), shape.end() - 2);
  sizes.insert(sizes.end(), {rows, columns});
  return Shape(sizes);
}

// x, or both parts of it, between -1 and 1.
Value held_down(RandomBuilder& b, Value x) {
  const Type type = b.type(x);
  if (is_complex(type.dtype)) {
    const Value re = held_down(b, b.add(Op::real, {x})), im = held_down(b, b.add(Op::imag, {x}));
    return b.add(Op::complex, {re, im});
  }
  return b.add(Op::clamp, {b.filled(type, -1), x, b.filled(type, 1)});
}

// The same, and 2.5 along the diagonal.
Value with_strong_diagonal(RandomBuilder& b, Value x) {
  const Type type = b.type(x);
  x = held_down(b, x);
  const int rank = type.rank();
  const Type places{i32, type.shape};
  const Value row = b.add(Op::iota, {}, AxisAttributes{rank - 2}, places);
  const Value column = b.add(Op::iota, {}, AxisAttributes{rank - 1}, places);
  const Value on_diagonal = b.add(Op::compare, {row, column}, CompareAttributes{Comparison::eq});
  return b.add(Op::select, {on_diagonal, b.filled(type, 2.5), x});
}

Value square_matrix(RandomBuilder& b) {
  const auto is_square = [](const Type& type) {
    return is_small_matrix(type) && size_of(type, 1) == size_of(type, 2);
  };
  Value x{};
  if (const auto found = b.pick(is_square); found && b.random.percent(50)) {
    x = *found;
  } else if (b.random.percent(40)) {
    const std::int64_t size = 1 + b.random.below(4);
    x = b.parameter({b.random.of(matrix_dtypes), many_small(b, size, size)});
  } else {
    const std::int64_t size = b.random.below(9);
    x = b.parameter({b.random.of(matrix_dtypes), {1 + b.random.below(3), size, size}});
  }
  return b.random.percent(60) ? with_strong_diagonal(b, x) : x;
}

void add_cholesky(RandomBuilder& b) {
  b.add(Op::cholesky, {square_matrix(b)}, TriangleAttributes{b.random.percent(50)});
}

void add_triangular_solve(RandomBuilder& b) {
  const Value a = square_matrix(b);
  const Shape& shape = b.shape(a);
  const std::int64_t size = size_of(b.type(a), 1), others = b.random.below(6);
  const TriangularSolveAttributes how{b.random.percent(50), b.random.percent(50),
                                      b.random.percent(30),
                                      static_cast<Transpose>(b.random.below(3))};
  const Shape sides =
      how.left_side ? with_matrix(shape, size, others) : with_matrix(shape, others, size);
  b.add(Op::triangular_solve, {a, b.partner({b.dtype(a), sides})}, how);
}

// With the strongest elements on the diagonal, most of the time.
void add_tridiagonal_solve(RandomBuilder& b) {
  const Value right = some_matrix(b);
  const Type type = b.type(right);
  const std::span<const std::int64_t> sizes = type.shape.sizes();
  const Type diagonal{type.dtype, Shape(Axes(sizes.begin(), sizes.end() - 1))};
  Value below = b.partner(diagonal), on = below, above = below;
  if (b.random.percent(80)) {
    below = held_down(b, below), above = below;
    on = b.add(Op::add, {above, b.filled(diagonal, 4.5)});
  } else {
    on = b.partner(diagonal), above = b.partner(diagonal);
  }
  b.add(Op::tridiagonal_solve, {below, on, above, right});
}

void add_lu(RandomBuilder& b) { b.add(Op::lu, {some_matrix(b)}); }

Value pivoted_qr(RandomBuilder& b, Value a) {
  const Shape& shape = b.shape(a);
  Axes sizes(shape.begin(), shape.end());
  sizes.erase(sizes.end() - 2);
  const Type which{i32, Shape(sizes)};
  return b.add(Op::qr_pivoted, {a, b.random.percent(60) ? b.filled(which, 0) : b.partner(which)});
}

void add_qr(RandomBuilder& b) {
  const Value a = some_matrix(b);
  const Value packed = b.random.percent(50) ? b.add(Op::qr, {a}) : pivoted_qr(b, a);
  if (size_of(b.type(packed), 2) < size_of(b.type(packed), 1)) return;
  b.add(Op::householder_product, {packed, Value{packed.node, 1}});
}

void add_svd(RandomBuilder& b) {
  b.add(Op::svd, {some_matrix(b)}, SvdAttributes{b.random.percent(50), b.random.percent(50)});
}

void add_eigh(RandomBuilder& b) {
  b.add(Op::eigh, {square_matrix(b)}, EighAttributes{b.random.percent(50), b.random.percent(50)});
}

void add_eig(RandomBuilder& b) {
  const Value a = square_matrix(b);
  if (b.random.percent(40)) {
    b.add(Op::schur, {a}, SchurAttributes{b.random.percent(50)});
    return;
  }
  b.add(Op::eig, {a}, EigAttributes{b.random.percent(50), b.random.percent(50)});
}

// Of the interpreter's n * n operations there are not too many.
bool is_short(const Type& type) {
  if (type.rank() == 0 || type.size() > 3'000) return false;
  return is_complex(type.dtype) || is_real(type.dtype);
}

Value some_signal(RandomBuilder& b) {
  if (const auto x = b.pick(is_short); x && b.random.percent(60)) return *x;
  constexpr Dtype dtypes[] = {f32, f64, c64, c128};
  constexpr std::int64_t sizes[] = {0, 1, 2, 3, 8, 13, 30, 31, 64, 101, 128};
  const Dtype dtype = b.random.of(dtypes);
  if (b.random.percent(30)) return b.parameter({dtype, {3, b.random.below(8), b.random.below(8)}});
  return b.parameter({dtype, {b.random.below(4), b.random.of(sizes)}});
}

void add_fft(RandomBuilder& b) {
  const Value x = some_signal(b);
  const Shape shape = b.shape(x);
  FftAttributes how;
  how.type = is_complex(b.dtype(x)) ? static_cast<FftKind>(b.random.below(3)) : FftKind::rfft;
  if (how.type == FftKind::rfft && is_complex(b.dtype(x))) how.type = FftKind::irfft;
  const int rank = shape.rank();
  const int count = 1 + static_cast<int>(b.random.below(std::min(rank, 3)));
  for (int axis = rank - count; axis < rank; ++axis) how.lengths.push_back(shape[axis]);
  std::int64_t& last = how.lengths.back();
  if (how.type == FftKind::irfft && last > 0) {
    last = last == 1 ? 1 : 2 * (last - 1) + b.random.below(2);
  }
  b.add(Op::fft, {x}, how);
}

constexpr Recipe recipes[] = {{2, 18, add_cholesky},
                              {2, 20, add_triangular_solve},
                              {1, 2, add_lu},
                              {1, 3, add_qr},
                              {1, 2, add_svd},
                              {1, 18, add_eigh},
                              {2, 2, add_fft},
                              {2, 18, add_eig},
                              {2, 18, add_tridiagonal_solve}};

}  // namespace

std::span<const Recipe> matrix_recipes() { return recipes; }

}  // namespace anabranch
