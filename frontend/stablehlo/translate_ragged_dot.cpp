// chlo.ragged_dot: products of groups of rows, or of parts of what is summed over.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "anabranch/arrange.h"
#include "anabranch/control_flow.h"
#include "anabranch/cumulative.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/contraction.h"
#include "frontend/stablehlo/site.h"
#include "frontend/stablehlo/types.h"

namespace anabranch::stablehlo {
namespace {

// The groups of a ragged product are ranges along one axis of the left operand, one behind the
// other. https://docs.jax.dev/en/latest/_autosummary/jax.lax.ragged_dot_general.html
struct RaggedAxes {
  DotAttributes axes;
  List ragged;  // of the left operand: one
  List group;   // of the right operand: one, where each group of rows has a matrix of its own
};

// mhlo.ragged_dot has the lists of a product in an attribute of their own.
RaggedAxes ragged_axes(const Site& site) {
  RaggedAxes form;
  const Attribute* numbers = site.op.find("ragged_dot_dimension_numbers");
  if (!numbers) site.fail("needs ragged_dot_dimension_numbers");
  for (const NamedAttribute& entry : site.entries(*numbers)) {
    read_axes(site, entry, form.axes);
    if (entry.name == "lhs_ragged_dimensions") form.ragged = site.integers_of(entry.value);
    if (entry.name == "rhs_group_dimensions") form.group = site.integers_of(entry.value);
    if (entry.name != "dot_dimension_numbers") continue;
    for (const NamedAttribute& own : site.entries(entry.value)) read_axes(site, own, form.axes);
  }
  const auto demand = [&](std::size_t operand, std::initializer_list<const List*> lists) {
    const Type type = type_of(site.operand(operand));
    for (const List* list : lists) {
      for (const std::int64_t axis : *list) {
        if (axis >= 0 && axis < type.rank()) continue;
        site.fail("there is no axis " + std::to_string(axis) + " of " + type_text(type));
      }
    }
  };
  demand(0, {&form.axes.lhs_batch, &form.axes.lhs_contracting, &form.ragged});
  demand(1, {&form.axes.rhs_batch, &form.axes.rhs_contracting, &form.group});
  if (form.ragged.size() != 1) {
    site.fail("needs one axis as lhs_ragged_dimensions, and has " +
              std::to_string(form.ragged.size()));
  }
  if (form.axes.lhs_contracting.size() != form.axes.rhs_contracting.size()) {
    site.fail("its operands have different numbers of contracting axes");
  }
  return form;
}

bool has_axis(const List& axes, std::int64_t axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

List sizes_of_axes(const Type& type, const List& axes) {
  List sizes;
  for (const std::int64_t axis : axes) sizes.push_back(type.shape[static_cast<int>(axis)]);
  return sizes;
}

// The axes of `axes` that are before the one of that number.
List axes_before(const List& axes, std::int64_t axis) {
  return List(axes.begin(), std::ranges::find(axes, axis));
}

List joined_axes(List axes, const List& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

List other_axes(const Type& type, const List& axes) {
  List others;
  for (std::int64_t axis = 0; axis < type.rank(); ++axis) {
    if (!has_axis(axes, axis)) others.push_back(axis);
  }
  return others;
}

// Where each group begins, and where it ends: the groups are the first axis; the others have these
// sizes, along which one list of group sizes is repeated.
std::tuple<Array, Array> bounds_of_groups(const Site& site, List sizes) {
  const Type given = type_of(site.operand(2));
  const auto outer = static_cast<std::int64_t>(sizes.size());
  if (!is_integer(given.dtype) || given.rank() == 0) {
    site.fail("its group sizes are " + type_text(given) + ", and have to be a list of integers");
  }
  sizes.push_back(given.shape[given.rank() - 1]);
  const Type whole{i64, Shape(sizes)};
  if (given.rank() != 1 && given.shape != whole.shape) {
    site.fail("its group sizes are " + type_text(given) + ", and have to be " +
              type_text({given.dtype, whole.shape}) + " or one list for all");
  }
  Array counts = site.converted(site.operand(2), i64);
  if (given.rank() == 1) {
    counts = site.record(Op::broadcast_in_dim, {counts}, AxesAttributes{{outer}}, whole);
  }
  const Array ends = cumsum({counts, site.where()}, Axes(outer));
  const auto first = [&](const Array& x) { return moveaxis({x, site.where()}, outer, 0); };
  return {first(site.record(Op::subtract, {ends, counts})), first(ends)};
}

// Which elements of an array of that shape are in a group: along the axis `ragged` between its
// bounds, which have the axes `outer`.
Array is_in_group(const Site& site, const Shape& shape, std::int64_t ragged, const List& outer,
                  const Array& start, const Array& end) {
  const Type places{i64, shape};
  const Array place = site.importer.leaf(Op::iota, AxisAttributes{ragged}, places, site.where());
  const auto compared_with = [&](const Array& bound, Comparison direction) {
    const Array repeated =
        site.record(Op::broadcast_in_dim, {bound}, AxesAttributes{outer}, places);
    return site.record(Op::compare, {place, repeated}, CompareAttributes{direction});
  };
  return site.record(Op::and_,
                     {compared_with(start, Comparison::ge), compared_with(end, Comparison::lt)});
}

// Each group of rows times its own matrix; rows of no group are 0. Products are chosen, and not
// added up, so that what is infinite or NaN stays in its group.
Array product_of_rows(const Site& site, const RaggedAxes& form) {
  if (form.group.size() != 1) {
    site.fail("needs one axis as rhs_group_dimensions where rows are ragged, and has " +
              std::to_string(form.group.size()));
  }
  const Array lhs = site.operand(0), rhs = site.operand(1);
  const Type left = type_of(lhs), right = type_of(rhs);
  DotAttributes axes = form.axes;
  const std::int64_t group = form.group[0];
  if (has_axis(axes.rhs_batch, group) || has_axis(axes.rhs_contracting, group)) {
    site.fail("axis " + std::to_string(group) + " of the right operand is of the product, and " +
              "cannot be that of the groups, too");
  }
  const List rows = other_axes(left, joined_axes(axes.lhs_batch, axes.lhs_contracting));
  const List columns =
      other_axes(right, joined_axes(joined_axes(axes.rhs_batch, axes.rhs_contracting), {group}));
  for (List* list : {&axes.rhs_batch, &axes.rhs_contracting}) {
    for (std::int64_t& axis : *list) axis -= axis > group;
  }
  const List above = joined_axes(axes.lhs_batch, axes_before(rows, form.ragged[0]));
  const auto [starts, ends] = bounds_of_groups(site, sizes_of_axes(left, above));
  if (type_of(starts).shape[0] != right.shape[static_cast<int>(group)]) {
    site.fail(std::to_string(type_of(starts).shape[0]) + " groups, and the right operand has " +
              std::to_string(right.shape[static_cast<int>(group)]) + " matrices");
  }
  // In the result, batch axes are first, then rows, in the order of the left operand.
  List outer(above.size());
  std::iota(outer.begin(), outer.end(), 0);
  const auto ragged = static_cast<std::int64_t>(outer.size());
  const Shape shape(joined_axes(sizes_of_axes(left, joined_axes(axes.lhs_batch, rows)),
                                sizes_of_axes(right, columns)));
  const Array zeros = site.repeated(site.scalar(0, site.result_type().dtype), shape);
  const auto step = [&](const Array& sums, const std::tuple<Array, Array, Array>& of_group) {
    const auto& [start, end, matrix] = of_group;
    WithinTraceOf within(site.importer, start);
    const Array chosen = is_in_group(site, shape, ragged, outer, start, end);
    const Array next = site.record(Op::select, {chosen, contracted(site, lhs, matrix, axes), sums});
    return std::pair(next, std::tuple<>());
  };
  const std::tuple groups(starts, ends, moveaxis({rhs, site.where()}, group, 0));
  return detail::scan(zeros, groups, std::nullopt, step, site.where()).first;
}

// A product for each group of what is summed over, one above the other.
Array products_of_parts(const Site& site, const RaggedAxes& form) {
  const Array lhs = site.operand(0), rhs = site.operand(1);
  const Type left = type_of(lhs), right = type_of(rhs);
  const DotAttributes& axes = form.axes;
  const List summed = axes_before(axes.lhs_contracting, form.ragged[0]);
  const List other(axes.rhs_contracting.begin(), axes.rhs_contracting.begin() + std::ssize(summed));
  const List left_outer = joined_axes(axes.lhs_batch, summed);
  const List right_outer = joined_axes(axes.rhs_batch, other);
  const std::int64_t right_ragged = axes.rhs_contracting[summed.size()];
  const auto step = [&](const std::tuple<>&, const std::tuple<Array, Array>& of_group) {
    const auto& [start, end] = of_group;
    WithinTraceOf within(site.importer, start);
    const auto part = [&](const Array& x, const Type& type, std::int64_t ragged,
                          const List& outer) {
      const Array chosen = is_in_group(site, type.shape, ragged, outer, start, end);
      const Array zeros = site.repeated(site.scalar(0, type.dtype), type.shape);
      return site.record(Op::select, {chosen, x, zeros});
    };
    const Array of_left = part(lhs, left, form.ragged[0], left_outer);
    const Array of_right = part(rhs, right, right_ragged, right_outer);
    return std::pair(std::tuple<>(), contracted(site, of_left, of_right, axes));
  };
  const auto groups = bounds_of_groups(site, sizes_of_axes(left, left_outer));
  return detail::scan(std::tuple<>(), groups, std::nullopt, step, site.where()).second;
}

Results ragged_dot_op(const Site& site) {
  site.expect_operands(3);
  const RaggedAxes form = ragged_axes(site);
  const bool is_of_batch = has_axis(form.axes.lhs_batch, form.ragged[0]);
  const bool is_of_sum = has_axis(form.axes.lhs_contracting, form.ragged[0]);
  if (!is_of_batch && !is_of_sum) return {product_of_rows(site, form)};
  if (!form.group.empty()) site.fail("takes rhs_group_dimensions only where rows are ragged");
  if (is_of_sum) return {products_of_parts(site, form)};
  // Groups of a batch have a matrix for each of their members: sizes make no difference.
  return {contracted(site, site.operand(0), site.operand(1), form.axes)};
}

constexpr Translation rows_of_ragged[] = {{"ragged_dot", ragged_dot_op}};

}  // namespace

std::span<const Translation> ragged_translations() { return rows_of_ragged; }

}  // namespace anabranch::stablehlo
