#include "anabranch/differentiate.h"

#include <string>

#include "frontend/array/fail.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/transform/jacobian.h"
#include "passes/transform/jvp.h"
#include "passes/transform/quantity.h"
#include "passes/transform/vjp.h"

namespace anabranch::detail {
namespace {

// The outputs, then the gradients of output 0 by the active parameters.
Graph gradient_graph(const Graph& graph, const std::vector<bool>& active) {
  std::vector<bool> asked(graph.outputs().size());
  asked[0] = true;
  const ForwardAndLinear parts = anabranch::vjp(graph, active, asked);
  GraphBuilder builder(graph.name());
  std::vector<Value> operands;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    operands.push_back(builder.parameter(graph.parameter_type(i)));
  }
  std::vector<Value> outputs = inlined(parts.forward, builder, operands);
  const auto count = static_cast<std::ptrdiff_t>(graph.outputs().size());
  operands.assign(outputs.begin() + count, outputs.end());
  outputs.resize(graph.outputs().size());
  if (parts.active[0]) operands.push_back(Quantity::splat(builder, graph.output_type(0), 1).value);
  for (Value gradient : inlined(parts.linear, builder, operands)) outputs.push_back(gradient);
  return without_dead_nodes(builder.build(std::move(outputs)));
}

// One direction by a complex number is taken, along 1: all of a function to the reals only in
// reverse mode, all of a function from the reals only in forward mode.
void demand_whole_derivatives(const char* transform, const Graph& graph,
                              const std::vector<bool>& active, bool forward, SourceLocation where) {
  for (std::size_t i = 0; i < active.size(); ++i) {
    for (std::size_t k = 0; active[i] && k < graph.outputs().size(); ++k) {
      const Type &from = graph.parameter_type(i), &to = graph.output_type(k);
      const Type &real = forward ? to : from, &complex = forward ? from : to;
      if (!is_float(real.dtype) || !is_complex(complex.dtype)) continue;
      fail(std::string(transform) + ": of " + to_string(to) + " by " + to_string(from) +
               " it would have one of two derivatives; use " +
               (forward ? "jacobian" : "jacobian_forward") + " there",
           where);
    }
  }
}

}  // namespace

Leaves value_and_gradients(const char* transform, const FunctionTrace& function,
                           const ArgumentLeaves& arguments, const std::vector<bool>& by,
                           SourceLocation where) {
  const Type& value = function.graph().output_type(0);
  if (value.rank() != 0 || !is_float(value.dtype)) {
    fail(std::string(transform) + ": the function gives " + to_string(value) +
             ", and not a scalar of floats; reduce it with sum() or mean(), or use vjp or jacobian",
         where);
  }
  std::vector<bool> active = by;
  active.resize(function.graph().parameter_count());
  const Graph graph = gradient_graph(function.graph(), active);
  Leaves results = call_graph(transform, graph, function.with_captures(arguments.leaves), where);
  function.mark_weak(results);
  return results;
}

Leaves jacobians(const char* transform, const FunctionTrace& function,
                 const ArgumentLeaves& arguments, const std::vector<bool>& by, bool forward,
                 SourceLocation where) {
  for (std::size_t i = 0; i < function.graph().outputs().size(); ++i) {
    const Type& type = function.graph().output_type(i);
    if (has_tangent(type.dtype)) continue;
    fail(std::string(transform) + ": the function gives " + to_string(type) +
             ", and only floats and complex numbers have derivatives; convert it with "
             ".astype(ab::f32)",
         where);
  }
  std::vector<bool> active = by;
  active.resize(function.graph().parameter_count());
  demand_whole_derivatives(transform, function.graph(), active, forward, where);
  const Graph graph = anabranch::jacobian(function.graph(), active,
                                          forward ? JacobianMode::forward : JacobianMode::reverse);
  return call_graph(transform, graph, function.with_captures(arguments.leaves), where);
}

}  // namespace anabranch::detail
