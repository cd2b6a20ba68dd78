#include "passes/transform/jacobian.h"

#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/transform/batch.h"
#include "passes/transform/quantity.h"
#include "passes/transform/vjp.h"

namespace anabranch {
namespace {

Shape joined(const Shape& a, const Shape& b) {
  std::vector<std::int64_t> sizes(a.begin(), a.end());
  sizes.insert(sizes.end(), b.begin(), b.end());
  return Shape(std::move(sizes));
}

// Element i is the array of the type that is 1 at place i and 0 elsewhere.
Quantity basis(GraphBuilder& builder, const Type& type) {
  const Type square{Dtype::i64, Shape({type.size(), type.size()})};
  const Quantity is_own = iota(builder, square, 0) == iota(builder, square, 1);
  return is_own.as(type.dtype).reshape(joined(Shape({type.size()}), type.shape));
}

class Jacobian {
 public:
  Jacobian(const Graph& graph, const std::vector<bool>& active, JacobianMode mode)
      : graph_(graph),
        is_reverse_(mode == JacobianMode::reverse),
        parts_(is_reverse_ ? vjp(graph, active) : linear_part(graph, active)),
        builder_(graph.name()) {
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (active[i]) parameters_.push_back(graph.parameter_type(i));
    }
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      outputs_.push_back(graph.output_type(i));
      if (parts_.active[i]) active_outputs_.push_back(i);
    }
  }

  Graph run() {
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < graph_.parameter_count(); ++i) {
      inputs.push_back(builder_.parameter(graph_.parameter_type(i)));
    }
    const std::vector<Value> all = inlined(parts_.forward, builder_, inputs);
    residuals_.assign(all.begin() + static_cast<std::ptrdiff_t>(outputs_.size()), all.end());
    blocks_.resize(outputs_.size() * parameters_.size());
    if (is_reverse_) {
      for (std::size_t i = 0; i < active_outputs_.size(); ++i) row(i);
    } else {
      for (std::size_t i = 0; i < parameters_.size(); ++i) column(i);
    }
    std::vector<Value> results;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Type& output = outputs_[i / parameters_.size()];
      const Shape shape = joined(output.shape, parameters_[i % parameters_.size()].shape);
      const Dtype dtype = is_reverse_ ? parameters_[i % parameters_.size()].dtype : output.dtype;
      results.push_back(blocks_[i] ? blocks_[i]->value
                                   : Quantity::zeros(builder_, {dtype, shape}).value);
    }
    return without_dead_nodes(builder_.build(std::move(results)));
  }

 private:
  // What the linear graph gives for every element of the basis of operand `at`, others being 0.
  std::vector<Quantity> pushed(std::size_t at, const std::vector<Type>& operands) {
    std::vector<bool> batched(residuals_.size(), false);
    std::vector<Value> given = residuals_;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      batched.push_back(i == at);
      given.push_back(
          (i == at ? basis(builder_, operands[i]) : Quantity::zeros(builder_, operands[i])).value);
    }
    const std::vector<bool> required(parts_.linear.outputs().size(), true);
    const Graph all = batch(parts_.linear, operands[at].size(), batched, required).graph;
    std::vector<Quantity> results;
    for (Value output : inlined(all, builder_, given)) results.push_back({&builder_, output});
    return results;
  }

  void row(std::size_t at) {
    std::vector<Type> cotangents;
    for (std::size_t output : active_outputs_) cotangents.push_back(outputs_[output]);
    const std::size_t output = active_outputs_[at];
    const std::vector<Quantity> gradients = pushed(at, cotangents);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      blocks_[output * parameters_.size() + i] =
          gradients[i].reshape(joined(outputs_[output].shape, parameters_[i].shape));
    }
  }

  void column(std::size_t at) {
    const std::vector<Quantity> tangents = pushed(at, parameters_);
    for (std::size_t i = 0; i < tangents.size(); ++i) {
      const std::size_t output = active_outputs_[i];
      blocks_[output * parameters_.size() + at] =
          tangents[i]
              .move_axis(0, outputs_[output].rank())
              .reshape(joined(outputs_[output].shape, parameters_[at].shape));
    }
  }

  const Graph& graph_;
  const bool is_reverse_;
  const ForwardAndLinear parts_;
  GraphBuilder builder_;
  std::vector<Type> parameters_, outputs_;  // the active parameters, all outputs
  std::vector<std::size_t> active_outputs_;
  std::vector<Value> residuals_;
  std::vector<std::optional<Quantity>> blocks_;
};

}  // namespace

Graph jacobian(const Graph& graph, const std::vector<bool>& active, JacobianMode mode) {
  return Jacobian(graph, active, mode).run();
}

}  // namespace anabranch
