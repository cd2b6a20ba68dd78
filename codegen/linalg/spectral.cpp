#include "codegen/linalg/spectral.h"

#include <complex>

namespace anabranch::lapack {
namespace {

// LAPACK counts the elements of a workspace in 32 bits.
void demand_count(const CallStep& call, std::int64_t elements) {
  constexpr std::int64_t most = std::numeric_limits<lapack_int>::max();
  if (elements <= most) return;
  throw Error(std::string(name(call.op)) + ": the workspace for the vectors of " +
              to_string(call.operands[0]) + " is too large (" + std::to_string(elements) +
              " elements against " + std::to_string(most) + "); ask for the values alone");
}

struct SvdTask {
  Batch a;
  SvdAttributes how;

  double work() const { return (how.vectors ? 20 : 4) * static_cast<double>(a.size() * a.least()); }
  // At least (the documentation of dgesdd: LWORK, where JOBZ is 'S'; zgesdd's is less).
  std::int64_t workspace_size() const {
    return how.vectors ? 4 * a.least() * a.least() + 7 * a.least() : 0;
  }

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
  // The documentation of dsyevd: LWORK (zheevd's LRWORK is less).
  std::int64_t workspace_size() const { return how.vectors ? 2 * a.size() + 6 * a.rows + 1 : 0; }

  // Column by column, the other triangle zero: nothing but the triangle that is read counts, and of
  // the diagonal the real part.
  template <class T>
  bool read_triangle(const T* from, T* to) const {
    const std::int64_t n = a.rows;
    std::fill_n(to, a.size(), T(0));
    for (std::int64_t row = 0; row < n; ++row) {
      const std::int64_t first = how.lower ? 0 : row, last = how.lower ? row + 1 : n;
      for (std::int64_t column = first; column < last; ++column) {
        to[column * n + row] = from[row * n + column];
      }
      to[row * n + row] = std::real(to[row * n + row]);
    }
    return all_finite(to, a.size());
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

struct EigTask {
  Batch a;
  EigAttributes how;

  double work() const {
    return (how.left || how.right ? 25 : 10) * static_cast<double>(a.size() * a.rows);
  }

  // One matrix's eigenvalues and, column by column, its eigenvectors as LAPACK gives them: of a
  // real matrix a conjugate pair has the real and the imaginary part of the first of its vectors.
  template <class T>
  struct Found {
    std::vector<T> columns, values, left, right, work;
    std::vector<Real<T>> reals;

    explicit Found(const EigTask& task)
        : columns(count(task.a.size())),
          values(count(task.a.rows)),
          left(count(task.how.left ? task.a.size() : 1)),
          right(count(task.how.right ? task.a.size() : 1)),
          reals(count(2 * task.a.rows)) {
      T asked = 0;
      call(task, &asked, -1);
      work = workspace(asked);
    }
    static std::size_t count(std::int64_t size) { return static_cast<std::size_t>(size); }
    bool call(const EigTask& task, T* memory, std::int64_t size) {
      return geev<T>(task.how.left ? 'V' : 'N', task.how.right ? 'V' : 'N', as_int(task.a.rows),
                     columns.data(), values.data(), left.data(), right.data(), memory, as_int(size),
                     reals.data()) == 0;
    }
    std::complex<Real<T>> value(std::int64_t k) const {
      const std::size_t n = values.size(), at = static_cast<std::size_t>(k);
      if constexpr (is_real<T>) return {reals[at], reals[n + at]};
      return values[at];
    }
    // Vectors as columns, row by row.
    void write(const std::vector<T>& vectors, std::complex<Real<T>>* to) const {
      const auto n = static_cast<std::int64_t>(values.size());
      if constexpr (!is_real<T>) {
        transpose(vectors.data(), n, n, to);
        return;
      }
      for (std::int64_t k = 0; k < n; ++k) {
        const T* const vector = vectors.data() + k * n;
        const bool is_pair = value(k).imag() != 0;
        for (std::int64_t i = 0; i < n; ++i) {
          to[i * n + k] = std::real(vector[i]);
          if (!is_pair) continue;
          to[i * n + k] = {std::real(vector[i]), std::real(vector[n + i])};
          to[i * n + k + 1] = std::conj(to[i * n + k]);
        }
        if (is_pair) ++k;
      }
    }
  };

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    using C = std::complex<Real<T>>;
    if (a.size() == 0) return;
    Found<T> found(*this);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = matrix_in<T>(buffers[0], i, a.size());
      C* const values = matrix_in<C>(buffers[1], i, a.rows);
      bool is_done = all_finite(from, a.size());
      if (is_done) {
        transpose(from, a.rows, a.rows, found.columns.data());
        is_done = found.call(*this, found.work.data(), std::ssize(found.work));
      }
      for (std::int64_t k = 0; k < a.rows; ++k) values[k] = is_done ? found.value(k) : nan_of<C>;
      int buffer = 2;
      for (const bool is_left : {true, false}) {
        if (!(is_left ? how.left : how.right)) continue;
        C* const to = matrix_in<C>(buffers[buffer++], i, a.size());
        if (is_done) {
          found.write(is_left ? found.left : found.right, to);
        } else {
          std::fill_n(to, a.size(), nan_of<C>);
        }
      }
    }
  }
};

struct SchurTask {
  Batch a;
  bool vectors;

  double work() const { return (vectors ? 25 : 10) * static_cast<double>(a.size() * a.rows); }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    if (a.size() == 0) return;
    const auto count = static_cast<std::size_t>(a.size()), n = static_cast<std::size_t>(a.rows);
    std::vector<T> columns(count), z(vectors ? count : 1), values(n);
    std::vector<Real<T>> reals(2 * n);
    const auto call = [&](T* work, std::int64_t size) {
      lapack_int chosen = 0;
      return gees<T>(vectors ? 'V' : 'N', as_int(a.rows), columns.data(), values.data(), z.data(),
                     work, as_int(size), reals.data(), &chosen);
    };
    T asked = 0;
    call(&asked, -1);
    std::vector<T> work = workspace(asked);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = matrix_in<T>(buffers[0], i, a.size());
      bool is_done = all_finite(from, a.size());
      if (is_done) {
        transpose(from, a.rows, a.rows, columns.data());
        is_done = call(work.data(), std::ssize(work)) == 0;
      }
      for (const int result : {1, 2}) {
        if (result == 2 && !vectors) continue;
        T* const to = matrix_in<T>(buffers[result], i, a.size());
        if (is_done) {
          transpose((result == 1 ? columns : z).data(), a.rows, a.rows, to);
        } else {
          std::fill_n(to, a.size(), nan_of<T>);
        }
      }
    }
  }
};

}  // namespace

MatrixTask spectral_task(const CallStep& call) {
  const Batch a(call.operands[0]);
  switch (call.op) {
    case Op::svd: {
      const SvdTask task{a, std::get<SvdAttributes>(call.attributes)};
      demand_count(call, task.workspace_size());
      return task_of(call, task, a.count);
    }
    case Op::eigh: {
      const EighTask task{a, std::get<EighAttributes>(call.attributes)};
      demand_count(call, task.workspace_size());
      return task_of(call, task, a.count);
    }
    case Op::eig:
      return task_of(call, EigTask{a, std::get<EigAttributes>(call.attributes)}, a.count);
    case Op::schur: {
      const bool vectors = std::get<SchurAttributes>(call.attributes).vectors;
      return task_of(call, SchurTask{a, vectors}, a.count);
    }
    default:
      throw InternalError("link", std::string(name(call.op)) + " has no eigenvalues");
  }
}

}  // namespace anabranch::lapack
