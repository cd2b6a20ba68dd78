#include <anabranch/anabranch.h>

#include <iostream>

namespace ab = anabranch;

int main() {
  auto scaled = ab::jit([](ab::Array x, ab::Array by) { return ab::sum(x * by); });
  const float total = scaled(ab::ones(ab::f32, {3, 4}), 2.5f).item<float>();
  std::cout << total << "\n";
  return total == 30.0f ? 0 : 1;
}
