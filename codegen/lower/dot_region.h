// DotRegion: a fused dot, with its loops as axes, and what its operands and its epilogue are at a
// place of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/lower/combiner.h"
#include "codegen/lower/writer.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// A dot of two parameters, then an elementwise epilogue over the dot's shape.
class DotRegion {
 public:
  explicit DotRegion(const Graph& region);

  const Graph& graph() const { return graph_; }
  const Node& node() const { return graph_.node(dot_); }
  const Type& operand(std::size_t i) const { return graph_.type(node().inputs[i]); }
  /// Of the sums; that of the operands, or a wider one.
  Dtype dtype() const { return combiner_.dtypes[0]; }
  const Combiner& combiner() const { return combiner_; }
  std::int64_t result_size() const { return node().types[0].size(); }
  bool has_epilogue() const { return graph_.nodes().size() > dot_ + 1; }

  /// The sizes of all axes: of batch, left free and right free axes (which are the result's), then
  /// of contracting ones.
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  int rank() const { return static_cast<int>(sizes_.size()); }
  int first_left() const { return first_left_; }
  int first_right() const { return first_right_; }
  int first_contracting() const { return first_contracting_; }
  std::int64_t size_of_axes(int first, int end) const;
  /// The axis that each axis of an operand is.
  const std::vector<int>& axes_of(std::size_t operand) const { return axes_[operand]; }

  /// The operand's element at the writer's place, in the dtype of the sums.
  Ref element(GroupWriter& writer, std::size_t operand, Ref mask = {}) const;
  /// Stores what the outputs make of the sum at `place` of the result.
  void store(GroupWriter& writer, std::vector<Index> place, Ref sum) const;

 private:
  void add_axes();

  const Graph& graph_;
  std::uint32_t dot_ = 0;
  Combiner combiner_;
  std::vector<int> axes_[2];
  std::vector<std::int64_t> sizes_;
  int first_left_ = 0, first_right_ = 0, first_contracting_ = 0;
};

}  // namespace anabranch
