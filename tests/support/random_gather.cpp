// Windows that are read and written where indices say.
#include <algorithm>

#include "tests/support/random_recipes.h"
#include "tests/support/random_windows.h"

namespace anabranch {
namespace {

constexpr std::int64_t most_stated = 64;  // elements of a constant

// At most 4 nodes.
Value add_indices(RandomBuilder& b, const Shape& shape, std::int64_t size) {
  const Type type{b.random.percent(50) ? i32 : i64, shape};
  if (b.random.percent(20)) {
    if (auto known = b.pick([&](const Type& other) { return other == type; })) return *known;
  }
  if (shape.size() <= most_stated && b.random.percent(50)) {
    return b.constant(random_indices(b.random, type.dtype, shape, size));
  }
  const Value any = b.parameter(type);
  if (b.random.percent(10)) return any;
  return b.add(Op::remainder, {any, b.filled(type, static_cast<double>(size + 1))});
}

std::int64_t largest_axis(const Shape& shape) {
  std::int64_t largest = 1;
  for (std::int64_t size : shape) largest = std::max(largest, size);
  return largest;
}

void add_gather(RandomBuilder& b) {
  const auto x = b.pick([](const Type&) { return true; });
  if (!x) return;
  const Shape shape = b.shape(*x);
  const RandomGather made = random_gather(b.random, shape, b.usual_size());
  b.add(Op::gather, {*x, add_indices(b, made.indices, largest_axis(shape))}, made.attributes);
}

void add_scatter(RandomBuilder& b) {
  const auto x = b.pick([](const Type& type) { return type.size() <= 2'000; });
  if (!x) return;
  const Shape shape = b.shape(*x);
  const Dtype dtype = b.dtype(*x);
  constexpr ScatterCombiner any[] = {ScatterCombiner::replace, ScatterCombiner::replace,
                                     ScatterCombiner::add,     ScatterCombiner::multiply,
                                     ScatterCombiner::minimum, ScatterCombiner::maximum};
  constexpr ScatterCombiner bitwise[] = {ScatterCombiner::and_, ScatterCombiner::or_,
                                         ScatterCombiner::xor_};
  const ScatterCombiner combiner =
      !is_float(dtype) && b.random.percent(30) ? b.random.of(bitwise) : b.random.of(any);
  const RandomScatter made = random_scatter(b.random, shape, 500, combiner);
  const Value indices = add_indices(b, made.indices, largest_axis(shape));
  b.add(Op::scatter, {*x, indices, b.partner({dtype, made.updates})}, made.attributes);
}

constexpr Recipe recipes[] = {{9, 5, add_gather}, {9, 7, add_scatter}};

}  // namespace

std::span<const Recipe> gather_recipes() { return recipes; }

}  // namespace anabranch
