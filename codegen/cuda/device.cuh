// What generated kernels stand on: element types, the ops of ir/ops.def on scalars, packs of
// consecutive elements, and reductions over the threads of a group. Compiled in front of every
// kernel; needs no other header. Without __CUDACC__ it is ordinary C++, once something gives it
// threads (tests/cuda does, to run kernels on a CPU).

#define AB_INLINE static __device__ __forceinline__

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct alignas(8) c64 {
  f32 re, im;
};
struct alignas(16) c128 {
  f64 re, im;
};

// --- bits ----------------------------------------------------------------------------------------

template <class To, class From>
AB_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  union {
    From from;
    To to;
  } both = {from};
  return both.to;
}

AB_INLINE f32 widen(f16 x) {
#ifdef __CUDACC__
  f32 wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
#else
  return static_cast<f32>(bits_as<_Float16>(x.bits));
#endif
}
AB_INLINE f32 widen(bf16 x) { return bits_as<f32>(static_cast<u32>(x.bits) << 16); }
template <class T>
AB_INLINE T widen(T x) {
  return x;
}

template <class T>
struct Narrowing {
  template <class Wide>
  static __device__ __forceinline__ T of(Wide x) {
    return static_cast<T>(x);
  }
};
template <>
struct Narrowing<f16> {
  static __device__ __forceinline__ f16 of(f32 x) {
#ifdef __CUDACC__
    f16 narrow;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(x));
    return narrow;
#else
    return {bits_as<u16>(static_cast<_Float16>(x))};
#endif
  }
};
template <>
struct Narrowing<bf16> {
  static __device__ __forceinline__ bf16 of(f32 x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    bf16 narrow;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(x));
    return narrow;
#else
    const u32 bits = bits_as<u32>(x);
    if (x != x) return {static_cast<u16>((bits >> 16) | 0x40)};
    return {static_cast<u16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
#endif
  }
};
template <class T, class Wide>
AB_INLINE T narrow(Wide x) {
  return Narrowing<T>::of(x);
}

template <class T>
struct Kind {
  static constexpr bool is_float = false;
  static constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
};
template <>
struct Kind<f16> {
  static constexpr bool is_float = true, is_signed = true;
};
template <>
struct Kind<bf16> : Kind<f16> {};
template <>
struct Kind<f32> : Kind<f16> {};
template <>
struct Kind<f64> : Kind<f16> {};

// The unsigned integer that T is computed in, so that overflow wraps: never less than an int.
template <int bytes>
struct UnsignedOf {
  using Type = u32;
};
template <>
struct UnsignedOf<8> {
  using Type = u64;
};
template <class T>
using Unsigned = typename UnsignedOf<sizeof(T)>::Type;

// x without the sign's copies above the width of T.
template <class T>
AB_INLINE Unsigned<T> pattern(T x) {
  const auto all = static_cast<Unsigned<T>>(x);
  if constexpr (sizeof(T) >= 4)
    return all;
  else
    return all & ((1u << (8 * sizeof(T))) - 1);
}

// --- elementwise ops -----------------------------------------------------------------------------

