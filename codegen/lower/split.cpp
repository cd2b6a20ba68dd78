// Reductions with few results and long rows: partial results per chunk, then their combination.

#include <algorithm>

#include "codegen/lower/group.h"
#include "codegen/lower/writer.h"

namespace anabranch {
namespace {

constexpr std::int64_t chunk_elements = 1 << 14;
constexpr std::int64_t most_chunks = 512;

/// The divisor of `extent` nearest to `wanted`, or `wanted` where none is near.
std::int64_t divisor_near(std::int64_t extent, std::int64_t wanted) {
  const std::int64_t farthest = std::min<std::int64_t>(wanted / 2, 4096);
  for (std::int64_t distance = 0; distance <= farthest; ++distance) {
    for (std::int64_t size : {wanted - distance, wanted + distance}) {
      if (size > 0 && extent % size == 0) return size;
    }
  }
  return wanted;
}

/// Buffers for the operands, then the partial results, as `access` says; gives the first of those.
std::uint32_t add_arguments(GroupWriter& writer, KernelCall& call, std::size_t inputs,
                            const std::vector<Type>& partials, Access access) {
  for (std::uint32_t i = 0; i < inputs; ++i) {
    call.arguments.push_back({KernelArgument::Kind::input, i});
  }
  for (std::uint32_t i = 0; i < partials.size(); ++i) {
    writer.builder.add_buffer(
        {"partial" + std::to_string(i), partials[i].dtype, partials[i].size(), access});
    call.arguments.push_back({KernelArgument::Kind::temporary, i});
  }
  return static_cast<std::uint32_t>(inputs);
}

/// Opens the reduced loops, loop `cut` of them over the `chunk` places of the open loop `chunks`.
/// Gives the condition for a place to exist where the last chunk reaches beyond the end.
Ref open_chunk(GroupWriter& writer, Ref chunks, std::size_t cut, std::int64_t chunk) {
  KernelBuilder& builder = writer.builder;
  IndexTable& table = builder.indices();
  Ref inside;
  for (std::size_t i = 0; i < writer.nest.reduced.size(); ++i) {
    const AxisGroup& group = writer.nest.reduced[i];
    Index place = builder.index_of(builder.open_loop(i == cut ? chunk : group.extent));
    if (i == cut) {
      place = table.add(table.scale(builder.index_of(chunks), chunk), place);
      if (table[place].high >= group.extent) {
        Ref end = builder.constant(i64, static_cast<std::uint64_t>(group.extent));
        inside = builder.compute(Op::compare, bool_, {builder.scalar(place), end}, Comparison::lt);
      }
    }
    writer.set_axes(group, place);
  }
  writer.element = writer.producers.point(writer.domain);
  return inside;
}

}  // namespace

std::optional<GroupLowering::Split> GroupLowering::split(const Nest& nest) const {
  if (kept_size_ == 0 || !has_few_long_rows(plan_)) return std::nullopt;
  for (std::uint32_t i = 0; i < region_.nodes().size(); ++i) {
    const Op op = region_.node(i).op;
    if (is_reduction(op) && (plan_.stage[i] > 0 || op == Op::reduce)) return std::nullopt;
  }
  if (std::ranges::find(plan_.is_row, 0) != plan_.is_row.end()) {
    return std::nullopt;
  }
  Split cut;
  for (std::size_t i = 1; i < nest.reduced.size(); ++i) {
    if (nest.reduced[i].extent > nest.reduced[cut.group].extent) cut.group = i;
  }
  const std::int64_t extent = nest.reduced[cut.group].extent;
  const std::int64_t elements = std::max(chunk_elements, row_size_ / most_chunks);
  cut.chunk = std::clamp<std::int64_t>(elements / (row_size_ / extent), 1, extent);
  cut.chunk = divisor_near(extent, cut.chunk);
  cut.chunks = (extent + cut.chunk - 1) / cut.chunk;
  return cut;
}

std::vector<Type> GroupLowering::partial_types(const Split& cut) const {
  std::vector<Type> types;
  for (std::uint32_t index : reductions_of(0)) {
    for (Dtype dtype : combiner_of(region_.node(index), region_).dtypes) {
      types.push_back({dtype, Shape{cut.chunks, kept_size_}});
    }
  }
  return types;
}

KernelCall GroupLowering::partial_kernel(const Nest& nest, const Split& cut) const {
  GroupWriter writer(region_, name_ + "_partial", nest, plan_.domain.rank());
  KernelBuilder& builder = writer.builder;
  IndexTable& table = builder.indices();
  KernelCall call;
  std::uint32_t buffer =
      add_arguments(writer, call, region_.parameter_count(), partial_types(cut), Access::write);
  const Ref chunk_loop = builder.open_loop(cut.chunks);
  const std::vector<Ref> kept_loops = writer.open(nest.kept);
  const Ref inside = open_chunk(writer, chunk_loop, cut.group, cut.chunk);

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

KernelCall GroupLowering::combining_kernel(const Nest& nest, const Split& cut) const {
  GroupWriter writer(region_, name_, nest, plan_.domain.rank());
  KernelBuilder& builder = writer.builder;
  IndexTable& table = builder.indices();
  KernelCall call;
  std::uint32_t buffer =
      add_arguments(writer, call, region_.parameter_count(), partial_types(cut), Access::read);
  writer.add_outputs(region_);
  for (std::uint32_t i = 0; i < region_.outputs().size(); ++i) {
    call.arguments.push_back({KernelArgument::Kind::output, i});
  }

  const std::vector<Ref> kept_loops = writer.open(nest.kept);
  writer.row = writer.producers.point(writer.places(kept_axes_));
  const Index kept = table.flatten(writer.places(kept_axes_), kept_sizes_);
  const Ref chunk_loop = builder.open_loop(cut.chunks);
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
