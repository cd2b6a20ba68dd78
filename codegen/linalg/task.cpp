#include "codegen/linalg/task.h"

#include <memory>
#include <numeric>
#include <utility>

#include "anabranch/error.h"
#include "codegen/linalg/lapack.h"
#include "codegen/linalg/matrix.h"

namespace anabranch {
namespace lapack {
namespace {

lapack_int as_int(std::int64_t size) { return static_cast<lapack_int>(size); }

// LAPACK wants at least one row of memory even where there is none.
lapack_int stride(std::int64_t size) { return as_int(std::max<std::int64_t>(size, 1)); }

/// What a routine asks for with a size of -1.
template <class T>
std::vector<T> workspace(T asked) {
  return std::vector<T>(static_cast<std::size_t>(std::max(std::real(asked), Real<T>(1))));
}

template <class T>
inline constexpr bool is_real = std::is_same_v<T, Real<T>>;

template <class T>
T* matrix_in(void* buffer, std::int64_t index, std::int64_t size) {
  return static_cast<T*>(buffer) + index * size;
}

// The triangle of a matrix that is there row by row: LAPACK sees the transpose
// of it, and its other triangle.
struct CholeskyTask {
  Batch a;
  bool lower;

  double work() const { return static_cast<double>(a.size() * a.rows) / 3; }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    const std::int64_t n = a.rows;
    for (std::int64_t i = begin; i < end; ++i) {
      T* const factor = matrix_in<T>(buffers[1], i, a.size());
      const T* const from = matrix_in<T>(buffers[0], i, a.size());
      bool exists = true;
      for (std::int64_t row = 0; row < n; ++row) {  // the triangle, and zeros beside it
        T* const to = factor + row * n;
        const std::int64_t first = lower ? 0 : row, last = lower ? row + 1 : n;
        exists = exists && all_finite(from + row * n + first, last - first);
        std::fill_n(to, first, T(0));
        std::copy(from + row * n + first, from + row * n + last, to + first);
        std::fill_n(to + last, n - last, T(0));
      }
      if (exists && n > 0) exists = potrf<T>(lower ? 'U' : 'L', as_int(n), factor) == 0;
      if (exists) continue;
      for (std::int64_t row = 0; row < n; ++row) {
        std::fill_n(factor + row * n + (lower ? 0 : row), lower ? row + 1 : n - row, nan_of<T>);
      }
    }
  }
};

struct TriangularSolveTask {
  Batch a, b;
  TriangularSolveAttributes how;

  double work() const { return static_cast<double>(b.size() * a.rows); }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    const CBLAS_TRANSPOSE op = how.transpose_a == Transpose::no          ? CblasNoTrans
                               : how.transpose_a == Transpose::transpose ? CblasTrans
                                                                         : CblasConjTrans;
    for (std::int64_t i = begin; i < end; ++i) {
      T* const solution = matrix_in<T>(buffers[2], i, b.size());
      std::copy_n(matrix_in<T>(buffers[1], i, b.size()), b.size(), solution);
      if (b.size() == 0) continue;
      trsm(how.left_side ? CblasLeft : CblasRight, how.lower ? CblasLower : CblasUpper, op,
           how.unit_diagonal ? CblasUnit : CblasNonUnit, as_int(b.rows), as_int(b.columns),
           matrix_in<T>(buffers[0], i, a.size()), as_int(a.rows), solution);
    }
  }
};

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

struct SvdTask {
  Batch a;
  SvdAttributes how;

  double work() const { return (how.vectors ? 20 : 4) * static_cast<double>(a.size() * a.least()); }

  // What gesdd asks for complex matrices (its documentation: LRWORK).
  std::size_t real_workspace() const {
    const std::int64_t less = a.least(), more = std::max(a.rows, a.columns);
    const std::int64_t count =
        how.vectors ? std::max(5 * less * less + 5 * less, 2 * more * less + 2 * less * less + less)
                    : 7 * less;
    return static_cast<std::size_t>(std::max<std::int64_t>(count, 1));
  }

  std::int64_t left_columns() const { return how.full_matrices ? a.rows : a.least(); }
  std::int64_t right_rows() const { return how.full_matrices ? a.columns : a.least(); }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    const std::int64_t left = how.vectors ? a.rows * left_columns() : 0;
    const std::int64_t right = how.vectors ? right_rows() * a.columns : 0;
    if (a.size() == 0) {  // no values, and any basis will do
      for (std::int64_t i = begin; i < end && how.vectors; ++i) {
        set_identity(matrix_in<T>(buffers[2], i, left), a.rows, left_columns());
        set_identity(matrix_in<T>(buffers[3], i, right), right_rows(), a.columns);
      }
      return;
    }
    std::vector<T> columns(static_cast<std::size_t>(a.size())),
        u(static_cast<std::size_t>(left + 1)), vt(static_cast<std::size_t>(right + 1));
    std::vector<lapack_int> integers(static_cast<std::size_t>(8 * a.least()));
    const char job = !how.vectors ? 'N' : how.full_matrices ? 'A' : 'S';
    std::vector<Real<T>> reals(is_real<T> ? 0 : real_workspace());
    const auto call = [&](Real<T>* s, T* work, std::int64_t size) {
      return gesdd<T>(job, as_int(a.rows), as_int(a.columns), columns.data(), s, u.data(),
                      stride(a.rows), vt.data(), stride(right_rows()), work, as_int(size),
                      reals.data(), integers.data());
    };
    T asked = 0;
    Real<T> no_value = 0;
    call(&no_value, &asked, -1);
    std::vector<T> work = workspace(asked);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = matrix_in<T>(buffers[0], i, a.size());
      Real<T>* const values = matrix_in<Real<T>>(buffers[1], i, a.least());
      bool is_done = all_finite(from, a.size());
      if (is_done) {
        transpose(from, a.rows, a.columns, columns.data());
        is_done = call(values, work.data(), std::ssize(work)) == 0;
      }
      if (!is_done) std::fill_n(values, a.least(), nan_of<Real<T>>);
      if (!how.vectors) continue;
      T* const to_u = matrix_in<T>(buffers[2], i, left);
      T* const to_vt = matrix_in<T>(buffers[3], i, right);
      if (is_done) {
        transpose(u.data(), left_columns(), a.rows, to_u);
        transpose(vt.data(), a.columns, right_rows(), to_vt);
      } else {
        std::fill_n(to_u, left, nan_of<T>);
        std::fill_n(to_vt, right, nan_of<T>);
      }
    }
  }
};

