#include "codegen/cpu/accumulate_rows.h"

#include <algorithm>
#include <utility>

#include "codegen/cpu/cpu_model.h"
#include "codegen/kernel/combine_op.h"
#include "codegen/kernel/facts.h"
#include "codegen/kernel/loop_nest.h"
#include "codegen/kernel/rewrite_ops.h"
#include "codegen/memory/in_place.h"

namespace anabranch::cpu {
namespace {

// docs/benchmarks.md, "Products with a vector, and sums of columns".
constexpr std::int64_t least_bytes = 4 << 20;  // of what is read
constexpr std::int64_t rows_at_once = 8, fewest_rows = 4, most_rows = 16;
/// Sums of so many sums lose no more accuracy than one accumulator's terms do (blocked_sums.h).
constexpr std::int64_t most_blocks = 32;
/// Results of a panel, which stay in the cache beside the matrix.
constexpr std::int64_t least_result_bytes = 1 << 11, most_result_bytes = 1 << 17;
constexpr std::int64_t least_panels = 16;  // for threads to share

/// The loop over columns, and in the body of the innermost of the outer loops the one over rows and
/// the stores of its results.
struct Columns {
  Ref loop, rows;
  std::vector<Ref> stores;  ///< one of each result
};

/// Nothing where the body of `inner` has more than loads and so on, the loop over rows, and stores.
std::optional<Columns> columns_of(const Kernel& kernel, Ref columns, Ref inner) {
  Columns found{columns, {}, {}};
  std::vector<Ref> results;
  for (Ref ref : std::get<Loop>(kernel[inner].operation).body) {
    const Operation& operation = kernel[ref].operation;
    if (std::holds_alternative<Loop>(operation)) {
      if (found.rows) return std::nullopt;
      found.rows = ref;
    } else if (std::holds_alternative<Result>(operation)) {
      results.push_back(ref);
    } else if (const auto* store = std::get_if<Store>(&operation)) {
      const auto result = std::ranges::find(results, store->value);
      if (result == results.end()) return std::nullopt;
      results.erase(result);
      found.stores.push_back(ref);
    } else if (found.rows) {
      return std::nullopt;
    }
  }
  if (!found.rows || found.stores.empty() || !results.empty()) return std::nullopt;
  return found;
}

/// How the loop over rows combines what it makes `result` of.
std::optional<Op> combination(const Kernel& kernel, Ref rows, Ref result) {
  for (const Reduction& reduction : std::get<Loop>(kernel[rows].operation).reductions) {
    if (std::ranges::find(reduction.results, result) != reduction.results.end()) {
      return combine_op(reduction.combine);
    }
  }
  return std::nullopt;
}

bool all_combine(const Kernel& kernel, const Columns& columns) {
  return std::ranges::all_of(columns.stores, [&](Ref ref) {
    const Ref result = std::get<Store>(kernel[ref].operation).value;
    return combination(kernel, columns.rows, result).has_value();
  });
}

/// Whether rows lie pages apart in memory, and what is stored lies along them.
bool has_far_rows(const Kernel& kernel, const KernelFacts& facts, const Columns& columns) {
  bool are_far = false;
  for (const KernelFacts::Access& access : facts.accesses()) {
    const bool is_along = facts.stride(access, columns.loop) == 1;
    if (access.is_store ? !is_along : kernel.buffers[access.buffer].access != Access::read) {
      return false;
    }
    are_far |= !access.is_store && is_along &&
               facts.stride_bytes(access, columns.rows).value_or(0) >= page_bytes;
  }
  return are_far;
}

/// The rows that are added at once: a divisor of all, or nothing.
std::optional<std::int64_t> rows_of_block(std::int64_t rows) {
  if (rows <= most_rows) return std::nullopt;
  for (std::int64_t distance = 0; distance <= most_rows - rows_at_once; ++distance) {
    for (const std::int64_t size : {rows_at_once + distance, rows_at_once - distance}) {
      if (size < fewest_rows || rows % size != 0) continue;
      if (rows / size <= most_blocks) return size;
    }
  }
  return std::nullopt;
}

/// The columns of a panel, at most `most`: a divisor of all, or nothing where that is a short piece
/// of a row; `bytes` are those of a column's results.
std::optional<std::int64_t> columns_of_panel(std::int64_t columns, std::int64_t most,
                                             std::int64_t bytes) {
  for (std::int64_t size = std::min(columns, most); size * bytes >= least_result_bytes; --size) {
    if (columns % size == 0) return size;
  }
  return std::nullopt;
}

struct Tile {
  std::int64_t rows, columns;
};

std::optional<Tile> tile_of(const Kernel& kernel, const KernelFacts& facts,
                            const Columns& columns) {
  std::int64_t bytes = 0;
  for (Ref ref : columns.stores) {
    const auto& store = std::get<Store>(kernel[ref].operation);
    bytes += static_cast<std::int64_t>(byte_size(kernel.buffers[store.buffer].dtype));
  }
  const std::int64_t extent = facts.loop(columns.loop).extent;
  std::int64_t most = most_result_bytes / bytes;
  if (columns.loop == facts.outer().front()) most = std::min(most, extent / least_panels);
  const auto rows = rows_of_block(facts.loop(columns.rows).extent);
  const auto panel = columns_of_panel(extent, most, bytes);
  if (!rows || !panel) return std::nullopt;
  return Tile{*rows, *panel};
}

/// The outer loops with panels in the place of the columns, then a loop of `blocks` turns, which
/// all do the same, then one over the columns of a panel, which are lanes.
Kernel in_panels(const Kernel& kernel, const KernelFacts& facts, Ref columns, std::int64_t panel,
                 std::int64_t blocks) {
  const std::vector<Ref>& outer = facts.outer();
  const auto at = static_cast<std::size_t>(std::ranges::find(outer, columns) - outer.begin());
  NewNest nest{extents_of(kernel, outer), {}};
  nest.extents[at] /= panel;
  nest.extents.insert(nest.extents.end(), {blocks, panel});
  nest.old_indices = [&](IndexTable& table, std::span<const Index> now) {
    std::vector<Index> indices(now.begin(), now.end() - 2);
    indices[at] = table.add(table.scale(indices[at], panel), now.back());
    return indices;
  };
  Kernel made = with_nest(kernel, outer, nest);
  std::get<Loop>(made[outer_loops(made).back()].operation).lanes = Loop::Lanes::marked;
  return made;
}

/// Each turn of the loop `block` over its own `size` rows, the results so far being in memory.
void accumulate(Kernel& kernel, Ref block, const Columns& columns, std::int64_t size) {
  std::get<Loop>(kernel[columns.rows].operation).extent = size;
  const IndexTable old = std::exchange(kernel.indices, {});
  IndexTable& table = kernel.indices;
  IndexCopier copy(old, table);
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    if (std::holds_alternative<Loop>(kernel.instructions[i].operation)) {
      copy.set_loop(i, kernel.index_of(Ref{i}));
    }
  }
  copy.set_loop(columns.rows.index, table.add(table.scale(kernel.index_of(block), size),
                                              kernel.index_of(columns.rows)));
  for (Instruction& instruction : kernel.instructions) {
    if (auto* load = std::get_if<Load>(&instruction.operation)) load->index = copy(load->index);
    if (auto* store = std::get_if<Store>(&instruction.operation)) store->index = copy(store->index);
    if (auto* at = std::get_if<IndexValue>(&instruction.operation)) at->index = copy(at->index);
  }
  // The last rows of a result may be there twice, and so read what is there before any is written.
  const auto is_store = [&](Ref ref) {
    return std::ranges::find(columns.stores, ref) != columns.stores.end();
  };
  for (Ref ref : columns.stores) {
    const Store store = std::get<Store>(kernel[ref].operation);
    const Dtype dtype = kernel[store.value].dtype;
    const Op op = *combination(kernel, columns.rows, store.value);
    ScalarWriter writer(kernel);
    const Ref at = writer.add(IndexValue{kernel.index_of(block)}, Dtype::i64);
    const Ref begun = writer.compute(Op::compare, Dtype::bool_, {at, writer.number(Dtype::i64, 0)},
                                     Comparison::gt);
    const Ref before = writer.add(Load{store.buffer, store.index, begun, 0}, dtype);
    const Ref both = writer.compute(op, dtype, {before, store.value});
    const Ref all = writer.compute(Op::select, dtype, {begun, both, store.value});
    std::get<Store>(kernel[ref].operation).value = all;
    Block& body = std::get<Loop>(kernel[columns.loop].operation).body;
    body.insert(std::ranges::find_if(body, is_store), writer.block().begin(), writer.block().end());
  }
}

}  // namespace

Kernel accumulate_rows(const Kernel& kernel, KernelContext& context) {
  if (context.row_major || kernel.cost.bytes_read < least_bytes) return kernel;
  const KernelFacts facts(kernel);
  const auto lanes = facts.marked_lanes();
  if (!lanes || (*lanes != facts.outer().front() && *lanes != facts.outer().back())) return kernel;
  const auto columns = columns_of(kernel, *lanes, facts.outer().back());
  if (!columns || !has_far_rows(kernel, facts, *columns)) return kernel;
  const Loop& rows = facts.loop(columns->rows);
  if (rows.runs_in_order() || rows.first != 0 || !all_combine(kernel, *columns)) return kernel;
  const auto tile = tile_of(kernel, facts, *columns);
  if (!tile || may_be_in_place(kernel)) return kernel;

  Kernel made = in_panels(kernel, facts, *lanes, tile->columns, rows.extent / tile->rows);
  const std::vector<Ref> outer = outer_loops(made);
  const auto now = columns_of(made, outer.back(), outer.back());
  accumulate(made, outer[outer.size() - 2], *now, tile->rows);
  return made;
}

}  // namespace anabranch::cpu
