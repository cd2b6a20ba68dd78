// Identities of any value: it goes somewhere and comes back.
#include <algorithm>

#include "tests/support/identities.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;
using Written = std::optional<Value>;

constexpr int most_axes = 8;

Axes all_but(std::int64_t axis, int rank) {
  Axes axes;
  for (std::int64_t other = 0; other < rank; ++other) {
    if (other != axis) axes.push_back(other);
  }
  return axes;
}

Shape with(const Shape& shape, std::int64_t axis, std::int64_t size) {
  Axes sizes(shape.begin(), shape.end());
  sizes[static_cast<std::size_t>(axis)] = size;
  return Shape(sizes);
}

Shape inserted(const Shape& shape, std::int64_t axis, std::int64_t size) {
  Axes sizes(shape.begin(), shape.end());
  sizes.insert(sizes.begin() + axis, size);
  return Shape(sizes);
}

bool is_number(Dtype dtype) { return dtype != bool_ && !is_complex(dtype); }

// --- moved and cut ---------------------------------------------------------------------------

Written moved_and_back(IdentityWriter& to, const Node&, Value x) {
  const Move move = random_move(to.random, to.shape(x));
  return move.back(to, move.there(to, x));
}

Written cut_and_joined(IdentityWriter& to, const Node&, Value x) {
  const auto axis = to.axis_of(x);
  if (!axis) return std::nullopt;
  const std::int64_t size = to.size(x, *axis), cut = to.cut(size);
  return to.concatenate({to.part(x, *axis, 0, cut), to.part(x, *axis, cut, size)}, *axis);
}

Written quartered(IdentityWriter& to, const Node&, Value x) {
  const auto rows = to.axis_of(x), columns = to.axis_of(x);
  if (!rows || *rows == *columns) return std::nullopt;
  const std::int64_t height = to.size(x, *rows);
  const std::int64_t width = to.size(x, *columns);
  const std::int64_t cut = to.cut(height), first_cut = to.cut(width), second_cut = to.cut(width);
  const auto joined = [&](Value row, std::int64_t at) {
    const Value left = to.part(row, *columns, 0, at);
    return to.concatenate({left, to.part(row, *columns, at, width)}, *columns);
  };
  const Value first = joined(to.part(x, *rows, 0, cut), first_cut);
  return to.concatenate({first, joined(to.part(x, *rows, cut, height), second_cut)}, *rows);
}

Written joined_and_cut(IdentityWriter& to, const Node&, Value x) {
  const auto axis = to.axis_of(x);
  if (!axis) return std::nullopt;
  const std::int64_t size = to.size(x, *axis);
  const Value y = to.other(x);
  const std::int64_t choice = to.random.below(3);
  if (choice == 0) return to.part(to.concatenate({x, y}, *axis), *axis, 0, size);
  if (choice == 1) {  // over the seam of two parts
    const std::int64_t cut = to.cut(size);
    const Value first = to.part(x, *axis, 0, cut), second = to.part(x, *axis, cut, size);
    return to.part(to.concatenate({y, first, second}, *axis), *axis, size, 2 * size);
  }
  return to.part(to.concatenate({y, x, y}, *axis), *axis, size, 2 * size);
}

