// Random orders and samples.
#include "anabranch/cumulative.h"
#include "anabranch/gather.h"
#include "anabranch/manipulate.h"
#include "anabranch/random.h"
#include "anabranch/sort.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/random_key.h"
#include "frontend/ops/special_terms.h"

namespace anabranch::random {
namespace {

// The number of slabs along the first axis; Error unless so many can be drawn.
std::int64_t slabs_to_choose(const Operand& key, const Array& x, std::int64_t wanted,
                             bool replace) {
  checked_key("random::choice", key);
  const Type& type = type_of(as_array("random::choice", {x, key.where()}));
  const std::int64_t count = type.rank() == 0 ? 0 : type.shape[0];
  if ((count == 0 && wanted > 0) || (!replace && wanted > count)) {
    fail("random::choice: " + std::to_string(wanted) + " of the slabs of " + to_string(type) +
             "; there have to be as many, or with replacement at least one",
         key.where());
  }
  return count;
}

Array chosen(const Array& x, const Term& positions, const Sizes& sizes) {
  const SourceLocation at = positions.where();
  return take({x, at}, {reshape(positions, Sizes(sizes.list(), at)), at}, 0, OutOfRange::clip);
}

}  // namespace

Array permutation(const Operand& key, std::int64_t count) {
  checked_key("random::permutation", key);
  if (count < 0) {
    fail(
        "random::permutation: a count of " + std::to_string(count) + " is negative; give 0 or more",
        key.where());
  }
  // Equal keys, which would favour some orders, are as good as impossible.
  return argsort({bits(key, Sizes(count), u64), key.where()});
}

Array permutation(const Operand& key, const Array& x, Axis axis) {
  const SourceLocation at = key.where();
  const Shape& shape = type_of(as_array("random::permutation", {x, at})).shape;
  const std::int64_t along = axis_of("random::permutation", axis, shape, at);
  const Array order = permutation(key, shape[static_cast<int>(along)]);
  return take({x, at}, {order, at}, along, OutOfRange::clip);
}

Array choice(const Operand& key, const Array& x, const Sizes& sizes, bool replace) {
  const std::int64_t wanted = sizes.shape("random::choice").size();
  const std::int64_t count = slabs_to_choose(key, x, wanted, replace);
  const Array positions = !replace ? slice({permutation(key, count), key.where()}, {0}, {wanted})
                          : wanted == 0 ? bits(key, {0}, i64)
                                        : randint(key, {wanted}, 0, count, i64);
  return chosen(x, {positions, key.where()}, sizes);
}

Array choice(const Operand& key, const Array& x, const Sizes& sizes, const Array& weights,
             bool replace) {
  const SourceLocation at = key.where();
  const std::int64_t wanted = sizes.shape("random::choice").size();
  const std::int64_t count = slabs_to_choose(key, x, wanted, replace);
  const Term given = term("random::choice", {weights, at});
  if (type_of(given.array()).shape != Shape({count})) {
    fail("random::choice: weights " + describe({weights, at}) + " for " + std::to_string(count) +
             " slabs; give one for each",
         at);
  }
  const Term w = widened(given);
  const Dtype dtype = type_of(w.array()).dtype;
  if (!replace) {
    // The greatest of the logarithms with Gumbel numbers added (Efraimidis and Spirakis, 2006).
    const Term ranks = log(w) + Term(gumbel(key, {count}, dtype), at);
    return chosen(x, {top_k(ranks, wanted).indices, at}, sizes);
  }
  if (wanted == 0) return choice(key, x, sizes);
  // Rounded, the sums may fall; what has no weight is never greater than all before it.
  const Array raised = where(w.array() > 0, cumsum(w), 0);
  const Term sums = {cummax(raised), at}, total = {slice(sums, {count - 1}, {count}), at};
  const Term u = Term(uniform(key, {wanted}, dtype), at) * total;
  return chosen(x, {searchsorted(sums, u, Side::right), at}, sizes);
}

}  // namespace anabranch::random
