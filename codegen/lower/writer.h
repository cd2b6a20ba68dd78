// The state of writing one kernel of a group: the builder, the producers, and where in the domain
// the open loops stand.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower/inline_producers.h"
#include "codegen/lower/nest.h"
#include "ir/kernel/builder.h"

namespace anabranch {

/// Loops are opened for AxisGroups; `domain` is the place they stand at.
struct GroupWriter {
  /// The first `arguments` parameters of `region` are buffers.
  GroupWriter(const Graph& region, std::size_t arguments, const std::string& name, const Nest& nest,
              int rank)
      : builder(name), producers(region, builder), nest(nest) {
    for (std::size_t i = 0; i < arguments; ++i) {
      const Type& type = region.parameter_type(i);
      builder.add_buffer({"in" + std::to_string(i), type.dtype, type.size(), Access::read});
    }
    domain.assign(static_cast<std::size_t>(rank), builder.indices().constant(0));
  }

  GroupWriter(const Graph& region, const std::string& name, const Nest& nest, int rank)
      : GroupWriter(region, region.parameter_count(), name, nest, rank) {}

  void add_outputs(const Graph& region) {
    first_output = static_cast<std::uint32_t>(builder.kernel().buffers.size());
    for (std::size_t i = 0; i < region.outputs().size(); ++i) {
      const Type& type = region.type(region.outputs()[i]);
      builder.add_buffer({"out" + std::to_string(i), type.dtype, type.size(), Access::write});
    }
  }

  /// Places along the axes of `group` from the place along its loop.
  void set_axes(const AxisGroup& group, Index flat) {
    std::vector<Index> places = builder.indices().unflatten(flat, group.sizes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      domain[static_cast<std::size_t>(group.axes[i])] = places[i];
    }
  }

  std::vector<Ref> open(std::span<const AxisGroup> groups) {
    std::vector<Ref> loops;
    for (const AxisGroup& group : groups) {
      loops.push_back(builder.open_loop(group.extent));
      set_axes(group, builder.index_of(loops.back()));
    }
    return loops;
  }

  std::vector<Index> places(std::span<const int> axes) const {
    std::vector<Index> result;
    for (int axis : axes) result.push_back(domain[static_cast<std::size_t>(axis)]);
    return result;
  }

  /// What is stored, and where.
  struct Stored {
    Ref value;
    Index index;
  };

  /// The element of a dynamic_update_slice's block that is at `at`, and its place in the array.
  Stored block_element(const Node& update, Point at) {
    const Point scalar = producers.point({});
    for (std::size_t i = 2; i < update.inputs.size(); ++i) {
      producers.value_at(update.inputs[i], scalar);
    }
    const Ref value = producers.value_at(update.inputs[1], at);
    IndexTable& table = builder.indices();
    std::vector<Index> place = producers.starts(update, scalar);
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
      place[axis] = table.add(place[axis], producers[at][axis]);
    }
    return {value, table.flatten(place, update.types[0].shape.sizes())};
  }

  /// Closes `count` loops around reductions that the innermost folds and the others pass on.
  std::vector<Reduction> close(std::size_t count, std::vector<Reduction> reductions) {
    reductions = builder.close_loop(std::move(reductions));
    for (std::size_t i = 1; i < count; ++i) {
      for (Reduction& reduction : reductions) {
        reduction.values = std::move(reduction.results);
        reduction.results.clear();
      }
      reductions = builder.close_loop(std::move(reductions));
    }
    return reductions;
  }

  KernelBuilder builder;
  InlineProducers producers;
  const Nest& nest;
  std::uint32_t first_output = 0;
  std::vector<Index> domain;  // the place at hand, per axis
  Point row, element{UINT32_MAX};
  int stage = 0;
  std::vector<std::vector<Ref>> reduced_loops;  // one nest per stage
  std::map<Value, int> first_stage;             // of costly element values
  std::map<Value, std::uint32_t> scratch;       // their buffers
  bool exploring = false;
  std::vector<Value> found;  // those that a later stage needs again
  std::int64_t found_bytes = 0;
};

}  // namespace anabranch
