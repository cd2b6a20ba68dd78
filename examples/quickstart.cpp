// A dense layer: an ordinary C++ function, traced, compiled once, called like a function.
//
//   x [64,128] --.
//                matmul -- add -- tanh -- y [64,32]
//   w [128,32] --'          |
//   b [32] -----------------'
#include <anabranch/anabranch.h>

#include <iostream>

namespace ab = anabranch;

int main() {
  auto layer = [](ab::Array w, ab::Array b, ab::Array x) { return ab::tanh(ab::matmul(x, w) + b); };

  std::cout << "What was traced:\n"
            << ab::trace(layer, ab::spec(ab::f32, {128, 32}), ab::spec(ab::f32, {32}),
                         ab::spec(ab::f32, {64, 128}));

  auto keys = ab::random::split(ab::random::key(0));
  ab::Array w = ab::random::normal(keys[0], {128, 32}) * 0.1f;
  ab::Array b = ab::zeros(ab::f32, {32});
  ab::Array x = ab::random::normal(keys[1], {64, 128});

  auto fast = ab::jit(layer);
  ab::Array y = fast(w, b, x);  // returns at once
  std::cout << "\nWhat came out, " << ab::to_string(y.shape()) << ":\n" << y << "\n";
  std::cout << "\nWhat ran:\n" << fast.dump(ab::Stage::schedule, w, b, x);
}
