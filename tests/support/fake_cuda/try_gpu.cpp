// What somebody who asks for a GPU is told: a line per device, then a sum and a product of
// matrices, or an error.
#include <cstdio>
#include <exception>

#include "anabranch/anabranch.h"

namespace ab = anabranch;

void print(const ab::Array& array) {
  for (float value : array.to_vector<float>()) std::printf("%g ", value);
  std::printf("\n");
}

int main() {
  for (const ab::Device& device : ab::devices()) std::printf("%s\n", to_string(device).c_str());
  try {
    ab::Options options;
    options.device = ab::Device::cuda(0);
    const ab::Array x = ab::array({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}).to(options.device);
    print(ab::jit([](ab::Array z) { return z + 1; }, options)(x));
    print(ab::jit([](ab::Array z) { return ab::matmul(z, z); }, options)(x));
  } catch (const ab::Error& error) {
    std::printf("Error: %s\n", error.what());
  } catch (const std::exception& error) {
    std::printf("not an Error: %s\n", error.what());
  }
}
