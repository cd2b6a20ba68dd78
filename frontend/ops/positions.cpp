#include "frontend/ops/positions.h"

#include <limits>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {

void fail_out_of_range(const char* function, std::int64_t position, std::size_t axis,
                       const std::string& of, std::int64_t size, SourceLocation where) {
  fail(std::string(function) + ": position " + std::to_string(position) +
           " is out of range of axis " + std::to_string(axis) + " of " + of +
           (size == 0 ? ", which has no elements there"
                      : "; give " + std::to_string(-size) + " to " + std::to_string(size - 1)),
       where);
}

Array positions(const char* function, const Operand& indices) {
  const Array array = as_array(function, indices);
  const Type& type = type_of(array);
  if (!is_integer(type.dtype)) {
    fail(std::string(function) + ": the indices are " + to_string(type) +
             "; give integers; a condition goes to where or nonzero",
         indices.where());
  }
  if (type.dtype == i32 || type.dtype == i64) return array;
  const Dtype dtype = type.dtype == u32 || type.dtype == u64 ? i64 : i32;
  Array held = array;
  if (type.dtype == u64) {
    const Number most(std::numeric_limits<std::int64_t>::max());
    const Array bound = broadcast_to_shape(
        function, number_as(function, most, u64, indices.where()), type.shape, indices.where());
    held = record(Op::minimum, {array, bound}, indices.where());
  }
  return record(Op::convert, {held}, indices.where(), NoAttributes{}, Type{dtype, type.shape});
}

Array positions_along(const char* function, const Operand& indices, std::int64_t size) {
  const Array at = positions(function, indices);
  // No number of a narrower dtype reaches so far.
  const bool fits = size <= std::numeric_limits<std::int32_t>::max();
  if (fits || type_of(at).dtype == i64) return at;
  return record(Op::convert, {at}, indices.where(), NoAttributes{}, Type{i64, type_of(at).shape});
}

Array positions_from_end(const char* function, const Operand& indices, std::int64_t size) {
  const Term at(positions_along(function, indices, size), indices.where());
  if (is_unsigned_integer(type_of(as_array(function, indices)).dtype)) return at;
  return where(at < Term(0), at + Term(size), at);
}

Array updates_of(const char* function, const Operand& updates, Dtype dtype) {
  if (updates.is_number()) return number_as(function, updates.number(), dtype, updates.where());
  const Array array = as_array(function, updates);
  const Type& type = type_of(array);
  if (!array.expression()->weak || type.dtype == dtype) return array;
  return record(Op::convert, {array}, updates.where(), NoAttributes{}, Type{dtype, type.shape});
}

}  // namespace anabranch
