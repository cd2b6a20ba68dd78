// Sums in chunks: partial results of each chunk of the places that are reduced, by one kernel, then
// their combination by another.
//
//   for j < 64 { sum s = for i < 1M { x[i, j] }    for c < 128, j < 64 {
//                store y[j] }                        sum s = for i < 8192 { x[8192 c + i, j] }
//                                                    store partial[c, j] }
//                                                  for j < 64 {
//                                                    sum s = for c < 128 { partial[c, j] }
//                                                    store y[j] }
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/lower/column_sums.h"
#include "codegen/lower/lowered.h"
#include "codegen/lower/nest.h"
#include "codegen/lower/writer.h"

namespace anabranch {

/// How the reduced loops are cut: loop `group` of them into `count` chunks of `size` places, of
/// which the last may reach beyond the end.
struct Chunks {
  std::size_t group = 0;
  std::int64_t size = 0, count = 0;
};

/// Rows of a chunk where the columns of a row-major [rows, columns] matrix are summed, so that it
/// is read along its rows: the sum of a whole column reads a piece of each row, a cache line or a
/// few, and goes on to the next one. Nothing where the matrix is small, as `sums` has it, or
/// narrow, or has few rows. `element_bytes` are those of an element; `has_several`: each column has
/// several sums.
std::optional<std::int64_t> rows_per_chunk(std::int64_t rows, std::int64_t columns,
                                           std::int64_t element_bytes, ColumnSums sums,
                                           bool has_several = false);

/// Cuts the longest of the reduced loops so that a chunk has about `places` of all that they walk.
Chunks cut_into_chunks(const std::vector<AxisGroup>& reduced, std::int64_t places);

/// Buffers for the operands, then the partial results, as `access` says; gives the first of those.
std::uint32_t add_partials(GroupWriter& writer, KernelCall& call, std::size_t inputs,
                           const std::vector<Type>& partials, Access access);

/// Opens the reduced loops, the one that is cut over the places of the open loop `chunk`. Gives the
/// condition for a place to exist where the last chunk reaches beyond the end.
Ref open_chunk(GroupWriter& writer, Ref chunk, const Chunks& chunks);

}  // namespace anabranch
