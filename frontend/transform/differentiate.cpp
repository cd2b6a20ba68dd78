#include "anabranch/differentiate.h"

#include <algorithm>
#include <memory>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/trace/record.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/transform/jacobian.h"
#include "passes/transform/jvp.h"
#include "passes/transform/quantity.h"
#include "passes/transform/vjp.h"

namespace anabranch::detail {
namespace {

Array zeros_of(const Type& type, SourceLocation where) {
  const Array zero = array_of(type.dtype, ElementBits(0), where);
  if (type.rank() == 0) return zero;
  return record(Op::broadcast_in_dim, {zero}, where, AxesAttributes{}, type);
}

Leaves with(Leaves list, const Leaves& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

std::pair<Leaves, Leaves> split(const Leaves& list, std::size_t at) {
  const auto middle = list.begin() + static_cast<std::ptrdiff_t>(at);
  return {{list.begin(), middle}, {middle, list.end()}};
}

void keep_weak(const FunctionTrace& function, const Leaves& outputs) {
  for (std::size_t i = 0; i < function.weak().size(); ++i) {
    set_weak(outputs[i], function.weak()[i]);
  }
}

// Marks the function's own parameters that have tangents; what it captures is constant.
std::vector<bool> own_differentiable(const FunctionTrace& function,
                                     const ArgumentLeaves& arguments) {
  std::vector<bool> active(function.graph().parameter_count());
  for (std::size_t i = 0; i < arguments.leaves.size(); ++i) {
    active[i] = has_tangent(type_of(arguments.leaves[i]).dtype);
  }
  return active;
}

std::vector<Type> types_of(const Leaves& leaves) {
  std::vector<Type> types;
  for (const Array& leaf : leaves) types.push_back(type_of(leaf));
  return types;
}

// The outputs, then the gradients of output 0 by the active parameters.
Graph gradient_graph(const Graph& graph, const std::vector<bool>& active) {
  const ForwardAndLinear parts = anabranch::vjp(graph, active);
  GraphBuilder builder(graph.name());
  GraphCopier forward(parts.forward, builder), backward(parts.linear, builder);
  for (std::uint32_t i = 0; i < parts.forward.parameter_count(); ++i) forward.copy(i);
  forward.copy_body();
  const std::vector<Value> all = forward(parts.forward.outputs());
  const std::size_t count = graph.outputs().size();
  std::vector<Value> outputs(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  std::uint32_t parameter = 0;
  for (std::size_t i = count; i < all.size(); ++i) backward.rename(parameter++, all[i]);
  for (std::size_t i = 0; i < count; ++i) {
    if (!parts.active[i]) continue;
    const Type& type = graph.output_type(i);
    backward.rename(parameter++, Quantity::splat(builder, type, i == 0 ? 1 : 0).value);
  }
  backward.copy_body();
  for (Value gradient : backward(parts.linear.outputs())) outputs.push_back(gradient);
  return without_dead_nodes(builder.build(std::move(outputs)));
}

}  // namespace

std::vector<bool> marked(const char* transform, const std::vector<std::size_t>& indices,
                         const ArgumentLeaves& arguments, SourceLocation where) {
  const std::size_t count = arguments.first.size() - 1;
  std::vector<bool> marks(arguments.leaves.size());
  std::vector<bool> seen(count);
  for (std::size_t index : indices) {
    if (index >= count) fail_no_such_argument(transform, index, count, where);
    if (seen[index]) {
      fail(std::string(transform) + ": argument " + std::to_string(index) +
               " is named twice; name each once",
           where);
    }
    seen[index] = true;
    for (std::size_t i = arguments.first[index]; i < arguments.first[index + 1]; ++i) {
      const Type& type = type_of_leaf(transform, arguments.paths[i], arguments.leaves[i], where);
      if (!has_tangent(type.dtype)) {
        fail(std::string(transform) + ": " + arguments.paths[i] + " is " + to_string(type) +
                 ", and only floats and complex numbers have gradients; convert it with "
                 ".astype(ab::f32), or put it in an argument of its own",
             where);
      }
      marks[i] = true;
    }
  }
  return marks;
}

Leaves in_order_chosen(const std::vector<std::size_t>& indices, const ArgumentLeaves& arguments,
                       const Leaves& gradients, std::size_t first) {
  Leaves ordered(gradients.begin(), gradients.begin() + static_cast<std::ptrdiff_t>(first));
  std::vector<std::size_t> sorted = indices;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t index : indices) {
    std::size_t at = first;
    for (std::size_t before : sorted) {
      if (before < index) at += arguments.first[before + 1] - arguments.first[before];
    }
    for (std::size_t i = arguments.first[index]; i < arguments.first[index + 1]; ++i) {
      ordered.push_back(gradients[at++]);
    }
  }
  return ordered;
}

void fail_no_such_argument(const char* transform, std::size_t index, std::size_t count,
                           SourceLocation where) {
  fail(std::string(transform) + ": there is no argument " + std::to_string(index) +
           "; the function is called with " + std::to_string(count) +
           (count == 1 ? " argument, number 0" : " arguments, from 0"),
       where);
}

void fail_not_an_array(const char* transform, std::size_t index, SourceLocation where) {
  fail(std::string(transform) + ": argument " + std::to_string(index) +
           " is no ab::Array, and arguments have different types; write ab::argument<" +
           std::to_string(index) + ">()",
       where);
}

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
  Leaves results = call_graph(transform, graph, with(arguments.leaves, function.captures()), where);
  keep_weak(function, results);
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
  const Graph graph = anabranch::jacobian(function.graph(), active,
                                          forward ? JacobianMode::forward : JacobianMode::reverse);
  return call_graph(transform, graph, with(arguments.leaves, function.captures()), where);
}

Leaves LinearMap::operator()(const Leaves& leaves) const {
  Leaves given = residuals;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Type& type = type_of_leaf(name, paths[i], leaves[i], where);
    if (!has_tangent(operands[i].dtype)) continue;
    Array leaf = leaves[i];
    if (is_weak(leaf) && type.shape == operands[i].shape && type != operands[i]) {
      leaf = record(Op::convert, {leaf}, where, NoAttributes{}, operands[i]);
    } else if (type != operands[i]) {
      fail(std::string(name) + ": " + paths[i] + " is " + to_string(type) + ", and not " +
               to_string(operands[i]) + ", the type of what it belongs to; reshape or convert it",
           where);
    }
    if (takes[i]) given.push_back(std::move(leaf));
  }
  const Leaves made = call_graph(name, *graph, given, where);
  Leaves all;
  for (std::size_t i = 0, next = 0; i < results.size(); ++i) {
    all.push_back(gives[i] ? made[next++] : zeros_of(results[i], where));
  }
  return all;
}