namespace op {

// But for sums, differences, products and extrema, f16 and bf16 are computed in f32 by conversions
// of the kernel's own (legalise_dtypes.h); other ops come as those below (decompose.h).

template <class T>
AB_INLINE bool is_nan(T x) {
  return x != x;
}

template <class T>
AB_INLINE T abs(T x) {
  if constexpr (sizeof(T) == 4 && Kind<T>::is_float)
    return fabsf(x);
  else if constexpr (Kind<T>::is_float)
    return fabs(x);
  else if constexpr (Kind<T>::is_signed)
    return x < 0 ? static_cast<T>(-static_cast<Unsigned<T>>(x)) : x;
  else
    return x;
}
template <class T>
AB_INLINE T negate(T x) {
  if constexpr (Kind<T>::is_float)
    return -x;
  else
    return static_cast<T>(-static_cast<Unsigned<T>>(x));
}
template <class T>
AB_INLINE T not_(T x) {
  return static_cast<T>(~x);
}
AB_INLINE bool not_(bool x) { return !x; }

AB_INLINE int ones(u64 x) {
#ifdef __CUDACC__
  return __popcll(x);
#else
  return __builtin_popcountll(x);
#endif
}
AB_INLINE int leading_zeros(u64 x) {
#ifdef __CUDACC__
  return __clzll(x);
#else
  return x == 0 ? 64 : __builtin_clzll(x);
#endif
}
template <class T>
AB_INLINE T popcnt(T x) {
  return static_cast<T>(ones(pattern(x)));
}
template <class T>
AB_INLINE T count_leading_zeros(T x) {
  return static_cast<T>(leading_zeros(pattern(x)) - (64 - 8 * static_cast<int>(sizeof(T))));
}

#define AB_UNARY(name, single, real)           \
  AB_INLINE f32 name(f32 x) { return single; } \
  AB_INLINE f64 name(f64 x) { return real; }
AB_UNARY(floor, floorf(x), ::floor(x))
AB_UNARY(ceil, ceilf(x), ::ceil(x))
AB_UNARY(round_nearest_even, rintf(x), rint(x))
AB_UNARY(round_nearest_afz, roundf(x), round(x))
AB_UNARY(sqrt, sqrtf(x), ::sqrt(x))
AB_UNARY(rsqrt, rsqrtf(x), ::rsqrt(x))
AB_UNARY(cbrt, cbrtf(x), ::cbrt(x))
AB_UNARY(exponential, expf(x), exp(x))
AB_UNARY(exponential_minus_one, expm1f(x), expm1(x))
AB_UNARY(log, logf(x), ::log(x))
AB_UNARY(log_plus_one, log1pf(x), log1p(x))
AB_UNARY(sine, sinf(x), sin(x))
AB_UNARY(cosine, cosf(x), cos(x))
AB_UNARY(tan, tanf(x), ::tan(x))
AB_UNARY(asin, asinf(x), ::asin(x))
AB_UNARY(acos, acosf(x), ::acos(x))
AB_UNARY(atan, atanf(x), ::atan(x))
AB_UNARY(sinh, sinhf(x), ::sinh(x))
AB_UNARY(cosh, coshf(x), ::cosh(x))
AB_UNARY(tanh, tanhf(x), ::tanh(x))
AB_UNARY(asinh, asinhf(x), ::asinh(x))
AB_UNARY(acosh, acoshf(x), ::acosh(x))
AB_UNARY(atanh, atanhf(x), ::atanh(x))
AB_UNARY(erf, erff(x), ::erf(x))
AB_UNARY(erf_inv, erfinvf(x), erfinv(x))

// By way of e^x for x < 0 and of e^-x for x >= 0: neither overflows.
template <class T>
AB_INLINE T logistic(T x) {
  const T small = exponential(-abs(x));
  return (x < 0 ? small : 1) / (1 + small);
}

template <class T>
AB_INLINE T add(T x, T y) {
  if constexpr (Kind<T>::is_float)
    return x + y;
  else
    return static_cast<T>(static_cast<Unsigned<T>>(x) + static_cast<Unsigned<T>>(y));
}
template <class T>
AB_INLINE T subtract(T x, T y) {
  if constexpr (Kind<T>::is_float)
    return x - y;
  else
    return static_cast<T>(static_cast<Unsigned<T>>(x) - static_cast<Unsigned<T>>(y));
}
template <class T>
AB_INLINE T multiply(T x, T y) {
  if constexpr (Kind<T>::is_float)
    return x * y;
  else
    return static_cast<T>(static_cast<Unsigned<T>>(x) * static_cast<Unsigned<T>>(y));
}
template <class T>
AB_INLINE T divide(T x, T y) {
  if constexpr (Kind<T>::is_float) {
    return x / y;
  } else {
    if (y == 0) return static_cast<T>(~Unsigned<T>{0});
    if constexpr (Kind<T>::is_signed) {
      if (y == -1) return negate(x);
    }
    return static_cast<T>(x / y);
  }
}
AB_INLINE f32 float_remainder(f32 x, f32 y) { return fmodf(x, y); }
AB_INLINE f64 float_remainder(f64 x, f64 y) { return fmod(x, y); }
template <class T>
AB_INLINE T remainder(T x, T y) {
  if constexpr (Kind<T>::is_float) {
    return float_remainder(x, y);
  } else {
    if (y == 0) return x;
    if constexpr (Kind<T>::is_signed) {
      if (y == -1) return 0;
    }
    return static_cast<T>(x % y);
  }
}

AB_INLINE f32 float_power(f32 x, f32 y) { return powf(x, y); }
// pow(2, y) is not exact where y is a whole number; exp2 is.
AB_INLINE f64 float_power(f64 x, f64 y) { return x == 2 ? exp2(y) : pow(x, y); }
template <class T>
AB_INLINE T power(T x, T y) {
  if constexpr (Kind<T>::is_float) {
    return float_power(x, y);
  } else {
    if constexpr (Kind<T>::is_signed) {
      if (y < 0) return x == 1 ? 1 : x == -1 ? static_cast<T>((y & 1) != 0 ? -1 : 1) : 0;
    }
    Unsigned<T> result = 1, square = static_cast<Unsigned<T>>(x);
    for (auto left = pattern(y); left != 0; left >>= 1, square *= square) {
      if ((left & 1) != 0) result *= square;
    }
    return static_cast<T>(result);
  }
}

// A NaN wins, and -0 is below 0.
AB_INLINE f32 maximum(f32 x, f32 y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  f32 greater;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greater) : "f"(x), "f"(y));
  return greater;
