#include "anabranch/dynamic.h"

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

// A scalar of i32 or i64.
Array start_of(const char* function, const Operand& start, SourceLocation where) {
  if (start.is_number()) return number_as(function, start.number(), i64, where);
  Array array = as_array(function, start, Takes::integers);
  const Type type = type_of(array);
  if (type.rank() != 0 || type.dtype == u64) {
    fail(std::string(function) + ": a start is " + to_string(type) +
             "; give one integer scalar of at most 63 bits per axis",
         where);
  }
  if (type.dtype == i32 || type.dtype == i64) return array;
  return record(Op::convert, {array}, where, NoAttributes{}, Type{i64, {}});
}

// 0 along all axes but one.
std::vector<Array> starts_along(const char* function, const Type& type, std::int64_t axis,
                                const Operand& start, SourceLocation where) {
  std::vector<Array> starts;
  for (int i = 0; i < type.rank(); ++i) {
    starts.push_back(start_of(function, i == axis ? start : Operand(0), where));
  }
  return starts;
}

Array slice_at(const char* function, const Array& x, const std::vector<Array>& starts,
               std::vector<std::int64_t> sizes, SourceLocation where) {
  std::vector<Array> operands = {x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return record_as(function, Op::dynamic_slice, operands, where, SizesAttributes{std::move(sizes)});
}

Array slice_along(const char* function, const Operand& x, const Operand& start, std::int64_t size,
                  Axis axis) {
  const Array whole = as_array(function, x);
  const Type type = type_of(whole);
  const std::int64_t along = axis_of(function, axis, type.shape, x.where());
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  sizes[static_cast<std::size_t>(along)] = size;
  return slice_at(function, whole, starts_along(function, type, along, start, x.where()),
                  std::move(sizes), x.where());
}

Array update_at(const char* function, const Operand& x, const Operand& update,
                const std::vector<Array>& starts, SourceLocation where) {
  const Array whole = as_array(function, x);
  const Dtype dtype = type_of(whole).dtype;
  Array block = update.is_number() ? number_as(function, update.number(), dtype, where)
                                   : as_array(function, update);
  if (block.expression()->weak && type_of(block).dtype != dtype) {
    block = record(Op::convert, {block}, where, NoAttributes{}, Type{dtype, type_of(block).shape});
  }
  std::vector<Array> operands = {whole, block};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return record_as(function, Op::dynamic_update_slice, operands, where);
}

}  // namespace

Array dynamic_slice(const Operand& x, const Operands& starts, const Sizes& sizes) {
  constexpr const char* function = "dynamic_slice";
  std::vector<Array> scalars;
  for (const Operand& start : starts.list()) {
    scalars.push_back(start_of(function, start, x.where()));
  }
  return slice_at(function, as_array(function, x), scalars, sizes.list(), x.where());
}

Array dynamic_update_slice(const Operand& x, const Operand& update, const Operands& starts) {
  constexpr const char* function = "dynamic_update_slice";
  std::vector<Array> scalars;
  for (const Operand& start : starts.list()) {
    scalars.push_back(start_of(function, start, x.where()));
  }
  return update_at(function, x, update, scalars, x.where());
}

Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size, Axis axis) {
  return slice_along("dynamic_slice_in_dim", x, start, size, axis);
}

Array dynamic_index_in_dim(const Operand& x, const Operand& index, Axis axis) {
  constexpr const char* function = "dynamic_index_in_dim";
  const Array slab = slice_along(function, x, index, 1, axis);
  const Type& type = type_of(slab);
  const std::int64_t along = axis_of(function, axis, type.shape, x.where());
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  sizes.erase(sizes.begin() + along);
  return record(Op::reshape, {slab}, x.where(), NoAttributes{},
                Type{type.dtype, Shape(std::move(sizes))});
}

Array dynamic_update_slice_in_dim(const Operand& x, const Operand& update, const Operand& start,
                                  Axis axis) {
  constexpr const char* function = "dynamic_update_slice_in_dim";
  const Type type = type_of(as_array(function, x));
  const std::int64_t along = axis_of(function, axis, type.shape, x.where());
  return update_at(function, x, update, starts_along(function, type, along, start, x.where()),
                   x.where());
}

Array dynamic_update_index_in_dim(const Operand& x, const Operand& update, const Operand& index,
                                  Axis axis) {
  constexpr const char* function = "dynamic_update_index_in_dim";
  const Type type = type_of(as_array(function, x));
  const std::int64_t along = axis_of(function, axis, type.shape, x.where());
  Array slab = update.is_number() ? number_as(function, update.number(), type.dtype, x.where())
                                  : as_array(function, update);
  if (type_of(slab).rank() == type.rank() - 1) {
    std::vector<std::int64_t> sizes(type_of(slab).shape.begin(), type_of(slab).shape.end());
    sizes.insert(sizes.begin() + along, 1);
    slab = record(Op::reshape, {slab}, x.where(), NoAttributes{},
                  Type{type_of(slab).dtype, Shape(std::move(sizes))});
  }
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  sizes[static_cast<std::size_t>(along)] = 1;
  if (const Shape wanted(std::move(sizes)); type_of(slab).shape != wanted) {
    fail(std::string(function) + ": the update is " + describe(update) + ", and a slab of " +
             to_string(type) + " along axis " + std::to_string(along) + " is of the shape " +
             to_string(wanted) + ", or without that axis",
         x.where());
  }
  return update_at(function, x, Operand(slab, x.where()),
                   starts_along(function, type, along, index, x.where()), x.where());
}

}  // namespace anabranch
