#include <anabranch/anabranch.h>

namespace ab = anabranch;

[[gnu::visibility("default")]] float plugin_total(int rows, int columns);

float plugin_total(int rows, int columns) {
  const auto total = ab::jit([](ab::Array x, ab::Array by) { return ab::sum(x * by); });
  return total(ab::ones({rows, columns}), 2.5f).item<float>();
}
