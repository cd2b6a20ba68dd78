#include "codegen/cpu/accumulate_rows.h"

#include <algorithm>

#include "codegen/kernel/combine_op.h"
#include "codegen/kernel/facts.h"
#include "codegen/kernel/loop_nest.h"
#include "codegen/kernel/rewrite_ops.h"
#include "ir/checked.h"

namespace anabranch::cpu {
namespace {

// docs/benchmarks.md, "Products with a vector, and sums of columns".
constexpr std::int64_t rows_at_once = 8, fewest_rows = 4, most_rows = 16;
/// Sums of so many sums lose no more accuracy than one accumulator's terms do (blocked_sums.h).
constexpr std::int64_t most_blocks = 32;
constexpr std::int64_t least_row_bytes = 4096;      // a page, which prefetchers do not cross
constexpr std::int64_t most_results_bytes = 1 << 18;  // of a row, in the cache beside the matrix

/// The rows of a block: a divisor of all near `rows_at_once`, or nothing.
std::optional<std::int64_t> block_of(std::int64_t rows) {
  for (std::int64_t distance = 0; distance <= most_rows - rows_at_once; ++distance) {
    for (const std::int64_t size : {rows_at_once + distance, rows_at_once - distance}) {
      if (size < fewest_rows || rows % size != 0) continue;
      if (rows / size >= 2 && rows / size <= most_blocks) return size;
    }
  }
  return std::nullopt;
}

/// A loop over columns whose body is a loop over rows, and stores of its results.
struct Columns {
  Ref loop, rows;
  std::vector<Ref> stores;  ///< one of each result
};

std::optional<Columns> columns_of(const Kernel& kernel, const KernelFacts& facts) {
  if (facts.outer().size() < 2) return std::nullopt;
  Columns found{facts.outer().back(), {}, {}};
  if (facts.loop(found.loop).vector_width == 1) return std::nullopt;
  std::vector<Ref> results;
  for (Ref ref : facts.loop(found.loop).body) {
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

/// Whether the rows lie far apart in memory, and each is read along itself.
bool reads_far_rows(const Kernel& kernel, const KernelFacts& facts, const Columns& columns) {
  bool any = false;
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (access.is_store) {
      if (facts.stride(access, columns.loop) != 1) return false;
      continue;
    }
    if (kernel.buffers[access.buffer].access != Access::read) return false;
    const auto next = facts.stride(access, columns.rows);
    const auto bytes = static_cast<std::int64_t>(byte_size(kernel.buffers[access.buffer].dtype));
    any |= next && facts.stride(access, columns.loop) == 1 &&
           saturating_multiply(*next, bytes) >= least_row_bytes;
  }
  return any;
}

std::int64_t result_bytes(const Kernel& kernel, const Columns& columns, std::int64_t extent) {
  std::int64_t bytes = 0;
  for (Ref ref : columns.stores) {
    const auto& store = std::get<Store>(kernel[ref].operation);
    bytes += saturating_multiply(
        extent, static_cast<std::int64_t>(byte_size(kernel.buffers[store.buffer].dtype)));
  }
  return bytes;
}

/// How each store's value is combined with what is stored already.
std::optional<Op> combination(const Kernel& kernel, Ref rows, Ref result) {
  for (const Reduction& reduction : std::get<Loop>(kernel[rows].operation).reductions) {
    if (std::ranges::find(reduction.results, result) != reduction.results.end()) {
      return combine_op(reduction.combine);
    }
  }
  return std::nullopt;
}

Kernel strip_mined(const Kernel& kernel, Ref around, const Columns& columns, std::int64_t size) {
  Kernel made = kernel;
  const auto loop = [&](Ref ref) -> Loop& { return std::get<Loop>(made[ref].operation); };

  Loop blocks;
  blocks.extent = loop(columns.rows).extent / size;
  blocks.body = {columns.loop};
  const Ref block{static_cast<std::uint32_t>(made.instructions.size())};
  made.instructions.push_back({std::move(blocks), Dtype::i64, made[columns.loop].location});
  std::ranges::replace(loop(around).body, columns.loop, block);
  loop(columns.rows).extent = size;

  IndexCopier copy(kernel.indices, made.indices);
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    if (std::holds_alternative<Loop>(made.instructions[i].operation)) {
      copy.set_loop(i, made.index_of(Ref{i}));
    }
  }
  copy.set_loop(columns.rows.index,
                made.indices.add(made.indices.scale(made.index_of(block), size),
                                 made.index_of(columns.rows)));
  for (Instruction& instruction : made.instructions) {
    const auto renew = [&](Index& index) {
      if (kernel.indices.contains(index) && kernel.indices.depends_on(index, columns.rows.index)) {
        index = copy(index);
      }
    };
    if (auto* load = std::get_if<Load>(&instruction.operation)) renew(load->index);
    if (auto* value = std::get_if<IndexValue>(&instruction.operation)) renew(value->index);
  }

  for (Ref ref : columns.stores) {
    const Store store = std::get<Store>(made[ref].operation);
    const Dtype dtype = made[store.value].dtype;
    ScalarWriter writer(made);
    const Ref begun = writer.compute(
        Op::compare, Dtype::bool_,
        {writer.add(IndexValue{made.index_of(block)}, Dtype::i64), writer.number(Dtype::i64, 0)},
        Comparison::gt);
    const Ref before = writer.add(Load{store.buffer, store.index, {}, 0}, dtype);
    const Ref both =
        writer.compute(*combination(kernel, columns.rows, store.value), dtype, {before, store.value});
    std::get<Store>(made[ref].operation).value =
        writer.compute(Op::select, dtype, {begun, both, store.value});
    Block& body = loop(columns.loop).body;
    body.insert(std::ranges::find(body, ref), writer.block().begin(), writer.block().end());
  }
  return made;
}

}  // namespace

Kernel accumulate_rows(const Kernel& kernel, KernelContext& context) {
  if (context.row_major) return kernel;
  const KernelFacts facts(kernel);
  const auto columns = columns_of(kernel, facts);
  if (!columns || !reads_far_rows(kernel, facts, *columns)) return kernel;
  const Loop& rows = facts.loop(columns->rows);
  const auto size = block_of(rows.extent);
  if (!size || rows.runs_in_order() || rows.first != 0) return kernel;
  if (result_bytes(kernel, *columns, facts.loop(columns->loop).extent) > most_results_bytes) {
    return kernel;
  }
  for (Ref ref : columns->stores) {
    const Ref value = std::get<Store>(kernel[ref].operation).value;
    if (!combination(kernel, columns->rows, value)) return kernel;
  }
  return strip_mined(kernel, facts.outer()[facts.outer().size() - 2], *columns, *size);
}

}  // namespace anabranch::cpu
