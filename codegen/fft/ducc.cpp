#include "codegen/fft/ducc.h"

// The library in this one file: its headers ask for these two sources.
#include <ducc0/infra/string_utils.cc>
#include <ducc0/infra/threading.cc>
// Then the transforms.
#include <ducc0/fft/fft.h>
#include <ducc0/fft/fftnd_impl.h>

namespace anabranch::fft {
namespace {

namespace ducc = DUCC0_NAMESPACE;

std::vector<std::size_t> sizes_of(const Layout& layout) {
  return {layout.sizes.begin(), layout.sizes.end()};
}

// Of the complex side of a transform of reals.
std::vector<std::size_t> half_sizes(const Layout& layout) {
  std::vector<std::size_t> sizes = sizes_of(layout);
  sizes.back() = sizes.back() / 2 + 1;
  return sizes;
}

std::vector<std::size_t> axes_of(const Layout& layout) {
  std::vector<std::size_t> axes;
  for (int i = layout.axes; i > 0; --i) {
    axes.push_back(layout.sizes.size() - static_cast<std::size_t>(i));
  }
  return axes;
}

}  // namespace

template <class T>
void complex_to_complex(const Layout& layout, const std::complex<T>* from, std::complex<T>* to,
                        bool forward, T scale) {
  ducc::c2c(ducc::cfmav<std::complex<T>>(from, sizes_of(layout)),
            ducc::vfmav<std::complex<T>>(to, sizes_of(layout)), axes_of(layout), forward, scale, 1);
}

template <class T>
void real_to_complex(const Layout& layout, const T* from, std::complex<T>* to) {
  ducc::r2c(ducc::cfmav<T>(from, sizes_of(layout)),
            ducc::vfmav<std::complex<T>>(to, half_sizes(layout)), axes_of(layout), true, T(1), 1);
}

template <class T>
void complex_to_real(const Layout& layout, const std::complex<T>* from, T* to, T scale) {
  ducc::c2r(ducc::cfmav<std::complex<T>>(from, half_sizes(layout)),
            ducc::vfmav<T>(to, sizes_of(layout)), axes_of(layout), false, scale, 1);
}

#define TRANSFORMS_OF(T)                                                                          \
  template void complex_to_complex(const Layout&, const std::complex<T>*, std::complex<T>*, bool, \
                                   T);                                                            \
  template void real_to_complex(const Layout&, const T*, std::complex<T>*);                       \
  template void complex_to_real(const Layout&, const std::complex<T>*, T*, T);
TRANSFORMS_OF(float)
TRANSFORMS_OF(double)
#undef TRANSFORMS_OF

}  // namespace anabranch::fft
