// A neural ordinary differential equation (Chen, Rubanova, Bettencourt and Duvenaud,
// arXiv:1806.07366): a network learns the law of motion of a spiral from where points of it are a
// while later. The solver chooses its steps by their error, in a while_loop, through which the
// gradient runs backwards; vmap makes the solver of one point one of all.
//
//   u0 [m,2] -- vmap(while t < 1: u, t, h = step(u, t, h)) -- u1 [m,2] -- mean (u1 - seen)^2
//
//   neural_ode [STEPS]
#include <anabranch/anabranch.h>

#include <iostream>
#include <string>
#include <tuple>
#include <vector>

namespace ab = anabranch;

namespace {

constexpr float duration = 0.5f;
struct Params {
  ab::Array w1, b1, w2, b2;
};

ab::Array network(const Params& p, ab::Array u) {
  return ab::dense(ab::tanh(ab::dense(u * u * u, p.w1, p.b1)), p.w2, p.b2);
}

// What is to be learnt.
ab::Array law(ab::Array u) {
  return ab::matmul(u * u * u, ab::array({{-0.1f, 2.0f}, {-2.0f, -0.1f}}));
}

// Where f leads from u in the time `until`: steps of the pair of orders 3 and 2 of Bogacki and
// Shampine (Appl. Math. Letters 2(4), 1989), taken where their error is below the tolerance.
template <class F>
ab::Array solve(const F& f, ab::Array u, float until, float tolerance = 1e-3f) {
  const auto step = [&](auto& state) {
    auto& [u, k1, t, wanted] = state;
    const ab::Array h = ab::minimum(wanted, until - t);
    const ab::Array k2 = f(u + 0.5f * h * k1), k3 = f(u + 0.75f * h * k2);
    const ab::Array next = u + h * (2.0f / 9 * k1 + 1.0f / 3 * k2 + 4.0f / 9 * k3), k4 = f(next);
    const ab::Array off = h * (-5.0f / 72 * k1 + 1.0f / 12 * k2 + 1.0f / 9 * k3 - 1.0f / 8 * k4);
    const ab::Array ratio = ab::stop_gradient(ab::max(ab::abs(off)) / tolerance + 1e-6f);
    const ab::Array good = ratio < 1.0f;
    return std::tuple{ab::where(good, next, u), ab::where(good, k4, k1), ab::where(good, t + h, t),
                      wanted * ab::clip(0.9f / ab::cbrt(ratio), 0.2f, 5.0f)};
  };
  const auto goes_on = [&](auto& state) { return std::get<2>(state) < until; };
  return std::get<0>(ab::while_loop(goes_on, step, std::tuple{u, f(u), 0.0f, 0.1f}));
}

ab::Array loss(const Params& p, ab::Array begin, ab::Array end) {
  const auto after = [&](ab::Array u) {
    return solve([&](ab::Array v) { return network(p, v); }, u, duration);
  };
  return ab::mean(ab::square(ab::vmap(after)(begin) - end));
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::stoi(argv[1]) : 3000;
  const auto keys = ab::random::split(ab::random::key(1), 3);
  Params p = {ab::init::glorot_normal(keys[0], {2, 32}), ab::zeros({32}),
              ab::init::glorot_normal(keys[1], {32, 2}), ab::zeros({2})};
  const ab::Array begin = ab::random::uniform(keys[2], {100, 2}, ab::f32, -1.5f, 1.5f);
  const auto truth = ab::jit([](ab::Array u) { return solve(law, u, duration, 1e-5f); });
  const ab::Array end = ab::jit(ab::vmap(truth))(begin);

  auto train = ab::jit([](Params p, ab::optim::AdamState<Params> s, ab::Array u, ab::Array seen) {
    const auto [value, gradient] = ab::value_and_grad(loss)(p, u, seen);
    const auto [next, state] = ab::optim::adam(p, gradient, s, {.learning_rate = 0.01});
    return std::tuple{next, state, value};
  });
  auto state = ab::optim::adam_init(p);
  ab::Array value;
  for (int i = 1; i <= steps; ++i) {
    std::tie(p, state, value) = train(p, state, begin, end);
    if (i % 10 == 0) {
      std::cout << "\rstep " << i << "/" << steps << "  loss " << value << "    " << std::flush;
    }
  }
  std::cout << "\nthe path of the law, o, and of the network, +\n";

  std::vector<std::string> picture(21, std::string(66, ' '));
  const auto draw = [&](const auto& f, char mark) {
    const auto after = ab::jit([&](ab::Array u) { return solve(f, u, 0.1f); });
    ab::Array u = ab::array({1.2f, 0.0f});
    for (int i = 0; i < 80; ++i, u = after(u)) {
      const auto row = static_cast<std::size_t>(10.5f + 8 * u[1].item<float>());
      picture.at(row).at(static_cast<std::size_t>(33.5f + 24 * u[0].item<float>())) = mark;
    }
  };
  draw(law, 'o');
  draw([&](ab::Array v) { return network(p, v); }, '+');
  for (const std::string& line : picture) std::cout << line << "\n";
  return value.item<float>() < 0.01f ? 0 : 1;
}
