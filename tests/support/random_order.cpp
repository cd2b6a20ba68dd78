// Sorts and running combinations along an axis.
#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

std::optional<Value> lines_of(RandomBuilder& b) {
  return b.pick([](const Type& type) { return type.rank() > 0 && !is_complex(type.dtype); });
}

// Of few different values, now and then, so that order among equals is seen.
Value with_equals(RandomBuilder& b, Value x) {
  const Dtype dtype = b.dtype(x);
  if (dtype == bool_ || b.random.percent(60)) return x;
  if (is_float(dtype)) return b.add(Op::sign, {x});
  return b.add(Op::and_, {x, b.filled(b.type(x), 3)});
}

void add_sort(RandomBuilder& b) {
  const auto x = lines_of(b);
  if (!x) return;
  b.add(Op::sort, {with_equals(b, *x)},
        SortAttributes{b.random.below(b.shape(*x).rank()), b.random.percent(40)});
}

void add_argsort(RandomBuilder& b) {
  const auto x = lines_of(b);
  if (!x) return;
  const auto positions = b.random.percent(50) ? PositionDtype::i32 : PositionDtype::i64;
  b.add(Op::argsort, {with_equals(b, *x)},
        ArgsortAttributes{b.random.below(b.shape(*x).rank()), b.random.percent(40), positions});
}

void add_cumulative(RandomBuilder& b) {
  const auto x = b.pick([](const Type& type) { return type.rank() > 0; });
  if (!x) return;
  constexpr Running any[] = {Running::sum, Running::sum, Running::product, Running::maximum,
                             Running::minimum};
  constexpr Running ordered[] = {Running::maximum, Running::minimum};
  constexpr Running arithmetic[] = {Running::sum, Running::product};
  const Running of = b.dtype(*x) == bool_      ? b.random.of(ordered)
                     : is_complex(b.dtype(*x)) ? b.random.of(arithmetic)
                                               : b.random.of(any);
  b.add(Op::cumulative, {*x},
        CumulativeAttributes{b.random.below(b.shape(*x).rank()), of, b.random.percent(30)});
}

constexpr Recipe recipes[] = {{5, 3, add_sort}, {5, 3, add_argsort}, {6, 1, add_cumulative}};

}  // namespace

std::span<const Recipe> order_recipes() { return recipes; }

}  // namespace anabranch
