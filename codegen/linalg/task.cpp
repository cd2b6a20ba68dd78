#include "codegen/linalg/task.h"

#include <numeric>
#include <utility>

#include "codegen/linalg/cholesky.h"
#include "codegen/linalg/matrix_task.h"
#include "codegen/linalg/spectral.h"
#include "codegen/linalg/triangular_solve.h"

namespace anabranch {
namespace lapack {
namespace {

struct LuTask {
  Batch a;

  double work() const { return static_cast<double>(a.size() * a.least()); }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    std::vector<T> columns(static_cast<std::size_t>(a.size()));
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = matrix_in<T>(buffers[0], i, a.size());
      T* const packed = matrix_in<T>(buffers[1], i, a.size());
      std::int32_t* const pivots = matrix_in<std::int32_t>(buffers[2], i, a.least());
      std::int32_t* const order = matrix_in<std::int32_t>(buffers[3], i, a.rows);
      std::iota(order, order + a.rows, 0);
      if (!all_finite(from, a.size())) {
        std::iota(pivots, pivots + a.least(), 0);
        std::fill_n(packed, a.size(), nan_of<T>);
        continue;
      }
      if (a.size() == 0) continue;
      transpose(from, a.rows, a.columns, columns.data());
      getrf<T>(as_int(a.rows), as_int(a.columns), columns.data(), pivots);
      transpose(columns.data(), a.columns, a.rows, packed);
      for (std::int64_t row = 0; row < a.least(); ++row) {
        std::swap(order[row], order[--pivots[row]]);
      }
    }
  }
};

struct QrTask {
  Batch a;

  double work() const { return 2 * static_cast<double>(a.size() * a.least()); }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    if (a.size() == 0) return;
    std::vector<T> columns(static_cast<std::size_t>(a.size()));
    const lapack_int m = as_int(a.rows), n = as_int(a.columns);
    T asked = 0;
    geqrf<T>(m, n, columns.data(), columns.data(), &asked, -1);
    std::vector<T> work = workspace(asked);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = matrix_in<T>(buffers[0], i, a.size());
      T* const packed = matrix_in<T>(buffers[1], i, a.size());
      T* const factors = matrix_in<T>(buffers[2], i, a.least());
      if (!all_finite(from, a.size())) {
        std::fill_n(packed, a.size(), nan_of<T>);
        std::fill_n(factors, a.least(), nan_of<T>);
        continue;
      }
      transpose(from, a.rows, a.columns, columns.data());
      geqrf<T>(m, n, columns.data(), factors, work.data(), as_int(std::ssize(work)));
      transpose(columns.data(), a.columns, a.rows, packed);
    }
  }
};

struct PivotedQrTask {
  Batch a;

  double work() const { return 2 * static_cast<double>(a.size() * a.least()); }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    const lapack_int m = as_int(a.rows), n = as_int(a.columns);
    std::vector<T> columns(static_cast<std::size_t>(a.size())), work;
    std::vector<Real<T>> reals(static_cast<std::size_t>(2 * a.columns));
    const auto call = [&](lapack_int* pivots, T* factors, T* memory, std::int64_t size) {
      geqp3<T>(m, n, columns.data(), pivots, factors, memory, as_int(size), reals.data());
    };
    if (a.size() > 0) {
      T asked = 0;
      std::int32_t none = 0;
      call(&none, columns.data(), &asked, -1);
      work = workspace(asked);
    }
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = matrix_in<T>(buffers[0], i, a.size());
      T* const packed = matrix_in<T>(buffers[2], i, a.size());
      T* const factors = matrix_in<T>(buffers[3], i, a.least());
      std::int32_t* const order = matrix_in<std::int32_t>(buffers[4], i, a.columns);
      if (a.size() == 0 || !all_finite(from, a.size())) {
        std::fill_n(packed, a.size(), nan_of<T>);
        std::fill_n(factors, a.least(), nan_of<T>);
        std::iota(order, order + a.columns, 0);
        continue;
      }
      transpose(from, a.rows, a.columns, columns.data());
      std::copy_n(matrix_in<std::int32_t>(buffers[1], i, a.columns), a.columns, order);
      call(order, factors, work.data(), std::ssize(work));
      transpose(columns.data(), a.columns, a.rows, packed);
      for (std::int64_t k = 0; k < a.columns; ++k) --order[k];
    }
  }
};

