// The different elements of an array, by way of its sorted ones.
#include "anabranch/cumulative.h"
#include "anabranch/gather.h"
#include "anabranch/manipulate.h"
#include "anabranch/reduce.h"
#include "anabranch/segments.h"
#include "anabranch/sort.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

Array positions(std::int64_t count, SourceLocation where) {
  return record(Op::iota, {}, where, AxisAttributes{0}, Type{i64, {count}});
}

Unique unique_of(const char* function, const Operand& x, std::int64_t size) {
  const SourceLocation at = x.where();
  const Array array = as_array(function, x);
  const Type type = type_of(array);
  const std::int64_t count = type.size();
  if (size < 0 || (size > 0 && count == 0)) {
    fail(std::string(function) + ": " + std::to_string(size) + " different elements of " +
             to_string(type) + "; give 0 or more, and 0 where there are no elements",
         at);
  }
  const Array flat = reshape({array, at}, {-1});
  if (count == 0) {
    const Array none = positions(0, at);
    return {flat, none, reshape({none, at}, Sizes(type.shape)), none};
  }
  const Term order(argsort({flat, at}), at);  // stable: equal elements by their positions
  const Term sorted(take({flat, at}, order, 0), at);
  const Term number(positions(count, at), at);
  const Term before(take(sorted, maximum(number - Term(1), Term(0)), 0), at);
  const Term is_first = (number == Term(0)) | (sorted != before);
  const Term group(Term(cumsum(is_first, 0), at) - Term(1), at);
  // Where there are fewer than `size`, positions are 0: the least element again.
  const Term start(nonzero(is_first, size)[0], at);
  const Array ones = broadcast_to_shape(function, number_as(function, Number(1), i64, at),
                                        type_of(group.array()).shape, at);
  const Term place(argsort(order), at);  // of each element among the sorted ones
  return {take(sorted, start, 0), take(order, start, 0),
          reshape(Term(take(group, place, 0), at), Sizes(type.shape)),
          segment_sum({ones, at}, group, size)};
}

}  // namespace

Unique unique_all(const Operand& x, std::int64_t size) { return unique_of("unique_all", x, size); }

Array unique_values(const Operand& x, std::int64_t size) {
  return unique_of("unique_values", x, size).values;
}

std::pair<Array, Array> unique_counts(const Operand& x, std::int64_t size) {
  Unique all = unique_of("unique_counts", x, size);
  return {std::move(all.values), std::move(all.counts)};
}

std::pair<Array, Array> unique_inverse(const Operand& x, std::int64_t size) {
  Unique all = unique_of("unique_inverse", x, size);
  return {std::move(all.values), std::move(all.inverse_indices)};
}

}  // namespace anabranch
