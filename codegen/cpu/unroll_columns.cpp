#include "codegen/cpu/unroll_columns.h"

#include <algorithm>

#include "codegen/cpu/vectorise.h"
#include "codegen/kernel/facts.h"
#include "codegen/kernel/loop_nest.h"
#include "codegen/kernel/split_loops.h"
#include "ir/plan_fusion.h"

namespace anabranch::cpu {
namespace {

constexpr std::int64_t least_rows = 64;

// Costs in vector instructions.
constexpr double look_up_cost = 4;          // of a load that jumps along a row
constexpr double single_load_cost = 1;      // of one lane
constexpr double single_store_cost = 1.25;  // which is taken out of the vector before

/// What one iteration of the loops around `lanes` costs, its iterations being lanes. Loads and
/// stores that jump cost `of_load` and `of_store` a vector.
double cost(const KernelFacts& facts, Ref lanes, const Target& target, double of_load,
            double of_store) {
  const KernelFacts::Weight weight = facts.weight(lanes);
  double sum = weight.cheap + KernelFacts::heavy_operations * weight.heavy;
  for (const KernelFacts::Access& access : facts.accesses()) {
    const bool jumps = !facts.is_contiguous(access, lanes);
    sum += !jumps ? 1 : access.is_store ? of_store : of_load;
  }
  return sum * static_cast<double>(facts.loop(lanes).extent) /
         lanes_of(facts.widest_element(lanes), target);
}

}  // namespace

Kernel unroll_columns(const Kernel& kernel, KernelContext& context) {
  if (context.row_major) return kernel;
  const std::vector<Ref> outer = outer_loops(kernel);
  if (outer.size() < 2) return kernel;
  const std::vector<std::int64_t> extents = extents_of(kernel, outer);
  const std::int64_t columns = extents.back();
  if (columns < 2 || columns > most_columns || product(extents) / columns < least_rows) {
    return kernel;
  }
  const KernelFacts facts(kernel);
  if (!facts.leaves().empty()) return kernel;

  const Kernel cut = split_loop(kernel, outer.back());
  if (outer_loops(cut).size() == outer.size()) return kernel;  // all columns are alike
  Kernel made = unrolled(cut);
  const std::vector<Ref> around = outer_loops(made);
  const KernelFacts made_facts(made);
  const double lanes = lanes_of(made_facts.widest_element(around.back()), context.target);
  const double along = static_cast<double>(extents[extents.size() - 2]) *
                       cost(facts, outer.back(), context.target, look_up_cost, 1);
  const double across = cost(made_facts, around.back(), context.target, single_load_cost * lanes,
                             single_store_cost * lanes);
  return across < along ? made : kernel;
}

}  // namespace anabranch::cpu
