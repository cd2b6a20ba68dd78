#include <algorithm>
#include <cstdint>
#include <limits>

#include "ir/infer/rules.h"

namespace anabranch {
namespace {

// Sizes of a batch of matrices, which are the last two axes.
struct MatrixSizes {
  std::vector<std::int64_t> batch;
  std::int64_t rows = 0, columns = 0;

  std::int64_t least() const { return std::min(rows, columns); }
  /// The batch, and `more` axes after it.
  std::vector<std::int64_t> with(std::initializer_list<std::int64_t> more) const {
    std::vector<std::int64_t> sizes = batch;
    sizes.insert(sizes.end(), more);
    return sizes;
  }
};

void demand_matrix_dtype(const Application& call) {
  const Dtype dtype = call.operands[0].dtype;
  if (dtype == Dtype::f32 || dtype == Dtype::f64 || is_complex(dtype)) return;
  call.refuse("takes matrices of f32, f64, c64 or c128", "convert them first");
}

// And that of all operands.
void demand_dtype(const Application& call) {
  demand_matrix_dtype(call);
  const Dtype dtype = call.operands[0].dtype;
  for (const Type& operand : call.operands) {
    if (operand.dtype == dtype) continue;
    call.refuse("operand dtypes differ", std::string(name(dtype)) + " against " +
                                             std::string(name(operand.dtype)) +
                                             "; convert one of them first");
  }
}

MatrixSizes matrix_of(const Application& call, const Type& type) {
  if (type.rank() < 2) {
    call.refuse("takes matrices, of at least two axes", "rank " + std::to_string(type.rank()));
  }
  const std::span<const std::int64_t> sizes = type.shape.sizes();
  MatrixSizes matrix{{sizes.begin(), sizes.end() - 2}, sizes[sizes.size() - 2], sizes.back()};
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (std::max(matrix.rows, matrix.columns) > most) {
    call.refuse("a matrix has at most " + std::to_string(most) + " rows and columns",
                "LAPACK counts them in i32");
  }
  return matrix;
}

// Of the first operand.
MatrixSizes matrix_of(const Application& call) {
  demand_dtype(call);
  return matrix_of(call, call.operands[0]);
}

void demand_square(const Application& call, const MatrixSizes& matrix, const char* which) {
  if (matrix.rows == matrix.columns) return;
  call.refuse(
      std::string(which) + " must be square",
      std::to_string(matrix.rows) + " rows and " + std::to_string(matrix.columns) + " columns");
}

void demand_batch(const Application& call, std::span<const std::int64_t> a,
                  std::span<const std::int64_t> b) {
  if (std::ranges::equal(a, b)) return;
  call.refuse("batch sizes differ", list_text(a) + " against " + list_text(b) +
                                        "; broadcast_in_dim them to one shape first");
}

}  // namespace

namespace type_rules {

ResultTypes cholesky(const Application& call) {
  demand_square(call, matrix_of(call), "the matrix");
  return call.operands[0];
}

ResultTypes triangular_solve(const Application& call) {
  const MatrixSizes a = matrix_of(call), b = matrix_of(call, call.operands[1]);
  demand_square(call, a, "the triangular matrix");
  demand_batch(call, a.batch, b.batch);
  const bool left = call.as<TriangularSolveAttributes>().left_side;
  const std::int64_t size = left ? b.rows : b.columns;
  if (size != a.rows) {
    call.refuse("sizes differ", std::to_string(a.rows) + " unknowns against " +
                                    std::to_string(size) + (left ? " rows" : " columns"));
  }
  return call.operands[1];
}

ResultTypes lu(const Application& call) {
  const MatrixSizes a = matrix_of(call);
  return std::vector<Type>{call.operands[0], call.result(Dtype::i32, a.with({a.least()})),
                           call.result(Dtype::i32, a.with({a.rows}))};
}

ResultTypes qr(const Application& call) {
  const MatrixSizes a = matrix_of(call);
  return std::vector<Type>{call.operands[0],
                           call.result(call.operands[0].dtype, a.with({a.least()}))};
}

ResultTypes qr_pivoted(const Application& call) {
  demand_matrix_dtype(call);
  const MatrixSizes a = matrix_of(call, call.operands[0]);
  const Type which = call.result(Dtype::i32, a.with({a.columns}));
  if (call.operands[1] != which) {
    call.refuse("the second operand says of each column whether it comes first",
                to_string(call.operands[1]) + " instead of " + to_string(which));
  }
  return std::vector<Type>{call.operands[0],
                           call.result(call.operands[0].dtype, a.with({a.least()})), which};
}

ResultTypes householder_product(const Application& call) {
  const MatrixSizes a = matrix_of(call);
  const Type& factors = call.operands[1];
  if (a.rows < a.columns) {
    call.refuse("a matrix of more columns than rows has no orthonormal columns",
                "slice it to " + std::to_string(a.rows) + " columns first");
  }
  const std::span<const std::int64_t> sizes = factors.shape.sizes();
  if (sizes.empty()) call.refuse("the factors must be a vector for each matrix");
  demand_batch(call, a.batch, sizes.first(sizes.size() - 1));
  if (sizes.back() > a.columns) {
    call.refuse("more factors than columns",
                std::to_string(sizes.back()) + " against " + std::to_string(a.columns));
  }
  return call.operands[0];
}

ResultTypes svd(const Application& call) {
  const MatrixSizes a = matrix_of(call);
  const auto& [vectors, full] = call.as<SvdAttributes>();
  const Dtype dtype = call.operands[0].dtype;
  std::vector<Type> types = {call.result(part_dtype(dtype), a.with({a.least()}))};
  if (!vectors) return types;
  types.push_back(call.result(dtype, a.with({a.rows, full ? a.rows : a.least()})));
  types.push_back(call.result(dtype, a.with({full ? a.columns : a.least(), a.columns})));
  return types;
}

ResultTypes eigh(const Application& call) {
  const MatrixSizes a = matrix_of(call);
  demand_square(call, a, "the matrix");
  std::vector<Type> types = {call.result(part_dtype(call.operands[0].dtype), a.with({a.rows}))};
  if (call.as<EighAttributes>().vectors) types.push_back(call.operands[0]);
  return types;
}

ResultTypes eig(const Application& call) {
  const MatrixSizes a = matrix_of(call);
  demand_square(call, a, "the matrix");
  const auto& [left, right] = call.as<EigAttributes>();
  const Dtype dtype = complex_dtype(call.operands[0].dtype);
  std::vector<Type> types = {call.result(dtype, a.with({a.rows}))};
  types.resize(1 + (left ? 1 : 0) + (right ? 1 : 0), call.result(dtype, a.with({a.rows, a.rows})));
  return types;
}

ResultTypes schur(const Application& call) {
  demand_square(call, matrix_of(call), "the matrix");
  return std::vector<Type>(call.as<SchurAttributes>().vectors ? 2 : 1, call.operands[0]);
}

ResultTypes tridiagonal_solve(const Application& call) {
  demand_dtype(call);
  const Type& right = call.operands[3];
  const MatrixSizes b = matrix_of(call, right);
  const std::vector<std::int64_t> diagonal = b.with({b.rows});
  for (std::size_t i = 0; i < 3; ++i) {
    const std::span<const std::int64_t> sizes = call.operands[i].shape.sizes();
    if (std::ranges::equal(sizes, diagonal)) continue;
    call.refuse("a diagonal has an element for each row of the right side",
                list_text(sizes) + " against " + list_text(diagonal));
  }
  return right;
}

}  // namespace type_rules
}  // namespace anabranch
