#include "passes/transform/linear_operands.h"

#include <algorithm>

#include "ir/counted_loop.h"
#include "passes/transform/derivative_rules.h"
#include "passes/transform/transpose.h"

namespace anabranch {
namespace {

bool is_number(Dtype dtype) { return is_float(dtype) || is_complex(dtype); }

// Whether a region's results depend on those of its parameters.
bool depends_on(const Graph& region, const std::vector<bool>& active) {
  const std::vector<bool> linear = linear_nodes(region, active);
  return std::ranges::any_of(region.outputs(), [&](Value out) { return linear[out.node]; });
}

}  // namespace

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
      return counted_loop(node) && !depends_on(node.regions[0], active);
    default:
      break;
  }
  const JvpRule rule = derivative_rule(node.op).jvp;
  if (rule.kind == JvpRule::Kind::multilinear) return std::ranges::count(active, true) == 1;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i] && !(rule.linear_operands >> std::min<std::size_t>(i, 63) & 1)) return false;
  }
  return rule.kind == JvpRule::Kind::linear;
}

}  // namespace anabranch
