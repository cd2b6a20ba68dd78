// Discrete Fourier transforms by ducc0 (of any lengths, in O(n log n)), on the calling thread.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace anabranch::fft {

/// Arrays of these sizes, row by row, transformed along their last `axes` axes.
struct Layout {
  std::vector<std::int64_t> sizes;  ///< of the reals, or of complex numbers on both sides
  int axes = 1;
};

/// Defined for float and double. `scale` is multiplied in.
template <class T>
void complex_to_complex(const Layout& layout, const std::complex<T>* from, std::complex<T>* to,
                        bool forward, T scale);
template <class T>
void real_to_complex(const Layout& layout, const T* from, std::complex<T>* to);
template <class T>
void complex_to_real(const Layout& layout, const std::complex<T>* from, T* to, T scale);

}  // namespace anabranch::fft
