#include "rules.h"

#include "passes/canonicalize.h"
#include "passes/pipeline.h"
#include "passes/simplify.h"
#include "tests/support/random_graph.h"

namespace anabranch {

std::map<std::string, std::int64_t> applied_rules(std::uint64_t first, std::uint64_t count) {
  std::map<std::string, std::int64_t> counts;
  for (const Rule& rule : canonicalize_rules().rules()) counts[std::string(rule.equation)];
  const std::vector<std::string> fuse = {"fuse"};
  for (const Rule& rule : simplify_rules().rules()) counts[std::string(rule.equation)];
  PassContext context;
  context.applied = [&](std::string_view equation) { ++counts[std::string(equation)]; };
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Graph graph = random_graph(seed).graph;
    for (const bool fast_math : {false, true}) {
      context.fast_math = fast_math;
      PassRun without_fusion;
      without_fusion.disabled = fuse;
      run_passes(default_pipeline(), graph, context, without_fusion);
    }
  }
  return counts;
}

}  // namespace anabranch
