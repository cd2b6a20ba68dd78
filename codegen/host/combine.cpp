#include "codegen/host/combine.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "anabranch/error.h"

namespace anabranch {
namespace {

// How far ahead memory is asked for, in runs: what memory takes, over what a run takes.
constexpr std::size_t target_distance = 8;
constexpr std::ptrdiff_t update_distance = 32, run_distance = 16;

struct Replace {
  template <class T>
  static T of(T, T update) {
    return update;
  }
};
struct Add {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x + y);
  }
};
struct Multiply {
  // As unsigned, so that no narrow integer becomes an int that overflows.
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
    } else if constexpr (is_complex_storage<T>) {
      // Without the recovery of infinities that C++ adds.
      return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
    } else {
      return x * y;
    }
  }
};
template <bool greatest>
struct Extreme {
  // NaN if either is NaN; -0 is below 0.
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::floating_point<T>) {
      if (x != x || y != y) return std::numeric_limits<T>::quiet_NaN();
      if (x == y) return std::signbit(x) == greatest ? y : x;
    }
    return (x < y) == greatest ? y : x;
  }
};
struct And {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x & y);
  }
};
struct Or {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x | y);
  }
};
struct Xor {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x ^ y);
  }
};

template <class T, class Combine>
T combined(T x, T y) {
  if constexpr (is_narrow_float<T>) {
    return T(Combine::of(static_cast<float>(x), static_cast<float>(y)));
  } else {
    return Combine::of(x, y);
  }
}

// Update `number(i)` into element `target(i)`, for each i of `count`.
template <class T, class Combine>
[[gnu::always_inline]] inline void combine_each(T* to, const T* from, std::size_t count,
                                                bool is_near, auto target, auto number) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_near && i + target_distance < count) {
      __builtin_prefetch(to + target(i + target_distance), 1);
    }
    T& element = to[target(i)];
    element = combined<T, Combine>(element, from[number(i)]);
  }
}

// So many elements at a time as a cache line has: compilers turn them into vector instructions.
template <class T, class Combine>
[[gnu::always_inline]] inline void combine_run(T* __restrict to, const T* __restrict from,
                                               std::int64_t groups, std::int64_t rest) {
  constexpr std::int64_t group = cache_line / std::int64_t{sizeof(T)};
  for (; groups > 0; --groups, to += group, from += group) {
    for (std::int64_t k = 0; k < group; ++k) to[k] = combined<T, Combine>(to[k], from[k]);
  }
  for (std::int64_t k = 0; k < rest; ++k) to[k] = combined<T, Combine>(to[k], from[k]);
}

// Few instructions for each run: so the processor has the misses of many runs under way. Runs of
// other threads lie between those of this one, so that the processor does not foresee the next.
// `run` is a number or a constant.
template <class T, class Combine>
[[gnu::always_inline]] inline void combine_placed(T* to, const T* from, const PlacedRuns& runs,
                                                  auto run) {
  constexpr std::int64_t group = cache_line / std::int64_t{sizeof(T)};
  const std::int64_t begin = runs.begin, last = runs.end - run;
  const std::int64_t groups = run / group, rest = run % group;
  const PlacedRun* const end = runs.list + runs.count;
  for (const PlacedRun* placed = runs.list; placed != end; ++placed) {
    if (end - placed > update_distance) {
      __builtin_prefetch(from + placed[update_distance].number * run);
      __builtin_prefetch(to + placed[run_distance].target, 1);
    }
    const std::int64_t target = placed->target;
    const T* const its = from + placed->number * run;
    if (target >= begin && target <= last) [[likely]] {
      combine_run<T, Combine>(to + target, its, groups, rest);
    } else {
      const std::int64_t first = std::max(target, begin);
      const std::int64_t count = std::min(target + run, runs.end) - first;
      combine_run<T, Combine>(to + first, its + (first - target), 0, count);
    }
  }
}

