// Regression by a Gaussian process: the length scale, height and noise of its covariance are found
// by the gradient of the log marginal likelihood, through cholesky and a triangular solve
// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1).
//
//   x [n] -- vmap(vmap(covariance)) -- K + noise I -- cholesky -- L --.-- sum log diagonal --.
//                                                   y [n] -- L^-1 y --'-- sum of squares ----+--
//                                                   loss
#include <anabranch/anabranch.h>

#include <cmath>
#include <iostream>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

namespace ab = anabranch;

namespace {

struct Params {
  ab::Array length, height, noise;  // logarithms, so that any value is a valid one
};

// Of the values at two points, an exponential of their squared distance.
ab::Array covariance(const Params& p, ab::Array a, ab::Array b) {
  return ab::exp(2 * p.height - 0.5 * ab::square((a - b) / ab::exp(p.length)));
}

// Of all points in a [n] with all in b [m]: [n, m].
ab::Array covariances(const Params& p, ab::Array a, ab::Array b) {
  const auto of_one = ab::vmap(covariance, ab::in_axes(ab::unmapped, ab::unmapped, 0));
  return ab::vmap(of_one, ab::in_axes(ab::unmapped, 0, ab::unmapped))(p, a, b);
}

ab::Array factor(const Params& p, ab::Array x) {
  return ab::linalg::cholesky(covariances(p, x, x) +
                              ab::exp(2 * p.noise) * ab::eye(x.shape()[0], x.dtype()));
}

// Minus the log marginal likelihood.
ab::Array loss(const Params& p, ab::Array x, ab::Array y) {
  const ab::Array l = factor(p, x), white = ab::linalg::solve_triangular(l, y, {.lower = true});
  return 0.5 * ab::sum(ab::square(white)) + ab::sum(ab::log(ab::linalg::diagonal(l))) +
         0.5 * static_cast<double>(x.shape()[0]) * std::log(2 * std::numbers::pi);
}

// The parameters and the loss after so many steps of Adam, all in one program.
std::pair<Params, ab::Array> fit(Params p, ab::Array x, ab::Array y) {
  const auto step = [&](const ab::Array&, auto& carry) {
    auto& [params, state] = carry;
    return ab::optim::adam(params, ab::grad(loss)(params, x, y), state, {.learning_rate = 0.05});
  };
  p = ab::fori_loop(0, 200, step, std::pair(p, ab::optim::adam_init(p))).first;
  return {p, loss(p, x, y)};
}

// Mean and deviation of the function at points `at`.
std::pair<ab::Array, ab::Array> predict(const Params& p, ab::Array x, ab::Array y, ab::Array at) {
  const ab::Array l = factor(p, x), across = covariances(p, x, at);
  const ab::Array white = ab::linalg::solve_triangular(l, across, {.lower = true});
  return {ab::matmul(ab::matrix_transpose(across), ab::linalg::cho_solve(l, y)),
          ab::sqrt(ab::exp(2 * p.height) - ab::sum(ab::square(white), 0))};
}

}  // namespace

int main() {
  constexpr double true_noise = 0.2;
  const auto keys = ab::random::split(ab::random::key(3));
  const ab::Array x = ab::random::uniform(keys[0], {60}, ab::f64, 0.0, 6.0);
  const ab::Array y = ab::sin(2 * x) + true_noise * ab::random::normal(keys[1], {60}, ab::f64);
  const ab::Array one = ab::scalar(0.0, ab::f64);
  const Params start = {one, one, one};
  const auto [p, found] = ab::jit(fit)(start, x, y);
  const double before = ab::jit(loss)(start, x, y).item<double>(), after = found.item<double>();
  std::cout << "minus the log likelihood " << before << " -> " << after << "; length "
            << std::exp(p.length.item<double>()) << ", height " << std::exp(p.height.item<double>())
            << ", noise " << std::exp(p.noise.item<double>()) << " (truly " << true_noise << ")\n";

  const auto [mean, deviation] = ab::jit(predict)(p, x, y, ab::linspace(0, 6, 30, ab::f64));
  const std::vector<double> m = mean.to_vector<double>(), d = deviation.to_vector<double>();
  double worst = 0;
  for (std::size_t i = 0; i < m.size(); ++i) {  // mean *, two deviations around it -
    const double truth = std::sin(2 * 6.0 * static_cast<double>(i) / 29);
    const auto place = [](double v) { return static_cast<std::size_t>(40 + 25 * v); };
    std::string line(80, ' ');
    line.replace(place(m[i] - 2 * d[i]), place(m[i] + 2 * d[i]) - place(m[i] - 2 * d[i]),
                 place(m[i] + 2 * d[i]) - place(m[i] - 2 * d[i]), '-');
    line[place(truth)] = 'o';
    line[place(m[i])] = '*';
    std::cout << line << "\n";
    worst = std::max(worst, std::fabs(m[i] - truth) / d[i]);
  }
  std::cout << "the true function, o, is at most " << worst << " deviations from the mean\n";
  return after < before && worst < 4 ? 0 : 1;
}
