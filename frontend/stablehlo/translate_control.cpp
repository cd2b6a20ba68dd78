// Loops, branches, and functions of each element.
#include "anabranch/control_flow.h"
#include "anabranch/window.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

detail::Tree tree_of(std::vector<Array> arrays, const std::string& what) {
  detail::Tree tree;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    tree.form.add(what + " " + std::to_string(i), "");
  }
  tree.leaves = std::move(arrays);
  return tree;
}

Results while_op(const Site& site) {
  if (site.count() == 0) site.fail("carries nothing, so that it ends at once or never");
  detail::Loop loop{"stablehlo.while", site.where(), tree_of(site.operands(), "value")};
  const RegionSyntax &condition = site.region(0), &body = site.region(1);
  loop.condition = [&](const detail::Leaves& carry, const detail::Leaves&) {
    WithinTraceOf within(site.importer, carry[0]);
    std::vector<Array> results = site.importer.run(condition, site.scope, carry);
    if (results.size() != 1) site.fail("its condition has to return one bool");
    return results[0];
  };
  loop.body = [&](const detail::Leaves& carry, const detail::Leaves&) {
    WithinTraceOf within(site.importer, carry[0]);
    return tree_of(site.importer.run(body, site.scope, carry), "value");
  };
  return detail::run_while(loop);
}

Results branches(const Site& site, const Array& index, const std::vector<std::size_t>& order) {
  if (site.op.result_types.empty()) return {};
  detail::Branches branches{site.op.name.c_str(), site.where(), {}, {}, {}};
  for (std::size_t region : order) {
    branches.names.push_back("branch " + std::to_string(region));
    branches.functions.push_back([&site, region](const detail::Leaves&) {
      return tree_of(site.importer.run(site.region(region), site.scope, {}), "result");
    });
  }
  return detail::run_branches(index, branches);
}

Results case_op(const Site& site) {
  site.expect_operands(1);
  if (site.op.regions.empty()) site.fail("needs at least one branch");
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < site.op.regions.size(); ++i) order.push_back(i);
  return branches(site, site.operand(0), order);
}

Results if_op(const Site& site) {
  site.expect_operands(1);
  if (site.op.regions.size() != 2) site.fail("needs two regions, for true and for false");
  const Operand predicate(site.operand(0), site.where());
  return branches(site, detail::branch_of("stablehlo.if", predicate), {1, 0});
}

Results map_op(const Site& site) {
  const ScalarBody body = [&](const std::vector<Array>& scalars) {
    return site.run_body(site.region(0), scalars);
  };
  return map_elements(site.located(site.operands()), body);
}

constexpr Translation rows_of_control[] = {
    {"while", while_op},
    {"case", case_op},
    {"if", if_op},
    {"map", map_op},
};

}  // namespace

std::span<const Translation> control_translations() { return rows_of_control; }

}  // namespace anabranch::stablehlo
