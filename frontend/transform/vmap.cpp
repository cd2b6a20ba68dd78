#include "anabranch/vmap.h"

#include <optional>
#include <string>

#include "frontend/array/fail.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "passes/transform/batch.h"
#include "passes/transform/quantity.h"

namespace anabranch::detail {

/// One argument's array: its axis from the front, where it is mapped.
struct MappedLeaf {
  Type type;
  std::optional<std::int64_t> axis = {};

  /// The type of one example.
  Type single() const {
    if (!axis) return type;
    std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
    sizes.erase(sizes.begin() + *axis);
    return {type.dtype, Shape(std::move(sizes))};
  }
  std::int64_t size() const { return type.shape[static_cast<int>(*axis)]; }
};

namespace {

constexpr const char* name = "vmap";

[[noreturn]] void fail_here(const std::string& what, SourceLocation where) {
  fail(std::string(name) + ": " + what, where);
}

std::string range_of(int rank) {
  return "0 to " + std::to_string(rank - 1) + ", or -" + std::to_string(rank) +
         " to -1 from the end";
}

std::optional<std::int64_t> axis_from_front(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

MappedLeaf mapped_leaf(const std::string& path, const Array& array, const MappedAxis& wanted,
                       SourceLocation where) {
  MappedLeaf leaf{type_of_leaf(name, path, array, where)};
  const int rank = leaf.type.rank();
  const bool is_number = rank == 0 && is_weak(array);
  if (!wanted.is_mapped || (wanted.is_default && is_number)) return leaf;
  if (rank == 0) {
    fail_here(path + ", " + to_string(leaf.type) +
                  ", is a scalar and has no axis to map; mark it with ab::unmapped in in_axes",
              where);
  }
  leaf.axis = axis_from_front(wanted.axis, rank);
  if (!leaf.axis) {
    fail_here(path + ", " + to_string(leaf.type) + ", has no axis " + std::to_string(wanted.axis) +
                  "; in_axes takes " + range_of(rank),
              where);
  }
  return leaf;
}

std::string described(const std::string& path, const MappedLeaf& leaf) {
  return path + ", " + to_string(leaf.type) + ", has " + std::to_string(leaf.size()) + " on axis " +
         std::to_string(*leaf.axis);
}

// How many examples there are.
std::int64_t common_size(const std::vector<std::string>& paths,
                         const std::vector<MappedLeaf>& leaves, SourceLocation where) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].axis) continue;
    if (!first) first = i;
    if (leaves[i].size() == leaves[*first].size()) continue;
    fail_here("the mapped axes differ in size: " + described(paths[*first], leaves[*first]) +
                  ", and " + described(paths[i], leaves[i]) +
                  "; map axes of one size, or mark an argument with ab::unmapped in in_axes",
              where);
  }
  if (!first) {
    fail_here(
        "no argument is mapped; give at least one argument that has arrays an axis in in_axes",
        where);
  }
  return leaves[*first].size();
}

}  // namespace

struct VmapCall::State {
  SourceLocation where;
  Leaves operands;
  std::vector<MappedLeaf> leaves = {};
  std::int64_t size = 0;
  FunctionTrace trace = {};
  Leaves parameters = {};

  BatchedGraph batched(const std::vector<MappedAxis>& out) const;
  std::vector<std::int64_t> out_axes(const BatchedGraph& batched, const Tree& result,
                                     const std::vector<MappedAxis>& axes) const;
  Graph whole(const BatchedGraph& batched, const std::vector<std::int64_t>& out) const;
};

VmapCall::VmapCall(const MappedArguments& arguments, SourceLocation where)
    : state_(new State{where, arguments.tree.leaves}) {
  const std::vector<std::string> paths = paths_of(arguments.tree.form);
  std::vector<MappedLeaf>& leaves = state_->leaves;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    leaves.push_back(mapped_leaf(paths[i], state_->operands[i], arguments.axes[i], where));
  }
  state_->size = common_size(paths, leaves, where);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool weak = is_weak(state_->operands[i]);
    state_->parameters.push_back(state_->trace.parameter(leaves[i].single(), weak));
  }
}

VmapCall::~VmapCall() = default;

const Leaves& VmapCall::parameters() const { return state_->parameters; }

// What is mapped comes first in each array; what is captured is unmapped.
BatchedGraph VmapCall::State::batched(const std::vector<MappedAxis>& out) const {
  std::vector<bool> flags, required;
  for (const MappedLeaf& leaf : leaves) flags.push_back(leaf.axis.has_value());
  flags.resize(trace.graph().parameter_count(), false);
  for (const MappedAxis& axis : out) required.push_back(axis.is_mapped);
  return batch(trace.graph(), size, flags, required);
}

// Where the mapped axis of each result goes, from the front; 0 of one that has none.
std::vector<std::int64_t> VmapCall::State::out_axes(const BatchedGraph& batched, const Tree& result,
                                                    const std::vector<MappedAxis>& axes) const {
  const std::vector<std::string> paths = paths_of(result.form);
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string which =
        paths[i] + ", " + to_string(trace.graph().output_type(i)) + " of each example, ";
    if (!axes[i].is_mapped) {
      places.push_back(0);
      if (!batched.batched[i]) continue;
      fail_here(which +
                    "depends on a mapped argument; give it an axis in out_axes instead of "
                    "ab::unmapped",
                where);
    }
    const int rank = batched.graph.output_type(i).rank();
    const auto place = axis_from_front(axes[i].axis, rank);
    if (!place) {
      fail_here(which + "cannot have its mapped axis at " + std::to_string(axes[i].axis) +
                    "; out_axes takes " + range_of(rank),
                where);
    }
    places.push_back(*place);
  }
  return places;
}

// Of the arguments as they are given, then the captures, to the results as they are wanted.
Graph VmapCall::State::whole(const BatchedGraph& batched,
                             const std::vector<std::int64_t>& out) const {
  GraphBuilder builder(name);
  GraphCopier copier(batched.graph, builder);
  std::vector<Quantity> given;
  const auto count = static_cast<std::uint32_t>(batched.graph.parameter_count());
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool is_own = i < leaves.size();
    given.push_back(
        {&builder, builder.parameter(is_own ? leaves[i].type : batched.graph.parameter_type(i))});
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool is_mapped = i < leaves.size() && leaves[i].axis;
    const Quantity own = given[i];
    copier.rename(i, (is_mapped ? own.move_axis(*leaves[i].axis, 0) : own).value);
  }
  copier.copy_body();
  std::vector<Value> outputs;
  for (Value output : copier(batched.graph.outputs())) {
    const std::size_t i = outputs.size();
    const Quantity result{&builder, output};
    outputs.push_back((batched.batched[i] ? result.move_axis(0, out[i]) : result).value);
  }
  return builder.build(std::move(outputs));
}

Leaves VmapCall::results(const Tree& result, const std::vector<MappedAxis>& axes) {
  const SourceLocation where = state_->where;
  if (result.leaves.empty()) fail_here("the function returns no arrays", where);
  FunctionTrace& trace = state_->trace;
  trace.finish(name, result, where);
  const BatchedGraph batched = state_->batched(axes);
  const Graph whole = state_->whole(batched, state_->out_axes(batched, result, axes));
  Leaves results = call_graph(name, whole, trace.with_captures(state_->operands), where);
  trace.mark_weak(results);
  return results;
}

}  // namespace anabranch::detail