#else
  return x > y    ? x
         : y > x  ? y
         : x != x ? x
         : y != y ? y
                  : bits_as<f32>(bits_as<u32>(x) & bits_as<u32>(y));
#endif
}
AB_INLINE f32 minimum(f32 x, f32 y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  f32 lesser;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(lesser) : "f"(x), "f"(y));
  return lesser;
#else
  return x < y    ? x
         : y < x  ? y
         : x != x ? x
         : y != y ? y
                  : bits_as<f32>(bits_as<u32>(x) | bits_as<u32>(y));
#endif
}
AB_INLINE f64 maximum(f64 x, f64 y) {
  return x > y    ? x
         : y > x  ? y
         : x != x ? x
         : y != y ? y
                  : bits_as<f64>(bits_as<u64>(x) & bits_as<u64>(y));
}
AB_INLINE f64 minimum(f64 x, f64 y) {
  return x < y    ? x
         : y < x  ? y
         : x != x ? x
         : y != y ? y
                  : bits_as<f64>(bits_as<u64>(x) | bits_as<u64>(y));
}
template <class T>
AB_INLINE T maximum(T x, T y) {
  return x < y ? y : x;
}
template <class T>
AB_INLINE T minimum(T x, T y) {
  return y < x ? y : x;
}

// Of f16 and bf16, by one instruction each. Before sm_90 sums and products of bf16 are cases of
// x y + z.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define AB_HALF(T, name, instruction)                                \
  AB_INLINE T name(T x, T y) {                                       \
    T result;                                                        \
    asm(instruction : "=h"(result.bits) : "h"(x.bits), "h"(y.bits)); \
    return result;                                                   \
  }
#define AB_HALVES(name, f16_instruction, bf16_instruction) \
  AB_HALF(f16, name, f16_instruction)                      \
  AB_HALF(bf16, name, bf16_instruction)
#if __CUDA_ARCH__ >= 900
AB_HALVES(add, "add.rn.f16 %0, %1, %2;", "add.rn.bf16 %0, %1, %2;")
AB_HALVES(subtract, "sub.rn.f16 %0, %1, %2;", "sub.rn.bf16 %0, %1, %2;")
AB_HALVES(multiply, "mul.rn.f16 %0, %1, %2;", "mul.rn.bf16 %0, %1, %2;")
#else
AB_HALVES(add, "add.rn.f16 %0, %1, %2;",
          "{.reg .b16 one; mov.b16 one, 0x3f80; fma.rn.bf16 %0, %1, one, %2;}")
AB_HALVES(subtract, "sub.rn.f16 %0, %1, %2;",
          "{.reg .b16 minus_one; mov.b16 minus_one, 0xbf80; fma.rn.bf16 %0, %2, minus_one, %1;}")
AB_HALVES(multiply, "mul.rn.f16 %0, %1, %2;",
          "{.reg .b16 minus_zero; mov.b16 minus_zero, 0x8000; fma.rn.bf16 %0, %1, %2, minus_zero;}")
#endif
AB_HALVES(maximum, "max.NaN.f16 %0, %1, %2;", "max.NaN.bf16 %0, %1, %2;")
AB_HALVES(minimum, "min.NaN.f16 %0, %1, %2;", "min.NaN.bf16 %0, %1, %2;")
#else
#define AB_HALVES(name)                                                                  \
  AB_INLINE f16 name(f16 x, f16 y) { return narrow<f16>(op::name(widen(x), widen(y))); } \
  AB_INLINE bf16 name(bf16 x, bf16 y) { return narrow<bf16>(op::name(widen(x), widen(y))); }
