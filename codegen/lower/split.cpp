// Reductions with few results and long rows: partial results per chunk, then their combination.

#include <algorithm>

#include "codegen/lower/chunks.h"
#include "codegen/lower/group.h"
#include "codegen/lower/writer.h"

namespace anabranch {
namespace {

constexpr std::int64_t chunk_elements = 1 << 14;
constexpr std::int64_t most_chunks = 512;

}  // namespace

// Places of a chunk, where the reductions run down the columns of a large matrix.
std::optional<std::int64_t> GroupLowering::column_chunk(ColumnSums sums) const {
  const std::vector<std::uint32_t> reductions = reductions_of(0);
  if (reductions.empty() || plan_.reduced_axes.empty() || can_keep_rows(plan_)) return std::nullopt;
  std::int64_t columns = 1;
  const int last = *std::max_element(plan_.reduced_axes.begin(), plan_.reduced_axes.end());
  for (int axis = last + 1; axis < plan_.domain.rank(); ++axis) columns *= plan_.domain[axis];
  const Value summed = region_.node(reductions[0]).inputs[0];
  const auto bytes = static_cast<std::int64_t>(byte_size(region_.type(summed).dtype));
  return rows_per_chunk(row_size_, columns, bytes, sums);
}

std::optional<Chunks> GroupLowering::split(const Nest& nest, ColumnSums sums) const {
  if (kept_size_ == 0 || row_size_ == 0) return std::nullopt;
  // Of two kernels, the one with the partial results would take the updates' arrays for its own.
  const auto places = plan_.updates.empty() ? column_chunk(sums) : std::nullopt;
  if (!places && !has_few_long_rows(plan_)) return std::nullopt;
  for (std::uint32_t i = 0; i < region_.nodes().size(); ++i) {
    const Node& node = region_.node(i);
    if (!is_folded(plan_, region_, node)) continue;
    if (plan_.stage[i] > 0 || node.op == Op::reduce) return std::nullopt;
  }
  if (std::ranges::find(plan_.is_row, 0) != plan_.is_row.end()) {
    return std::nullopt;
  }
  return cut_into_chunks(nest.reduced,
                         places.value_or(std::max(chunk_elements, row_size_ / most_chunks)));
}

std::vector<Type> GroupLowering::partial_types(const Chunks& cut) const {
  std::vector<Type> types;
  for (std::uint32_t index : reductions_of(0)) {
    for (Dtype dtype : combiner_of(region_.node(index), region_).dtypes) {
      types.push_back({dtype, Shape{cut.count, kept_size_}});
    }
  }
  return types;
}

KernelCall GroupLowering::partial_kernel(const Nest& nest, const Chunks& cut) const {
  GroupWriter writer(region_, name_ + "_partial", nest, plan_.domain.rank());
  KernelBuilder& builder = writer.builder;
  IndexTable& table = builder.indices();
  KernelCall call;
  std::uint32_t buffer =
      add_partials(writer, call, region_.parameter_count(), partial_types(cut), Access::write);
  const Ref chunk_loop = builder.open_loop(cut.count);
  const std::vector<Ref> kept_loops = writer.open(nest.kept);
  const Ref inside = open_chunk(writer, chunk_loop, cut);
  writer.element = writer.producers.point(writer.domain);

  std::vector<Reduction> reductions;
  for (std::uint32_t index : reductions_of(0)) {
    const Node& node = region_.node(index);
    const Combiner combiner = combiner_of(node, region_);
    std::vector<Ref> initial = initial_scalars(combiner, node, writer.producers, builder);
    const Index position = position_of(writer);
    std::vector<Ref> values = element_scalars(combiner, node, writer.element, position, inside,
                                              writer.producers, builder);
    for (std::size_t i = 0; inside && i < values.size(); ++i) {
      values[i] = builder.compute(Op::select, combiner.dtypes[i], {inside, values[i], initial[i]});
    }
    reductions.push_back(make_reduction(combiner, node, initial, values, builder));
  }
  reductions = writer.close(nest.reduced.size(), std::move(reductions));

  const Index kept = table.flatten(writer.places(kept_axes_), kept_sizes_);
  const Index at = table.add(table.scale(builder.index_of(chunk_loop), kept_size_), kept);
  for (const Reduction& reduction : reductions) {
    for (Ref result : reduction.results) builder.store(buffer++, at, result);
  }
  for (std::size_t i = 0; i <= kept_loops.size(); ++i) builder.close_loop();
  call.kernel = builder.take();
  return call;
}

KernelCall GroupLowering::combining_kernel(const Nest& nest, const Chunks& cut) const {
  GroupWriter writer(region_, name_, nest, plan_.domain.rank());
  KernelBuilder& builder = writer.builder;
  IndexTable& table = builder.indices();
  KernelCall call;
  std::uint32_t buffer =
      add_partials(writer, call, region_.parameter_count(), partial_types(cut), Access::read);
  writer.add_outputs(region_);
  call.add_arguments(KernelArgument::Kind::output, region_.outputs().size());

  const std::vector<Ref> kept_loops = writer.open(nest.kept);
  writer.row = writer.producers.point(writer.places(kept_axes_));
  const Index kept = table.flatten(writer.places(kept_axes_), kept_sizes_);
  const Ref chunk_loop = builder.open_loop(cut.count);
  const Index at = table.add(table.scale(builder.index_of(chunk_loop), kept_size_), kept);
  const std::vector<std::uint32_t> nodes = reductions_of(0);
  std::vector<Combiner> combiners;
  std::vector<Reduction> reductions;
  for (std::uint32_t index : nodes) {
    const Node& node = region_.node(index);
    const Combiner& combiner = combiners.emplace_back(combiner_of(node, region_));
    std::vector<Ref> values;
    for (std::size_t i = 0; i < combiner.dtypes.size(); ++i) {
      values.push_back(builder.load(buffer++, at));
    }
    std::vector<Ref> initial = initial_scalars(combiner, node, writer.producers, builder);
    reductions.push_back(make_reduction(combiner, node, initial, values, builder));
  }
  reductions = builder.close_loop(std::move(reductions));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    bind_results(combiners[i], nodes[i], region_.node(nodes[i]), writer.row, reductions[i].results,
                 writer.producers, builder);
  }
  store_rows(writer);
  for (std::size_t i = 0; i < kept_loops.size(); ++i) builder.close_loop();
  call.kernel = builder.take();
  return call;
}

}  // namespace anabranch
