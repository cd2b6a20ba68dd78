#include "passes/expand.h"

#include "passes/expand_complex.h"
#include "passes/expand_convolutions.h"
#include "passes/expand_power.h"
#include "passes/expand_scatter.h"
#include "passes/expand_small_matrices.h"

namespace anabranch {

Graph expand(const Graph& graph, PassContext& context) {
  std::vector<Rule> all = complex_rules();
  all.push_back(convolution_rule(context));
  std::vector tables = {power_rules, scatter_rules, stack_rules};
  if (context.follows_rows && context.follows_rows()) tables.push_back(small_matrix_rules);
  for (const auto rules_of : tables) {
    for (Rule& rule : rules_of()) all.push_back(std::move(rule));
  }
  const RuleTable rules(std::move(all));
  return rewrite(graph, rules, context);
}

}  // namespace anabranch
