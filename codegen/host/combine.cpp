#include "codegen/host/combine.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "anabranch/error.h"

namespace anabranch {
namespace {

constexpr std::size_t prefetch_distance = 8;  // runs: what memory takes, over what a run takes
constexpr std::int64_t near = 1 << 19;        // bytes that a second-level cache keeps

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

template <class T, class Combine>
void combine_run(T* __restrict to, const T* __restrict from, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = combined<T, Combine>(to[k], from[k]);
}

template <class T, class Combine>
void combine(void* array, const void* updates, const PlacedRuns& runs) {
  T* const to = static_cast<T*>(array);
  const T* const from = static_cast<const T*>(updates);
  const bool is_near = (runs.end - runs.begin) * std::int64_t{sizeof(T)} <= near;
  if (runs.run == 1 && is_near) {
    for (std::size_t i = 0; i < runs.count; ++i) {
      const auto [target, number] = runs.list[i];
      to[target] = combined<T, Combine>(to[target], from[number]);
    }
    return;
  }
  for (std::size_t i = 0; i < runs.count; ++i) {
    if (i + prefetch_distance < runs.count) {
      const std::int64_t ahead = runs.list[i + prefetch_distance].target;
      __builtin_prefetch(to + std::max(ahead, runs.begin), 1);
    }
    const auto [target, number] = runs.list[i];
    if (runs.run == 1) {
      to[target] = combined<T, Combine>(to[target], from[number]);
      continue;
    }
    const std::int64_t first = std::max(target, runs.begin);
    const std::int64_t count = std::min(target + runs.run, runs.end) - first;
    combine_run<T, Combine>(to + first, from + number * runs.run + (first - target), count);
  }
}

template <class T>
CombineRuns ordered(ScatterCombiner combiner) {
  return combiner == ScatterCombiner::maximum ? &combine<T, Extreme<true>>
                                              : &combine<T, Extreme<false>>;
}

template <class T>
CombineRuns of_floats(ScatterCombiner combiner) {
  switch (combiner) {
    case ScatterCombiner::add:
      return &combine<T, Add>;
    case ScatterCombiner::multiply:
      return &combine<T, Multiply>;
    case ScatterCombiner::minimum:
    case ScatterCombiner::maximum:
      return ordered<T>(combiner);
    default:
      throw InternalError("link", "scatter combines floats bit by bit");
  }
}

// Of integers whose sign does not matter, and of floats that are moved.
template <class T>
CombineRuns of_bits(ScatterCombiner combiner) {
  switch (combiner) {
    case ScatterCombiner::replace:
      return &combine<T, Replace>;
    case ScatterCombiner::add:
      return &combine<T, Add>;
    case ScatterCombiner::multiply:
      return &combine<T, Multiply>;
    case ScatterCombiner::and_:
      return &combine<T, And>;
    case ScatterCombiner::or_:
      return &combine<T, Or>;
    case ScatterCombiner::xor_:
      return &combine<T, Xor>;
    default:
      throw InternalError("link", "scatter orders bits of no sign");
  }
}

CombineRuns of_bits(std::size_t bytes, ScatterCombiner combiner) {
  switch (bytes) {
    case 1:
      return of_bits<std::uint8_t>(combiner);
    case 2:
      return of_bits<std::uint16_t>(combiner);
    case 4:
      return of_bits<std::uint32_t>(combiner);
    default:
      return of_bits<std::uint64_t>(combiner);
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

}  // namespace

CombineRuns combine_runs(Dtype dtype, ScatterCombiner combiner) {
  if (dtype == bool_) return of_bits(1, of_bools(combiner));
  if (combiner == ScatterCombiner::replace) return of_bits(byte_size(dtype), combiner);
  return visit_dtype(dtype, [&]<class T>() -> CombineRuns {
    if constexpr (is_float_storage<T>) {
      return of_floats<T>(combiner);
    } else {
      const bool is_ordered =
          combiner == ScatterCombiner::minimum || combiner == ScatterCombiner::maximum;
      return is_ordered ? ordered<T>(combiner) : of_bits(sizeof(T), combiner);
    }
  });
}

}  // namespace anabranch
