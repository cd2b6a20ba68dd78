// The notes of a chord: a second of sound, its spectrum by fft, and the strongest frequencies.
//
//   three sines + noise --window--> rfft --> |z|^2 --> argmax, three times
#include <anabranch/anabranch.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numbers>
#include <vector>

namespace ab = anabranch;

namespace {

constexpr std::int64_t rate = 8000;  // samples in the second

ab::Array sound(const std::vector<double>& notes) {
  const ab::Array seconds = ab::arange(rate).astype(ab::f32) / static_cast<float>(rate);
  ab::Array sum = 0.1f * ab::random::normal(ab::random::key(7), {rate});
  for (double note : notes) {
    sum = sum + ab::sin(static_cast<float>(2 * std::numbers::pi * note) * seconds);
  }
  return sum;
}

// The power at each frequency, in Hz, of a second seen through Hann's window.
ab::Array spectrum(ab::Array x) {
  const ab::Array place = ab::arange(rate).astype(ab::f32) / static_cast<float>(rate);
  const ab::Array window = 0.5f - 0.5f * ab::cos(static_cast<float>(2 * std::numbers::pi) * place);
  return ab::square(ab::abs(ab::fft::rfft(x * window)));
}

// Where the `count` strongest peaks are, at least 10 Hz apart.
ab::Array strongest(ab::Array power, std::size_t count) {
  const ab::Array places = ab::arange(power.size());
  std::vector<ab::Array> found;
  while (found.size() < count) {
    found.push_back(ab::argmax(power).astype(places.dtype()));
    power = ab::where(ab::abs(places - found.back()) < 10, 0.0f, power);
  }
  return ab::stack(found);
}

}  // namespace

int main() {
  const std::vector<double> notes = {262, 330, 392};  // C, E and G
  auto find = ab::jit([](ab::Array x) { return strongest(spectrum(x), 3); });
  const ab::Array hertz = ab::fft::rfftfreq(rate, 1.0 / rate);
  bool right = true;
  for (std::int64_t place : find(sound(notes)).astype(ab::i64).to_vector<std::int64_t>()) {
    const float frequency = ab::index(hertz, place).item<float>();
    std::cout << frequency << " Hz\n";
    right = right && std::ranges::count(notes, std::round(frequency)) == 1;
  }
  return right ? 0 : 1;
}