template <class T, class Combine>
[[gnu::always_inline]] inline void combine(void* array, const void* updates,
                                           const PlacedRuns& runs) {
  constexpr std::int64_t group = cache_line / std::int64_t{sizeof(T)};
  T* const to = static_cast<T*>(array);
  const T* const from = static_cast<const T*>(updates);
  if (runs.run == 1) {
    const bool is_near = (runs.end - runs.begin) * std::int64_t{sizeof(T)} <= near_bytes;
    return combine_each<T, Combine>(
        to, from, runs.count, is_near, [&](std::size_t i) { return runs.list[i].target; },
        [&](std::size_t i) { return runs.list[i].number; });
  }
  if (runs.run == group) {
    return combine_placed<T, Combine>(to, from, runs,
                                      std::integral_constant<std::int64_t, group>{});
  }
  combine_placed<T, Combine>(to, from, runs, runs.run);
}

template <class T, class Combine>
void combine_anywhere(void* array, const void* updates, const PlacedRuns& runs) {
  combine<T, Combine>(array, updates, runs);
}

#if defined(__x86_64__)
#define ANABRANCH_TARGET(name, features)                                                  \
  template <class T, class Combine>                                                       \
  __attribute__((target(features))) void combine_##name(void* array, const void* updates, \
                                                        const PlacedRuns& runs) {         \
    combine<T, Combine>(array, updates, runs);                                            \
  }
ANABRANCH_TARGET(avx2, "avx2")
ANABRANCH_TARGET(avx512, "avx512f,avx512bw,avx512dq")
#undef ANABRANCH_TARGET
#endif

// The same bits, whichever it is. In a product of complex numbers the compiler may fuse additions
// for the targets that can.
template <class T, class Combine>
CombineRuns fastest() {
#if defined(__x86_64__)
  if (is_complex_storage<T> && std::same_as<Combine, Multiply>)
    return &combine_anywhere<T, Combine>;
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return &combine_avx512<T, Combine>;
  }
  if (__builtin_cpu_supports("avx2")) return &combine_avx2<T, Combine>;
#endif
  return &combine_anywhere<T, Combine>;
}

// Loops of their own for the forms that updates come in.
struct Runs {
  using Function = CombineRuns;
  template <class T, class Combine>
  static Function of() {
    return fastest<T, Combine>();
  }
};

struct Elements {
  using Function = CombineElements;

  template <class T, class Combine>
  static void run(void* array, const void* updates, const PlacedElements& elements) {
    const auto& [offsets, positions, count, stride, is_near] = elements;
    combine_each<T, Combine>(
        static_cast<T*>(array), static_cast<const T*>(updates), count, is_near,
        [offsets = offsets, stride = stride](std::size_t i) { return offsets[i] * stride; },
        [positions = positions](std::size_t i) { return positions[i]; });
  }
  template <class T, class Combine>
  static Function of() {
    return &run<T, Combine>;
  }
};

template <class Form, class T>
typename Form::Function ordered(ScatterCombiner combiner) {
  return combiner == ScatterCombiner::maximum ? Form::template of<T, Extreme<true>>()
                                              : Form::template of<T, Extreme<false>>();
}

template <class Form, class T>
typename Form::Function of_floats(ScatterCombiner combiner) {
  switch (combiner) {
    case ScatterCombiner::add:
      return Form::template of<T, Add>();
    case ScatterCombiner::multiply:
      return Form::template of<T, Multiply>();
    case ScatterCombiner::minimum:
    case ScatterCombiner::maximum:
      return ordered<Form, T>(combiner);
    default:
      throw InternalError("link", "scatter combines floats bit by bit");
  }
}

template <class Form, class T>
typename Form::Function of_complex(ScatterCombiner combiner) {
  if (combiner == ScatterCombiner::add) return Form::template of<T, Add>();
  if (combiner == ScatterCombiner::multiply) return Form::template of<T, Multiply>();
  throw InternalError("link", "scatter orders complex numbers");
}

// Moved, and no more.
struct TwoWords {
  std::uint64_t low, high;
};

// Of integers whose sign does not matter, and of floats that are moved.
template <class Form, class T>
typename Form::Function of_bits(ScatterCombiner combiner) {
  switch (combiner) {
    case ScatterCombiner::replace:
      return Form::template of<T, Replace>();
    case ScatterCombiner::add:
      return Form::template of<T, Add>();
    case ScatterCombiner::multiply:
      return Form::template of<T, Multiply>();
    case ScatterCombiner::and_:
      return Form::template of<T, And>();
    case ScatterCombiner::or_:
      return Form::template of<T, Or>();
    case ScatterCombiner::xor_:
      return Form::template of<T, Xor>();
    default:
      throw InternalError("link", "scatter orders bits of no sign");
  }
}

