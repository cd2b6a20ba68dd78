// Loops and branches: their regions must agree with their operands, and with each other.
#include "ir/infer/rules.h"

namespace anabranch {
namespace type_rules {

ResultTypes while_(const Application& call) {
  if (call.regions.size() != 2) {
    call.refuse("takes a condition and a body",
                "given " + std::to_string(call.regions.size()) +
                    (call.regions.size() == 1 ? " region" : " regions"));
  }
  const auto kept_states = call.as<WhileAttributes>().kept_states;
  if (kept_states && *kept_states < 1) {
    call.refuse("kept_states is " + std::to_string(*kept_states), "at least 1 state is kept");
  }
  call.demand_parameters(0, "the condition", call.operands);
  call.demand_parameters(1, "the body", call.operands);
  const Graph& condition = call.regions[0];
  const Graph& body = call.regions[1];
  const Type holds{Dtype::bool_, {}};
  if (condition.outputs().size() != 1 || condition.type(condition.outputs()[0]) != holds) {
    std::string found;
    for (Value output : condition.outputs()) {
      found += (found.empty() ? "" : ", ") + to_string(condition.type(output));
    }
    call.refuse("the condition must return one bool[]",
                "it returns " + (found.empty() ? "nothing" : found));
  }
  const std::size_t carried = body.outputs().size();
  if (carried == 0 || carried > call.operands.size()) {
    call.refuse("the body returns " + std::to_string(carried) + " values",
                "it must return the next of each carried value, at least one");
  }
  std::vector<Type> results;
  for (std::size_t i = 0; i < carried; ++i) {
    const Type& next = body.type(body.outputs()[i]);
    if (next != call.operands[i]) {
      call.refuse("carried value " + std::to_string(i) + " changes its type",
                  to_string(call.operands[i]) + " goes in and " + to_string(next) +
                      " comes back; convert or reshape it in the body");
    }
    results.push_back(next);
  }
  return results;
}

ResultTypes case_(const Application& call) {
  if (call.operands.empty() || call.operands[0] != Type{Dtype::i32, {}}) {
    call.refuse("the first operand must be i32[]", "the number of the branch to take");
  }
  if (call.regions.empty()) call.refuse("needs at least one branch");
  std::vector<Type> results;
  for (std::size_t branch = 0; branch < call.regions.size(); ++branch) {
    const std::string what = "branch " + std::to_string(branch);
    call.demand_parameters(branch, what, call.operands.subspan(1));
    const Graph& region = call.regions[branch];
    if (branch == 0) {
      if (region.outputs().empty()) call.refuse("branch 0 returns nothing");
      for (Value output : region.outputs()) results.push_back(region.type(output));
      continue;
    }
    if (region.outputs().size() != results.size()) {
      call.refuse(what + " returns " + std::to_string(region.outputs().size()) +
                  " values, and branch 0 returns " + std::to_string(results.size()));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Type& type = region.type(region.outputs()[i]);
      if (type == results[i]) continue;
      call.refuse(
          "result " + std::to_string(i) + " of " + what + " has another type than branch 0's",
          to_string(type) + " against " + to_string(results[i]) +
              "; convert or reshape one of them");
    }
  }
  return results;
}

namespace {

std::vector<Type> with_tangents(std::span<const Type> types) {
  std::vector<Type> tangents;
  for (const Type& type : types) {
    if (is_float(type.dtype) || is_complex(type.dtype)) tangents.push_back(type);
  }
  return tangents;
}

std::vector<Type> joined(std::vector<Type> types, const std::vector<Type>& more) {
  types.insert(types.end(), more.begin(), more.end());
  return types;
}

void demand_outputs(const Application& call, std::size_t region, const char* what,
                    const std::vector<Type>& wanted, bool may_give_more = false) {
  const Graph& graph = call.regions[region];
  const std::size_t count = graph.outputs().size();
  if (count < wanted.size() || (count > wanted.size() && !may_give_more)) {
    call.refuse(std::string(what) + " gives " + std::to_string(count) + " values, not " +
                std::to_string(wanted.size()));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (graph.output_type(i) == wanted[i]) continue;
    call.refuse("result " + std::to_string(i) + " of " + what + " has the wrong type",
                to_string(graph.output_type(i)) + " instead of " + to_string(wanted[i]));
  }
}

// One operand as it is; a name where it says one.
void demand_mark(const Application& call, const std::vector<Type>& results) {
  const auto& attributes = call.as<CompositeAttributes>();
  const std::string rule(name(attributes.rule));
  const bool is_identity = call.operands.size() == 1 && results.size() == 1 &&
                           call.regions[0].outputs()[0] == Value{0, 0};
  if (!is_identity) call.refuse("a " + rule + " gives its one operand as it is");
  if ((attributes.rule == CompositeRule::named) == attributes.name.empty()) {
    call.refuse("a " + rule + (attributes.name.empty() ? " says its name" : " has no name"));
  }
}

}  // namespace

ResultTypes composite(const Application& call) {
  const auto& [rule, arguments, results, value_name] = call.as<CompositeAttributes>();
  const std::size_t wanted = rule == CompositeRule::custom_jvp   ? 2
                             : rule == CompositeRule::custom_vjp ? 3
                                                                 : 1;
  if (call.regions.size() != wanted) {
    call.refuse("a " + std::string(name(rule)) + " has " + std::to_string(wanted) + " regions",
                "not " + std::to_string(call.regions.size()));
  }
  if (arguments < 0 || static_cast<std::size_t>(arguments) > call.operands.size()) {
    call.refuse("has fewer operands than arguments", std::to_string(arguments));
  }
  const std::vector<Type> own(call.operands.begin(), call.operands.begin() + arguments);
  if (rule == CompositeRule::pullback) {
    const std::vector<Type> known(call.operands.begin() + arguments, call.operands.end());
    call.demand_parameters(0, "the pullback", joined(known, results));
    demand_outputs(call, 0, "the pullback", own);
    if (results.empty()) call.refuse("a pullback says what its results are");
    return results;
  }
  const std::vector<Type> operands(call.operands.begin(), call.operands.end());
  call.demand_parameters(0, "the function", operands);
  std::vector<Type> types;
  for (Value output : call.regions[0].outputs()) types.push_back(call.regions[0].type(output));
  if (types.empty()) call.refuse("the function returns nothing");
  if (is_mark(rule)) demand_mark(call, types);
  if (rule == CompositeRule::custom_jvp) {
    call.demand_parameters(1, "the rule", joined(operands, with_tangents(own)));
    demand_outputs(call, 1, "the rule", joined(types, with_tangents(types)));
  }
  if (rule == CompositeRule::custom_vjp) {
    call.demand_parameters(1, "the forward function", operands);
    demand_outputs(call, 1, "the forward function", types, true);
    std::vector<Type> residuals;
    for (std::size_t i = types.size(); i < call.regions[1].outputs().size(); ++i) {
      residuals.push_back(call.regions[1].output_type(i));
    }
    call.demand_parameters(2, "the backward function", joined(residuals, with_tangents(types)));
    demand_outputs(call, 2, "the backward function", with_tangents(own));
  }
  return types;
}

}  // namespace type_rules
}  // namespace anabranch
