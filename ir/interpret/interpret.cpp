#include "ir/interpret/interpret.h"

#include <algorithm>
#include <exception>

#include "ir/custom_call.h"
#include "ir/failed_check.h"
#include "ir/graph/walk.h"
#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

void check_inputs(const Graph& graph, Operands inputs) {
  if (inputs.size() != graph.parameter_count()) {
    throw Error("interpret: graph " + graph.name() + " takes " +
                std::to_string(graph.parameter_count()) + " inputs, and " +
                std::to_string(inputs.size()) + " were given");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type() == graph.parameter_type(i)) continue;
    throw Error("interpret: input " + std::to_string(i) + " of graph " + graph.name() + " is " +
                to_string(inputs[i].type()) + ", and the graph takes " +
                to_string(graph.parameter_type(i)));
  }
}

}  // namespace

void refuse_dtype(const Node& node, Dtype dtype) {
  throw InternalError("interpret", std::string(name(node.op)) + " of " + std::string(name(dtype)));
}

Results interpret(const Node& node, Operands operands) {
  if (is_of_complex(node, operands)) return interpret_complex(node, operands);
  switch (node.op) {
#define OP(name, arity, kind, attributes, flags, meaning) \
  case Op::name:                                          \
    return rules::name(node, operands);
#include "ir/ops.def"
#undef OP
  }
  __builtin_unreachable();
}

Results interpret(const Graph& graph, Operands inputs) {
  check_inputs(graph, inputs);
  return walk(graph, inputs,
              [](const Node& node, Operands operands) { return interpret(node, operands); });
}

// --- leaves and regions
// ------------------------------------------------------------------------------

namespace rules {

Results parameter(const Node& node, Operands) {
  throw InternalError("interpret", "a parameter " + to_string(node.types[0]) + " has no operands");
}

Results constant(const Node& node, Operands) { return {node.as<ConstantAttributes>().value}; }

Results iota(const Node& node, Operands) {
  const Type& type = node.types[0];
  const auto axis = static_cast<std::size_t>(node.as<AxisAttributes>().axis);
  return visit_any_dtype(type.dtype, [&]<class T>() {
    Elements<T> result(type);
    std::int64_t next = 0;
    for_each_place(type.shape,
                   [&](const auto& place) { result[next++] = convert_scalar<T>(place[axis]); });
    return std::move(result).finish();
  });
}

Results transfer(const Node&, Operands operands) { return {operands[0]}; }
Results optimization_barrier(const Node&, Operands operands) { return {operands[0]}; }

Results check(const Node& node, Operands operands) {
  const auto state = operands[0].values<std::int32_t>();
  if (const std::string* message = failed_check(state, node.as<CheckAttributes>())) {
    throw Error("check failed: " + *message);
  }
  return {operands.begin() + 1, operands.end()};
}

Results custom_call(const Node& node, Operands operands) {
  std::vector<Type> types;
  std::vector<void*> buffers;
  for (const Literal& operand : operands) {
    types.push_back(operand.type());
    // The function gets pointers to what it reads and to what it writes alike.
    buffers.push_back(const_cast<std::byte*>(operand.bytes().data()));
  }
  std::vector<std::vector<std::byte>> written;
  for (const Type& type : node.types) {
    written.emplace_back(type.bytes());
    buffers.push_back(written.back().data());
  }
  const auto& [name, stated, function] = node.as<CustomCallAttributes>();
  const auto called = custom_function(name, function);
  try {
    (*called)(CustomCall(types, node.types, buffers.data()));
  } catch (const std::exception& error) {
    std::throw_with_nested(
        Error("custom_call " + name + ": " + error.what() +
              (node.location ? ", at " + to_string(node.location) : std::string())));
  }
  Results results;
  for (std::size_t i = 0; i < written.size(); ++i) {
    results.emplace_back(node.types[i], std::move(written[i]));
  }
  return results;
}

Results while_(const Node& node, Operands operands) {
  Results values(operands.begin(), operands.end());
  while (interpret(node.regions[0], values)[0].values<bool>()[0]) {
    Results next = interpret(node.regions[1], values);
    std::move(next.begin(), next.end(), values.begin());
  }
  values.resize(node.types.size());
  return values;
}

Results case_(const Node& node, Operands operands) {
  const std::int32_t wanted = operands[0].values<std::int32_t>()[0];
  const std::size_t last = node.regions.size() - 1;
  const std::size_t branch = wanted < 0 ? last : std::min<std::size_t>(wanted, last);
  return interpret(node.regions[branch], operands.subspan(1));
}

Results composite(const Node& node, Operands operands) {
  if (node.as<CompositeAttributes>().rule == CompositeRule::pullback) {
    throw Error("a function with a custom_vjp has no forward derivative; give it a custom_jvp" +
                (node.location ? ", at " + to_string(node.location) : std::string()));
  }
  return interpret(node.regions[0], operands);
}

Results fusion(const Node& node, Operands operands) { return interpret(node.regions[0], operands); }

}  // namespace rules
}  // namespace anabranch
