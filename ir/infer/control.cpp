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

}  // namespace type_rules
}  // namespace anabranch