Written padded_and_cut(IdentityWriter& to, const Node&, Value x) {
  const Shape shape = to.shape(x);
  PadAttributes pad;
  SliceAttributes slice;
  std::int64_t elements = 1;
  for (std::int64_t size : shape) {
    const std::int64_t low = to.random.below(3), high = to.random.below(3);
    const std::int64_t gap = to.random.percent(30) ? to.random.below(3) : 0;
    const std::int64_t inner = size == 0 ? 0 : size + (size - 1) * gap;
    pad.low.push_back(low);
    pad.high.push_back(high);
    pad.interior.push_back(gap);
    slice.start.push_back(low);
    slice.limit.push_back(low + inner);
    slice.stride.push_back(gap + 1);
    elements *= low + inner + high;
  }
  if (elements > 40'000) return std::nullopt;
  const Value around = to.scalar(to.dtype(x), static_cast<double>(to.random.below(3)));
  return to.add(Op::slice, {to.add(Op::pad, {x, around}, pad)}, slice);
}

Written padded_and_cropped(IdentityWriter& to, const Node&, Value x) {
  if (to.type(x).size() > 5'000 || to.type(x).rank() > 4) return std::nullopt;
  PadAttributes pad, crop;
  for (int axis = 0; axis < to.type(x).rank(); ++axis) {
    pad.low.push_back(to.random.below(3));
    pad.high.push_back(to.random.below(3));
    crop.low.push_back(-pad.low.back());
    crop.high.push_back(-pad.high.back());
  }
  pad.interior = crop.interior = Axes(pad.low.size(), 0);
  const Value around = to.scalar(to.dtype(x), 1);
  return to.add(Op::pad, {to.add(Op::pad, {x, around}, pad), around}, crop);
}

// A new axis along which all is the same.
Value repeated(IdentityWriter& to, Value x, std::int64_t axis, std::int64_t count) {
  const Type type{to.dtype(x), inserted(to.shape(x), axis, count)};
  return to.add(Op::broadcast_in_dim, {x}, AxesAttributes{all_but(axis, type.rank())}, type);
}

Written repeated_and_cut(IdentityWriter& to, const Node&, Value x) {
  const int rank = to.type(x).rank();
  if (rank == most_axes) return std::nullopt;
  const std::int64_t axis = to.random.below(rank + 1), at = to.random.below(3);
  return to.reshape(to.part(repeated(to, x, axis, 3), axis, at, at + 1), to.shape(x));
}

Written window_of_one(IdentityWriter& to, const Node&, Value x) {
  const auto rank = static_cast<std::size_t>(to.type(x).rank());
  if (2 * rank > most_axes) return std::nullopt;
  const Axes ones(rank, 1);
  const Value windows = to.add(Op::sliding_windows, {x}, WindowsAttributes{ones, ones, ones});
  return to.reshape(windows, to.shape(x));
}

// --- read and written where indices say --------------------------------------------------------

Written gathered_in_order(IdentityWriter& to, const Node&, Value x) {
  const auto axis = to.axis_of(x);
  const Shape shape = to.shape(x);
  if (!axis || shape[static_cast<int>(*axis)] == 0) return std::nullopt;
  const Type places{to.random.percent(50) ? i32 : i64, {shape[static_cast<int>(*axis)]}};
  const Shape window = with(shape, *axis, 1);
  const GatherAttributes gather{all_but(*axis, shape.rank()),      {*axis}, {}, {}, {*axis}, 1,
                                Axes(window.begin(), window.end())};
  Value order = to.add(Op::iota, {}, AxisAttributes{0}, places);
  if (to.random.percent(50)) return to.add(Op::gather, {x, order}, gather);
  order = to.add(Op::reverse, {order}, AxesAttributes{{0}});
  const Value turned = to.add(Op::gather, {x, order}, gather);
  return to.add(Op::reverse, {turned}, AxesAttributes{{*axis}});
}

Written scattered_in_order(IdentityWriter& to, const Node&, Value x) {
  const auto axis = to.axis_of(x);
  const Shape shape = to.shape(x);
  if (!axis || shape.size() > 5'000) return std::nullopt;
  const Type places{to.random.percent(50) ? i32 : i64, {shape[static_cast<int>(*axis)]}};
  const ScatterAttributes scatter{all_but(*axis, shape.rank()), {*axis}, {}, {}, {*axis}, 1,
                                  ScatterCombiner::replace};
  const Value order = to.add(Op::iota, {}, AxisAttributes{0}, places);
  return to.add(Op::scatter, {to.other(x), order, x}, scatter);
}

// Any starts: they are held so that the block, here all, lies inside.
std::vector<Value> any_starts(IdentityWriter& to, int rank) {
  std::vector<Value> starts;
  const Dtype dtype = to.random.percent(50) ? i32 : i64;
  for (int axis = 0; axis < rank; ++axis) {
    starts.push_back(to.scalar(dtype, static_cast<double>(to.random.below(7) - 3)));
  }
  return starts;
}

Written block_of_all(IdentityWriter& to, const Node&, Value x) {
  const Shape shape = to.shape(x);
  std::vector<Value> operands = any_starts(to, shape.rank());
  operands.insert(operands.begin(), x);
  return to.add(Op::dynamic_slice, operands, SizesAttributes{Axes(shape.begin(), shape.end())});
}

Written all_replaced(IdentityWriter& to, const Node&, Value x) {
  std::vector<Value> operands = any_starts(to, to.type(x).rank());
  operands.insert(operands.begin(), {to.other(x), x});
  return to.add(Op::dynamic_update_slice, operands);
}

Written block_replaced_by_itself(IdentityWriter& to, const Node&, Value x) {
  std::vector<Value> starts = any_starts(to, to.type(x).rank());
  SizesAttributes block;
  for (std::int64_t size : to.shape(x)) block.sizes.push_back(to.cut(size));
  std::vector<Value> read = starts, write = starts;
  read.insert(read.begin(), x);
  const Value part = to.add(Op::dynamic_slice, read, block);
  write.insert(write.begin(), {x, part});
  return to.add(Op::dynamic_update_slice, write);
}

// --- in order, and combined with nothing --------------------------------------------------------

Written sorted_and_put_back(IdentityWriter& to, const Node&, Value x) {
  const Type type = to.type(x);
  const bool has_order = is_integer(type.dtype) || type.dtype == bool_;
  if (type.rank() != 1 || type.size() == 0 || !has_order) return std::nullopt;
  const bool descending = to.random.percent(50);
  const Value places = to.add(Op::argsort, {x}, ArgsortAttributes{0, descending});
  const Value ranks = to.add(Op::argsort, {places}, ArgsortAttributes{0, false});
  const Value sorted = to.add(Op::sort, {x}, SortAttributes{0, descending});
  return to.add(Op::gather, {sorted, ranks}, GatherAttributes{{}, {0}, {}, {}, {0}, 1, {1}});
}

Written reduced_over_one(IdentityWriter& to, const Node&, Value x) {
  const int rank = to.type(x).rank();
  if (rank == most_axes || is_complex(to.dtype(x))) return std::nullopt;
  const std::int64_t axis = to.random.below(rank + 1);
  const Value units = to.reshape(x, inserted(to.shape(x), axis, 1));
  constexpr Op any[] = {Op::reduce_max, Op::reduce_min, Op::reduce_product, Op::reduce_sum};
  constexpr Op of_bools[] = {Op::reduce_max, Op::reduce_min, Op::reduce_any, Op::reduce_all};
  const Dtype dtype = to.dtype(x);
  // A float sum is 0 and then -0.
  const Op op = dtype == bool_    ? to.random.of(of_bools)
                : is_float(dtype) ? any[to.random.below(3)]
                                  : to.random.of(any);
  return to.add(op, {units}, AxesAttributes{{axis}});
}

Written reduced_over_copies(IdentityWriter& to, const Node&, Value x) {
  const int rank = to.type(x).rank();
  if (rank == most_axes || is_complex(to.dtype(x))) return std::nullopt;
  const std::int64_t axis = to.random.below(rank + 1);
  const Op op = to.random.percent(50) ? Op::reduce_max : Op::reduce_min;
  return to.add(op, {repeated(to, x, axis, 1 + to.random.below(9))}, AxesAttributes{{axis}});
}

Written summed_among_zeros(IdentityWriter& to, const Node&, Value x) {
  const Shape shape = to.shape(x);
  if (!is_integer(to.dtype(x)) || shape.rank() == most_axes) return std::nullopt;
  const std::int64_t axis = to.random.below(shape.rank() + 1);
  const auto rank = static_cast<std::size_t>(shape.rank() + 1);
  PadAttributes pad{Axes(rank, 0), Axes(rank, 0), Axes(rank, 0)};
  pad.low[static_cast<std::size_t>(axis)] = to.random.below(5);
  pad.high[static_cast<std::size_t>(axis)] = to.random.below(5);
  const Value units = to.reshape(x, inserted(shape, axis, 1));
  const Value among = to.add(Op::pad, {units, to.scalar(to.dtype(x), 0)}, pad);
  return to.add(Op::reduce_sum, {among}, AxesAttributes{{axis}});
}

Written running_over_one(IdentityWriter& to, const Node&, Value x) {
  const int rank = to.type(x).rank();
  if (rank == most_axes || !is_number(to.dtype(x))) return std::nullopt;
  const std::int64_t axis = to.random.below(rank + 1);
  const Value units = to.reshape(x, inserted(to.shape(x), axis, 1));
  const Running of = to.random.percent(50) ? Running::maximum : Running::minimum;
  const CumulativeAttributes running{axis, of, to.random.percent(50)};
  return to.reshape(to.add(Op::cumulative, {units}, running), to.shape(x));
}

Written times_the_unit_matrix(IdentityWriter& to, const Node&, Value x) {
  const Type type = to.type(x);
  if (!is_integer(type.dtype) || type.rank() == 0) return std::nullopt;
  const std::int64_t last = type.rank() - 1, size = type.shape[static_cast<int>(last)];
  if (size > 64 || type.size() > 5'000) return std::nullopt;
  const Type square{i32, {size, size}};
  const Value row = to.add(Op::iota, {}, AxisAttributes{0}, square);
  const Value column = to.add(Op::iota, {}, AxisAttributes{1}, square);
  const Value diagonal = to.add(Op::compare, {row, column}, CompareAttributes{Comparison::eq});
  const DotAttributes dot{{}, {}, {last}, {to.random.below(2)}};
  return to.add(Op::dot, {x, to.convert(diagonal, type.dtype)}, dot);
}

// --- under another dtype -----------------------------------------------------------------------

// Whether each number of one is a number of the other.
bool is_part_of(Dtype narrow, Dtype wide) {
  if (narrow == wide) return false;
  if (is_complex(narrow)) return wide == c128;
  const auto digits = [](Dtype dtype) {
    if (is_float(dtype)) return info(dtype).precision;
    return dtype == bool_ ? 1 : info(dtype).bits - (is_signed_integer(dtype) ? 1 : 0);
  };
  const bool has_sign = is_signed_integer(narrow) || is_float(narrow);
  if (has_sign && (wide == bool_ || is_unsigned_integer(wide))) return false;
  if (is_float(narrow) && is_integer(wide)) return false;
  if (is_complex(wide)) return false;
  const bool has_range =
      !is_float(wide) || (is_float(narrow) ? info(wide).max_exponent >= info(narrow).max_exponent
                                           : info(wide).max_exponent > digits(narrow));
  return digits(wide) >= digits(narrow) && has_range;
}

Written widened_and_back(IdentityWriter& to, const Node&, Value x) {
  const Dtype dtype = to.dtype(x);
  std::vector<Dtype> wider;
  for (int k = 0; k < dtype_count; ++k) {
    if (is_part_of(dtype, static_cast<Dtype>(k))) wider.push_back(static_cast<Dtype>(k));
  }
  if (wider.empty()) return std::nullopt;
  return to.convert(to.convert(x, to.random.of(wider)), dtype);
}

// Of integers by way of others alone: what bits a NaN has is nowhere promised.
Written bits_and_back(IdentityWriter& to, const Node&, Value x) {
  const Type type = to.type(x);
  if (!is_number(type.dtype)) return std::nullopt;
  std::vector<Dtype> others;
  for (int k = 0; k < dtype_count; ++k) {
    const auto other = static_cast<Dtype>(k);
    if (is_integer(other) && byte_size(other) == byte_size(type.dtype)) others.push_back(other);
  }
  const auto cast = [&](Value value, Dtype dtype) {
    return to.add(Op::bitcast_convert, {value}, NoAttributes{}, Type{dtype, type.shape});
  };
  return cast(cast(x, to.random.of(others)), type.dtype);
}

Written of_its_parts(IdentityWriter& to, const Node&, Value x) {
  if (!is_complex(to.dtype(x))) return std::nullopt;
  return to.add(Op::complex, {to.add(Op::real, {x}), to.add(Op::imag, {x})});
}

Written between_its_bounds(IdentityWriter& to, const Node&, Value x) {
  const Type type = to.type(x);
  if (!is_integer(type.dtype)) return std::nullopt;
  const Value zero = to.splat(type, 0);
  const Value highest =
      is_signed_integer(type.dtype)
          ? to.add(Op::shift_right_logical, {to.add(Op::not_, {zero}), to.splat(type, 1)})
          : to.add(Op::not_, {zero});
  const Value lowest = to.add(Op::not_, {highest});
  return to.add(Op::clamp, {lowest, x, highest});
}

const Identity table[] = {
    {"x = move back (move x), for reverse, transpose, reshape", moved_and_back},
    {"x = concatenate(x[:k], x[k:])", cut_and_joined},
    {"x = concatenate(y, x, y)[n:2n]", joined_and_cut},
    {"x = its quarters, concatenated", quartered},
    {"x = slice(pad(x))", padded_and_cut},
    {"x = pad(pad(x, k), -k)", padded_and_cropped},
    {"x = broadcast(x)[k]", repeated_and_cut},
    {"x = windows of one element of x", window_of_one},
    {"x = gather(x, iota)", gathered_in_order},
    {"x = scatter(y, iota, x)", scattered_in_order},
    {"x = dynamic_slice(x, anywhere), of all", block_of_all},
    {"x = dynamic_update_slice(y, x, anywhere)", all_replaced},
    {"x = dynamic_update_slice(x, dynamic_slice(x, i), i)", block_replaced_by_itself},
    {"x = sort(x)[argsort(argsort(x))], for integers", sorted_and_put_back},
    {"x = reduce(x), over an axis of size 1", reduced_over_one},
    {"x = reduce_max(broadcast(x))", reduced_over_copies},
    {"x = reduce_sum(pad(x, 0)), for integers", summed_among_zeros},
    {"x = cumulative(x), along an axis of size 1", running_over_one},
    {"x = dot(x, 1), for integers", times_the_unit_matrix},
    {"x = convert(convert(x)), by way of a wider dtype", widened_and_back},
    {"x = bitcast(bitcast(x))", bits_and_back},
    {"x = complex(real(x), imag(x))", of_its_parts},
    {"x = clamp(lowest, x, highest), for integers", between_its_bounds},
};

}  // namespace

std::span<const Identity> value_identities() { return table; }

}  // namespace anabranch
