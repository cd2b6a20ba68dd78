#include "passes/split_carries.h"

#include <algorithm>
#include <optional>

#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/masked_loop.h"
#include "ir/pointwise_loop.h"
#include "passes/dce.h"

namespace anabranch {
namespace {

constexpr std::int64_t most_coordinates = 16;  // of one carry for each place

using Sizes = std::vector<std::int64_t>;

/// Which carries of a loop become how many arrays of the domain's shape.
struct Split {
  Shape domain;
  Sizes counts;                      ///< per carry; 1: it stays as it is
  std::vector<std::uint32_t> first;  ///< per carry: its first among those there will be
};

Sizes with(const Shape& domain, std::int64_t last) {
  Sizes sizes(domain.begin(), domain.end());
  sizes.push_back(last);
  return sizes;
}

/// Element `k` of each place of `value`, which has `count` of them.
Value element(GraphBuilder& graph, Value value, const Split& split, std::int64_t count,
              std::int64_t k) {
  const Dtype dtype = graph.type(value).dtype;
  const Type flat{dtype, Shape(with(split.domain, count))};
  if (graph.type(value) != flat) value = graph.add(Op::reshape, {value}, NoAttributes{}, flat);
  SliceAttributes part;
  part.limit = with(split.domain, k + 1);
  part.start.assign(part.limit.size(), 0);
  part.start.back() = k;
  part.stride.assign(part.limit.size(), 1);
  value = graph.add(Op::slice, {value}, part);
  return graph.add(Op::reshape, {value}, NoAttributes{}, Type{dtype, split.domain});
}

/// What `elements` are, each of the domain's shape, as one array of `type`.
Value joined(GraphBuilder& graph, std::span<const Value> elements, const Split& split,
             const Type& type) {
  std::vector<Value> parts;
  for (Value part : elements) {
    parts.push_back(graph.add(Op::reshape, {part}, NoAttributes{},
                              Type{type.dtype, Shape(with(split.domain, 1))}));
  }
  const Value all = graph.add(Op::concatenate, parts, AxisAttributes{split.domain.rank()});
  return graph.type(all) == type ? all : graph.add(Op::reshape, {all}, NoAttributes{}, type);
}

bool begins_with(const Shape& shape, const Shape& domain) {
  return shape.rank() >= domain.rank() && std::equal(domain.begin(), domain.end(), shape.begin());
}

/// Whether all elements that `value` has for a place are `mask`'s there, whose axes are the domain.
bool is_spread(const Graph& body, Value value, Value mask) {
  const Shape& domain = body.type(mask).shape;
  while (begins_with(body.type(value).shape, domain)) {
    if (value == mask) return true;
    const Node& node = body.node(value);
    if (node.op != Op::broadcast_in_dim && node.op != Op::reshape) return false;
    if (node.op == Op::broadcast_in_dim) {
      const auto& axes = node.as<AxesAttributes>().axes;
      const auto rank = static_cast<std::size_t>(domain.rank());
      for (std::size_t i = 0; i < std::min(rank, axes.size()); ++i) {
        if (axes[i] != static_cast<std::int64_t>(i)) return false;
      }
    }
    value = node.inputs[0];
  }
  return false;
}

/// Whether a mask, if the loop has one, says by place alone where carry `i` changes.
bool changes_by_place(const Node& loop, std::uint32_t i) {
  const auto mask = mask_of(loop);
  const Graph& body = loop.regions[1];
  const Value after = body.outputs()[i];
  return !mask || after == Value{i, 0} ||
         is_spread(body, body.node(after).inputs[0], Value{*mask, 0});
}

std::optional<Split> split_over(const Shape& domain, const Node& loop) {
  Split split{domain, {}, {}};
  std::uint32_t next = 0;
  bool any = false;
  for (std::uint32_t i = 0; i < loop.types.size(); ++i) {
    const Type& type = loop.types[i];
    std::int64_t count = 1;
    for (int axis = domain.rank(); axis < type.rank(); ++axis) count *= type.shape[axis];
    const bool begins =
        type.rank() > domain.rank() && begins_with(type.shape, domain) && changes_by_place(loop, i);
    if (!begins || count < 1 || count > most_coordinates) count = 1;
    any |= begins && count > 1;
    split.counts.push_back(count);
    split.first.push_back(next);
    next += static_cast<std::uint32_t>(count);
  }
  return any ? std::optional(split) : std::nullopt;
}

/// A region of a loop, with what is carried split.
class RegionSplitter {
 public:
  RegionSplitter(const Graph& region, const Node& loop, const Split& split)
      : region_(region), loop_(loop), split_(split), mask_(mask_of(loop)), made_(region.name()) {}

