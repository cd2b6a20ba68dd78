// Running combinations of neighbouring elements of one block, in vector registers.
//
// The order of combinations is part of the result for floats, and the same on every machine: groups
// of 32 bytes are combined in log2 steps (Hillis and Steele, "Data parallel algorithms",
// Communications of the ACM 29(12), 1986), and what is so far comes to each as a whole.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "ir/attributes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"  // of vectors in functions that are always inlined

namespace anabranch::host {

/// What changes nothing. -0 for a float's sum, to which 0 and -0 stay as they are.
template <class T, Running of>
constexpr T identity() {
  using Limits = std::numeric_limits<T>;
  if constexpr (of == Running::sum) return std::is_floating_point_v<T> ? static_cast<T>(-0.0) : T(0);
  if constexpr (of == Running::product) return T(1);
  if constexpr (of == Running::maximum) {
    return std::is_floating_point_v<T> ? -Limits::infinity() : Limits::lowest();
  }
  return std::is_floating_point_v<T> ? Limits::infinity() : Limits::max();
}

/// As ops.def combines: integers wrap, NaN wins, -0 is below 0.
template <class T, Running of>
inline T combined(T a, T b) {
  constexpr bool is_float = std::is_floating_point_v<T>;
  if constexpr (of == Running::sum || of == Running::product) {
    if constexpr (is_float) return of == Running::sum ? a + b : a * b;
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<T>(of == Running::sum ? x + y : x * y);
  } else {
    constexpr bool greatest = of == Running::maximum;
    if constexpr (is_float) {
      if (a != a) return a;
      if (a == b) return std::signbit(a) == greatest ? b : a;
      if (b != b) return b;
    }
    return (greatest ? a > b : a < b) ? a : b;
  }
}

/// One thread's passes over blocks of T. `Vector` has 32 bytes on any machine.
template <class T, Running of>
struct BlockScan {
  static constexpr int lanes = 32 / static_cast<int>(sizeof(T));
  typedef T Vector __attribute__((vector_size(32)));
  using Signed = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef Signed Bits __attribute__((vector_size(32)));

  [[gnu::always_inline]] static void combine(Vector& a, const Vector& b) {
    if constexpr (of == Running::sum) {
      a = a + b;
    } else if constexpr (of == Running::product) {
      a = a * b;
    } else if constexpr (std::is_floating_point_v<T>) {
      const Bits negative = reinterpret_cast<Bits>(of == Running::maximum ? b : a) < 0;
      const Bits first = of == Running::maximum ? a > b : a < b;
      a = (first | (a != a) | ((a == b) & negative)) ? a : b;
    } else {
      a = (of == Running::maximum ? a > b : a < b) ? a : b;
    }
  }

  template <int shift, std::size_t... lane>
  [[gnu::always_inline]] static void combine_shifted(Vector& v, std::index_sequence<lane...>) {
    constexpr T none = identity<T, of>();
    const Vector nothing = {((void)lane, none)...};
    const Vector shifted = __builtin_shufflevector(
        nothing, v, (static_cast<int>(lane) < shift ? 0 : lanes + static_cast<int>(lane) - shift)...);
    Vector sum = shifted;
    combine(sum, v);
    v = sum;
  }

  template <std::size_t... lane>
  [[gnu::always_inline]] static void turn(Vector& v, std::index_sequence<lane...>) {
    v = __builtin_shufflevector(v, v, (lanes - 1 - static_cast<int>(lane))...);
  }

  /// Each lane with those before it, and then all with `so_far`, which becomes the last.
  [[gnu::always_inline]] static void scan_group(Vector& v, T& so_far) {
    using All = std::make_index_sequence<lanes>;
    combine_shifted<1>(v, All());
    combine_shifted<2>(v, All());
    if constexpr (lanes > 4) combine_shifted<4>(v, All());
    Vector before;
    for (int lane = 0; lane < lanes; ++lane) before[lane] = so_far;
    so_far = combined<T, of>(so_far, v[lanes - 1]);
    combine(before, v);
    v = before;
  }

  /// A group of which only the first `count` are there, from `step` apart.
  [[gnu::always_inline]] static void scan_rest(const T* from, T* to, std::int64_t count,
                                               std::int64_t step, T& so_far) {
    Vector v;
    for (int lane = 0; lane < lanes; ++lane) {
      v[lane] = lane < count ? from[lane * step] : identity<T, of>();
    }
    scan_group(v, so_far);
    for (int lane = 0; lane < count; ++lane) to[lane * step] = v[lane];
  }

  /// Past the caches, where it `streams`: `to` is then on 16 bytes.
  [[gnu::always_inline]] static void store(T* to, const Vector& v, bool streams) {
#if defined(__SSE2__)
    if (streams) {
      __m128i halves[2];
      __builtin_memcpy(halves, &v, sizeof v);
      _mm_stream_si128(reinterpret_cast<__m128i*>(to), halves[0]);
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + 1, halves[1]);
      return;
    }
#endif
    (void)streams;
    __builtin_memcpy(to, &v, sizeof v);
  }

  /// A block of `count` elements that goes on from `so_far`; gives what is so far at its end.
  template <bool reverse>
  [[gnu::always_inline]] static T scan(const T* from, T* to, std::int64_t count, T so_far,
                                       bool streams) {
    using All = std::make_index_sequence<lanes>;
    std::int64_t done = 0;
    for (; done + lanes <= count; done += lanes) {
      const std::int64_t at = reverse ? count - done - lanes : done;
      Vector v;
      __builtin_memcpy(&v, from + at, sizeof v);
      if constexpr (reverse) turn(v, All());
      scan_group(v, so_far);
      if constexpr (reverse) turn(v, All());
      store(to + at, v, streams);
    }
    const std::int64_t rest = count - done, at = reverse ? rest - 1 : done;
    if (rest > 0) scan_rest(from + at, to + at, rest, reverse ? -1 : 1, so_far);
    return so_far;
  }

  /// All elements combined.
  [[gnu::always_inline]] static T total(const T* from, std::int64_t count) {
    constexpr int chains = 4;
    Vector sums[chains];
    for (Vector& sum : sums) {
      for (int lane = 0; lane < lanes; ++lane) sum[lane] = identity<T, of>();
    }
    std::int64_t i = 0;
    for (; i + chains * lanes <= count; i += chains * lanes) {
      for (int chain = 0; chain < chains; ++chain) {
        Vector v;
        __builtin_memcpy(&v, from + i + chain * lanes, sizeof v);
        combine(sums[chain], v);
      }
    }
    combine(sums[0], sums[1]);
    combine(sums[2], sums[3]);
    combine(sums[0], sums[2]);
    T all = identity<T, of>();
    for (int lane = 0; lane < lanes; ++lane) all = combined<T, of>(all, sums[0][lane]);
    for (; i < count; ++i) all = combined<T, of>(all, from[i]);
    return all;
  }
};

}  // namespace anabranch::host

#pragma GCC diagnostic pop
