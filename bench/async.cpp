// The experiments of "Asynchronous Computation" and "Automatic Parallelism" (A. Zhang et al., Dive
// into Deep Learning, chapter 13.2 and 13.3), in one table.
//
//   bench_async [EXPERIMENT...]     all of them where none is named
#include <anabranch/anabranch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/async_graphs.h"
#include "bench/rounds.h"

namespace {

using bench::Clock, bench::median, bench::median_ratio, bench::medians, bench::rounds;
using bench::seconds_since, bench::time_of;

void title(const char* text) { std::printf("\n%s\n", text); }
void row(const char* what, double seconds, const std::string& note = {}) {
  if (seconds < 1e-3) {
    std::printf("  %-58s %9.2f us  %s\n", what, seconds * 1e6, note.c_str());
  } else {
    std::printf("  %-58s %9.2f ms  %s\n", what, seconds * 1e3, note.c_str());
  }
}
/// "0.98 of ..., at most 1.1 is wanted"
std::string ratio(double value, const char* of, const char* wanted = nullptr) {
  char text[128];
  std::snprintf(text, sizeof text, "%.3f of %s%s%s", value, of, wanted ? ", wanted: " : "",
                wanted ? wanted : "");
  return text;
}
std::string mebibytes(std::size_t bytes) {
  return std::to_string((bytes + (1 << 19)) >> 20) + " MiB at most";
}

ab::Array matrix(std::uint64_t seed, std::int64_t size) {
  ab::Array made = ab::random::uniform(ab::random::key(seed), {size, size});
  made.wait();
  return made;
}

/// Seconds that each of `threads` threads takes for the same arithmetic.
double plain_threads(int threads) {
  auto work = [] {
    float sums[64];
    std::fill(std::begin(sums), std::end(sums), 0.5f);
    for (int i = 0; i < 1 << 18; ++i) {
      for (float& sum : sums) sum = sum * 0.5f + 0.5f;
    }
    [[maybe_unused]] volatile float kept = *std::max_element(std::begin(sums), std::end(sums));
  };
  return time_of([&] {
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  });
}

/// What the machine itself gives a second thread at that moment, with nothing of ours: its cores
/// may be two halves of one, or others' as well.
std::string second_thread(const std::vector<double>& in_one, const std::vector<double>& in_two) {
  char text[64];
  std::snprintf(text, sizeof text, "two plain threads: %.2f of one",
                2 * median_ratio(in_one, in_two));
  return text;
}

// --- calls return at once

void products() {
  title("ten products of random 1000x1000 matrices");
  const ab::Array a = matrix(1, 1000), b = matrix(2, 1000);
  auto product = ab::jit([](ab::Array x, ab::Array y) { return ab::matmul(x, y); });
  auto ten = [&] {
    std::vector<ab::Array> results;
    for (int i = 0; i < 10; ++i) results.push_back(product(a, b));
    return results;
  };
  const auto t = medians(15, {[&] {
                                const auto begin = Clock::now();
                                auto results = ten();
                                const double submitted = seconds_since(begin);
                                ab::wait_all();
                                return submitted;
                              },
                              [&] {
                                return time_of([&] {
                                  auto results = ten();
                                  ab::wait_all();
                                });
                              },
                              [&] {
                                return time_of([&] {
                                  for (int i = 0; i < 10; ++i) product(a, b).wait();
                                });
                              }});
  row("submitted", t[0], ratio(t[0] / t[1], "running them", "at most 0.01"));
  row("submitted and waited for together", t[1]);
  row("each waited for", t[2], ratio(t[2] / t[1], "together"));
}

void waiting() {
  title("wait for one result of two, or for everything");
  const ab::Array a = matrix(1, 1000);
  auto product = ab::jit([](ab::Array x) { return ab::matmul(x, x); });
  auto small = ab::jit([](ab::Array x) { return ab::sum(x[0]); });
  const auto t = medians(15, {[&] {
                                ab::Array first = small(a), second = product(a);
                                const double waited = time_of([&] { first.wait(); });
                                ab::wait_all();
                                return waited;
                              },
                              [&] {
                                ab::Array first = small(a), second = product(a);
                                return time_of([&] { ab::wait_all(); });
                              }});
  row("wait() for the small one", t[0]);
  row("wait_all()", t[1]);
}

void reading() {
  title("read a whole product of 2000x2000, or its sum");
  const ab::Array a = matrix(1, 2000);
  auto product = ab::jit([](ab::Array x) { return ab::matmul(x, x); });
  auto total = ab::jit([](ab::Array x) { return ab::sum(ab::matmul(x, x)); });
  const auto t = medians(5, {[&] { return time_of([&] { product(a).wait(); }); },
                             [&] { return time_of([&] { product(a).to_vector<float>(); }); },
                             [&] { return time_of([&] { total(a).item<float>(); }); }});
  row("waited for", t[0]);
  row("all 16 MB read", t[1], ratio(t[1] / t[0], "waiting"));
  row("one scalar read", t[2], ratio(t[2] / t[0], "waiting"));
}

// --- ten thousand steps

void ten_thousand() {
  title("10,000 times y = x + 1 on shape (1, 2)");
  constexpr int count = 10'000;
  auto add = ab::jit([](ab::Array x) { return x + 1.0f; });
  auto loop = ab::jit([](ab::Array x) {
    return ab::fori_loop(
        0, count, [](ab::Array, ab::Array y) { return y + 1.0f; }, x);
  });
  const ab::Array x = ab::zeros({1, 2});
  x.wait();
  const auto t = medians(9, {[&] {
                               return time_of([&] {
                                 ab::Array y = x;
                                 for (int i = 0; i < count; ++i) (y = add(y)).wait();
                               });
                             },
                             [&] {
                               return time_of([&] {
                                 ab::Array y = x;
                                 for (int i = 0; i < count; ++i) y = add(y);
                                 y.wait();
                               });
                             },
                             [&] { return time_of([&] { loop(x).wait(); }); },
                             // As the others, not by its first call with cold caches.
                             [&] {
                               return time_of([&] {
                                        for (int i = 0; i < 100; ++i) loop(x).wait();
                                      }) /
                                      100;
                             },
                             [&] {
                               ab::Array y;
                               const double submitted = time_of([&] { y = add(x); });
                               y.wait();
                               return submitted;
                             }});
  row("waiting each time", t[0], "10,000 (t1 + t2 + t3)");
  row("waiting once", t[1], ratio(t[1] / t[0], "that"));
  row("one compiled loop, once after other work", t[2], ratio(t[2] / t[1], "waiting once"));
  row("one compiled loop, a hundred times", t[3],
      ratio(t[3] / t[1], "waiting once", "at most 0.01"));
  row("t1, submitting one", t[4]);
  row("t2, computing one in the compiled loop", t[3] / count);
  row("t3, telling the host", std::max(0.0, (t[0] - t[1]) / count));
}

// --- two devices

double fifty_products(const std::vector<ab::Array>& matrices) {
  auto product = ab::jit([](ab::Array x) { return ab::matmul(x, x); });
  for (const ab::Array& x : matrices) product(x).wait();
  return time_of([&] {
    for (int i = 0; i < 50; ++i) {
      for (const ab::Array& x : matrices) product(x);
    }
    ab::wait_all();
  });
}

void two_devices_here() {
  const ab::Array a = matrix(1, 2000).to(ab::Device::cpu(0));
  const ab::Array b = matrix(2, 2000).to(ab::Device::cpu(1));
  const auto got =
      rounds(3, {[&] { return fifty_products({a}); }, [&] { return fifty_products({b}); },
                 [&] {
                   return fifty_products({a, b});
                 },
                 [] { return plain_threads(1); }, [] { return plain_threads(2); }});
  const double longer = std::max(median(got[0]), median(got[1]));
  row("cpu:0 alone, half the cores", median(got[0]));
  row("cpu:1 alone, half the cores", median(got[1]));
  row("both together", median(got[2]),
      ratio(median(got[2]) / longer, "one alone", "at most 1.1") + "; " +
          second_thread(got[3], got[4]));
}

/// Devices are made at the start of a process: this one runs itself again.
void two_devices(const char* program) {
  title("fifty 2000x2000 products on each of two virtual devices");
  std::fflush(stdout);
  const std::string command =
      std::string("ANABRANCH_CPU_DEVICES=2 '") + program + "' two_devices_here";
  if (std::system(command.c_str()) != 0) std::printf("  (failed)\n");
}

/// The GPU gets so much work that both take about equally long alone.
void cpu_and_gpu() {
  title("five products of 2000x2000 on cpu:0, and as many as take as long on cuda:0");
  const std::vector<ab::Device> all = ab::devices();
  if (std::find(all.begin(), all.end(), ab::Device::cuda(0)) == all.end()) {
    std::printf("  (there is no cuda:0)\n");
    return;
  }
  const ab::Array here = matrix(1, 2000).to(ab::Device::cpu(0));
  const ab::Array there = matrix(2, 2000).to(ab::Device::cuda(0));
  auto product = ab::jit([](ab::Array x) { return ab::matmul(x, x); });
  const auto run = [&](int on_cpu, int on_gpu) {
    return time_of([&] {
      // So few on the CPU that none is held up by what is in flight there.
      for (int i = 0; i < on_cpu; ++i) product(here);
      for (int i = 0; i < on_gpu; ++i) product(there);
      ab::wait_all();
    });
  };
  run(1, 1);
  const int on_cpu = 5;
  const int on_gpu = std::clamp(static_cast<int>(run(on_cpu, 0) / (run(0, 20) / 20)), 1, 10'000);
  const auto got = rounds(5, {[&] { return run(on_cpu, 0); }, [&] { return run(0, on_gpu); },
                              [&] { return run(on_cpu, on_gpu); }});
  const double longer = std::max(median(got[0]), median(got[1]));
  row("cpu:0 alone", median(got[0]));
  row("cuda:0 alone", median(got[1]), std::to_string(on_gpu) + " products");
  row("both together", median(got[2]), ratio(median(got[2]) / longer, "the longer", "at most 1.1"));
}

// --- compute and copies

void copy_back() {
  title("twenty products of 1500x1500, each copied back to the host");
  const ab::Array a = matrix(1, 1500);
  auto product = ab::jit([](ab::Array x) { return ab::matmul(x, x); });
  constexpr int count = 20;
  const auto t = medians(5, {[&] {
                               return time_of([&] {
                                 for (int i = 0; i < count; ++i) product(a);
                                 ab::wait_all();
                               });
                             },
                             [&] {
                               std::vector<ab::Array> results;
                               for (int i = 0; i < count; ++i) results.push_back(product(a));
                               ab::wait_all();
                               return time_of([&] {
                                 for (const ab::Array& y : results) y.to_vector<float>();
                               });
                             },
                             [&] {
                               return time_of([&] {
                                 for (int i = 0; i < count; ++i) product(a).to_vector<float>();
                               });
                             },
                             [&] {
                               return time_of([&] {
                                 std::vector<ab::Future<std::vector<float>>> copies;
                                 for (int i = 0; i < count; ++i) {
                                   copies.push_back(product(a).to_vector_async<float>());
                                 }
                                 for (auto& copy : copies) copy.get();
                               });
                             }});
  row("compute alone", t[0]);
  row("copies alone", t[1]);
  row("one after the other", t[2], ratio(t[2] / std::max(t[0], t[1]), "the longer"));
  row("overlapped", t[3], ratio(t[3] / std::max(t[0], t[1]), "the longer", "at most 1.1"));
}

// --- a training loop

void minibatches() {
  title("150 minibatches of 1,024 through 512-2048-512-1, backward pass and SGD, 15 at a time");
  auto step = ab::jit(mlp::step);
  const ab::Array x = ab::random::normal(ab::random::key(5), {1024, 512});
  const ab::Array target = ab::random::normal(ab::random::key(6), {1024, 1});
  const mlp::Params first = mlp::first_params();
  ab::wait_all();
  std::size_t peak[2] = {};
  constexpr int at_once = 15;  // the more often they take turns, the less a drifting machine adds
  auto train = [&](bool wait) {
    mlp::Params p = first;
    ab::Array loss;
    ab::reset_peak_memory(x.device());
    const double took = time_of([&] {
      for (int i = 0; i < at_once; ++i) {
        std::tie(p, loss) = step(p, x + static_cast<float>(i) * 1e-6f, target);
        if (wait) loss.wait();
      }
      ab::wait_all();
    });
    peak[wait] = ab::memory_use(x.device()).peak;
    return took;
  };
  const auto got = rounds(40, {[&] { return train(true); }, [&] { return train(false); }});
  row("waiting for each", median(got[0]) * 150 / at_once, mebibytes(peak[true]));
  row("waiting once", median(got[1]) * 150 / at_once,
      mebibytes(peak[false]) + "; " +
          ratio(median_ratio(got[1], got[0]), "the time (median of pairs)") + ", " +
          ratio(static_cast<double>(peak[false]) / static_cast<double>(peak[true]), "the memory",
                "at most 1 and 1.5"));
}

// --- many small branches

template <class Function, class... Args>
void branchy(const char* name, const char* wanted, Function function, const Args&... args) {
  ab::Options one, many;
  one.streams = 1;
  many.streams = 4;
  auto on_one = ab::jit(function, one), on_many = ab::jit(function, many);
  // Each call waits, so that nothing overlaps but the branches of one call.
  auto calls = [&](auto& compiled, int count) {
    return time_of([&] {
             for (int i = 0; i < count; ++i) {
               const auto results = compiled(args...);
               ab::wait_all();
             }
           }) /
           count;
  };
  // Enough calls that one measurement takes milliseconds, after some that find the caches cold.
  calls(on_one, 10);
  const int count = std::clamp(static_cast<int>(5e-3 / calls(on_one, 10)), 5, 500);
  auto speed = [&](auto& compiled) {
    calls(compiled, count / 5);
    return calls(compiled, count);
  };
  // Beside them, in the same rounds, what the machine itself gives a second thread.
  const auto got = rounds(31, {[&] { return speed(on_one); }, [&] { return speed(on_many); },
                               [] { return plain_threads(1); }, [] { return plain_threads(2); }});
  std::printf("  %s: %d streams\n", name, on_many.cost(args...).streams);
  row("  on one stream", median(got[0]));
  row("  on at most four", median(got[1]),
      ratio(median_ratio(got[0], got[1]), "the speed on one", wanted) + "; " +
          second_thread(got[2], got[3]));
}

void branches() {
  title("many small branches, on one stream and on several");
  auto square = [](std::int64_t size) {
    return ab::random::normal(ab::random::key(1), {size, size});
  };
  auto row_of = [](std::int64_t size) { return ab::random::normal(ab::random::key(3), {size}); };
  branchy("an Inception-like cell on 8x128", ">= 1", branchy::cell,
          ab::random::normal(ab::random::key(1), {8, 128}), square(128));
  branchy("a random graph of 200 products of 64x64", ">= 1.5", branchy::products, square(64));
  branchy("a random graph of 200 products of 256x256", ">= 1", branchy::products, square(256));
  branchy("a random graph of 200 means of 1,000", ">= 1", branchy::means, row_of(1'000));
  branchy("a random graph of 200 means of 30,000", ">= 1", branchy::means, row_of(30'000));
  branchy("a random graph of 200 means of 2^20", ">= 1", branchy::means, row_of(1 << 20));
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  struct Experiment {
    const char* name;
    std::function<void()> run;
    bool alone = false;  // only where it is named
  };
  const Experiment experiments[] = {
      {"products", products},
      {"waiting", waiting},
      {"reading", reading},
      {"ten_thousand", ten_thousand},
      {"two_devices", [&] { two_devices(argv[0]); }},
      {"two_devices_here", two_devices_here, true},
      {"cpu_and_gpu", cpu_and_gpu},
      {"copy_back", copy_back},
      {"minibatches", minibatches},
      {"branches", branches},
  };
  for (const Experiment& experiment : experiments) {
    const bool named = std::any_of(argv + 1, argv + argc, [&](const char* argument) {
      return std::strcmp(argument, experiment.name) == 0;
    });
    if (named || (argc == 1 && !experiment.alone)) experiment.run();
  }
}