AB_HALVES(add)
AB_HALVES(subtract)
AB_HALVES(multiply)
AB_HALVES(maximum)
AB_HALVES(minimum)
#endif

AB_INLINE f32 atan2(f32 y, f32 x) { return atan2f(y, x); }
AB_INLINE f64 atan2(f64 y, f64 x) { return ::atan2(y, x); }

template <class T>
AB_INLINE T and_(T x, T y) {
  return static_cast<T>(x & y);
}
template <class T>
AB_INLINE T or_(T x, T y) {
  return static_cast<T>(x | y);
}
template <class T>
AB_INLINE T xor_(T x, T y) {
  return static_cast<T>(x ^ y);
}
template <class T>
AB_INLINE bool is_whole_shift(T by) {
  return pattern(by) >= 8 * sizeof(T);
}
template <class T>
AB_INLINE T shift_left(T x, T y) {
  return is_whole_shift(y) ? T{0} : static_cast<T>(static_cast<Unsigned<T>>(x) << pattern(y));
}
template <class T>
AB_INLINE T shift_right_logical(T x, T y) {
  return is_whole_shift(y) ? T{0} : static_cast<T>(pattern(x) >> pattern(y));
}
template <class T>
AB_INLINE T shift_right_arithmetic(T x, T y) {
  constexpr Unsigned<T> width = 8 * sizeof(T);
  const Unsigned<T> by = is_whole_shift(y) ? width - 1 : pattern(y);
  if constexpr (Kind<T>::is_signed) return static_cast<T>(x >> by);
  // The highest bit of an unsigned integer is copied too.
  const Unsigned<T> shifted = pattern(x) >> by, top = pattern(x) >> (width - 1);
  return static_cast<T>(
      top != 0 ? shifted | ~((~Unsigned<T>{0}) >> by >> (8 * sizeof(Unsigned<T>) - width))
               : shifted);
}

template <class T>
AB_INLINE bool compare_eq(T x, T y) {
  return x == y;
}
template <class T>
AB_INLINE bool compare_ne(T x, T y) {
  return x != y;
}
template <class T>
AB_INLINE bool compare_lt(T x, T y) {
  return x < y;
}
template <class T>
AB_INLINE bool compare_le(T x, T y) {
  return x <= y;
}
template <class T>
AB_INLINE bool compare_gt(T x, T y) {
  return x > y;
}
template <class T>
AB_INLINE bool compare_ge(T x, T y) {
  return x >= y;
}

AB_INLINE f32 real(c64 z) { return z.re; }
AB_INLINE f64 real(c128 z) { return z.re; }
AB_INLINE f32 imag(c64 z) { return z.im; }
AB_INLINE f64 imag(c128 z) { return z.im; }
AB_INLINE c64 complex(f32 re, f32 im) { return {re, im}; }
AB_INLINE c128 complex(f64 re, f64 im) { return {re, im}; }

template <class T>
AB_INLINE T select(bool which, T x, T y) {
  return which ? x : y;
}

// Word (counter mod 4) of block (counter / 4) of Philox 4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011).
AB_INLINE u32 random_bits(u64 key, u64 counter) {
  const u64 block = counter >> 2;
  u32 word[4] = {static_cast<u32>(block), static_cast<u32>(block >> 32), 0, 0};
  u32 low = static_cast<u32>(key), high = static_cast<u32>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const u64 first = static_cast<u64>(word[0]) * 0xD2511F53u;
    const u64 second = static_cast<u64>(word[2]) * 0xCD9E8D57u;
    word[0] = static_cast<u32>(second >> 32) ^ word[1] ^ low;
    word[1] = static_cast<u32>(second);
    word[2] = static_cast<u32>(first >> 32) ^ word[3] ^ high;
    word[3] = static_cast<u32>(first);
    low += 0x9E3779B9u;
    high += 0xBB67AE85u;
  }
  const u32 even = (counter & 1) != 0 ? word[1] : word[0];
  const u32 odd = (counter & 1) != 0 ? word[3] : word[2];
  return (counter & 2) != 0 ? odd : even;
}

template <class To, class From>
AB_INLINE To bitcast_convert(From x) {
  return bits_as<To>(x);
}

