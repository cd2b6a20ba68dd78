#include "ir/graph/builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "anabranch/error.h"
#include "ir/infer/infer.h"

namespace anabranch {

GraphBuilder::GraphBuilder(std::string name) : name_(std::move(name)) {}

Value GraphBuilder::parameter(Type type, SourceLocation location) {
  if (parameter_count_ != nodes_.size()) {
    throw InternalError("graph builder", "a parameter after other nodes of " + name_);
  }
  ++parameter_count_;
  nodes_.push_back(Node{Op::parameter, {std::move(type)}, {}, NoAttributes{}, {}, location});
  return {static_cast<std::uint32_t>(nodes_.size() - 1), 0};
}

Value GraphBuilder::late_parameter(Type type, SourceLocation location) {
  if (parameter_count_ == nodes_.size()) return parameter(std::move(type), location);
  has_late_parameters_ = true;
  nodes_.push_back(Node{Op::parameter, {std::move(type)}, {}, NoAttributes{}, {}, location});
  return {static_cast<std::uint32_t>(nodes_.size() - 1), 0};
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
    throw InternalError("graph builder", "a parameter added as a node to " + name_);
  }
  std::vector<Type> operands;
  operands.reserve(inputs.size());
  for (Value input : inputs) {
    if (input.node >= nodes_.size() || input.result >= nodes_[input.node].types.size()) {
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
    if (same_computation(nodes_[same->second], node)) return {same->second, 0};
  }
  auto index = static_cast<std::uint32_t>(nodes_.size());
  by_hash_.emplace(hash, index);
  if (!node.location) node.location = location_;
  nodes_.push_back(std::move(node));
  return {index, 0};
}

Graph GraphBuilder::build(std::vector<Value> outputs) {
  for (Value output : outputs) {
    if (output.node >= nodes_.size() || output.result >= nodes_[output.node].types.size()) {
      throw InternalError("graph builder", "an output that " + name_ + " does not have");
    }
  }
  by_hash_.clear();
  if (std::exchange(has_late_parameters_, false)) put_parameters_first(outputs);
  Graph graph;
  graph.name_ = std::exchange(name_, {});
  graph.nodes_ = std::make_shared<const std::vector<Node>>(std::exchange(nodes_, {}));
  graph.outputs_ = std::move(outputs);
  graph.parameter_count_ = std::exchange(parameter_count_, 0);
  return graph;
}

void GraphBuilder::put_parameters_first(std::span<Value> outputs) {
  std::vector<std::uint32_t> order(nodes_.size()), renamed(nodes_.size());
  std::iota(order.begin(), order.end(), 0u);
  auto end = std::stable_partition(order.begin(), order.end(), [&](std::uint32_t node) {
    return nodes_[node].op == Op::parameter;
  });
  parameter_count_ = static_cast<std::size_t>(end - order.begin());
  std::vector<Node> ordered;
  ordered.reserve(nodes_.size());
  for (std::uint32_t node : order) {
    renamed[node] = static_cast<std::uint32_t>(ordered.size());
    ordered.push_back(std::move(nodes_[node]));
    for (Value& input : ordered.back().inputs) input.node = renamed[input.node];
  }
  for (Value& output : outputs) output.node = renamed[output.node];
  nodes_ = std::move(ordered);
}

}  // namespace anabranch
