// Trains a network on handwritten digits, then shows what was traced, fused, compiled and
// scheduled.
//
//   digits DIGITS.csv OUT_FOLDER
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "compare.h"
#include "data.h"
#include "network.h"
#include "views.h"

namespace {

constexpr int epochs = 40, batch = 32;
using Clock = std::chrono::steady_clock;

ab::Array images_of(const Digits& digits) { return ab::array(digits.pixels, {digits.count(), 64}); }
ab::Array labels_of(const Digits& digits) { return ab::array(digits.labels, {digits.count()}); }
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void progress(int epoch, float loss, float accuracy, double seconds) {
  const int filled = 30 * epoch / epochs;
  std::printf("\r  epoch %2d/%d [%.*s%.*s] loss %.4f  test accuracy %5.2f%%  %.1f s", epoch, epochs,
              filled, "##############################", 30 - filled,
              "..............................", loss, 100 * accuracy, seconds);
  std::fflush(stdout);
}

float train_and_show(const char* data, const char* out) {
  const Digits all = read_digits(data);
  std::vector<int> rows = shuffled(static_cast<int>(all.count()), 0);
  const auto cut = rows.begin() + all.count() * 4 / 5;
  const Digits train = all.at({rows.begin(), cut}), test = all.at({cut, rows.end()});
  std::printf("%lld images to learn from, %lld to test on\n", static_cast<long long>(train.count()),
              static_cast<long long>(test.count()));

  auto epoch_of = ab::jit([](State s, ab::Array images, ab::Array labels, ab::Array key) {
    return train_epoch(s, images, labels, key, batch);
  });
  auto correct = ab::jit([](Params p, ab::Array images, ab::Array labels) {
    return ab::mean((predict(p, images) == labels).astype(ab::f32));
  });
  State state = first_state(128);
  const ab::Array images = images_of(train), labels = labels_of(train);
  const ab::Array test_images = images_of(test), test_labels = labels_of(test);
  const auto start = Clock::now();
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    ab::Array loss;
    std::tie(state, loss) = epoch_of(state, images, labels, ab::random::key(epoch));
    progress(epoch, loss.item<float>(),
             correct(state.params, test_images, test_labels).item<float>(), seconds_since(start));
  }
  const float accuracy = correct(state.params, test_images, test_labels).item<float>();
  std::printf("\n\ntest accuracy: %.2f%%\n", 100 * accuracy);

  compare_epochs(images, labels, batch);

  auto step = ab::jit(train_step);
  const ab::Array few_images = images(ab::range(0, batch)), few = labels(ab::range(0, batch));
  show(compiled_for(step, state, few_images, few), out);
  const std::filesystem::path timeline = std::filesystem::path(out) / "timeline.json";
  {
    ab::timeline::Recording recording(timeline);
    for (int i = 0; i < 20; ++i) state = step(state, few_images, few).first;
    ab::wait_all();
  }
  std::printf("wrote %s (open it in https://ui.perfetto.dev)\n", timeline.c_str());
  return accuracy;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: digits DIGITS.csv OUT_FOLDER\n");
    return 2;
  }
  try {
    return train_and_show(argv[1], argv[2]) >= 0.97f ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "\ndigits: %s\n", error.what());
    return 1;
  }
}
