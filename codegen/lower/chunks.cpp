#include "codegen/lower/chunks.h"

#include <algorithm>

namespace anabranch {
namespace {

// docs/benchmarks.md, "Products with a vector, and sums of columns".
constexpr std::int64_t least_columns = 8, least_chunks = 8;
// Side by side; chunks of twice as many took 1.5 to 2 times as long. One accumulator takes as many
// terms, too.
constexpr std::int64_t least_rows = 32;
// What a chunk of narrow rows has, so that its partial results are few beside it.
constexpr std::int64_t least_elements = 1 << 14;

/// The divisor of `extent` nearest to `wanted`, or `wanted` where none is near. First of those that
/// are a multiple of as many rows as sums over rows take at once, so that both can share blocks
/// (codegen/kernel/fuse_loops.h).
std::int64_t divisor_near(std::int64_t extent, std::int64_t wanted) {
  constexpr std::int64_t rows_at_once = 4;
  const std::int64_t farthest = std::min<std::int64_t>(wanted / 2, 4096);
  for (std::int64_t multiple : {rows_at_once, std::int64_t{1}}) {
    for (std::int64_t distance = 0; distance <= farthest; ++distance) {
      for (std::int64_t size : {wanted - distance, wanted + distance}) {
        if (size > 0 && size % multiple == 0 && extent % size == 0) return size;
      }
    }
  }
  return wanted;
}

}  // namespace

std::optional<std::int64_t> rows_per_chunk(std::int64_t rows, std::int64_t columns,
                                           std::int64_t element_bytes, ColumnSums sums,
                                           bool has_several) {
  if (columns < least_columns || rows < sums.least_chunked_bytes / element_bytes / columns) {
    return std::nullopt;
  }
  const std::int64_t per_chunk =
      std::max({has_several ? sums.least_rows_of_several : least_rows, least_elements / columns,
                rows / std::max<std::int64_t>(sums.most_partials / columns, 1)});
  if (rows < least_chunks * per_chunk) return std::nullopt;
  return per_chunk;
}

Chunks cut_into_chunks(const std::vector<AxisGroup>& reduced, std::int64_t places) {
  Chunks chunks;
  std::int64_t all = 1;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    all *= reduced[i].extent;
    if (reduced[i].extent > reduced[chunks.group].extent) chunks.group = i;
  }
  const std::int64_t extent = reduced[chunks.group].extent;
  const std::int64_t wanted = std::clamp<std::int64_t>(places / (all / extent), 1, extent);
  chunks.size = divisor_near(extent, wanted);
  chunks.count = (extent + chunks.size - 1) / chunks.size;
  return chunks;
}

std::uint32_t add_partials(GroupWriter& writer, KernelCall& call, std::size_t inputs,
                           const std::vector<Type>& partials, Access access) {
  call.add_arguments(KernelArgument::Kind::input, inputs);
  for (std::uint32_t i = 0; i < partials.size(); ++i) {
    writer.builder.add_buffer(
        {"partial" + std::to_string(i), partials[i].dtype, partials[i].size(), access});
  }
  call.add_arguments(KernelArgument::Kind::temporary, partials.size());
  return static_cast<std::uint32_t>(inputs);
}

Ref open_chunk(GroupWriter& writer, Ref chunk, const Chunks& chunks) {
  KernelBuilder& builder = writer.builder;
  IndexTable& table = builder.indices();
  Ref inside;
  for (std::size_t i = 0; i < writer.nest.reduced.size(); ++i) {
    const AxisGroup& group = writer.nest.reduced[i];
    const bool is_cut = i == chunks.group;
    Index place = builder.index_of(builder.open_loop(is_cut ? chunks.size : group.extent));
    if (is_cut) {
      place = table.add(table.scale(builder.index_of(chunk), chunks.size), place);
      if (table[place].high >= group.extent) {
        Ref end = builder.constant(i64, static_cast<std::uint64_t>(group.extent));
        inside = builder.compute(Op::compare, bool_, {builder.scalar(place), end}, Comparison::lt);
      }
    }
    writer.set_axes(group, place);
  }
  return inside;
}

}  // namespace anabranch
