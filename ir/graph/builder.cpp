#include "ir/graph/builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "anabranch/error.h"
#include "ir/infer/infer.h"

namespace anabranch {

GraphBuilder::GraphBuilder(std::string name) { graph_.name_ = std::move(name); }

Value GraphBuilder::parameter(Type type, SourceLocation location) {
  if (graph_.parameter_count_ != graph_.nodes_.size()) {
    throw InternalError("graph builder", "a parameter after other nodes of " + graph_.name_);
  }
  ++graph_.parameter_count_;
  graph_.nodes_.push_back(Node{Op::parameter, {std::move(type)}, {}, NoAttributes{}, {}, location});
  return {static_cast<std::uint32_t>(graph_.nodes_.size() - 1), 0};
}

Value GraphBuilder::late_parameter(Type type, SourceLocation location) {
  if (graph_.parameter_count_ == graph_.nodes_.size()) return parameter(std::move(type), location);
  has_late_parameters_ = true;
  graph_.nodes_.push_back(Node{Op::parameter, {std::move(type)}, {}, NoAttributes{}, {}, location});
  return {static_cast<std::uint32_t>(graph_.nodes_.size() - 1), 0};
}

Value GraphBuilder::constant(Literal literal, SourceLocation location) {
  Type type = literal.type();
  return append(Node{
      Op::constant, {std::move(type)}, {}, ConstantAttributes{std::move(literal)}, {}, location});
}

Value GraphBuilder::add(Op op, std::vector<Value> inputs, Attributes attributes,
                        std::optional<Type> stated, std::vector<Graph> regions,
                        SourceLocation location) {
  if (op == Op::parameter) {
    throw InternalError("graph builder", "a parameter added as a node to " + graph_.name_);
  }
  std::vector<Type> operands;
  operands.reserve(inputs.size());
  for (Value input : inputs) {
    if (input.node >= graph_.nodes_.size() ||
        input.result >= graph_.nodes_[input.node].types.size()) {
      throw InternalError("graph builder",
                          std::string(anabranch::name(op)) + " of an unknown value");
    }
    operands.push_back(type(input));
  }
  std::vector<Type> types = infer(op, operands, attributes, stated, regions, location);
  return append(Node{op, std::move(types), std::move(inputs), std::move(attributes),
                     std::move(regions), location});
}

Value GraphBuilder::append(Node node) {
  const std::uint64_t hash = hash_of(node);
  auto [first, last] = by_hash_.equal_range(hash);
  for (auto same = first; same != last; ++same) {
    if (same_computation(graph_.nodes_[same->second], node)) return {same->second, 0};
  }
  auto index = static_cast<std::uint32_t>(graph_.nodes_.size());
  by_hash_.emplace(hash, index);
  if (!node.location) node.location = location_;
  graph_.nodes_.push_back(std::move(node));
  return {index, 0};
}

Graph GraphBuilder::build(std::vector<Value> outputs) {
  for (Value output : outputs) {
    if (output.node >= graph_.nodes_.size() ||
        output.result >= graph_.nodes_[output.node].types.size()) {
      throw InternalError("graph builder", "an output that " + graph_.name_ + " does not have");
    }
  }
  graph_.outputs_ = std::move(outputs);
  by_hash_.clear();
  if (std::exchange(has_late_parameters_, false)) put_parameters_first();
  return std::exchange(graph_, Graph{});
}

void GraphBuilder::put_parameters_first() {
  std::vector<Node>& nodes = graph_.nodes_;
  std::vector<std::uint32_t> order(nodes.size()), renamed(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  auto end = std::stable_partition(order.begin(), order.end(), [&](std::uint32_t node) {
    return nodes[node].op == Op::parameter;
  });
  graph_.parameter_count_ = static_cast<std::size_t>(end - order.begin());
  std::vector<Node> ordered;
  ordered.reserve(nodes.size());
  for (std::uint32_t node : order) {
    renamed[node] = static_cast<std::uint32_t>(ordered.size());
    ordered.push_back(std::move(nodes[node]));
    for (Value& input : ordered.back().inputs) input.node = renamed[input.node];
  }
  for (Value& output : graph_.outputs_) output.node = renamed[output.node];
  nodes = std::move(ordered);
}

}  // namespace anabranch
