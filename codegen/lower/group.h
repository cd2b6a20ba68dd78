// Lowering of elementwise groups and reduction groups.
//
//   for each kept place
//     for each stage
//       for each reduced place: fold the stage's reductions, store its element outputs
//     store row outputs
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/lower/chunks.h"
#include "codegen/lower/column_sums.h"
#include "codegen/lower/lowered.h"
#include "codegen/lower/nest.h"
#include "codegen/lower/reduction_scalars.h"
#include "codegen/lower/writer.h"
#include "ir/fusion_plan.h"
#include "ir/graph/graph.h"

namespace anabranch {

class GroupLowering {
 public:
  GroupLowering(const Graph& region, FusionPlan plan, std::string name);

  Lowered run(const LowerTarget& target);

 private:
  /// What one attempt at the whole group learns or uses.
  struct Trial {
    Kernel kernel;
    Nest joined;                  ///< the loops it could have had
    std::vector<Value> kept_row;  ///< costly element values that a later stage needs again
    std::int64_t kept_bytes = 0;
  };

  /// Keeps those values, if they are known; finds them otherwise.
  Trial attempt(const Nest& nest, const std::optional<std::vector<Value>>& kept_row) const;
  bool may_keep(const Trial& trial, const KeptRows& limits) const;
  void write_stage(GroupWriter& writer, int stage) const;
  void fold_stage(GroupWriter& writer, const std::vector<std::uint32_t>& reductions) const;
  void store_outputs(GroupWriter& writer, int stage) const;
  void store_rows(GroupWriter& writer) const;
  Ref reuse(GroupWriter& writer, Value value, Point at) const;

  std::optional<Chunks> split(const Nest& nest, ColumnSums sums) const;
  std::optional<std::int64_t> column_chunk(ColumnSums sums) const;
  KernelCall partial_kernel(const Nest& nest, const Chunks& chunks) const;
  KernelCall combining_kernel(const Nest& nest, const Chunks& chunks) const;
  std::vector<Type> partial_types(const Chunks& chunks) const;

  /// Of an output, at the place at hand.
  GroupWriter::Stored stored(GroupWriter& writer, std::uint32_t output) const;
  std::vector<Index> place_of(GroupWriter& writer, const Shape& shape, bool of_row) const;
  Index position_of(GroupWriter& writer) const;
  std::vector<std::uint32_t> reductions_of(int stage) const;

  const Graph& region_;
  FusionPlan plan_;
  std::string name_;
  std::int64_t kept_size_ = 1, row_size_ = 1;
  std::vector<std::int64_t> kept_sizes_, reduced_sizes_;
  std::vector<int> kept_axes_;
};

}  // namespace anabranch
