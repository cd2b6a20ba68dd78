// Operations that move elements and compute nothing.
#include <algorithm>
#include <limits>

#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

Results broadcast_in_dim_op(const Site& site) {
  site.expect_operands(1);
  return {site.record(Op::broadcast_in_dim, {site.operand(0)},
                      AxesAttributes{site.integers("broadcast_dimensions", {})},
                      site.result_type())};
}

// New axes in front.
Results broadcast_op(const Site& site) {
  site.expect_operands(1);
  const Array x = site.operand(0);
  const Type type = site.result_type();
  List axes;
  for (int axis = 0; axis < type_of(x).rank(); ++axis) {
    axes.push_back(type.rank() - type_of(x).rank() + axis);
  }
  return {site.record(Op::broadcast_in_dim, {x}, AxesAttributes{axes}, type)};
}

Results reshape_op(const Site& site) {
  site.expect_operands(1);
  return {site.record(Op::reshape, {site.operand(0)}, NoAttributes{}, site.result_type())};
}

Results transpose_op(const Site& site) {
  site.expect_operands(1);
  return {site.record(Op::transpose, {site.operand(0)},
                      AxesAttributes{site.integers("permutation", {})})};
}

Results reverse_op(const Site& site) {
  site.expect_operands(1);
  List axes = site.integers("dimensions", {});  // in any order
  std::sort(axes.begin(), axes.end());
  return {site.record(Op::reverse, {site.operand(0)}, AxesAttributes{axes})};
}

Results slice_op(const Site& site) {
  site.expect_operands(1);
  SliceAttributes bounds{site.integers("start_indices", {}), site.integers("limit_indices", {}),
                         site.integers("strides", {})};
  if (bounds.stride.empty()) bounds.stride.assign(bounds.start.size(), 1);
  return {site.record(Op::slice, {site.operand(0)}, std::move(bounds))};
}

Results pad_op(const Site& site) {
  site.expect_operands(2);
  PadAttributes padding{site.integers("edge_padding_low", {}),
                        site.integers("edge_padding_high", {}),
                        site.integers("interior_padding", {})};
  if (padding.interior.empty()) padding.interior.assign(padding.low.size(), 0);
  return {site.record(Op::pad, {site.operand(0), site.operand(1)}, std::move(padding))};
}

Results concatenate_op(const Site& site) {
  return {site.record(Op::concatenate, site.operands(), AxisAttributes{site.integer("dimension")})};
}

Results iota_op(const Site& site) {
  site.expect_operands(0);
  return {site.importer.leaf(Op::iota, AxisAttributes{site.integer("iota_dimension")},
                             site.result_type(), site.where())};
}

Results get_dimension_size_op(const Site& site) {
  site.expect_operands(1);
  const Shape& shape = type_of(site.operand(0)).shape;
  const std::int64_t axis = site.integer("dimension");
  if (axis < 0 || axis >= shape.rank()) site.fail("there is no axis " + std::to_string(axis));
  const double size = static_cast<double>(shape[static_cast<int>(axis)]);
  return {site.scalar(size, site.result_type().dtype)};
}

// The IR counts places in i32 or i64; what an unsigned start cannot be there is past every end.
Array start_index(const Site& site, std::size_t operand) {
  const Array start = site.operand(operand);
  const Dtype dtype = type_of(start).dtype;
  if (dtype == i32 || dtype == i64) return start;
  if (dtype != u64) return site.converted(start, i64);
  const Literal most = Literal::scalar(u64, ElementBits(~std::uint64_t{0} >> 1));
  const Array limit = site.importer.constant({most, false}, {u64, {}}, site.where());
  return site.converted(site.record(Op::minimum, {start, limit}), i64);
}

// Operand `first` and what follows; starts of one dtype.
std::vector<Array> with_starts(const Site& site, std::size_t first) {
  std::vector<Array> operands = site.operands(0, first), starts;
  bool same = true;
  for (std::size_t i = first; i < site.count(); ++i) {
    starts.push_back(start_index(site, i));
    same = same && type_of(starts.back()).dtype == type_of(starts[0]).dtype;
  }
  for (Array& start : starts) operands.push_back(same ? start : site.converted(start, i64));
  return operands;
}

Results dynamic_slice_op(const Site& site) {
  return {site.record(Op::dynamic_slice, with_starts(site, 1),
                      SizesAttributes{site.integers("slice_sizes", {})})};
}

Results dynamic_update_slice_op(const Site& site) {
  return {site.record(Op::dynamic_update_slice, with_starts(site, 2))};
}

constexpr Translation rows_of_shape[] = {
    {"broadcast_in_dim", broadcast_in_dim_op},
    {"broadcast", broadcast_op},
    {"reshape", reshape_op},
    {"transpose", transpose_op},
    {"reverse", reverse_op},
    {"slice", slice_op},
    {"pad", pad_op},
    {"concatenate", concatenate_op},
    {"iota", iota_op},
    {"get_dimension_size", get_dimension_size_op},
    {"dynamic_slice", dynamic_slice_op},
    {"dynamic_update_slice", dynamic_update_slice_op},
};

}  // namespace

std::span<const Translation> shape_translations() { return rows_of_shape; }

}  // namespace anabranch::stablehlo
