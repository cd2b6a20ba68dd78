#include "passes/transform/linear_operands.h"

#include <algorithm>
#include <string>

#include "anabranch/error.h"
#include "passes/transform/derivative_rules.h"

namespace anabranch {
namespace {

bool is_number(Dtype dtype) { return is_float(dtype) || is_complex(dtype); }

// Whether a region's results depend on those of its parameters.
bool depends_on(const Graph& region, const std::vector<bool>& active) {
  const std::vector<bool> linear = linear_nodes(region, active);
  return std::ranges::any_of(region.outputs(), [&](Value out) { return linear[out.node]; });
}

bool is_linear_in(const Node& node, const std::vector<bool>& active) {
  const auto only = [&](std::size_t operand) {
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (active[i] && i != operand) return false;
    }
    return true;
  };
  switch (node.op) {
    case Op::add:
    case Op::subtract:
    case Op::composite:
      return true;
    case Op::multiply:
      return !active[0] || !active[1];
    case Op::divide:
      return only(0);
    case Op::convert:
      return is_number(node.types[0].dtype);
    case Op::cumulative:
      return node.as<CumulativeAttributes>().of == Running::sum;
    case Op::scatter: {
      const ScatterCombiner combiner = node.as<ScatterAttributes>().combiner;
      return !active[1] &&
             (combiner == ScatterCombiner::add || combiner == ScatterCombiner::replace);
    }
    case Op::check:
    case Op::case_:
      return !active[0];
    case Op::triangular_solve:
      return only(1);
    case Op::tridiagonal_solve:
      return only(3);
    case Op::while_:
      return !depends_on(node.regions[0], active);
    default:
      break;
  }
  const DerivativeRule derivative = derivative_rule(node.op);
  const JvpRule& rule = derivative.jvp;
  if (!derivative.transpose) return false;
  if (rule.kind == JvpRule::Kind::multilinear) return std::ranges::count(active, true) == 1;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i] && !(rule.linear_operands >> std::min<std::size_t>(i, 63) & 1)) return false;
  }
  return rule.kind == JvpRule::Kind::linear;
}

}  // namespace

std::vector<bool> linear_nodes(const Graph& graph, const std::vector<bool>& linear) {
  std::vector<bool> is_linear;
  for (const Node& node : graph.nodes()) {
    const std::size_t index = is_linear.size();
    const bool is_parameter = node.op == Op::parameter;
    is_linear.push_back(is_parameter ? linear[index]
                                     : std::any_of(node.inputs.begin(), node.inputs.end(),
                                                   [&](Value in) { return is_linear[in.node]; }));
  }
  return is_linear;
}

void check_linear(const Node& node, const std::vector<bool>& active) {
  if (is_linear_in(node, active)) return;
  throw Error("custom_jvp: the rule's tangent is not linear in those of the arguments: " +
              std::string(name(node.op)) +
              "; add products of each with values that depend on no tangent" +
              (node.location ? ", at " + to_string(node.location) : ""));
}

}  // namespace anabranch