template <class Form>
typename Form::Function of_bits(std::size_t bytes, ScatterCombiner combiner) {
  switch (bytes) {
    case 1:
      return of_bits<Form, std::uint8_t>(combiner);
    case 2:
      return of_bits<Form, std::uint16_t>(combiner);
    case 4:
      return of_bits<Form, std::uint32_t>(combiner);
    default:
      return of_bits<Form, std::uint64_t>(combiner);
  }
}

// A bool is a byte, 0 or 1.
ScatterCombiner of_bools(ScatterCombiner combiner) {
  switch (combiner) {
    case ScatterCombiner::add:
    case ScatterCombiner::maximum:
      return ScatterCombiner::or_;
    case ScatterCombiner::multiply:
    case ScatterCombiner::minimum:
      return ScatterCombiner::and_;
    default:
      return combiner;
  }
}

template <class Form>
typename Form::Function chosen(Dtype dtype, ScatterCombiner combiner) {
  if (dtype == bool_) return of_bits<Form>(1, of_bools(combiner));
  if (combiner == ScatterCombiner::replace) {
    if (byte_size(dtype) == sizeof(TwoWords)) return Form::template of<TwoWords, Replace>();
    return of_bits<Form>(byte_size(dtype), combiner);
  }
  return visit_any_dtype(dtype, [&]<class T>() -> typename Form::Function {
    if constexpr (is_complex_storage<T>) {
      return of_complex<Form, T>(combiner);
    } else if constexpr (is_float_storage<T>) {
      return of_floats<Form, T>(combiner);
    } else {
      const bool is_ordered =
          combiner == ScatterCombiner::minimum || combiner == ScatterCombiner::maximum;
      return is_ordered ? ordered<Form, T>(combiner) : of_bits<Form>(sizeof(T), combiner);
    }
  });
}

template <class T>
T identity(ScatterCombiner combiner) {
  using Limits = std::numeric_limits<T>;
  switch (combiner) {
    case ScatterCombiner::add:
      return static_cast<T>(-0.0);  // 0 + -0 is 0
    case ScatterCombiner::multiply:
      return T(1);
    case ScatterCombiner::minimum:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case ScatterCombiner::maximum:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case ScatterCombiner::and_:
      return static_cast<T>(-1);
    default:
      return T(0);
  }
}

}  // namespace

CombineRuns combine_runs(Dtype dtype, ScatterCombiner combiner) {
  return chosen<Runs>(dtype, combiner);
}

CombineElements combine_elements(Dtype dtype, ScatterCombiner combiner) {
  return chosen<Elements>(dtype, combiner);
}

bool combines_in_any_order(Dtype dtype, ScatterCombiner combiner) {
  if (combiner == ScatterCombiner::replace) return false;
  return visit_any_dtype(dtype, [&]<class T>() {
    if constexpr (std::integral<T>) return true;
    return std::floating_point<T> &&
           (combiner == ScatterCombiner::minimum || combiner == ScatterCombiner::maximum);
  });
}

bool combines_in_parts(Dtype dtype, ScatterCombiner combiner) {
  return (dtype == f32 || dtype == f64) &&
         (combiner == ScatterCombiner::add || combiner == ScatterCombiner::multiply);
}

void fill_with_identity(void* array, std::int64_t count, Dtype dtype, ScatterCombiner combiner) {
  if (dtype == bool_) {
    std::memset(array, of_bools(combiner) == ScatterCombiner::and_ ? 1 : 0,
                static_cast<std::size_t>(count));
    return;
  }
  visit_any_dtype(dtype, [&]<class T>() {
    if constexpr (std::integral<T> || std::floating_point<T>) {
      std::fill_n(static_cast<T*>(array), count, identity<T>(combiner));
    } else {
      throw InternalError("link", "a scatter's updates are combined in their order");
    }
  });
}

}  // namespace anabranch
