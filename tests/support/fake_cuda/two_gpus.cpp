// Programs that go from one GPU to the other and back, each enqueued before the one before it is
// done: how many elements are wrong.
#include <cstdio>
#include <exception>

#include "anabranch/anabranch.h"

namespace ab = anabranch;

int main() {
  try {
    const ab::Device one = ab::Device::cuda(0), other = ab::Device::cuda(1);
    const auto there = ab::jit([&](ab::Array x) { return x.to(other) * 3 - 1; });
    const auto back = ab::jit([&](ab::Array x) { return x.to(one) * 5 + 7; });
    int wrong = 0;
    for (int turn = 0; turn < 40; ++turn) {
      ab::Array x = ab::full({1000}, turn, ab::i32).to(one);
      int expected = turn;
      for (int i = 0; i < 4; ++i) {
        x = back(there(x));
        expected = (expected * 3 - 1) * 5 + 7;
      }
      for (int element : x.to_vector<int>()) wrong += element != expected;
    }
    std::printf("%d wrong\n", wrong);
  } catch (const std::exception& error) {
    std::printf("Error: %s\n", error.what());
  }
}
