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
  if constexpr (of == Running::sum && is_complex_storage<T>) {
    return T(-0.0, -0.0);
  } else if constexpr (of == Running::sum) {
    return std::is_floating_point_v<T> ? static_cast<T>(-0.0) : T(0);
  } else if constexpr (of == Running::product) {
    return T(1);
  } else if constexpr (of == Running::maximum) {
    return std::is_floating_point_v<T> ? -Limits::infinity() : Limits::lowest();
  } else {
    return std::is_floating_point_v<T> ? Limits::infinity() : Limits::max();
  }
}

/// As ops.def combines: integers wrap, NaN wins, -0 is below 0.
template <class T, Running of>
inline T combined(T a, T b) {
  constexpr bool is_float = std::is_floating_point_v<T>;
  if constexpr (is_complex_storage<T>) {
    if constexpr (of == Running::sum) return a + b;
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else if constexpr (of == Running::sum || of == Running::product) {
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

/// One thread's passes over blocks of T, in registers of `width` bytes: 16, 32 or 64.
template <class T, Running of, int width>
struct BlockScan {
  static constexpr int lanes = width / static_cast<int>(sizeof(T));  // of a register
  static constexpr int parts = 64 / width;                           // of a group
  static constexpr int group = parts * lanes;
  typedef T Vector __attribute__((vector_size(width)));
  typedef T Line __attribute__((vector_size(width), may_alias));
  using Signed = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef Signed Bits __attribute__((vector_size(width)));
  using Lanes = std::make_index_sequence<static_cast<std::size_t>(lanes)>;

  struct Group {
    Vector part[parts];
  };

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

  [[gnu::always_inline]] static void fill(Vector& v, T number) {
    for (int lane = 0; lane < lanes; ++lane) v[lane] = number;
  }

  // Into `to`, lanes of `before` and `v`, one after the other, from `shift` lanes before v's first.
  template <int shift, std::size_t... lane>
  [[gnu::always_inline]] static void shifted(Vector& to, const Vector& before, const Vector& v,
                                             std::index_sequence<lane...>) {
    to = __builtin_shufflevector(before, v, (lanes - shift + static_cast<int>(lane))...);
  }

  // Each lane of a group with the one `shift` lanes before it.
  template <int shift>
  [[gnu::always_inline]] static void combine_shifted(Group& g) {
    if constexpr (shift < group) {
      Vector none;
      fill(none, identity<T, of>());
      constexpr int whole = shift / lanes;  // registers
      for (int k = parts - 1; k >= 0; --k) {
        const Vector& at = k >= whole ? g.part[k - whole] : none;
        Vector other = at;
        if constexpr (shift % lanes != 0) {
          const Vector& before = k > whole ? g.part[k - whole - 1] : none;
          shifted<shift % lanes>(other, before, at, Lanes());
        }
        combine(other, g.part[k]);
        g.part[k] = other;
      }
    }
  }

  template <std::size_t... lane>
  [[gnu::always_inline]] static void repeat_last(Vector& v, std::index_sequence<lane...>) {
    v = __builtin_shufflevector(v, v, ((void)lane, lanes - 1)...);
  }

  template <std::size_t... lane>
  [[gnu::always_inline]] static void turn(Vector& v, std::index_sequence<lane...>) {
    v = __builtin_shufflevector(v, v, (lanes - 1 - static_cast<int>(lane))...);
  }
  [[gnu::always_inline]] static void turn(Group& g) {
    for (Vector& v : g.part) turn(v, Lanes());
    for (int k = 0; k < parts / 2; ++k) {
      const Vector other = g.part[k];
      g.part[k] = g.part[parts - 1 - k];
      g.part[parts - 1 - k] = other;
    }
  }

  // `so_far`, which is the same in all lanes, with each lane and those before it; then with all.
  [[gnu::always_inline]] static void scan_group(Group& g, Vector& so_far) {
    combine_shifted<1>(g);
    combine_shifted<2>(g);
    combine_shifted<4>(g);
    combine_shifted<8>(g);
    Vector all = g.part[parts - 1];
    repeat_last(all, Lanes());
    for (Vector& v : g.part) {
      Vector sum = so_far;
      combine(sum, v);
      v = sum;
    }
    combine(so_far, all);
  }

  // A group of which only the first `count` are there, `step` apart.
  [[gnu::always_inline]] static void scan_rest(const T* from, T* to, std::int64_t count,
                                               std::int64_t step, Vector& so_far) {
    Group g;
    for (int i = 0; i < group; ++i) {
      g.part[i / lanes][i % lanes] = i < count ? from[i * step] : identity<T, of>();
    }
    scan_group(g, so_far);
    for (int i = 0; i < count; ++i) to[i * step] = g.part[i / lanes][i % lanes];
  }

  // Past the caches, where it `streams`: `to` is then on 16 bytes. Lines as a whole take fewer
  // stores. (The intrinsics of wide registers cannot be called here: this is inlined where the
  // target has them.)
  [[gnu::always_inline]] static void store(T* to, const Group& g, bool streams) {
#if defined(__SSE2__)
    if (streams) {
      if constexpr (width > 16) {
        if (reinterpret_cast<std::uintptr_t>(to) % width == 0) {
          for (int k = 0; k < parts; ++k) {
            auto* line = reinterpret_cast<Line*>(to) + k;
            __asm__("vmovntps %1, %0" : "=m"(*line) : "v"(g.part[k]));
          }
          return;
        }
      }
      __m128i quarters[4];
      __builtin_memcpy(quarters, &g, sizeof g);
      for (int k = 0; k < 4; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + k, quarters[k]);
      return;
    }
#endif
    (void)streams;
    __builtin_memcpy(to, &g, sizeof g);
  }

  /// A block of `count` elements that goes on from `so_far`; gives what is so far at its end.
  /// `streams`: the result is written past the caches; it is on 16 bytes then. What is read `ahead`
  /// elements further on is fetched meanwhile.
  template <bool reverse>
  [[gnu::always_inline]] static T scan(const T* from, T* to, std::int64_t count, T so_far,
                                       bool streams, std::int64_t ahead) {
    Vector before;
    fill(before, so_far);
    std::int64_t done = 0;
    for (; done + group <= count; done += group) {
      const std::int64_t at = reverse ? count - done - group : done;
      Group g;
      __builtin_memcpy(&g, from + at, sizeof g);
      __builtin_prefetch(from + at + ahead, 0, 2);
      if constexpr (reverse) turn(g);
      scan_group(g, before);
      if constexpr (reverse) turn(g);
      store(to + at, g, streams);
    }
    const std::int64_t rest = count - done, at = reverse ? rest - 1 : done;
    if (rest > 0) scan_rest(from + at, to + at, rest, reverse ? -1 : 1, before);
    return before[0];
  }

  /// All elements combined.
  [[gnu::always_inline]] static T total(const T* from, std::int64_t count) {
    constexpr int chains = 4;
    Group sums[chains];
    for (Group& sum : sums) {
      for (Vector& v : sum.part) fill(v, identity<T, of>());
    }
    std::int64_t i = 0;
    for (; i + chains * group <= count; i += chains * group) {
      for (int chain = 0; chain < chains; ++chain) {
        Group g;
        __builtin_memcpy(&g, from + i + chain * group, sizeof g);
        for (int k = 0; k < parts; ++k) combine(sums[chain].part[k], g.part[k]);
      }
    }
    T all = identity<T, of>();
    for (int k = 0; k < parts; ++k) {
      combine(sums[0].part[k], sums[1].part[k]);
      combine(sums[2].part[k], sums[3].part[k]);
      combine(sums[0].part[k], sums[2].part[k]);
      for (int lane = 0; lane < lanes; ++lane) {
        all = combined<T, of>(all, sums[0].part[k][lane]);
      }
    }
    for (; i < count; ++i) all = combined<T, of>(all, from[i]);
    return all;
  }
};

}  // namespace anabranch::host

#pragma GCC diagnostic pop
