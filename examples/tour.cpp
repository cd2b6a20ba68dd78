// One function through every stage; docs/tour.md walks through what this prints.
//
//   x -- matmul w -- + b -- tanh -- softmax
#include <anabranch/anabranch.h>

#include <iostream>

namespace ab = anabranch;

ab::Array scores(ab::Array x, ab::Array w, ab::Array b) {
  ab::Array hidden = ab::tanh(ab::matmul(x, w) + b);
  return ab::softmax(hidden);
}

int main() {
  auto fast = ab::jit(scores);
  for (ab::Stage stage :
       {ab::Stage::trace, ab::Stage::optimized, ab::Stage::kernels, ab::Stage::llvm,
        ab::Stage::assembly, ab::Stage::schedule, ab::Stage::memory}) {
    std::cout << "=== " << ab::name(stage) << "\n"
              << fast.dump(stage, ab::spec(ab::f32, {256, 128}), ab::spec(ab::f32, {128, 64}),
                           ab::spec(ab::f32, {64}))
              << "\n";
  }
}
