// A Kalman filter as one scan: where something is that moves in a plane, from noisy sightings. How
// noisy they are, and how much it is pushed about, is found by the gradient of the likelihood
// through all steps of the filter.
//
//   sightings [n,2] -- scan, carrying mean [4] and covariance [4,4] --.-- places [n,2]
//                                                                     '-- log likelihood
//
//   kalman [PICTURE.svg]       the path, the sightings, and the path that was found
#include <anabranch/anabranch.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <tuple>

namespace ab = anabranch;

namespace {

constexpr std::int64_t n = 150;

struct Noise {
  ab::Array push, sight;  // logarithms of standard deviations
};
struct Estimate {
  ab::Array mean, covariance;  // of x, y and their changes in a step
};

// Kalman, "A new approach to linear filtering and prediction problems", 1960. The places that
// it finds and minus the log likelihood of the sightings, but for a constant.
std::pair<ab::Array, ab::Array> filter(const Noise& noise, ab::Array sightings) {
  const ab::Array f = ab::eye(4) + ab::eye(4, 4, 2), h = ab::eye(2, 4);  // moves, and is seen
  const ab::Array pushed = ab::diag(ab::array({0.f, 0.f, 1.f, 1.f})) * ab::exp(2 * noise.push);
  const ab::Array blurred = ab::eye(2) * ab::exp(2 * noise.sight);
  const auto step = [&](const Estimate& last, const ab::Array& seen) {
    const ab::Array mean = ab::matmul(f, last.mean);
    const ab::Array p =
        ab::linalg::multi_dot({f, last.covariance, ab::matrix_transpose(f)}) + pushed;
    const ab::Array hp = ab::matmul(h, p);
    const ab::Array s = ab::matmul(hp, ab::matrix_transpose(h)) + blurred;
    const ab::Array l = ab::linalg::cholesky(s), surprise = seen - ab::matmul(h, mean);
    const ab::Array gain = ab::matrix_transpose(ab::linalg::cho_solve(l, hp));
    const ab::Array white = ab::linalg::solve_triangular(l, surprise, {.lower = true});
    const Estimate next = {mean + ab::matmul(gain, surprise), p - ab::matmul(gain, hp)};
    const ab::Array loss =
        0.5f * ab::sum(ab::square(white)) + ab::sum(ab::log(ab::linalg::diagonal(l)));
    return std::pair(next, std::tuple{ab::matmul(h, next.mean), loss});
  };
  const Estimate first = {ab::zeros({4}), ab::eye(4) * 10.0f};
  const auto [places, losses] = ab::scan(step, first, sightings).second;
  return {places, ab::sum(losses)};
}

void draw(std::ostream& out, ab::Array places, const char* style, bool dots) {
  const auto all = places.to_vector<float>();
  out << "<path fill='none' stroke-linecap='round' " << style << " d='";
  for (std::size_t i = 0; i < all.size(); i += 2) {
    out << (dots || i == 0 ? "M" : "L") << all[i] << " " << all[i + 1] << (dots ? "h0" : "");
  }
  out << "'/>\n";
}

}  // namespace

int main(int argc, char** argv) {
  const auto keys = ab::random::split(ab::random::key(5));
  const ab::Array speed = ab::cumsum(0.05f * ab::random::normal(keys[0], {n, 2}), 0);
  const ab::Array path = ab::cumsum(speed, 0);
  const ab::Array sightings = path + ab::random::normal(keys[1], {n, 2});
  auto loss = [](const Noise& noise, ab::Array seen) { return filter(noise, seen).second; };
  auto fit = ab::jit([&](Noise noise, ab::Array seen) {
    const auto step = [&](const ab::Array&, auto& carry) {
      auto& [now, state] = carry;
      return ab::optim::adam(now, ab::grad(loss)(now, seen), state, {.learning_rate = 0.05});
    };
    return ab::fori_loop(0, 150, step, std::pair(noise, ab::optim::adam_init(noise))).first;
  });
  const Noise noise = fit(Noise{ab::scalar(0.0f), ab::scalar(0.0f)}, sightings);
  const ab::Array found = ab::jit(filter)(noise, sightings).first;
  auto error = [&](ab::Array places) {
    return ab::sqrt(ab::mean(ab::sum(ab::square(places - path), 1))).item<float>();
  };
  const float sight = std::exp(noise.sight.item<float>());
  std::cout << "noise of the sightings " << sight << " (truly 1), of the pushes "
            << std::exp(noise.push.item<float>()) << " (truly 0.05)\nthe sightings are "
            << error(sightings) << " off, the filter is " << error(found) << "\n";

  const char* picture = argc > 1 ? argv[1] : "kalman.svg";
  std::ofstream file(picture);
  const ab::Array low = ab::min(sightings, 0), size = ab::max(sightings, 0) - low;
  file << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='" << low[0] << " " << low[1] << " "
       << size[0] << " " << size[1] << "'>\n";
  draw(file, sightings, "stroke='#aaa' stroke-width='0.7'", true);
  draw(file, path, "stroke='#27a' stroke-width='0.3'", false);
  draw(file, found, "stroke='#d42' stroke-width='0.3'", false);
  file << "</svg>\n";
  std::cout << "wrote " << picture << "\n";
  return file && std::fabs(sight - 1) < 0.2f && error(found) < 0.7f * error(sightings) ? 0 : 1;
}
