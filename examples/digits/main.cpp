// Trains a network on handwritten digits, then shows what was traced, fused, compiled and
// scheduled.
//
//   digits DIGITS.csv OUT_FOLDER
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "data.h"
#include "network.h"
#include "views.h"

namespace {

constexpr int epochs = 40, batch = 32;
constexpr float rate = 0.02f;

ab::Array images_of(const Digits& digits) { return ab::array(digits.pixels, {digits.count(), 64}); }
ab::Array labels_of(const Digits& digits) { return ab::array(digits.labels, {digits.count()}); }

void progress(int epoch, float loss, float accuracy, double seconds) {
  const int filled = 30 * epoch / epochs;
  std::printf("\r  epoch %2d/%d [%.*s%.*s] loss %.4f  test accuracy %5.2f%%  %.1f s", epoch, epochs,
              filled, "##############################", 30 - filled,
              "..............................", loss, 100 * accuracy, seconds);
  std::fflush(stdout);
}

void train_and_show(const char* data, const char* out) {
  const Digits all = read_digits(data);
  std::vector<int> rows = shuffled(static_cast<int>(all.count()), 0);
  const auto cut = rows.begin() + all.count() * 4 / 5;
  const Digits train = all.at({rows.begin(), cut}), test = all.at({cut, rows.end()});
  std::printf("%lld images to learn from, %lld to test on\n", static_cast<long long>(train.count()),
              static_cast<long long>(test.count()));

  auto step = ab::jit(train_step);
  auto correct = ab::jit([](Params p, ab::Array images, ab::Array labels) {
    return ab::mean((predict(p, images) == labels).astype(ab::f32));
  });
  Params p = first_params(128);
  Params momentum = {ab::zeros_like(p.w1), ab::zeros_like(p.b1), ab::zeros_like(p.w2),
                     ab::zeros_like(p.b2)};
  const ab::Array test_images = images_of(test), test_labels = labels_of(test);
  const auto start = std::chrono::steady_clock::now();
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const std::vector<int> order =
        shuffled(static_cast<int>(train.count()), static_cast<unsigned>(epoch));
    ab::Array loss = ab::scalar(0.0f);
    for (auto at = order.begin(); order.end() - at >= batch; at += batch) {
      const Digits minibatch =
          train.at({at, at + batch});  // nothing here waits for the steps before
      std::tie(p, momentum, loss) =
          step(p, momentum, images_of(minibatch), labels_of(minibatch), rate);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    progress(epoch, loss.item<float>(), correct(p, test_images, test_labels).item<float>(),
             took.count());
  }
  std::printf("\n\ntest accuracy: %.2f%%\n",
              100 * correct(p, test_images, test_labels).item<float>());

  const Digits minibatch = train.at(shuffled(batch, 0));
  const ab::Array images = images_of(minibatch), labels = labels_of(minibatch);
  show(compiled_for(step, p, momentum, images, labels, rate), out);
  const std::filesystem::path timeline = std::filesystem::path(out) / "timeline.json";
  {
    ab::timeline::Recording recording(timeline);
    for (int i = 0; i < 20; ++i)
      std::tie(p, momentum, std::ignore) = step(p, momentum, images, labels, rate);
    ab::wait_all();
  }
  std::printf("wrote %s (open it in https://ui.perfetto.dev)\n", timeline.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: digits DIGITS.csv OUT_FOLDER\n");
    return 2;
  }
  try {
    train_and_show(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "\ndigits: %s\n", error.what());
    return 1;
  }
}