  Graph condition() { return finish(copied().outputs_of(region_)); }

  Graph body() {
    copied();
    std::vector<Value> outputs;
    for (std::uint32_t i = 0; i < loop_.types.size(); ++i) {
      for (std::int64_t k = 0; k < split_.counts[i]; ++k) outputs.push_back(next(i, k));
    }
    return finish(std::move(outputs));
  }

 private:
  RegionSplitter& copied() {
    copier_.emplace(region_, made_);
    for (std::uint32_t i = 0; i < loop_.types.size(); ++i) {
      const Type& type = loop_.types[i];
      const bool is_split = split_.counts[i] > 1;
      const Type part{type.dtype, is_split ? split_.domain : type.shape};
      for (std::int64_t k = 0; k < split_.counts[i]; ++k) carried_.push_back(made_.parameter(part));
    }
    for (std::size_t i = loop_.types.size(); i < region_.parameter_count(); ++i) {
      captured_.push_back(made_.parameter(region_.parameter_type(i)));
    }
    for (std::uint32_t i = 0; i < region_.parameter_count(); ++i) {
      copier_->rename(i, i < loop_.types.size() ? whole(i) : captured_[i - loop_.types.size()]);
    }
    copier_->copy_body();
    return *this;
  }

  std::vector<Value> outputs_of(const Graph& region) const { return (*copier_)(region.outputs()); }

  Value before(std::uint32_t carry, std::int64_t k) const {
    return carried_[split_.first[carry] + static_cast<std::size_t>(k)];
  }

  Value whole(std::uint32_t carry) {
    if (split_.counts[carry] == 1) return before(carry, 0);
    const auto count = static_cast<std::size_t>(split_.counts[carry]);
    return joined(made_, std::span(carried_).subspan(split_.first[carry], count), split_,
                  loop_.types[carry]);
  }

  // What stays as it is where a mask is false does so element by element.
  Value next(std::uint32_t carry, std::int64_t k) {
    const Value output = region_.outputs()[carry];
    const std::int64_t count = split_.counts[carry];
    if (count == 1) return (*copier_)(output);
    if (output == Value{carry, 0}) return before(carry, k);
    if (!mask_) return element(made_, (*copier_)(output), split_, count, k);
    const Value chosen =
        element(made_, (*copier_)(region_.node(output).inputs[1]), split_, count, k);
    return made_.add(Op::select, {before(*mask_, 0), chosen, before(carry, k)});
  }

  Graph finish(std::vector<Value> outputs) {
    return without_dead_nodes(made_.build(std::move(outputs)));
  }

  const Graph& region_;
  const Node& loop_;
  const Split& split_;
  const std::optional<std::uint32_t> mask_;
  GraphBuilder made_;
  std::optional<GraphCopier> copier_;
  std::vector<Value> carried_, captured_;
};

/// The loop with what it carries split. Its inputs are those of `loop`, a carry's once for each
/// element that it becomes: the elements are yet to be taken from it.
Node split_loop(const Node& loop, const Split& split) {
  Node made = loop;
  made.types.clear();
  made.inputs.clear();
  for (std::size_t i = 0; i < loop.types.size(); ++i) {
    Type part = loop.types[i];
    if (split.counts[i] > 1) part.shape = split.domain;
    made.types.insert(made.types.end(), static_cast<std::size_t>(split.counts[i]), part);
    made.inputs.insert(made.inputs.end(), static_cast<std::size_t>(split.counts[i]),
                       loop.inputs[i]);
  }
  made.inputs.insert(made.inputs.end(), loop.inputs.begin() + std::ssize(loop.types),
                     loop.inputs.end());
  made.regions = {RegionSplitter(loop.regions[0], loop, split).condition(),
                  RegionSplitter(loop.regions[1], loop, split).body()};
  return made;
}

class CarrySplitter {
 public:
  CarrySplitter(const Graph& graph, PassContext& context)
      : graph_(graph), context_(context), builder_(graph.name()), copier_(graph, builder_) {}

