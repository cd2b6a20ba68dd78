// A million European call options priced in one fused kernel, checked against the closed form in
// double.
//
//   spot, strike, years --> d1, d2 --> erf --> price        (one kernel, three reads, one write)
#include <anabranch/anabranch.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <vector>

namespace ab = anabranch;

namespace {

constexpr float rate = 0.03f, volatility = 0.25f;

ab::Array normal_cdf(ab::Array x) {
  return 0.5f * (1.0f + ab::erf(x * static_cast<float>(M_SQRT1_2)));
}

// Black and Scholes, J. Political Economy 81(3), 1973, equation 13.
ab::Array call_price(ab::Array spot, ab::Array strike, ab::Array years) {
  ab::Array spread = volatility * ab::sqrt(years);
  ab::Array d1 =
      (ab::log(spot / strike) + (rate + 0.5f * volatility * volatility) * years) / spread;
  return spot * normal_cdf(d1) - strike * ab::exp(-rate * years) * normal_cdf(d1 - spread);
}

double call_price_closed_form(double spot, double strike, double years) {
  const double r = rate, v = volatility;
  const double d1 = (std::log(spot / strike) + (r + v * v / 2) * years) / (v * std::sqrt(years));
  auto cdf = [](double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); };
  return spot * cdf(d1) - strike * std::exp(-r * years) * cdf(d1 - v * std::sqrt(years));
}

}  // namespace

int main() {
  constexpr std::int64_t count = 1'000'000;
  auto keys = ab::random::split(ab::random::key(42), 3);
  ab::Array spot = ab::random::uniform(keys[0], {count}, ab::f32, 80, 120);
  ab::Array strike = ab::random::uniform(keys[1], {count}, ab::f32, 80, 120);
  ab::Array years = ab::random::uniform(keys[2], {count}, ab::f32, 0.1, 2);

  auto price = ab::jit(call_price);
  price(spot, strike, years).wait();  // compiles

  const auto start = std::chrono::steady_clock::now();
  ab::Array prices = price(spot, strike, years);
  prices.wait();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;

  auto s = spot.to_vector<float>(), k = strike.to_vector<float>(), t = years.to_vector<float>();
  auto p = prices.to_vector<float>();
  double worst = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    worst = std::max(worst, std::fabs(p[i] - call_price_closed_form(s[i], k[i], t[i])));
  }
  std::cout << count << " options in " << took.count()
            << " ms; furthest from the closed form: " << worst << "\n";
  return worst < 1e-4 ? 0 : 1;
}
