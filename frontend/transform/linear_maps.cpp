#include "anabranch/linear_maps.h"

#include <memory>
#include <string>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/trace/record.h"
#include "passes/transform/jvp.h"
#include "passes/transform/vjp.h"

namespace anabranch::detail {
namespace {

std::pair<Leaves, Leaves> split(const Leaves& list, std::size_t at) {
  const auto middle = list.begin() + static_cast<std::ptrdiff_t>(at);
  return {{list.begin(), middle}, {middle, list.end()}};
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

// A tangent or cotangent of this type, of a dtype that has any; a number takes the dtype.
Array leaf_like(const char* transform, const std::string& path, const Array& leaf,
                const Type& wanted, const char* owner, SourceLocation where) {
  const Type& found = type_of_leaf(transform, path, leaf, where);
  if (found == wanted || !has_tangent(wanted.dtype)) return leaf;
  if (is_weak(leaf) && found.shape == wanted.shape) {
    return record(Op::convert, {leaf}, where, NoAttributes{}, wanted);
  }
  fail(std::string(transform) + ": " + path + " is " + to_string(found) + ", and not " +
           to_string(wanted) + ", the type of " + owner + "; reshape or convert it",
       where);
}

}  // namespace

Leaves LinearMap::operator()(const Leaves& leaves) const {
  if (leaves.size() != operands.size()) {
    fail(std::string(name) + ": " + std::to_string(leaves.size()) + " arrays are given, and not " +
             std::to_string(operands.size()) + "; lists and maps must be of one length",
         where);
  }
  Leaves given = residuals;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    Array leaf = leaf_like(name, paths[i], leaves[i], operands[i], "what it belongs to", where);
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
      call_graph(transform, parts.forward, function.with_captures(arguments.leaves), where);
  auto [outputs, residuals] = split(all, function.weak().size());
  function.mark_weak(outputs);
  active.resize(arguments.leaves.size());
  LinearMap map{transform,
                std::make_shared<const Graph>(std::move(parts.linear)),
                std::move(residuals),
                types_of_leaves(arguments.leaves),
                types_of_leaves(outputs),
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
  Leaves given = function.with_captures(primals.leaves);
  for (std::size_t i = 0; i < primals.leaves.size(); ++i) {
    Array tangent = leaf_like("jvp", "the tangent of " + primals.paths[i], tangents.leaves[i],
                              type_of(primals.leaves[i]), "the argument", where);
    if (active[i]) given.push_back(std::move(tangent));
  }
  const Jvp pushed = anabranch::jvp(function.graph(), active);
  const Leaves all = call_graph("jvp", pushed.graph, given, where);
  auto [outputs, made] = split(all, function.weak().size());
  function.mark_weak(outputs);
  Leaves changes;
  for (std::size_t i = 0, next = 0; i < outputs.size(); ++i) {
    changes.push_back(pushed.active[i] ? made[next++] : zeros_of(type_of(outputs[i]), where));
  }
  return {std::move(outputs), std::move(changes)};
}

}  // namespace anabranch::detail
