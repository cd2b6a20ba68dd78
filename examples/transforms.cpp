// One function and what the transforms make of it, as graphs: docs/transforms.md explains each.
//
//   x --multiply--> x w --sine--> sin(x w) --sum--> f(w, x)
//   w ----^
#include <anabranch/anabranch.h>

#include <iostream>

namespace ab = anabranch;

namespace {

ab::Array f(ab::Array w, ab::Array x) { return ab::sum(ab::sin(x * w)); }

// What a loop keeps for its gradient: a stack of one number per turn.
ab::Array power(ab::Array x) {
  return ab::fori_loop(
      0, 5, [&](const ab::Array&, ab::Array y) { return y * x; }, ab::ones({}));
}

void print(const char* title, const ab::Graph& graph) {
  std::cout << "# " << title << "\n" << to_string(graph, false) << "\n";
}

}  // namespace

int main() {
  const ab::Spec w = ab::spec(ab::f32, {3}), x = ab::spec(ab::f32, {3});
  print("the function", ab::trace(f, w, x));
  const auto pushed = [](ab::Array w0, ab::Array x0, ab::Array dw) {
    return ab::jvp([&](ab::Array v) { return f(v, x0); }, std::tuple{w0}, std::tuple{dw});
  };
  print("its jvp by w: value and tangent", ab::trace(pushed, w, x, w));
  const auto pulled = [](ab::Array w0, ab::Array x0, ab::Array dy) {
    return ab::vjp([&](ab::Array v) { return f(v, x0); }, w0).second(dy);
  };
  print("its vjp by w: the transpose of what is linear in the tangent",
        ab::trace(pulled, w, x, ab::spec(ab::f32, {})));
  print("value_and_grad", ab::trace(ab::value_and_grad(f), w, x));
  print("a batch of it: vmap over x",
        ab::trace(ab::vmap(f, ab::in_axes(ab::unmapped, 0)), w, ab::spec(ab::f32, {8, 3})));
  print(
      "a gradient per example: vmap of grad",
      ab::trace(ab::vmap(ab::grad(f), ab::in_axes(ab::unmapped, 0)), w, ab::spec(ab::f32, {8, 3})));
  print("grad through a loop", ab::trace(ab::grad(power), ab::spec(ab::f32, {})));
  std::cout << "# d/dx x^5 at 2, and twice: " << ab::grad(power)(2.0f) << ", "
            << ab::grad(ab::grad(power))(2.0f) << "\n";
}
