#include "passes/row_blocks/row_axes.h"

#include <algorithm>
#include <map>

#include "passes/row_blocks/axis_roles.h"

namespace anabranch {
namespace {

/// Sets of axes that are one axis: of each node's result, and of each operand that is a parameter,
/// each time that it is read. One that is as large as what the chain computes is to be read in one
/// way.
class AxisSets {
 public:
  explicit AxisSets(const Graph& chain) : chain_(chain) {
    const std::size_t count = chain.nodes().size();
    first_.resize(count);
    roles_.resize(count);
    std::size_t largest = 0;
    for (std::size_t i = chain.parameter_count(); i < count; ++i) {
      largest = std::max(largest, chain.nodes()[i].types[0].bytes());
    }
    for (std::uint32_t i = 0; i < chain.parameter_count(); ++i) {
      const Type& type = chain.parameter_type(i);
      if (2 * type.bytes() >= largest) first_[i] = {take(type.rank())};
    }
    for (auto i = static_cast<std::uint32_t>(chain.parameter_count()); i < count; ++i) add(i);
    for (auto i = static_cast<std::uint32_t>(chain.parameter_count()); i < count; ++i) unite(i);
    for (std::size_t i = 0; i < above_.size(); ++i) {
      if (is_whole_[i]) is_whole_[root(i)] = true;
    }
  }

  /// Every set that is a row axis: it is an axis of the first output, or of what that reads.
  std::vector<RowAxis> rows() {
    const std::uint32_t output = chain_.outputs()[0].node;
    if (output < chain_.parameter_count()) return {};
    std::vector<std::size_t> sets;
    const auto add_axes = [&](std::size_t first, const Type& type) {
      for (int axis = 0; axis < type.rank(); ++axis) {
        const std::size_t set = root(first + static_cast<std::size_t>(axis));
        if (std::ranges::find(sets, set) == sets.end()) sets.push_back(set);
      }
    };
    const Node& node = chain_.node(output);
    add_axes(first_[output][0], node.types[0]);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      add_axes(first_[output][i + 1], chain_.type(node.inputs[i]));
    }
    std::vector<RowAxis> found;
    for (std::size_t set : sets) {
      if (auto row = row_of(set)) found.push_back(std::move(*row));
    }
    return found;
  }

  std::optional<RowAxis> row(AxisOf axis) {
    return row_of(root(first_[axis.node][0] + static_cast<std::size_t>(axis.axis)));
  }

 private:
  void add(std::uint32_t index) {
    const Node& node = chain_.node(index);
    std::vector<Type> types;
    for (Value input : node.inputs) types.push_back(chain_.type(input));
    roles_[index] = axis_roles(node, types).value();
    first_[index] = {take(node.types[0].rank())};
    for (Value input : node.inputs) {
      const auto& given = first_[input.node];
      first_[index].push_back(given.empty() ? take(chain_.type(input).rank()) : given[0]);
    }
    const std::size_t own = first_[index][0];
    for (std::size_t axis = 0; axis < roles_[index].is_cut.size(); ++axis) {
      if (!roles_[index].is_cut[axis]) is_whole_[own + axis] = true;
    }
  }

  void unite(std::uint32_t index) {
    std::map<std::int64_t, std::size_t> summed;
    for (std::size_t i = 0; i < roles_[index].operands.size(); ++i) {
      const auto& roles = roles_[index].operands[i];
      for (std::size_t axis = 0; axis < roles.size(); ++axis) {
        const std::size_t at = first_[index][i + 1] + axis;
        switch (roles[axis].kind) {
          case AxisRole::Kind::kept:
            unite(at, first_[index][0] + static_cast<std::size_t>(roles[axis].axis));
            break;
          case AxisRole::Kind::summed:
            unite(at, summed.emplace(roles[axis].axis, at).first->second);
            break;
          case AxisRole::Kind::whole:
            is_whole_[at] = true;
        }
      }
    }
  }

  std::size_t take(int rank) {
    const std::size_t first = above_.size();
    for (int axis = 0; axis < rank; ++axis) above_.push_back(above_.size());
    is_whole_.resize(above_.size(), false);
    return first;
  }

  std::size_t root(std::size_t axis) {
    while (above_[axis] != axis) axis = above_[axis] = above_[above_[axis]];
    return axis;
  }

  void unite(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    above_[std::max(a, b)] = std::min(a, b);
  }

  std::optional<RowAxis> row_of(std::size_t set) {
    if (is_whole_[set]) return {};
    RowAxis row;
    const std::size_t count = chain_.nodes().size();
    row.result.resize(count);
    row.operands.resize(count);
    row.is_summed.resize(count);
    for (auto i = static_cast<std::uint32_t>(chain_.parameter_count()); i < count; ++i) {
      if (!place(i, set, row)) return {};
    }
    if (row.size < 2) return {};
    for (Value output : chain_.outputs()) {
      if (!row.concerns(output.node)) return {};
    }
    return row;
  }

  // Where the set is at a node; whether it may be there.
  bool place(std::uint32_t index, std::size_t set, RowAxis& row) {
    const Node& node = chain_.node(index);
    if (!find(node.types[0], first_[index][0], set, row, row.result[index])) return false;
    bool is_read = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      // A sum is there only once all rows are.
      if (row.is_summed[node.inputs[i].node]) return false;
      row.operands[index].emplace_back();
      RowAxis::Place& place = row.operands[index].back();
      if (!find(chain_.type(node.inputs[i]), first_[index][i + 1], set, row, place)) return false;
      if (!place) continue;
      is_read = true;
      const AxisRole& role = roles_[index].operands[i][static_cast<std::size_t>(*place)];
      if (role.kind == AxisRole::Kind::summed) row.is_summed[index] = true;
    }
    if (row.is_summed[index] && row.result[index]) return false;
    // A partial sum would be rounded to a dtype that sums are not carried in.
    const Dtype dtype = node.types[0].dtype;
    if (row.is_summed[index] && accumulates_in(dtype) != dtype) return false;
    const bool is_costly = is_library(node.op) || is_reduction(node.op);
    return !is_costly || row.result[index] || is_read;
  }

  // The axis of a value that is in the set; whether there is at most one.
  bool find(const Type& type, std::size_t first, std::size_t set, RowAxis& row,
            RowAxis::Place& place) {
    for (int axis = 0; axis < type.rank(); ++axis) {
      if (root(first + static_cast<std::size_t>(axis)) != set) continue;
      if (place) return false;
      place = axis;
      row.size = type.shape[axis];
    }
    return true;
  }

  const Graph& chain_;
  std::vector<AxisRoles> roles_;                 // per node
  std::vector<std::vector<std::size_t>> first_;  // per node: axis 0 of the result, of each operand
  std::vector<std::size_t> above_;
  std::vector<bool> is_whole_;  // of a root: of any axis of its set
};

}  // namespace

std::vector<RowAxis> row_axes(const Graph& chain) { return AxisSets(chain).rows(); }

std::optional<RowAxis> row_axis(const Graph& chain, AxisOf axis) {
  return AxisSets(chain).row(axis);
}

}  // namespace anabranch