  Graph run() {
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) copy(i);
    return builder_.build(copier_(graph_.outputs()));
  }

 private:
  void copy(std::uint32_t index) {
    const Node& node = graph_.node(index);
    if (node.op == Op::while_) {
      if (const auto split = useful_split(node)) return write(index, node, *split);
    }
    if (!is_control(node.op)) {
      copier_.copy(index);
      return;
    }
    Node copied = copier_.renamed(index);
    for (Graph& region : copied.regions) region = split_carries(region, context_);
    copier_.rename(index, builder_.append(std::move(copied)));
  }

  bool is_pointwise(const Node& loop) const { return pointwise_loop(graph_, loop).index() == 0; }

  std::optional<Split> useful_split(const Node& loop) const {
    if (is_pointwise(loop)) return {};
    for (const Shape& domain : domains(loop)) {
      if (domain.size() <= 1) continue;
      const auto split = split_over(domain, loop);
      if (split && is_pointwise(split_loop(loop, *split))) return split;
    }
    return {};
  }

  // Shapes that there may be an element for each place of.
  std::vector<Shape> domains(const Node& loop) const {
    if (const auto mask = mask_of(loop)) return {loop.types[*mask].shape};
    const Type* least = nullptr;
    for (const Type& type : loop.types) {
      if (type.rank() > 0 && (!least || type.size() < least->size())) least = &type;
    }
    std::vector<Shape> made;
    std::int64_t elements = 1;  // for each place, on the axes that the domain has not
    for (int rank = least ? least->rank() : 0; rank > 0 && elements <= most_coordinates; --rank) {
      made.emplace_back(Sizes(least->shape.begin(), least->shape.begin() + rank));
      elements *= least->shape[rank - 1];
    }
    return made;
  }

  void write(std::uint32_t index, const Node& loop, const Split& split) {
    Node made = split_loop(loop, split);
    for (std::size_t i = 0; i < loop.types.size(); ++i) {
      const std::int64_t count = split.counts[i];
      const Value whole = copier_(loop.inputs[i]);
      for (std::int64_t k = 0; k < count; ++k) {
        made.inputs[split.first[i] + static_cast<std::size_t>(k)] =
            count == 1 ? whole : element(builder_, whole, split, count, k);
      }
    }
    const std::size_t carries = made.types.size();
    for (std::size_t i = carries; i < made.inputs.size(); ++i) {
      made.inputs[i] = copier_(made.inputs[i]);
    }
    const std::uint32_t node = builder_.append(std::move(made)).node;
    for (std::uint32_t i = 0; i < loop.types.size(); ++i) {
      std::vector<Value> elements;
      for (std::int64_t k = 0; k < split.counts[i]; ++k) {
        elements.push_back({node, split.first[i] + static_cast<std::uint32_t>(k)});
      }
      copier_.rename(Value{index, i}, split.counts[i] == 1
                                          ? elements[0]
                                          : joined(builder_, elements, split, loop.types[i]));
    }
  }

  const Graph& graph_;
  PassContext& context_;
  GraphBuilder builder_;
  GraphCopier copier_;
};

}  // namespace

Graph split_carries(const Graph& graph, PassContext& context) {
  return without_dead_nodes(CarrySplitter(graph, context).run());
}

}  // namespace anabranch
