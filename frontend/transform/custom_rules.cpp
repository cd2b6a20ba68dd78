#include "anabranch/custom_rules.h"

#include <algorithm>
#include <string>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/trace/record.h"
#include "frontend/transform/traced_function.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "passes/transform/jvp.h"

namespace anabranch::detail {
namespace {

// `graph` with its parameters in three groups, the last two exchanged, and with the parameters of
// what was the last group as outputs too where `kept`.
Graph with_groups(const Graph& graph, std::size_t first, std::size_t second, bool kept) {
  GraphBuilder builder(graph.name());
  GraphCopier copier(graph, builder);
  const std::size_t all = graph.parameter_count();
  const auto copy = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) copier.copy(static_cast<std::uint32_t>(i));
  };
  copy(0, first);
  copy(first + second, all);
  copy(first, first + second);
  copier.copy_body();
  std::vector<Value> outputs = copier(graph.outputs());
  for (std::size_t i = first + second; kept && i < all; ++i) {
    outputs.push_back(copier(Value{static_cast<std::uint32_t>(i), 0}));
  }
  return builder.build(std::move(outputs));
}

Leaves call(CompositeRule rule, const FunctionTrace& function, std::vector<Graph> regions,
            const Leaves& arguments, const Leaves& captures, SourceLocation where) {
  Leaves operands = arguments;
  operands.insert(operands.end(), captures.begin(), captures.end());
  const CompositeAttributes attributes{rule, static_cast<std::int64_t>(arguments.size())};
  Leaves results = record_all(Op::composite, operands, where, attributes, std::move(regions));
  function.mark_weak(results);
  return results;
}

}  // namespace

bool is_differentiable(const Array& array) { return has_tangent(type_of(array).dtype); }

Leaves differentiable(const Leaves& leaves) {
  Leaves list;
  std::copy_if(leaves.begin(), leaves.end(), std::back_inserter(list), is_differentiable);
  return list;
}

void demand_leaves_like(const char* transform, const Tree& given, const std::vector<Type>& wanted,
                        SourceLocation where) {
  if (given.leaves.size() != wanted.size()) {
    fail(std::string(transform) + ": a rule gives " + std::to_string(given.leaves.size()) +
             " arrays, and not " + std::to_string(wanted.size()) +
             "; lists and maps must be of one length",
         where);
  }
  const std::vector<std::string> paths = paths_of(given.form);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Type& found = type_of_leaf(transform, paths[i], given.leaves[i], where);
    if (found == wanted[i]) continue;
    fail(std::string(transform) + ": " + paths[i] + " is " + to_string(found) + ", and not " +
             to_string(wanted[i]) + "; reshape or convert it in the rule",
         where);
  }
}

Leaves call_with_jvp(const FunctionTrace& function, const FunctionTrace& rule,
                     const Leaves& arguments, SourceLocation where) {
  const Region* regions[] = {&FunctionTrace::State::region_of(function),
                             &FunctionTrace::State::region_of(rule)};
  JoinedRegions joined = join(regions);
  // ArgumentLeaves, tangents, captures: captures come before tangents.
  const std::size_t tangents = regions[1]->own_parameters() - arguments.size();
  joined.graphs[1] = with_groups(joined.graphs[1], arguments.size(), tangents, false);
  return call(CompositeRule::custom_jvp, function, std::move(joined.graphs), arguments,
              joined.captures, where);
}

Leaves call_with_vjp(const FunctionTrace& function, const FunctionTrace& forward,
                     const FunctionTrace& backward, const Leaves& arguments, SourceLocation where) {
  const Region* regions[] = {&FunctionTrace::State::region_of(function),
                             &FunctionTrace::State::region_of(forward),
                             &FunctionTrace::State::region_of(backward)};
  JoinedRegions joined = join(regions);
  // What the backward function captures is a residual as well.
  const std::size_t residuals = forward.weak().size() - function.weak().size();
  const std::size_t cotangents = regions[2]->own_parameters() - residuals;
  joined.graphs[1] = with_groups(joined.graphs[1], arguments.size(), 0, true);
  joined.graphs[2] = with_groups(joined.graphs[2], residuals, cotangents, false);
  return call(CompositeRule::custom_vjp, function, std::move(joined.graphs), arguments,
              joined.captures, where);
}

// As the bits of the same type: they are no numbers to differentiate, and no pass keeps the op.
Leaves stop_gradients(const Leaves& leaves, SourceLocation where) {
  const auto stopped = [&](const Array& x) {
    return record(Op::bitcast_convert, {x}, where, NoAttributes{}, type_of(x));
  };
  Leaves all = leaves;
  for (Array& leaf : all) {
    const Type& type = type_of_leaf("stop_gradient", "x", leaf, where);
    if (is_complex(type.dtype)) {
      leaf = record(
          Op::complex,
          {stopped(record(Op::real, {leaf}, where)), stopped(record(Op::imag, {leaf}, where))},
          where);
    } else if (has_tangent(type.dtype)) {
      leaf = stopped(leaf);
    }
  }
  return all;
}

}  // namespace anabranch::detail