// --- conversions

// The float that, rounded again to fewer than 22 bits, gives what rounding once would (rounding to
// odd: Boldo and Melquiond, IEEE Trans. Computers 57(4), 2008).
AB_INLINE f32 round_to_odd(f64 x) {
  const f32 nearest = static_cast<f32>(x);
  const f64 back = nearest;
  const bool is_infinite = nearest - nearest != 0;
  if (back == x || x != x || is_infinite) return nearest;
  u32 bits = bits_as<u32>(nearest);
  if (fabs(back) > fabs(x)) --bits;
  return bits_as<f32>(bits | 1);
}
// The same for an integer of 64 bits: its 53 highest bits, the last one sticky, and from there on.
template <class T>
AB_INLINE f32 integer_to_odd(T x) {
  if constexpr (sizeof(T) == 8) {
    constexpr u64 dropped = 11, least = u64{1} << 53;
    const u64 size = Kind<T>::is_signed && x < 0 ? 0 - static_cast<u64>(x) : static_cast<u64>(x);
    if (size >= least) {
      const u64 sticky = (size & ((1 << dropped) - 1)) != 0 ? 1 : 0;
      const f64 high = static_cast<f64>((size >> dropped) | sticky) * (1 << dropped);
      return round_to_odd(Kind<T>::is_signed && x < 0 ? -high : high);
    }
  }
  return round_to_odd(static_cast<f64>(x));
}

// Truncates, saturates, and takes NaN to 0. Both bounds are exact powers of two.
template <class To, class From>
AB_INLINE To float_to_integer(From x) {
  constexpr int bits = 8 * sizeof(To) - (Kind<To>::is_signed ? 1 : 0);
  const From above = static_cast<From>(u64{1} << (bits - 1)) * 2;
  constexpr auto most = ~Unsigned<To>{0} >> (8 * sizeof(Unsigned<To>) - bits);
  constexpr To low =
      Kind<To>::is_signed ? static_cast<To>(Unsigned<To>{1} << (8 * sizeof(To) - 1)) : To{0};
  if (x != x) return 0;
  if (x >= above) return static_cast<To>(most);
  if (x <= (Kind<To>::is_signed ? -above : 0)) return low;
  return static_cast<To>(x);
}

template <class To, class From>
AB_INLINE To convert(From x) {
  if constexpr (Kind<From>::is_float && sizeof(From) < 4) {
    if constexpr (sizeof(To) == 4 && Kind<To>::is_float)
      return widen(x);
    else
      return convert<To>(widen(x));
  } else if constexpr (Kind<To>::is_float && sizeof(To) < 4) {
    if constexpr (Kind<From>::is_float && sizeof(From) == 8)
      return narrow<To>(round_to_odd(x));
    else if constexpr (Kind<From>::is_float || sizeof(From) < 4)
      return narrow<To>(static_cast<f32>(x));
    else
      return narrow<To>(integer_to_odd(x));
  } else if constexpr (Kind<From>::is_float && !Kind<To>::is_float) {
    return float_to_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}
// What a conversion to bool is.
template <class T>
AB_INLINE bool differs_from_zero(T x) {
  return widen(x) != 0;
}

}  // namespace op

// --- memory --------------------------------------------------------------------------------------

// Consecutive elements that are loaded and stored at once, 16 bytes at most.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
  T at[count];
  __device__ __forceinline__ T& operator[](int i) { return at[i]; }
  __device__ __forceinline__ T operator[](int i) const { return at[i]; }
};
template <int bytes>
struct WordOf {
  using Type = u8;
};
template <>
struct WordOf<2> {
  using Type = u16;
};
template <>
struct WordOf<4> {
  using Type = u32;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};
template <int count, class T>
AB_INLINE Pack<T, count> load(const T* from) {
  using Word = typename WordOf<sizeof(T) * count>::Type;
  return bits_as<Pack<T, count>>(*reinterpret_cast<const Word*>(from));
}
template <int count, class T>
AB_INLINE void store(T* to, Pack<T, count> values) {
  using Word = typename WordOf<sizeof(T) * count>::Type;
  *reinterpret_cast<Word*>(to) = bits_as<Word>(values);
}

// --- reductions over the threads of a group
// -------------------------------------------------------

