// Lines: equally long transforms in views of two arrays, and the functions that compute them.
#pragma once

#include <complex>
#include <cstdint>

namespace anabranch::fft {

/// [outer, inner] lines of `length` points. Strides count elements, on either side.
struct Lines {
  struct Strides {
    std::int64_t outer = 0, inner = 0, along = 1;
  };

  std::int64_t outer = 1, inner = 1;
  std::int64_t length = 1;  ///< of the reals, or of the complex numbers on both sides
  Strides from, to;
  /// The one transform of a call, of neighbouring elements. It may be computed in another way than
  /// one of several lines, and have other bits. A line of several has the same bits in any company.
  bool is_alone = false;
};

/// A part of a table of twiddle factors: for each row `fine[column]` times `coarse[row]`.
template <class T>
struct Factors {
  const std::complex<T>* fine;    ///< rows of `fine_stride`
  const std::complex<T>* coarse;  ///< one per row
  std::int64_t fine_stride;
};

/// `scale` is multiplied in. They throw std::bad_alloc.
template <class T>
struct Functions {
  using C = std::complex<T>;

  void (*complex_to_complex)(const Lines&, const C* from, C* to, bool forward, T scale);
  void (*real_to_complex)(const Lines&, const T* from, C* to);
  void (*complex_to_real)(const Lines&, const C* from, T* to, T scale);
  /// Multiplies factors into rows of `columns` that are `stride` apart.
  void (*multiply)(C* values, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                   const Factors<T>& factors);
};

/// For both types, compiled for one instruction set.
struct Kernels {
  Functions<float> of_float;
  Functions<double> of_double;

  template <class T>
  const Functions<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return of_float;
    } else {
      return of_double;
    }
  }
};

}  // namespace anabranch::fft
