#include "passes/fusion/fused_loop.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/graph/builder.h"
#include "ir/integer_constant.h"
#include "ir/pointwise_loop.h"

namespace anabranch {
namespace {

/// The region being written.
class RegionWriter {
 public:
  RegionWriter(const Graph& graph, const Node& loop) : graph_(graph), loop_(loop), builder_("") {}

  /// What `value` is inside: computed there where that loads a scalar at most, or as much as the
  /// loop loads anyway.
  Value operator()(Value value) {
    if (!is_inline(value)) return in_memory(value);
    if (const auto known = inside_.find(value); known != inside_.end()) return known->second;
    Node copy = graph_.node(value);
    for (Value& input : copy.inputs) input = (*this)(input);
    return inside_[value] = builder_.append(std::move(copy));
  }

  /// A parameter that `value` is read from.
  Value in_memory(Value value) {
    const auto [known, is_new] = inside_.emplace(value, Value());
    if (is_new) {
      known->second = builder_.late_parameter(graph_.type(value));
      operands_.push_back(value);
    }
    return known->second;
  }

  Value zeros(const Type& type) {
    const Value zero = builder_.constant(Literal::scalar(type.dtype, ElementBits()));
    return builder_.add(Op::broadcast_in_dim, {zero}, AxesAttributes{{}}, type);
  }

  GraphBuilder& builder() { return builder_; }
  std::vector<Value>& operands() { return operands_; }

 private:
  bool is_inline(Value value) const {
    const Node& node = graph_.node(value);
    if (is_part(node)) return true;
    if (!is_elementwise(node.op)) return loads_nothing(value);
    return operations_per_element(node.op) <= 1 &&
           std::ranges::all_of(node.inputs, [&](Value input) {
             return loads_nothing(input) || std::ranges::count(loop_.inputs, input) > 0;
           });
  }

  // Of what is in memory, and not stored to.
  bool is_part(const Node& node) const {
    if (node.op == Op::reshape) return is_part(graph_.node(node.inputs[0]));
    return node.op == Op::slice && graph_.node(node.inputs[0]).op == Op::parameter &&
           std::ranges::count(loop_.inputs, node.inputs[0]) == 0 &&
           std::ranges::all_of(node.as<SliceAttributes>().stride,
                               [](std::int64_t stride) { return stride == 1; });
  }

  // Or a scalar at most. Of one that is computed it is not known here whether it will be in memory.
  bool loads_nothing(Value value) const {
    const Node& node = graph_.node(value);
    if (node.op == Op::constant) return node.as<ConstantAttributes>().value.is_splat();
    if (node.op != Op::broadcast_in_dim) return node.op == Op::iota;
    const Node& scalar = graph_.node(node.inputs[0]);
    return scalar.types[0].rank() == 0 && (scalar.op == Op::constant || scalar.op == Op::parameter);
  }

  const Graph& graph_;
  const Node& loop_;
  GraphBuilder builder_;
  std::map<Value, Value> inside_;
  std::vector<Value> operands_;
};

}  // namespace

std::variant<FusedLoop, std::string> fused_loop(const Graph& graph, const Node& loop,
                                                std::span<const char> is_read) {
  const auto found = pointwise_loop(graph, loop);
  if (const auto* why = std::get_if<std::string>(&found)) return *why;
  const auto& pointwise = std::get<PointwiseLoop>(found);
  if (pointwise.domain.size() == 1) return "it is a scalar's, which a loop of steps keeps as well";

  const auto is_stack = [&](std::uint32_t i) {
    return i < loop.types.size() && pointwise.roles[i] == CarryRole::stack;
  };
  RegionWriter region(graph, loop);
  Node inner = loop;
  for (std::uint32_t i = 0; i < inner.inputs.size(); ++i) {
    const Value input = loop.inputs[i];
    inner.inputs[i] = !is_stack(i)              ? region(input)
                      : pointwise.is_covered[i] ? region.zeros(loop.types[i])
                                                : region.in_memory(input);
  }
  const std::uint32_t node = region.builder().append(std::move(inner)).node;

  FusedLoop made;
  if (const KnownTurns* turns = pointwise.counted()) {
    const Dtype dtype = loop.types[turns->counter].dtype;
    made.counter = {turns->counter, integer_literal(dtype, turns->first + turns->count)};
  }
  std::vector<Value> outputs;
  std::vector<Type> types;
  for (std::uint32_t i = 0; i < loop.types.size(); ++i) {
    if (!is_read[i] || (made.counter && i == made.counter->result)) continue;
    made.results.push_back(i);
    outputs.push_back({node, i});
    types.push_back(loop.types[i]);
  }
  if (outputs.empty()) return "none of what it computes is read";
  Graph built = region.builder().build(std::move(outputs));
  if (auto plan = plan_loop(built); plan.index() == 1) return std::get<std::string>(plan);
  made.fusion = Node{Op::fusion,
                     std::move(types),
                     std::move(region.operands()),
                     FusionAttributes{FusionKind::loop},
                     {std::move(built)},
                     loop.location};
  return made;
}

}  // namespace anabranch