struct HouseholderTask {
  Batch a;
  std::int64_t factor_count;

  double work() const { return 2 * static_cast<double>(a.size() * factor_count); }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    if (a.size() == 0) return;
    std::vector<T> columns(static_cast<std::size_t>(a.size()));
    const lapack_int m = as_int(a.rows), n = as_int(a.columns), k = as_int(factor_count);
    T asked = 0;
    orgqr<T>(m, n, k, columns.data(), columns.data(), &asked, -1);
    std::vector<T> work = workspace(asked);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = matrix_in<T>(buffers[0], i, a.size());
      const T* const factors = matrix_in<T>(buffers[1], i, factor_count);
      T* const product = matrix_in<T>(buffers[2], i, a.size());
      if (!all_finite(from, a.size()) || !all_finite(factors, factor_count)) {
        std::fill_n(product, a.size(), nan_of<T>);
        continue;
      }
      transpose(from, a.rows, a.columns, columns.data());
      orgqr<T>(m, n, k, columns.data(), factors, work.data(), as_int(std::ssize(work)));
      transpose(columns.data(), a.columns, a.rows, product);
    }
  }
};

struct TridiagonalSolveTask {
  Batch b;

  double work() const { return 8 * static_cast<double>(b.size()); }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    if (b.size() == 0) return;
    const std::int64_t n = b.rows;
    std::vector<T> diagonals[3], columns(static_cast<std::size_t>(b.size()));
    for (std::int64_t i = begin; i < end; ++i) {
      bool exists = true;
      for (int k = 0; k < 3; ++k) {  // of the first, elements from 1 on; of the last, up to n - 1
        const T* const from = matrix_in<T>(buffers[k], i, n);
        diagonals[k].assign(from + (k == 0 ? 1 : 0), from + (k == 2 ? n - 1 : n));
        exists = exists && all_finite(diagonals[k].data(), std::ssize(diagonals[k]));
      }
      T* const x = matrix_in<T>(buffers[4], i, b.size());
      if (exists) {
        transpose(matrix_in<T>(buffers[3], i, b.size()), n, b.columns, columns.data());
        exists = gtsv<T>(as_int(n), as_int(b.columns), diagonals[0].data(), diagonals[1].data(),
                         diagonals[2].data(), columns.data()) == 0;
      }
      if (exists) {
        transpose(columns.data(), b.columns, n, x);
      } else {
        std::fill_n(x, b.size(), nan_of<T>);
      }
    }
  }
};

MatrixTask matrix_task(const CallStep& call, std::int64_t threads) {
  if (call.op == Op::tridiagonal_solve) {
    const Batch b(call.operands[3]);
    return task_of(call, TridiagonalSolveTask{b}, b.count);
  }
  const Batch a(call.operands[0]);
  switch (call.op) {
    case Op::cholesky:
      return cholesky_task(call, threads);
    case Op::triangular_solve:
      return triangular_solve_task(call, threads);
    case Op::lu:
      return task_of(call, LuTask{a}, a.count);
    case Op::qr:
      return task_of(call, QrTask{a}, a.count);
    case Op::qr_pivoted:
      return task_of(call, PivotedQrTask{a}, a.count);
    case Op::householder_product: {
      const Type& factors = call.operands[1];
      return task_of(call, HouseholderTask{a, factors.shape[factors.rank() - 1]}, a.count);
    }
    default:
      return spectral_task(call);
  }
}

}  // namespace
}  // namespace lapack

bool is_linear_algebra(Op op) {
  switch (op) {
    case Op::cholesky:
    case Op::triangular_solve:
    case Op::tridiagonal_solve:
    case Op::lu:
    case Op::qr:
    case Op::qr_pivoted:
    case Op::householder_product:
    case Op::svd:
    case Op::eigh:
    case Op::eig:
    case Op::schur:
      return true;
    default:
      return false;
  }
}

HostTask linear_algebra_task(const CallStep& call, std::int64_t threads) {
  return lapack::matrix_task(call, threads).task;
}

double linear_algebra_operations(const CallStep& call) {
  return lapack::matrix_task(call, 1).operations;
}

}  // namespace anabranch
