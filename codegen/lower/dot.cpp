#include "codegen/lower/dot.h"

#include <algorithm>

#include "codegen/lower/combiner.h"
#include "codegen/lower/nest.h"
#include "codegen/lower/writer.h"

namespace anabranch {
namespace {

// Rows of the left operand that one pass over the right one serves.
constexpr std::int64_t rows_at_once = 4;

/// The dot's loops as axes: batch, left free and right free (the result's axes), then contracting.
struct DotAxes {
  std::vector<int> lhs, rhs;  ///< the axis that each axis of an operand is
  std::vector<std::int64_t> sizes;
  int first_left = 0, first_right = 0, first_contracting = 0;
};

DotAxes dot_axes(const Type& lhs, const Type& rhs, const DotAttributes& dot) {
  DotAxes axes;
  axes.lhs.assign(static_cast<std::size_t>(lhs.rank()), -1);
  axes.rhs.assign(static_cast<std::size_t>(rhs.rank()), -1);
  auto add = [&](std::int64_t size) {
    axes.sizes.push_back(size);
    return static_cast<int>(axes.sizes.size()) - 1;
  };
  auto pair = [&](std::span<const std::int64_t> left, std::span<const std::int64_t> right) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      int axis = add(lhs.shape[static_cast<int>(left[i])]);
      axes.lhs[static_cast<std::size_t>(left[i])] = axis;
      axes.rhs[static_cast<std::size_t>(right[i])] = axis;
    }
  };
  auto free = [&](const Type& type, std::vector<int>& of, const auto& contracting) {
    for (int axis = 0; axis < type.rank(); ++axis) {
      if (of[static_cast<std::size_t>(axis)] >= 0) continue;
      if (std::find(contracting.begin(), contracting.end(), axis) != contracting.end()) continue;
      of[static_cast<std::size_t>(axis)] = add(type.shape[axis]);
    }
  };
  pair(dot.lhs_batch, dot.rhs_batch);
  axes.first_left = static_cast<int>(axes.sizes.size());
  free(lhs, axes.lhs, dot.lhs_contracting);
  axes.first_right = static_cast<int>(axes.sizes.size());
  free(rhs, axes.rhs, dot.rhs_contracting);
  axes.first_contracting = static_cast<int>(axes.sizes.size());
  pair(dot.lhs_contracting, dot.rhs_contracting);
  return axes;
}

class DotLowering {
 public:
  DotLowering(const Graph& region, const std::string& name) : region_(region), name_(name) {
    while (region.node(dot_).op != Op::dot) ++dot_;
    const Node& node = region.node(dot_);
    axes_ = dot_axes(region.type(node.inputs[0]), region.type(node.inputs[1]),
                     node.as<DotAttributes>());
  }

  Kernel run() {
    std::vector<int> contracting;
    for (int axis = axes_.first_contracting; axis < rank(); ++axis) contracting.push_back(axis);
    Nest nest = loop_per_axis(axes_.sizes, contracting);
    Nest joined = nest;
    write(nest, 1, &joined);
    return write(joined, rows_at_once, nullptr);
  }

 private:
  int rank() const { return static_cast<int>(axes_.sizes.size()); }

  // With `rows` of the last left axis at once. Tells in `joined` which loops could be one.
  Kernel write(const Nest& nest, std::int64_t rows, Nest* joined) const {
    GroupWriter writer(region_, name_, nest, rank());
    writer.add_outputs(region_);
    if (region_.node(dot_).types[0].size() == 0) return writer.builder.take();

    std::vector<Ref> kept_loops;
    const std::size_t blocked = blocked_group(nest);
    std::int64_t block = 1;
    for (std::size_t i = 0; i < nest.kept.size(); ++i) {
      std::int64_t extent = nest.kept[i].extent;
      if (i == blocked) {
        block = std::min(rows, extent);
        extent = (extent + block - 1) / block;
      }
      kept_loops.push_back(writer.builder.open_loop(extent));
    }
    std::vector<std::vector<Index>> points;
    for (std::int64_t row = 0; row < block; ++row) {
      for (std::size_t i = 0; i < nest.kept.size(); ++i) {
        Index flat = writer.builder.index_of(kept_loops[i]);
        if (i == blocked) {
          // The last block may reach beyond the end, where it computes the last row again.
          IndexTable& table = writer.builder.indices();
          flat = table.least(table.add(table.scale(flat, block), row), nest.kept[i].extent - 1);
        }
        writer.set_axes(nest.kept[i], flat);
      }
      points.push_back(writer.domain);
    }
    fold(writer, points);
    for (std::size_t i = 0; i < kept_loops.size(); ++i) writer.builder.close_loop();
    if (joined) {
      const auto used = writer.builder.used_indices();
      const IndexTable& table = writer.builder.indices();
      joined->kept = join_groups(nest.kept, std::span(&kept_loops, 1), used, table);
      joined->reduced = join_groups(nest.reduced, writer.reduced_loops, used, table);
    }
    return writer.builder.take();
  }