struct EighTask {
  Batch a;
  EighAttributes how;

  double work() const { return (how.vectors ? 9 : 2) * static_cast<double>(a.size() * a.rows); }

  // Column by column, the other triangle zero: nothing but the triangle that is
  // read counts.
  template <class T>
  bool read_triangle(const T* from, T* to) const {
    const std::int64_t n = a.rows;
    bool is_finite = true;
    std::fill_n(to, a.size(), T(0));
    for (std::int64_t row = 0; row < n; ++row) {
      const std::int64_t first = how.lower ? 0 : row, last = how.lower ? row + 1 : n;
      is_finite = is_finite && all_finite(from + row * n + first, last - first);
      for (std::int64_t column = first; column < last; ++column) {
        to[column * n + row] = from[row * n + column];
      }
    }
    return is_finite;
  }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    if (a.size() == 0) return;
    std::vector<T> columns(static_cast<std::size_t>(a.size()));
    const auto call = [&](Real<T>* w, T* work, std::int64_t size, Real<T>* reals,
                          std::int64_t real_count, lapack_int* integers, std::int64_t count) {
      return syevd<T>(how.vectors ? 'V' : 'N', how.lower ? 'L' : 'U', as_int(a.rows),
                      columns.data(), w, work, as_int(size), reals, as_int(real_count), integers,
                      as_int(count));
    };
    T asked = 0;
    Real<T> reals_asked = 0, no_value = 0;
    lapack_int integers_asked = 0;
    call(&no_value, &asked, -1, &reals_asked, -1, &integers_asked, -1);
    std::vector<T> work = workspace(asked);
    std::vector<Real<T>> reals = workspace(reals_asked);
    std::vector<lapack_int> integers(static_cast<std::size_t>(std::max(integers_asked, 1)));
    for (std::int64_t i = begin; i < end; ++i) {
      Real<T>* const values = matrix_in<Real<T>>(buffers[1], i, a.rows);
      const bool is_done = read_triangle(matrix_in<T>(buffers[0], i, a.size()), columns.data()) &&
                           call(values, work.data(), std::ssize(work), reals.data(),
                                std::ssize(reals), integers.data(), std::ssize(integers)) == 0;
      if (!is_done) {
        std::fill_n(values, a.rows, nan_of<Real<T>>);
        std::fill_n(columns.data(), a.size(), nan_of<T>);
      }
      if (how.vectors) {
        transpose(columns.data(), a.rows, a.rows, matrix_in<T>(buffers[2], i, a.size()));
      }
    }
  }
};

template <class T, class Task>
void run(const void* context, void* const* buffers, std::int64_t begin, std::int64_t end) {
  if (begin == end) return;
  const LapackCall inside;
  static_cast<const Task*>(context)->template run<T>(buffers, begin, end);
}

template <class Task>
HostTask::Function function_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return run<float, Task>;
    case Dtype::f64:
      return run<double, Task>;
    case Dtype::c64:
      return run<std::complex<float>, Task>;
    case Dtype::c128:
      return run<std::complex<double>, Task>;
    default:
      throw InternalError("link", "linear algebra of " + std::string(name(dtype)));
  }
}

// A thread of its own is worth as much work as a few microseconds hold.
constexpr double work_of_a_range = 200'000;

template <class Task>
HostTask task_of(const CallStep& call, const Task& task) {
  const double work = std::max(task.work(), 1.0);
  const std::int64_t extent = task.a.count;
  const auto grain = static_cast<std::int64_t>(std::max(work_of_a_range / work, 1.0));
  return {function_of<Task>(call.operands[0].dtype), std::make_shared<Task>(task), extent, grain};
}

}  // namespace
}  // namespace lapack

HostTask linear_algebra_task(const CallStep& call) {
  using namespace lapack;
  const Batch a(call.operands[0]);
  switch (call.op) {
    case Op::cholesky:
      return task_of(call, CholeskyTask{a, std::get<TriangleAttributes>(call.attributes).lower});
    case Op::triangular_solve:
      return task_of(call,
                     TriangularSolveTask{a, Batch(call.operands[1]),
                                         std::get<TriangularSolveAttributes>(call.attributes)});
    case Op::lu:
      return task_of(call, LuTask{a});
    case Op::qr:
      return task_of(call, QrTask{a});
    case Op::householder_product: {
      const Type& factors = call.operands[1];
      return task_of(call, HouseholderTask{a, factors.shape[factors.rank() - 1]});
    }
    case Op::svd:
      return task_of(call, SvdTask{a, std::get<SvdAttributes>(call.attributes)});
    case Op::eigh:
      return task_of(call, EighTask{a, std::get<EighAttributes>(call.attributes)});
    default:
      throw InternalError("link", std::string(name(call.op)) + " is no linear algebra");
  }
}

}  // namespace anabranch
