#include "codegen/lower/dot.h"

#include <algorithm>
#include <optional>

#include "codegen/lower/chunks.h"
#include "codegen/lower/dot_region.h"
#include "codegen/lower/nest.h"
#include "codegen/lower/product.h"
#include "codegen/lower/reduction_scalars.h"

namespace anabranch {
namespace {

// Rows of the left operand that one pass over the right one serves.
constexpr std::int64_t rows_at_once = 4;
// Rows that are multiplied at once by a matrix whose sums are in chunks. Of more, the partial
// results would be half as large as the matrix.
constexpr std::int64_t most_rows = 8;

class DotLowering {
 public:
  DotLowering(const DotRegion& dot, const std::string& name)
      : region_(dot.graph()), name_(name), dot_(dot) {}

  Lowered run(ColumnSums columns) {
    std::vector<int> contracting;
    for (int axis = dot_.first_contracting(); axis < dot_.rank(); ++axis)
      contracting.push_back(axis);
    const Nest nest = loop_per_axis(dot_.sizes(), contracting);
    Nest joined = nest;
    write(nest, 1, &joined);
    Lowered lowered;
    const bool has_results = dot_.result_size() > 0;
    if (const auto rows = has_results ? chunk_rows(columns) : std::nullopt) {
      chunks_ = cut_into_chunks(joined.reduced, *rows);
      lowered.calls.push_back(partial_kernel(joined));
      lowered.calls.push_back(combining_kernel(joined));
      lowered.temporaries.push_back(partial_type());
      return lowered;
    }
    KernelCall& call = lowered.calls.emplace_back(write(joined, rows_at_once, nullptr));
    call.add_arguments(KernelArgument::Kind::input, region_.parameter_count());
    call.add_arguments(KernelArgument::Kind::output, region_.outputs().size());
    return lowered;
  }

 private:
  /// The places of the result that one iteration of the kept loops computes.
  struct Block {
    std::vector<Ref> loops;
    std::vector<std::vector<Index>> points;
  };

  // With `rows` of the last left axis at once. Tells in `joined` which loops could be one.
  Kernel write(const Nest& nest, std::int64_t rows, Nest* joined) const {
    GroupWriter writer(region_, name_, nest, dot_.rank());
    writer.add_outputs(region_);
    if (dot_.result_size() == 0) return writer.builder.take();

    const Block block = open_block(writer, rows);
    const std::vector<Ref> sums = fold(writer, block.points, {});
    for (std::size_t i = 0; i < sums.size(); ++i) dot_.store(writer, block.points[i], sums[i]);
    close(writer, block.loops.size());
    if (joined) {
      const auto used = writer.builder.used_indices();
      const IndexTable& table = writer.builder.indices();
      joined->kept = join_groups(nest.kept, std::span(&block.loops, 1), used, table);
      joined->reduced = join_groups(nest.reduced, writer.reduced_loops, used, table);
    }
    return writer.builder.take();
  }

  static void close(GroupWriter& writer, std::size_t loops) {
    for (std::size_t i = 0; i < loops; ++i) writer.builder.close_loop();
  }

  Block open_block(GroupWriter& writer, std::int64_t rows) const {
    const Nest& nest = writer.nest;
    Block made;
    const std::size_t blocked = blocked_group(nest);
    std::int64_t block = 1;
    for (std::size_t i = 0; i < nest.kept.size(); ++i) {
      std::int64_t extent = nest.kept[i].extent;
      if (i == blocked) {
        block = std::min(rows, extent);
        extent = (extent + block - 1) / block;
      }
      made.loops.push_back(writer.builder.open_loop(extent));
    }
    for (std::int64_t row = 0; row < block; ++row) {
      for (std::size_t i = 0; i < nest.kept.size(); ++i) {
        Index flat = writer.builder.index_of(made.loops[i]);
        if (i == blocked) {
          // The last block may reach beyond the end, where it computes the last row again.
          IndexTable& table = writer.builder.indices();
          flat = table.least(table.add(table.scale(flat, block), row), nest.kept[i].extent - 1);
        }
        writer.set_axes(nest.kept[i], flat);
      }
      made.points.push_back(writer.domain);
      made.points.back().resize(static_cast<std::size_t>(dot_.first_contracting()));
    }
    return made;
  }

  // The last loop over left axes alone; the number of loops if there is none. It is no block where
  // it becomes vectors: where the result has one column and the left operand consecutive rows.
  std::size_t blocked_group(const Nest& nest) const {
    std::size_t found = nest.kept.size();
    if (has_one_column() && is_left(dot_.axes_of(0).empty() ? 0 : dot_.axes_of(0).back()))
      return found;
    for (std::size_t i = 0; i < nest.kept.size(); ++i) {
      const std::vector<int>& axes = nest.kept[i].axes;
      if (is_left(axes.front()) && is_left(axes.back())) found = i;
    }
    return found;
  }

  bool is_left(int axis) const { return axis >= dot_.first_left() && axis < dot_.first_right(); }
  bool has_one_column() const {
    const auto at = dot_.sizes().begin();
    return std::all_of(at + dot_.first_right(), at + dot_.first_contracting(),
                       [](std::int64_t size) { return size == 1; });
  }

