#include "ir/graph/copier.h"

#include <string>
#include <utility>

#include "anabranch/error.h"

namespace anabranch {
namespace {

constexpr Value unknown{UINT32_MAX, UINT32_MAX};

}  // namespace

GraphCopier::GraphCopier(const Graph& from, GraphBuilder& to)
    : from_(from), to_(to), renamed_(from, unknown) {}

Value GraphCopier::operator()(Value value) const {
  const Value renamed = renamed_[value];
  if (renamed == unknown) {
    throw InternalError("graph copier", "node " + std::to_string(value.node) + " of " +
                                            from_.name() + " is read and was not copied");
  }
  return renamed;
}

std::vector<Value> GraphCopier::operator()(std::span<const Value> values) const {
  std::vector<Value> renamed;
  renamed.reserve(values.size());
  for (Value value : values) renamed.push_back((*this)(value));
  return renamed;
}

void GraphCopier::rename(std::uint32_t node, Value first) {
  const auto count = static_cast<std::uint32_t>(from_.node(node).types.size());
  for (std::uint32_t i = 0; i < count; ++i) rename({node, i}, {first.node, first.result + i});
}

Node GraphCopier::renamed(std::uint32_t node) const {
  Node copy = from_.node(node);
  for (Value& input : copy.inputs) input = (*this)(input);
  return copy;
}

Value GraphCopier::copy(std::uint32_t node) {
  const Node& given = from_.node(node);
  const Value first = given.op == Op::parameter ? to_.parameter(given.types[0], given.location)
                                                : to_.append(renamed(node));
  rename(node, first);
  return first;
}

void GraphCopier::copy_body() {
  for (auto i = static_cast<std::uint32_t>(from_.parameter_count()); i < from_.nodes().size(); ++i)
    copy(i);
}

std::vector<Value> inlined(const Graph& graph, GraphBuilder& to, std::span<const Value> inputs) {
  GraphCopier copier(graph, to);
  for (std::uint32_t i = 0; i < inputs.size(); ++i) copier.rename(i, inputs[i]);
  copier.copy_body();
  return copier(graph.outputs());
}

}  // namespace anabranch
