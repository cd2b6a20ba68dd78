// What somebody who asks for a GPU is told: a line per device, then a result or an error.
#include <cstdio>
#include <exception>

#include "anabranch/anabranch.h"

namespace ab = anabranch;

int main() {
  for (const ab::Device& device : ab::devices()) std::printf("%s\n", to_string(device).c_str());
  try {
    ab::Options options;
    options.device = ab::Device::cuda(0);
    const ab::Array x = ab::array({1.0f, 2.0f}, {2}).to(options.device);
    const ab::Array y = ab::jit([](ab::Array z) { return z + 1; }, options)(x);
    std::printf("%g %g\n", y.to_vector<float>()[0], y.to_vector<float>()[1]);
  } catch (const ab::Error& error) {
    std::printf("Error: %s\n", error.what());
  } catch (const std::exception& error) {
    std::printf("not an Error: %s\n", error.what());
  }
}
