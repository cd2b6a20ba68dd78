#include "passes/transform/transpose.h"

#include <algorithm>
#include <string>
#include <utility>

#include "anabranch/error.h"
#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/regions.h"
#include "passes/transform/cotangents.h"
#include "passes/transform/derivative_rules.h"
#include "passes/transform/linear_operands.h"

namespace anabranch {

const Type& TransposeStep::type_of_operand(std::size_t i) const {
  return sums.type(node.inputs[i]);
}

void TransposeStep::add(std::size_t i, Quantity cotangent) const {
  if (is_linear(i)) sums.add(node.inputs[i], cotangent.value);
}

Quantity TransposeStep::sum(std::size_t i) const {
  return {&graph, sums.get_or_zeros(node.inputs[i])};
}

void TransposeStep::set_sum(std::size_t i, Quantity sum) const {
  sums.set(node.inputs[i], sum.value);
}

namespace {

class Backward {
 public:
  /// Each output of `graph` has a cotangent.
  Backward(Graph graph, const Transposition& what)
      : graph_(std::move(graph)),
        what_(what),
        is_linear_(linear_nodes(graph_, what.linear)),
        builder_(graph_.name()),
        copier_(graph_, builder_),
        sums_(graph_, builder_) {}

  Graph run() {
    take_parameters();
    for (auto i = static_cast<std::uint32_t>(graph_.parameter_count()); i < count(); ++i) {
      if (!is_linear_[i]) copier_.copy(i);
    }
    for (std::uint32_t i = count(); i-- > graph_.parameter_count();) {
      if (is_linear_[i]) transpose_node(i);
    }
    std::vector<Value> outputs;
    for (std::uint32_t i = 0; i < graph_.parameter_count(); ++i) {
      if (is_linear_[i]) outputs.push_back(sums_.get_or_zeros({i, 0}));
    }
    return without_dead_nodes(builder_.build(std::move(outputs)));
  }

 private:
  std::uint32_t count() const { return static_cast<std::uint32_t>(graph_.nodes().size()); }

  void take_parameters() {
    const auto parameters = static_cast<std::uint32_t>(graph_.parameter_count());
    for (std::uint32_t i = 0; i < parameters; ++i) {
      if (!is_linear_[i]) copier_.copy(i);
    }
    std::vector<std::pair<Value, Value>> given;
    for (Value output : graph_.outputs()) {
      given.emplace_back(output, builder_.parameter(graph_.type(output)));
    }
    for (std::uint32_t i = 0; i < parameters; ++i) {
      if (what_.begun.empty() || !what_.begun[i]) continue;
      sums_.set({i, 0}, builder_.parameter(graph_.parameter_type(i)));
    }
    for (const auto& [output, cotangent] : given) {
      if (is_linear_[output.node]) sums_.add(output, cotangent);
    }
  }

  void transpose_node(std::uint32_t index) {
    const Node& node = graph_.node(index);
    builder_.at(node.location);
    std::vector<std::optional<Value>> known, cotangents;
    for (std::uint32_t i = 0; i < node.types.size(); ++i)
      cotangents.push_back(sums_.get({index, i}));
    const bool counts =
        std::any_of(cotangents.begin(), cotangents.end(), [](auto& c) { return c; });
    if (!counts) return;
    for (Value input : node.inputs) {
      known.push_back(is_linear_[input.node] ? std::nullopt : std::optional(copier_(input)));
    }
    check_linear(node, linear_inputs(node));
    derivative_rule(node.op).transpose(
        {builder_, node, std::move(known), std::move(cotangents), sums_});
  }

  std::vector<bool> linear_inputs(const Node& node) const {
    std::vector<bool> linear;
    for (Value input : node.inputs) linear.push_back(is_linear_[input.node]);
    return linear;
  }

  const Graph graph_;
  const Transposition& what_;
  const std::vector<bool> is_linear_;
  GraphBuilder builder_;
  GraphCopier copier_;
  Cotangents sums_;
};

}  // namespace

// What only outputs without a cotangent need has no part in it: their zeros, carried back through
// it, would be NaN where a derivative is infinite.
Graph transpose(const Graph& graph, const Transposition& what) {
  return Backward(dce(graph, positions(what.outputs)), what).run();
}

}  // namespace anabranch