namespace {

std::pair<Leaves, LinearMap> linear_map(const char* transform, const FunctionTrace& function,
                                        const ArgumentLeaves& arguments, bool is_pulled,
                                        SourceLocation where) {
  std::vector<bool> active = own_differentiable(function, arguments);
  ForwardAndLinear parts =
      is_pulled ? anabranch::vjp(function.graph(), active) : linear_part(function.graph(), active);
  const Leaves all =
      call_graph(transform, parts.forward, with(arguments.leaves, function.captures()), where);
  auto [outputs, residuals] = split(all, function.weak().size());
  keep_weak(function, outputs);
  active.resize(arguments.leaves.size());
  LinearMap map{transform,
                std::make_shared<const Graph>(std::move(parts.linear)),
                std::move(residuals),
                types_of(arguments.leaves),
                types_of(outputs),
                std::move(active),
                std::move(parts.active),
                {},
                where};
  if (is_pulled) {
    std::swap(map.operands, map.results);
    std::swap(map.takes, map.gives);
  }
  return {std::move(outputs), std::move(map)};
}

}  // namespace

std::pair<Leaves, LinearMap> pulled_back(const FunctionTrace& function,
                                         const ArgumentLeaves& arguments, const Form& result,
                                         SourceLocation where) {
  auto parts = linear_map("vjp", function, arguments, true, where);
  parts.second.paths = paths_of(result);
  return parts;
}

std::pair<Leaves, LinearMap> pushed_forward(const char* transform, const FunctionTrace& function,
                                            const ArgumentLeaves& arguments, SourceLocation where) {
  return linear_map(transform, function, arguments, false, where);
}

std::pair<Leaves, Leaves> push(const FunctionTrace& function, const ArgumentLeaves& primals,
                               const ArgumentLeaves& tangents, SourceLocation where) {
  if (primals.leaves.size() != tangents.leaves.size()) {
    fail("jvp: the arguments have " + std::to_string(primals.leaves.size()) +
             " arrays, and the tangents " + std::to_string(tangents.leaves.size()) +
             "; lists and maps must be of one length",
         where);
  }
  const std::vector<bool> active = own_differentiable(function, primals);
  Leaves given = with(primals.leaves, function.captures());
  for (std::size_t i = 0; i < primals.leaves.size(); ++i) {
    const std::string path = "the tangent of " + primals.paths[i];
    const Type &wanted = type_of(primals.leaves[i]),
               &found = type_of_leaf("jvp", path, tangents.leaves[i], where);
    if (!active[i]) continue;
    Array tangent = tangents.leaves[i];
    if (is_weak(tangent) && found.shape == wanted.shape && found != wanted) {
      tangent = record(Op::convert, {tangent}, where, NoAttributes{}, wanted);
    } else if (found != wanted) {
      fail("jvp: " + path + " is " + to_string(found) + ", and not " + to_string(wanted) +
               ", the type of the argument; reshape or convert it",
           where);
    }
    given.push_back(std::move(tangent));
  }
  const Jvp pushed = anabranch::jvp(function.graph(), active);
  const Leaves all = call_graph("jvp", pushed.graph, given, where);
  auto [outputs, made] = split(all, function.weak().size());
  keep_weak(function, outputs);
  Leaves changes;
  for (std::size_t i = 0, next = 0; i < outputs.size(); ++i) {
    changes.push_back(pushed.active[i] ? made[next++] : zeros_of(type_of(outputs[i]), where));
  }
  return {std::move(outputs), std::move(changes)};
}

}  // namespace anabranch::detail
