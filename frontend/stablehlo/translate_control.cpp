// Loops, branches, and functions of each element.
#include <algorithm>

#include "anabranch/arrange.h"
#include "anabranch/control_flow.h"
#include "anabranch/manipulate.h"
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
  const std::vector<Array> carried = site.array_operands();
  if (carried.empty()) site.fail("carries no tensor, so that it ends at once or never");
  detail::Loop loop{"stablehlo.while", site.where(), tree_of(carried, "value")};
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
  if (std::ranges::all_of(site.op.result_types, is_token)) return {};
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

// How many of a scan's operands are arrays to walk; the others are what it carries.
std::size_t count_of_inputs(const Site& site) {
  const List segments = site.integers("operandSegmentSizes");
  if (segments.size() == 2 && segments[0] >= 0 && segments[1] >= 0 &&
      static_cast<std::size_t>(segments[0] + segments[1]) == site.count()) {
    return static_cast<std::size_t>(segments[0]);
  }
  site.fail("its operandSegmentSizes have to be its numbers of inputs and of inits");
}

// https://www.tensorflow.org/xla/operation_semantics#scan: the body takes a slice of each input
// and the carries, and gives a slice of each output and the next carries.
Results scan_op(const Site& site) {
  const std::size_t inputs = count_of_inputs(site);
  const std::int64_t axis = site.integer("dimension");
  const bool is_reverse = site.boolean("is_reverse", false);
  const auto turned = [&](const Array& x) {
    return is_reverse ? flip({x, site.where()}, Axes({0})) : x;
  };
  std::vector<Array> walked;
  for (const Array& x : site.operands(0, inputs)) {
    walked.push_back(turned(moveaxis({x, site.where()}, axis, 0)));
  }
  detail::Scan scan{site.where(), tree_of(site.operands(inputs, site.count() - inputs), "carry"),
                    tree_of(walked, "input"), std::nullopt};
  if (site.op.find("scan_dim_size")) scan.length = site.integer("scan_dim_size");
  scan.step = [&](const detail::Leaves& carry, const detail::Leaves& slices) {
    std::vector<Array> arguments(slices.begin(), slices.end());
    arguments.insert(arguments.end(), carry.begin(), carry.end());
    const std::vector<Array> results = site.run_body(site.region(0), arguments);
    if (results.size() < carry.size()) site.fail("its body has to return what it carries");
    const auto middle = results.end() - static_cast<std::ptrdiff_t>(carry.size());
    return std::pair(tree_of({middle, results.end()}, "carry"),
                     tree_of({results.begin(), middle}, "output"));
  };
  const auto [carries, outputs] = detail::run_scan(scan);
  Results results;
  for (const Array& y : outputs) {
    results.push_back(moveaxis({turned(y), site.where()}, 0, axis));
  }
  results.insert(results.end(), carries.begin(), carries.end());
  return results;
}

Results map_op(const Site& site) {
  const ScalarBody body = [&](const std::vector<Array>& scalars) {
    return site.run_body(site.region(0), scalars);
  };
  return map_elements(site.located(site.operands()), body);
}

constexpr Translation rows_of_control[] = {
    {"while", while_op}, {"case", case_op}, {"if", if_op}, {"map", map_op}, {"scan", scan_op},
};

}  // namespace

std::span<const Translation> control_translations() { return rows_of_control; }

}  // namespace anabranch::stablehlo
