// A process that leaves main while its GPU works, with results that outlive what the library has in
// static storage.
#include <vector>

#include "anabranch/anabranch.h"

namespace ab = anabranch;

int main() {
  static std::vector<ab::Array> kept;
  ab::Options options;
  options.device = ab::Device::cuda(0);
  const auto step = ab::jit([](ab::Array x) { return ab::matmul(ab::tanh(x), x); }, options);
  ab::Array x = ab::full({64, 64}, 0.01f).to(options.device);
  for (int i = 0; i < 100; ++i) kept.push_back(x = step(x));
}
