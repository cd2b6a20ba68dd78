// A picture of shapes that are given by their distance alone: rays take steps as long as the
// distance to the nearest shape, until they are there (sphere tracing: Hart, "Sphere tracing",
// The Visual Computer 12, 1996), and surfaces are lit by the gradient of the distance. Then the
// radius of the ball is found from how far all rays went, by the gradient through their loop.
//
//   rays [h,w,3] -- vmap(vmap(while: t += distance(t ray))) -- points -- grad(distance) -- light
//
//   distance_field [PICTURE.ppm [HEIGHT]]
#include <anabranch/anabranch.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <tuple>

namespace ab = anabranch;

namespace {

ab::Array length(ab::Array v) { return ab::sqrt(ab::sum(ab::square(v))); }
ab::Array unit(ab::Array v) { return v / length(v); }

// From a point [3] to the nearest surface: a ball that melts into a ring, on a floor.
ab::Array distance(ab::Array p, ab::Array radius) {
  const ab::Array ball = length(p - ab::array({0.0f, 0.2f, 0.0f})) - radius;
  const ab::Array around = length(p(ab::array({0, 2}))) - 1.1f;
  const ab::Array ring = length(ab::stack({around, p[1] + 0.35f})) - 0.25f;
  const ab::Array melted = -ab::logaddexp(-8.0f * ball, -8.0f * ring) / 8.0f;
  return ab::minimum(melted, p[1] + 0.6f);
}

// How far a ray from a point meets a surface, or about 20.
ab::Array march(ab::Array from, ab::Array direction, ab::Array radius) {
  const auto step = [&](auto& state) {
    auto& [t, gap, count] = state;
    return std::tuple{t + gap, distance(from + (t + gap) * direction, radius), count + 1};
  };
  const auto goes_on = [&](auto& state) {
    return (std::get<1>(state) > 1e-3f) & (std::get<0>(state) < 20.0f) & (std::get<2>(state) < 100);
  };
  const std::tuple start = {ab::scalar(0.0f), distance(from, radius), 0};
  return std::get<0>(ab::while_loop(goes_on, step, start));
}

ab::Array eye() { return ab::array({0.0f, 1.3f, -3.8f}); }
ab::Array ray(ab::Array x, ab::Array y) { return unit(ab::stack({x, y - 0.55f, 1.7f + 0 * x})); }

ab::Array depth(ab::Array x, ab::Array y, ab::Array radius) {
  return ab::minimum(march(eye(), ray(x, y), radius), 6.0f);
}

// The colour [3] that a pixel sees.
ab::Array shade(ab::Array x, ab::Array y, ab::Array radius) {
  const ab::Array t = march(eye(), ray(x, y), radius), at = eye() + t * ray(x, y);
  const ab::Array normal = ab::grad(distance)(at, radius);
  const ab::Array sun = unit(ab::array({0.6f, 0.8f, -0.5f}));
  const ab::Array shadow = march(at + 0.02f * normal, sun, radius) < 20.0f;
  const ab::Array light = 0.15f + ab::where(shadow, 0.0f, 0.85f * ab::relu(ab::sum(normal * sun)));
  const ab::Array tiles = ab::sum(ab::floor(at(ab::array({0, 2})) * 2)) % 2;
  const ab::Array floor = ab::array({0.4f, 0.5f, 0.6f}) + 0.3f * tiles;
  const ab::Array colour = ab::where(at[1] < -0.59f, floor, ab::array({0.9f, 0.5f, 0.3f}));
  return ab::where(t < 20.0f, colour * light, ab::array({0.6f, 0.75f, 0.95f}) * (0.8f + 0.3f * y));
}

template <class F>
ab::Array picture(const F& of_pixel, ab::Array radius, std::int64_t height) {
  const ab::Array x = ab::linspace(-1, 1, height * 4 / 3), y = ab::linspace(0.75, -0.75, height);
  const auto row = ab::vmap(of_pixel, ab::in_axes(0, ab::unmapped, ab::unmapped));
  return ab::vmap(row, ab::in_axes(ab::unmapped, 0, ab::unmapped))(x, y, radius);
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "distance_field.ppm";
  const std::int64_t height = argc > 2 ? std::stoi(argv[2]) : 480;
  const ab::Array truth = ab::scalar(0.65f);
  const ab::Array seen = ab::jit([=](ab::Array r) { return picture(shade, r, height); })(truth);
  std::ofstream file(path, std::ios::binary);
  file << "P6\n" << seen.shape()[1] << " " << height << "\n255\n";
  const ab::Array bytes = (ab::clip(seen, 0.0f, 1.0f) * 255).astype(ab::u8);
  for (std::uint8_t byte : bytes.to_vector<std::uint8_t>()) file.put(static_cast<char>(byte));
  std::cout << "wrote " << path << "\n";

  const auto loss = [](ab::Array r, ab::Array seen) {
    return ab::mean(ab::minimum(ab::square(picture(depth, r, 48) - seen), 0.1f));
  };
  auto step = ab::jit([=](ab::Array r, ab::optim::AdamState<ab::Array> state, ab::Array seen) {
    const ab::Array rate = ab::optim::schedule::exponential(state.step, 0.04, 0.1, 40);
    return ab::optim::adam(r, ab::grad(loss)(r, seen), state, {.learning_rate = rate});
  });
  const ab::Array far = ab::jit([](ab::Array r) { return picture(depth, r, 48); })(truth);
  ab::Array radius = ab::scalar(0.4f);
  auto state = ab::optim::adam_init(radius);
  for (int i = 0; i < 60; ++i) std::tie(radius, state) = step(radius, state, far);
  std::cout << "the radius of the ball: " << radius << " (truly " << truth << ")\n";
  return file && std::fabs(radius.item<float>() - truth.item<float>()) < 0.02f ? 0 : 1;
}
