#include "tests/support/random_graph.h"

#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

// One that fits in the room that is left, by weight; null where none does.
const Recipe* draw(RandomBuilder& builder) {
  std::vector<const Recipe*> fitting;
  std::int64_t total = 0;
  for (auto recipes :
       {op_recipes(), shape_recipes(), pattern_recipes(), control_recipes(), call_recipes()}) {
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
  const Type first{builder.random_dtype(), builder.random_shape(builder.usual_size())};
  builder.parameter(first);
  if (builder.random.percent(50)) builder.parameter(first);
  const auto length = static_cast<int>(3 + builder.random.below(RandomBuilder::node_limit - 2));
  int attempts = 0;
  while (RandomBuilder::node_limit - builder.room() < length && ++attempts < 200) {
    const Recipe* recipe = draw(builder);
    if (recipe == nullptr) break;
    recipe->add(builder);
  }
  return builder.finish();
}

}  // namespace anabranch
