#include "tests/support/random_graph.h"

#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

using Lists = std::vector<std::span<const Recipe>>;

// One that fits in the room that is left, by weight; null where none does.
const Recipe* draw(RandomBuilder& builder, const Lists& lists) {
  std::vector<const Recipe*> fitting;
  std::int64_t total = 0;
  for (auto recipes : lists) {
    for (const Recipe& recipe : recipes) {
      if (recipe.nodes > builder.room()) continue;
      fitting.push_back(&recipe);
      total += recipe.weight;
    }
  }
  if (fitting.empty()) return nullptr;
  std::int64_t rest = builder.random.below(total);
  for (const Recipe* recipe : fitting) {
    rest -= recipe->weight;
    if (rest < 0) return recipe;
  }
  return nullptr;
}

}  // namespace

GraphCase random_graph(std::uint64_t seed) {
  RandomBuilder builder(seed);
  const std::int64_t kind = builder.random.below(1'000);
  if (kind < 15) {
    add_long_graph(builder);
    return builder.finish();
  }
  // A quarter are about what rules match, and little else.
  const bool algebra = kind < 250;
  const Lists lists =
      algebra ? Lists{tree_recipes(), map_recipes(), equation_recipes(), equation_recipes()}
              : Lists{op_recipes(),      shape_recipes(),  tree_recipes(),
                      pattern_recipes(), call_recipes(),   control_recipes(),
                      order_recipes(),   gather_recipes(), matrix_recipes()};
  const Type first{builder.random_dtype(), builder.random_shape(builder.usual_size())};
  if (builder.random.percent(97)) builder.parameter(first);
  if (builder.random.percent(50)) builder.parameter(first);
  // Each op, and each rule, in its turn, so that few seeds reach them all.
  if (!algebra) add_unary(builder, seed);
  const auto length = static_cast<int>(3 + builder.random.below(builder.node_limit() - 2));
  int attempts = 0;
  while (builder.node_limit() - builder.room() < length && ++attempts < 200) {
    const Recipe* recipe = draw(builder, lists);
    if (recipe == nullptr) break;
    recipe->add(builder);
  }
  if (algebra) add_equation(builder, seed);  // the newest value is an output
  return builder.finish();
}

}  // namespace anabranch