  // The sums for all of `points`, which share the other loops: over the chunk of the open loop
  // `chunk`, if there is one.
  std::vector<Ref> fold(GroupWriter& writer, const std::vector<std::vector<Index>>& points,
                        Ref chunk) const {
    const Node& node = dot_.node();
    const Combiner& combiner = dot_.combiner();
    KernelBuilder& builder = writer.builder;
    const std::vector<Ref> initial = initial_scalars(combiner, node, writer.producers, builder);
    std::vector<Ref> sums(points.size(), initial[0]);
    if (dot_.size_of_axes(dot_.first_contracting(), dot_.rank()) == 0) return sums;
    std::size_t loops = writer.nest.reduced.size();
    Ref inside;
    if (chunk) {
      inside = open_chunk(writer, chunk, chunks_);
    } else {
      writer.reduced_loops.push_back(writer.open(writer.nest.reduced));
      if (loops == 0) {
        builder.open_loop(1);
        loops = 1;
      }
    }
    std::vector<Reduction> reductions;
    for (const std::vector<Index>& point : points) {
      std::copy(point.begin(), point.end(), writer.domain.begin());
      // Beyond the end of the last chunk both are zero, which adds nothing.
      Ref left = dot_.element(writer, 0, inside);
      Ref right = dot_.element(writer, 1, inside);
      Ref value = builder.compute(Op::multiply, dot_.dtype(), {left, right});
      reductions.push_back(make_reduction(combiner, node, initial, {value}, builder));
    }
    reductions = writer.close(loops, std::move(reductions));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = reductions[i].results[0];
    return sums;
  }

  // --- sums in chunks

  Type partial_type() const { return {dot_.dtype(), Shape{chunks_.count, dot_.result_size()}}; }
  // Places of a chunk, where few rows are multiplied by a large matrix whose own rows are along the
  // result.
  std::optional<std::int64_t> chunk_rows(ColumnSums sums) const {
    const std::int64_t left = dot_.size_of_axes(dot_.first_left(), dot_.first_right());
    const std::int64_t right = dot_.size_of_axes(dot_.first_right(), dot_.first_contracting());
    const bool is_left_long = left > right;
    if (std::min(left, right) > (is_left_long ? 1 : most_rows)) return std::nullopt;
    const std::vector<int>& axes = is_left_long ? dot_.axes_of(0) : dot_.axes_of(1);
    const auto last = std::find_if(axes.rbegin(), axes.rend(), [&](int axis) {
      return dot_.sizes()[static_cast<std::size_t>(axis)] > 1;
    });
    const bool is_along_result =
        last != axes.rend() && *last >= dot_.first_left() && *last < dot_.first_contracting();
    if (!is_along_result) return std::nullopt;
    const Type& matrix = dot_.operand(is_left_long ? 0 : 1);
    return rows_per_chunk(dot_.size_of_axes(dot_.first_contracting(), dot_.rank()),
                          std::max(left, right), static_cast<std::int64_t>(byte_size(matrix.dtype)),
                          sums, std::min(left, right) > 1);
  }

  KernelCall partial_kernel(const Nest& nest) const {
    GroupWriter writer(region_, name_ + "_partial", nest, dot_.rank());
    KernelBuilder& builder = writer.builder;
    IndexTable& table = builder.indices();
    KernelCall call;
    const std::uint32_t buffer =
        add_partials(writer, call, region_.parameter_count(), {partial_type()}, Access::write);
    const Ref chunk = builder.open_loop(chunks_.count);
    const Block block = open_block(writer, most_rows);
    const std::vector<Ref> sums = fold(writer, block.points, chunk);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      builder.store(buffer, partial_place(table, builder.index_of(chunk), block.points[i]),
                    sums[i]);
    }
    close(writer, block.loops.size() + 1);
    call.kernel = builder.take();
    return call;
  }

  KernelCall combining_kernel(const Nest& nest) const {
    GroupWriter writer(region_, name_, nest, dot_.rank());
    KernelBuilder& builder = writer.builder;
    KernelCall call;
    const std::uint32_t buffer =
        add_partials(writer, call, region_.parameter_count(), {partial_type()}, Access::read);
    writer.add_outputs(region_);
    call.add_arguments(KernelArgument::Kind::output, region_.outputs().size());

    const Block block = open_block(writer, 1);
    const Node& node = dot_.node();
    const Combiner& combiner = dot_.combiner();
    const std::vector<Ref> initial = initial_scalars(combiner, node, writer.producers, builder);
    const Ref chunk = builder.open_loop(chunks_.count);
    const Ref value = builder.load(
        buffer, partial_place(builder.indices(), builder.index_of(chunk), block.points[0]));
    std::vector<Reduction> sum;
    sum.push_back(make_reduction(combiner, node, initial, {value}, builder));
    sum = builder.close_loop(std::move(sum));
    dot_.store(writer, block.points[0], sum[0].results[0]);
    close(writer, block.loops.size());
    call.kernel = builder.take();
    return call;
  }

  Index partial_place(IndexTable& table, Index chunk, const std::vector<Index>& place) const {
    return table.add(table.scale(chunk, dot_.result_size()),
                     table.flatten(place, dot_.node().types[0].shape.sizes()));
  }

  const Graph& region_;
  const std::string& name_;
  const DotRegion& dot_;
  Chunks chunks_;  // where sums are in chunks
};

}  // namespace

Lowered lower_dot(const Graph& region, const std::string& name, const LowerTarget& target) {
  const DotRegion dot(region);
  const auto& attributes = dot.node().as<DotAttributes>();
  if (is_tiled(dot.operand(0), dot.operand(1), attributes, target.product_tiles)) {
    return lower_product(dot, name, target.product_tiles);
  }
  return DotLowering(dot, name).run(target.column_sums);
}

}  // namespace anabranch
