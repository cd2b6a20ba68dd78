#include "check.h"

#include "ir/text/print.h"
#include "tests/support/compare.h"

namespace anabranch {

std::optional<std::string> problem(const Way& way, const GraphCase& tested,
                                   std::span<const Bounded> expected) {
  try {
    return difference(expected, way.run(tested));
  } catch (const std::exception& error) {
    return "threw: " + std::string(error.what());
  }
}

std::optional<std::string> problem(const Way& way, const GraphCase& tested) {
  return problem(way, tested, interpret_bounded(tested.graph, tested.inputs));
}

std::string describe(const GraphCase& tested) {
  std::string text = to_string(tested.graph);
  for (std::size_t i = 0; i < tested.inputs.size(); ++i) {
    const Literal& input = tested.inputs[i];
    if (input.type().size() <= 16) {
      text += "# %" + std::to_string(i) + " = " + to_string(input) + "\n";
    }
  }
  return text;
}

}  // namespace anabranch