struct Sum {
  template <class T>
  static __device__ __forceinline__ T of(T x, T y) {
    return op::add(x, y);
  }
};
struct Product {
  template <class T>
  static __device__ __forceinline__ T of(T x, T y) {
    return op::multiply(x, y);
  }
};
struct Maximum {
  template <class T>
  static __device__ __forceinline__ T of(T x, T y) {
    return op::maximum(x, y);
  }
};
struct Minimum {
  template <class T>
  static __device__ __forceinline__ T of(T x, T y) {
    return op::minimum(x, y);
  }
};
struct Any {
  static __device__ __forceinline__ bool of(bool x, bool y) { return x || y; }
};
struct All {
  static __device__ __forceinline__ bool of(bool x, bool y) { return x && y; }
};

// The best value so far and where it stands.
template <class T>
struct Place {
  T value;
  i64 position;
};
// The leader of two: the better value, any NaN being better than any number, and the earlier place
// among equals.
template <bool greatest>
struct Leader {
  template <class T>
  static __device__ __forceinline__ Place<T> of(Place<T> x, Place<T> y) {
    const bool x_nan = op::is_nan(x.value), y_nan = op::is_nan(y.value);
    const bool better =
        greatest ? op::compare_gt(y.value, x.value) : op::compare_lt(y.value, x.value);
    const bool ties = op::compare_eq(x.value, y.value) || (x_nan && y_nan);
    return better || (y_nan && !x_nan) || (ties && y.position < x.position) ? y : x;
  }
};
using Argmax = Leader<true>;
using Argmin = Leader<false>;

template <class T>
AB_INLINE T from_lane(T value, int distance) {
  constexpr int words = (sizeof(T) + 3) / 4;
  struct Words {
    u32 word[words];
  };
  union {
    T value;
    Words words;
  } both = {value};
  for (u32& word : both.words.word) word = __shfl_xor_sync(0xffffffffu, word, distance);
  return both.value;
}

// What the values of a group of `members` neighbouring threads, 32 or a whole block, come to, on
// each of them: always combined in the same order.
template <class How, int members, class T>
AB_INLINE T of_group(T value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = How::of(value, from_lane(value, distance));
  if constexpr (members > 32) {
    constexpr int warps = members / 32;
    __shared__ T of_warps[warps];
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warps[0];
    for (int warp = 1; warp < warps; ++warp) value = How::of(value, of_warps[warp]);
    __syncthreads();
  }
  return value;
}

// The same where a group is one lane of every warp of a block of `warps`.
template <class How, int warps, class T>
AB_INLINE T of_lane(T value) {
  __shared__ T of_threads[32 * warps];
  of_threads[threadIdx.x] = value;
  __syncthreads();
  value = of_threads[threadIdx.x % 32];
  for (int warp = 1; warp < warps; ++warp)
    value = How::of(value, of_threads[32 * warp + threadIdx.x % 32]);
  __syncthreads();
  return value;
}

// --- loops and branches that one block runs ------------------------------------------------------

// Memory of whatever type its user takes it to have.
struct Bytes {
  u8* first;

  template <class T>
  __device__ __forceinline__ Bytes(T* memory)
      : first(const_cast<u8*>(reinterpret_cast<const u8*>(memory))) {}
  template <class T>
  __device__ __forceinline__ operator T*() const {
    return reinterpret_cast<T*>(first);
  }
  __device__ __forceinline__ Bytes from(i64 offset) const { return first + offset; }
};

template <class T>
AB_INLINE T value_at(const T* place) {
  return *place;
}

// By all threads, which see it after the next barrier.
template <class T>
AB_INLINE void copy(T* to, const T* from, i64 count) {
  if (to == from) return;
  for (i64 i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}

// The end of a loop whose carries changed places: carry i, of words[i], comes from places[i] to
// bases[i], and another carry that is there goes where it was.
template <class Word, int carries>
AB_INLINE void copy_back(Bytes* places, const Bytes* bases, const i64* words) {
  for (int i = 0; i < carries; ++i) {
    if (places[i].first == bases[i].first) continue;
    int there = 0;
    while (places[there].first != bases[i].first) ++there;
    Word *const from = places[i], *const to = bases[i];
    for (i64 k = threadIdx.x; k < words[i]; k += blockDim.x) {
      const Word word = from[k];
      if (there < carries) from[k] = to[k];
      to[k] = word;
    }
    places[there] = places[i];
    places[i] = bases[i];
    __syncthreads();
  }
}
