// An inverse problem: how well each place of a plate conducts heat, from the temperatures that were
// measured on it a while after one edge was heated. The gradient runs backwards through the loop
// of the simulation.
//
//   conductivity [n,n] -- fori_loop: 600 steps of u += div(k grad u) --> u [n,n] -- (u - seen)^2
//
//   heat_inverse [PICTURE.pgm [STEPS]]       true map | temperatures | map that was found
#include <anabranch/anabranch.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <tuple>

namespace ab = anabranch;

namespace {

constexpr std::int64_t n = 32;

// What flows into each place along an axis, k being that of the places.
ab::Array inflow(ab::Array u, ab::Array k, int axis) {
  const auto near = ab::slice_in_dim(k, 0, n - 1, axis), far = ab::slice_in_dim(k, 1, n, axis);
  const ab::Array flow = 0.5f * (near + far) * ab::diff(u, axis);  // from the far place to the near
  const ab::Sizes one = axis == 0 ? ab::Sizes{1, 0} : ab::Sizes{0, 1}, none = {0, 0};
  return ab::pad(flow, none, one) - ab::pad(flow, one, none);
}

// Temperatures [3,n,n] after 100, 200 and 600 steps: the left edge is held at 1, the right one at
// 0.
ab::Array simulate(ab::Array k) {
  const ab::Array column = ab::arange(n);
  const auto step = [&](const ab::Array&, const ab::Array& u) {
    const ab::Array next = u + 0.2f * (inflow(u, k, 0) + inflow(u, k, 1));
    return ab::where(column == 0, 1.0f, ab::where(column == n - 1, 0.0f, next));
  };
  const ab::Array first = ab::fori_loop(0, 100, step, ab::zeros({n, n}));
  const ab::Array second = ab::fori_loop(100, 200, step, first);
  return ab::stack({first, second, ab::fori_loop(200, 600, step, second)});
}

// Conductivities between 0.1 and 1.1 from any numbers.
ab::Array conductivity(ab::Array x) { return 0.1f + ab::sigmoid(x); }

// A plate that conducts well, but for a ring and a bar.
ab::Array true_conductivity() {
  const ab::Array y = ab::expand_dims(ab::arange(n), 1), x = ab::arange(n);
  const ab::Array distance = ab::square(y - 11) + ab::square(x - 12);
  const ab::Array ring = (distance < 49) & (distance > 16);
  const ab::Array bar = (y > 21) & (y < 26) & (x > 8) & (x < 28);
  return ab::where(ring | bar, 0.3f, 1.0f).astype(ab::f32);
}

ab::Array loss(ab::Array x, ab::Array seen) {
  return ab::sum(ab::square(simulate(conductivity(x)) - seen));
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "heat_inverse.pgm";
  const int steps = argc > 2 ? std::stoi(argv[2]) : 1000;
  const ab::Array truth = true_conductivity();
  const ab::Array seen = ab::jit(simulate)(truth);

  auto step = ab::jit([](ab::Array x, ab::optim::AdamState<ab::Array> state, ab::Array seen) {
    const auto [value, gradient] = ab::value_and_grad(loss)(x, seen);
    return std::tuple_cat(ab::optim::adam(x, gradient, state, {.learning_rate = 0.1}),
                          std::tuple{value});
  });
  ab::Array x = ab::zeros({n, n}), value;
  auto state = ab::optim::adam_init(x);
  for (int i = 1; i <= steps; ++i) {
    std::tie(x, state, value) = step(x, state, seen);
    if (i % 10 == 0 || i == steps) {
      std::cout << "\rstep " << i << "/" << steps << "  loss " << value << "      " << std::flush;
    }
  }
  const ab::Array found = conductivity(x);
  const float error = ab::mean(ab::abs(found - truth)).item<float>();
  const float first = ab::mean(ab::abs(0.6f - truth)).item<float>();
  std::cout << "\nmean error of the conductivity " << first << " -> " << error << "\n";

  const ab::Array views = ab::concat({truth, seen[2], found}, 1);
  const auto pixels =
      ab::repeat(ab::repeat((ab::clip(views, 0.0f, 1.0f) * 255).astype(ab::u8), 6, 0), 6, 1);
  std::ofstream file(path, std::ios::binary);
  file << "P5\n" << pixels.shape()[1] << " " << pixels.shape()[0] << "\n255\n";
  for (std::uint8_t pixel : pixels.to_vector<std::uint8_t>()) file.put(static_cast<char>(pixel));
  std::cout << "wrote " << path << "\n";
  return file && error < first / 2 ? 0 : 1;
}
