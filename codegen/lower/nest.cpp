#include "codegen/lower/nest.h"

#include <algorithm>

#include "ir/checked.h"

namespace anabranch {
namespace {

/// Whether `index` changes by the same with a step of `outer` as with `inner_extent` steps of
/// `inner`.
bool walks_as_one(const IndexTable& table, Index index, Ref outer, Ref inner,
                  std::int64_t inner_extent) {
  if (table.factor(index, outer.index) !=
      checked_multiply(table.factor(index, inner.index), inner_extent)) {
    return false;
  }
  for (IndexTable::Term term : table[index].terms) {
    const IndexTable::Atom& atom = table.atom(term.atom);
    if (atom.kind == IndexTable::Atom::Kind::loop) continue;
    if (!walks_as_one(table, atom.of, outer, inner, inner_extent)) return false;
  }
  return true;
}

void append(AxisGroup& group, const AxisGroup& next) {
  group.axes.insert(group.axes.end(), next.axes.begin(), next.axes.end());
  group.sizes.insert(group.sizes.end(), next.sizes.begin(), next.sizes.end());
  group.extent *= next.extent;
}

}  // namespace

Nest loop_per_axis(std::span<const std::int64_t> domain, std::span<const int> reduced_axes) {
  Nest nest;
  for (int axis = 0; axis < static_cast<int>(domain.size()); ++axis) {
    const std::int64_t size = domain[static_cast<std::size_t>(axis)];
    if (size == 1) continue;
    bool reduced = std::find(reduced_axes.begin(), reduced_axes.end(), axis) != reduced_axes.end();
    (reduced ? nest.reduced : nest.kept).push_back({{axis}, {size}, size});
  }
  return nest;
}

std::vector<AxisGroup> as_one_group(std::span<const AxisGroup> groups) {
  if (groups.empty()) return {};
  AxisGroup all;
  for (const AxisGroup& group : groups) append(all, group);
  return {all};
}

std::vector<AxisGroup> join_groups(std::span<const AxisGroup> groups,
                                   std::span<const std::vector<Ref>> nests,
                                   std::span<const Index> used, const IndexTable& table) {
  std::vector<AxisGroup> joined;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    // Both sides of a join agree, so comparing neighbours decides for whole runs.
    bool joins = i > 0;
    for (const std::vector<Ref>& loops : nests) {
      for (Index index : used) {
        joins = joins && walks_as_one(table, index, loops[i - 1], loops[i], groups[i].extent);
      }
    }
    if (joins) {
      append(joined.back(), groups[i]);
    } else {
      joined.push_back(groups[i]);
    }
  }
  return joined;
}

}  // namespace anabranch
