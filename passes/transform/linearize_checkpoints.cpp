// Functions that are computed again, taken apart.
#include <algorithm>

#include "anabranch/error.h"
#include "ir/attributes.h"
#include "passes/dce.h"
#include "passes/regions.h"
#include "passes/transform/kept_values.h"
#include "passes/transform/linearize.h"
#include "passes/transform/splitter.h"

namespace anabranch {
namespace {

// The graph with only these parameters and outputs, and what they need.
Graph restricted(const Graph& graph, const std::vector<std::uint32_t>& parameters,
                 const std::vector<std::uint32_t>& outputs) {
  std::vector<Type> types;
  std::vector<NewParameter> places(graph.parameter_count());
  for (std::uint32_t i : parameters) {
    places[i].index = index_of(types.size());
    types.push_back(graph.parameter_type(i));
  }
  PassContext context;
  return dce(with_parameters(graph, types, places, outputs), context);
}

// Of the parameters from `first` on, those that something of the graph reads.
std::vector<std::uint32_t> read_parameters(const Graph& graph, std::uint32_t first) {
  std::vector<bool> is_read(graph.parameter_count());
  const auto read = [&](Value value) {
    if (value.node < is_read.size()) is_read[value.node] = true;
  };
  for (const Node& node : graph.nodes()) std::ranges::for_each(node.inputs, read);
  std::ranges::for_each(graph.outputs(), read);
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = first; i < is_read.size(); ++i) {
    if (is_read[i]) list.push_back(i);
  }
  return list;
}

std::vector<std::uint32_t> positions(const Flags& flags, bool wanted, std::size_t count) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (flags[i] == wanted) list.push_back(i);
  }
  return list;
}

}  // namespace

// The linear function takes all operands, and what is kept and it needs; it computes the rest
// again.
//
// Known function: known operands; known results, then what is kept.
// Linear function: all operands, then what is kept; linear results.
void Splitter::checkpoint(std::uint32_t index) {
  const Node& node = graph_.node(index);
  const std::uint32_t operand_count = index_of(node.inputs.size());
  const std::size_t results = node.types.size();
  Flags linear;
  for (Value input : node.inputs) linear.push_back(is_linear(input));
  const KeptValues kept = kept_values(node.regions[0], linear);
  const Linearized parts = linearize(kept.giving, linear);
  const auto first_kept = parts.is_linear.begin() + static_cast<std::ptrdiff_t>(results);
  if (std::find(first_kept, parts.is_linear.end(), true) != parts.is_linear.end()) {
    throw InternalError("linearize", "a value that is kept depends on a tangent",
                        to_string(kept.giving));
  }
  const Flags gives(parts.is_linear.begin(), first_kept);
  const std::vector<std::uint32_t> linear_results = positions(gives, true, results);
  Graph again = restricted(kept.taking, all_of(kept.taking.parameter_count()), linear_results);
  const std::vector<std::uint32_t> needed = read_parameters(again, operand_count);

  std::vector<std::uint32_t> known_results = all_of(results - linear_results.size());
  const std::size_t first_needed = known_results.size();
  for (std::uint32_t parameter : needed) {
    known_results.push_back(index_of(first_needed) + parameter - operand_count);
  }
  CompositeAttributes attributes = node.as<CompositeAttributes>();
  Value known{};
  if (!known_results.empty()) {
    std::vector<Value> operands;
    for (std::uint32_t i : positions(linear, false, operand_count)) {
      operands.push_back(known_copier_(node.inputs[i]));
    }
    attributes.arguments = static_cast<std::int64_t>(operands.size());
    known =
        known_.add(node.op, std::move(operands), attributes, std::nullopt,
                   {restricted(parts.known, all_of(parts.known.parameter_count()), known_results)},
                   node.location);
  }
  if (linear_results.empty()) return place_results(index, gives, known, {});

  std::vector<std::uint32_t> taken = all_of(operand_count);
  taken.insert(taken.end(), needed.begin(), needed.end());
  std::vector<Value> operands;
  for (Value input : node.inputs) operands.push_back(in_linear(input));
  for (std::size_t i = 0; i < needed.size(); ++i) {
    operands.push_back(residual({known.node, index_of(first_needed + i)}));
  }
  attributes.arguments = static_cast<std::int64_t>(operands.size());
  again = restricted(again, taken, all_of(linear_results.size()));
  const Value made = linear_.add(node.op, std::move(operands), attributes, std::nullopt,
                                 {std::move(again)}, node.location);
  place_results(index, gives, known, made);
}

}  // namespace anabranch