  // The last loop over left axes alone; the number of loops if there is none. It is no block where
  // it becomes vectors: where the result has one column and the left operand consecutive rows.
  std::size_t blocked_group(const Nest& nest) const {
    std::size_t found = nest.kept.size();
    if (has_one_column() && is_left(axes_.lhs.empty() ? 0 : axes_.lhs.back())) return found;
    for (std::size_t i = 0; i < nest.kept.size(); ++i) {
      const std::vector<int>& axes = nest.kept[i].axes;
      if (is_left(axes.front()) && is_left(axes.back())) found = i;
    }
    return found;
  }

  bool is_left(int axis) const { return axis >= axes_.first_left && axis < axes_.first_right; }
  bool has_one_column() const {
    const auto at = axes_.sizes.begin();
    return std::all_of(at + axes_.first_right, at + axes_.first_contracting,
                       [](std::int64_t size) { return size == 1; });
  }

  Ref element(GroupWriter& writer, Value operand, const std::vector<int>& axes, Dtype dtype) const {
    std::vector<Index> place;
    for (int axis : axes) place.push_back(writer.domain[static_cast<std::size_t>(axis)]);
    Ref value = writer.producers.value_at(operand, writer.producers.point(std::move(place)));
    if (region_.type(operand).dtype == dtype) return value;
    return writer.builder.compute(Op::convert, dtype, {value});
  }

  // The sums for all of `points`, which share the other loops, and what the outputs make of them.
  void fold(GroupWriter& writer, std::vector<std::vector<Index>>& points) const {
    const Node& node = region_.node(dot_);
    const Combiner combiner = combiner_of(node, region_);
    const std::vector<Ref> initial =
        initial_scalars(combiner, node, writer.producers, writer.builder);
    std::vector<Ref> sums(points.size(), initial[0]);
    if (Shape(contracting_sizes()).size() > 0) {
      std::vector<Ref> loops = writer.open(writer.nest.reduced);
      writer.reduced_loops.push_back(loops);
      if (loops.empty()) loops.push_back(writer.builder.open_loop(1));
      const std::vector<Index> contracting = writer.domain;
      std::vector<Reduction> reductions;
      for (std::vector<Index>& point : points) {
        writer.domain = contracting;
        std::copy_n(point.begin(), axes_.first_contracting, writer.domain.begin());
        Ref left = element(writer, node.inputs[0], axes_.lhs, combiner.dtypes[0]);
        Ref right = element(writer, node.inputs[1], axes_.rhs, combiner.dtypes[0]);
        Ref value = writer.builder.compute(Op::multiply, combiner.dtypes[0], {left, right});
        reductions.push_back(make_reduction(combiner, node, initial, {value}, writer.builder));
      }
      reductions = writer.close(loops.size(), std::move(reductions));
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = reductions[i].results[0];
    }
    for (std::size_t i = 0; i < points.size(); ++i) store(writer, combiner, points[i], sums[i]);
  }

  std::vector<std::int64_t> contracting_sizes() const {
    return {axes_.sizes.begin() + axes_.first_contracting, axes_.sizes.end()};
  }

  void store(GroupWriter& writer, const Combiner& combiner, std::vector<Index> place,
             Ref sum) const {
    place.resize(static_cast<std::size_t>(axes_.first_contracting));
    const Node& node = region_.node(dot_);
    const Index flat = writer.builder.indices().flatten(place, node.types[0].shape.sizes());
    const Point point = writer.producers.point(std::move(place));
    bind_results(combiner, dot_, node, point, {sum}, writer.producers, writer.builder);
    for (std::uint32_t i = 0; i < region_.outputs().size(); ++i) {
      Ref value = writer.producers.value_at(region_.outputs()[i], point);
      writer.builder.store(writer.first_output + i, flat, value);
    }
  }

  const Graph& region_;
  const std::string& name_;
  std::uint32_t dot_ = 0;
  DotAxes axes_;
};

}  // namespace

Lowered lower_dot(const Graph& region, const std::string& name) {
  KernelCall call{DotLowering(region, name).run(), {}};
  for (std::uint32_t i = 0; i < region.parameter_count(); ++i) {
    call.arguments.push_back({KernelArgument::Kind::input, i});
  }
  for (std::uint32_t i = 0; i < region.outputs().size(); ++i) {
    call.arguments.push_back({KernelArgument::Kind::output, i});
  }
  return {{std::move(call)}, {}};
}

}  // namespace anabranch
