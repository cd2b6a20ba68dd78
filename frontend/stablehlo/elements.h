// The C++ type of an element of any dtype, complex ones included.
#pragma once

#include <complex>

#include "anabranch/dtype.h"

namespace anabranch::stablehlo {

template <class T>
inline constexpr bool is_complex_element = false;
template <class T>
inline constexpr bool is_complex_element<std::complex<T>> = true;

/// Calls `visit.template operator()<T>()` with the C++ type that stores one element of `dtype`.
template <class Visitor>
decltype(auto) visit_element(Dtype dtype, Visitor&& visit) {
#if __has_include("anabranch/complex.h")
  return visit_any_dtype(dtype, visit);
#else
  return visit_dtype(dtype, visit);
#endif
}

}  // namespace anabranch::stablehlo
