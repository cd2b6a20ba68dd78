// What names an axis: integers and enumerators. A bool is keepdims in the wrong place.
#include <algorithm>

#include "tests/support/values.h"

namespace {

ab::Array f32(const ab::Sizes& sizes) { return ab::zeros(ab::f32, sizes); }

#define TAKES(call) \
  requires(ab::Array x, T a) { call; }
/// Whether each call that takes an axis takes a T for it.
template <class T>
constexpr bool takes_axis[] = {
    TAKES(ab::sum(x, a)),
    TAKES(ab::prod(x, a)),
    TAKES(ab::max(x, a)),
    TAKES(ab::min(x, a)),
    TAKES(ab::any(x, a)),
    TAKES(ab::all(x, a)),
    TAKES(ab::mean(x, a)),
    TAKES(ab::count_nonzero(x, a)),
    TAKES(ab::var(x, a)),
    TAKES(ab::stddev(x, a)),
    TAKES(ab::norm(x, a)),
    TAKES(ab::logsumexp(x, a)),
    TAKES(ab::argmax(x, a)),
    TAKES(ab::argmin(x, a)),
    TAKES(ab::softmax(x, a)),
    TAKES(ab::log_softmax(x, a)),
    TAKES(ab::layer_norm(x, x, x, a)),
    TAKES(ab::permute_dims(x, a)),
    TAKES(ab::expand_dims(x, a)),
    TAKES(ab::squeeze(x, a)),
    TAKES(ab::flip(x, a)),
    TAKES(ab::concat({x, x}, a)),
    TAKES(ab::stack({x, x}, a)),
    TAKES(ab::index(x, 1, a)),
    TAKES(ab::moveaxis(x, a, 0)),
    TAKES(ab::moveaxis(x, 0, a)),
    TAKES(ab::swapaxes(x, a, 0)),
    TAKES(ab::swapaxes(x, 0, a)),
    TAKES(ab::slice_in_dim(x, 1, 2, a)),
    TAKES(ab::roll(x, 1, a)),
    TAKES(ab::repeat(x, 1, a)),
    TAKES(ab::split(x, 1, a)),
    TAKES(ab::split(x, {1, 2}, a)),
    TAKES(ab::unstack(x, a)),
    TAKES(ab::diff(x, a)),
    TAKES(ab::dynamic_slice_in_dim(x, x, 1, a)),
    TAKES(ab::dynamic_index_in_dim(x, x, a)),
    TAKES(ab::dynamic_update_slice_in_dim(x, x, x, a)),
    TAKES(ab::dynamic_update_index_in_dim(x, x, x, a)),
    TAKES(ab::take(x, x, a)),
    TAKES(ab::take_along_axis(x, x, a)),
    TAKES(ab::put_along_axis(x, x, x, a)),
    TAKES(ab::vecdot(x, x, a)),
    TAKES(ab::tensordot(x, x, a, 0)),
    TAKES(ab::tensordot(x, x, 0, a)),
};
template <class T>
concept CountsAxes = TAKES(ab::tensordot(x, x, a));
#undef TAKES
template <class T>
constexpr auto calls_that_take = std::ranges::count(takes_axis<T>, true);
enum Named { rows, columns };

template <class... Args>
concept Sums = requires(Args... args) {
  ab::sum(args...);
};

// A bool is no axis.
static_assert(Sums<ab::Array, int> && Sums<ab::Array, std::size_t, bool>);
static_assert(!Sums<ab::Array, bool> && !Sums<ab::Array, bool, bool>);
static_assert(!std::is_convertible_v<bool, ab::Axes> && !std::is_convertible_v<bool, ab::Position>);
static_assert(calls_that_take<int> == std::ranges::ssize(takes_axis<int>));
static_assert(calls_that_take<std::size_t> == calls_that_take<int>);
static_assert(calls_that_take<Named> == calls_that_take<int>);
static_assert(CountsAxes<int> && !CountsAxes<bool>);
static_assert(calls_that_take<bool> == 0 && calls_that_take<double> == 0);

TEST(Axes, AreNumbersAndNamesOfNumbers) {
  EXPECT_EQ(ab::sum(f32({2, 3}), {}, ab::keepdims).shape(), ab::Shape({1, 1}));
  EXPECT_EQ(ab::sum(f32({2, 3}), {0}, ab::keepdims).shape(), ab::Shape({1, 3}));
  EXPECT_EQ(ab::sum(f32({2, 3}), {-1, 0}).shape(), ab::Shape({}));
  EXPECT_EQ(ab::sum(f32({2, 3}), columns).shape(), ab::Shape({2}));
  EXPECT_EQ(ab::softmax(f32({2, 3}), {0}).shape(), ab::Shape({2, 3}));
}

}  // namespace
