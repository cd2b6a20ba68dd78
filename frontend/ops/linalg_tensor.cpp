// Chains of products, and tensors that stand for matrices.
#include <limits>

#include "anabranch/linalg.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/linalg_matrix.h"

namespace anabranch::linalg {
namespace {

std::int64_t product_of(std::span<const std::int64_t> sizes) {
  std::int64_t product = 1;
  for (std::int64_t size : sizes) product *= size;
  return product;
}

Array reshaped(const Array& x, std::vector<std::int64_t> sizes, SourceLocation where) {
  return reshape({x, where}, Sizes(std::move(sizes), where));
}

// The product of matrices i to j, split where it takes the fewest multiplications (Cormen and
// others, "Introduction to Algorithms", 3rd ed., section 15.2).
class Chain {
 public:
  Chain(std::vector<Array> matrices, SourceLocation where)
      : matrices_(std::move(matrices)), where_(where) {
    const std::size_t count = matrices_.size();
    for (const Array& x : matrices_) sizes_.push_back(type_of(x).shape[0]);
    sizes_.push_back(type_of(matrices_.back()).shape[1]);
    cost_.assign(count, std::vector<double>(count, 0));
    split_.assign(count, std::vector<std::size_t>(count, 0));
    for (std::size_t more = 1; more < count; ++more) {
      for (std::size_t i = 0; i + more < count; ++i) find_split(i, i + more);
    }
  }

  Array product(std::size_t i, std::size_t j) const {
    if (i == j) return matrices_[i];
    const std::size_t k = split_[i][j];
    return anabranch::matmul({product(i, k), where_}, {product(k + 1, j), where_});
  }

 private:
  void find_split(std::size_t i, std::size_t j) {
    cost_[i][j] = std::numeric_limits<double>::infinity();
    for (std::size_t k = i; k < j; ++k) {
      const double own = static_cast<double>(sizes_[i]) * static_cast<double>(sizes_[k + 1]) *
                         static_cast<double>(sizes_[j + 1]);
      const double cost = cost_[i][k] + cost_[k + 1][j] + own;
      if (cost < cost_[i][j]) cost_[i][j] = cost, split_[i][j] = k;
    }
  }

  std::vector<Array> matrices_;
  SourceLocation where_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::vector<double>> cost_;
  std::vector<std::vector<std::size_t>> split_;
};

}  // namespace

Array multi_dot(const Operands& arrays) {
  const std::vector<Operand>& list = arrays.list();
  const SourceLocation where = arrays.where();
  if (list.size() < 2) fail("multi_dot: takes two arrays or more", where);
  std::vector<Array> matrices;
  for (const Operand& x : list) matrices.push_back(as_array("multi_dot", x, Takes::numbers));
  const bool is_row = type_of(matrices.front()).rank() == 1;
  const bool is_column = type_of(matrices.back()).rank() == 1;
  if (is_row) matrices.front() = expand_dims({matrices.front(), where}, 0);
  if (is_column) matrices.back() = expand_dims({matrices.back(), where}, 1);
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const Type& type = type_of(matrices[i]);
    if (type.rank() != 2) {
      fail("multi_dot: takes matrices, of two axes: " + to_string(type), where);
    }
    if (i == 0 || type_of(matrices[i - 1]).shape[1] == type.shape[0]) continue;
    fail("multi_dot: inner sizes differ: " + to_string(type_of(matrices[i - 1])) + " x " +
             to_string(type) + " (" + std::to_string(type_of(matrices[i - 1]).shape[1]) +
             " against " + std::to_string(type.shape[0]) + ")",
         where);
  }
  const std::size_t last = matrices.size() - 1;
  Array product = Chain(std::move(matrices), where).product(0, last);
  if (is_column) product = squeeze({product, where}, -1);
  if (is_row) product = squeeze({product, where}, 0);
  return product;
}

Array tensorsolve(const Operand& a, const Operand& b) {
  const SourceLocation where = a.where();
  const std::vector<Array> both = promote("tensorsolve", {&a, &b}, Takes::floats_or_complex);
  const Shape &left = type_of(both[0]).shape, &right = type_of(both[1]).shape;
  const std::span<const std::int64_t> sizes = left.sizes();
  const auto count = std::min(static_cast<std::size_t>(right.rank()), sizes.size());
  const std::span<const std::int64_t> unknowns = sizes.subspan(count);
  const std::int64_t rows = right.size();
  if (product_of(unknowns) != rows || product_of(sizes.first(count)) != rows) {
    fail("tensorsolve: the axes of a are no square matrix as high as b: " +
             to_string(type_of(both[0])) + " x " + to_string(type_of(both[1])),
         where);
  }
  const Array matrix = reshaped(both[0], {rows, rows}, where);
  const Array solution = solve({matrix, where}, {reshaped(both[1], {rows}, where), where});
  return reshaped(solution, {unknowns.begin(), unknowns.end()}, where);
}

Array tensorinv(const Operand& x, std::int64_t count) {
  const SourceLocation where = x.where();
  const Array given = as_array("tensorinv", x, Takes::floats_or_complex);
  const std::span<const std::int64_t> sizes = type_of(given).shape.sizes();
  if (count <= 0 || count > static_cast<std::int64_t>(sizes.size())) {
    fail("tensorinv: " + to_string(type_of(given)) + " has no first " + std::to_string(count) +
             " axes; " +
             (sizes.empty() ? "give an array that has axes"
                            : "give a count from 1 to " + std::to_string(sizes.size())),
         where);
  }
  const auto first = sizes.first(static_cast<std::size_t>(count));
  const auto rest = sizes.subspan(static_cast<std::size_t>(count));
  if (product_of(first) != product_of(rest)) {
    fail("tensorinv: the axes are no square matrix: " + to_string(type_of(given)) + " (" +
             std::to_string(product_of(first)) + " against " + std::to_string(product_of(rest)) +
             ")",
         where);
  }
  const Array matrix = reshaped(given, {product_of(first), product_of(rest)}, where);
  std::vector<std::int64_t> turned(rest.begin(), rest.end());
  turned.insert(turned.end(), first.begin(), first.end());
  return reshaped(inv({matrix, where}), turned, where);
}

}  // namespace anabranch::linalg
