// What every group of bench_gpu has: the GPU, what was asked for, arrays, and a way of timing
// calls.
#pragma once

#include <anabranch/anabranch.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu_driver.h"
#include "bench/gpu_report.h"
#include "bench/rounds.h"

namespace bench {

namespace ab = anabranch;

struct Settings {
  bool quick = false;
  bool name_only = false;
  int rounds = 5;
  std::string json;
  std::vector<std::string> only;
};

struct Session {
  const Settings& settings;
  Gpu& gpu;
  Report& report;

  /// One group's failure leaves the others.
  void attempt(const std::string& name, const std::function<void()>& measure) const {
    try {
      measure();
    } catch (const std::exception& error) {
      report.fail(name, error.what());
    }
  }
};

inline ab::Options on_gpu(int streams = 4) {
  ab::Options options = ab::default_options();
  options.device = ab::Device::cuda(0);
  options.streams = streams;
  return options;
}

/// Even numbers in [-1, 1), made on the GPU.
inline ab::Array random_array(const ab::Sizes& sizes, ab::Dtype dtype = ab::f32, int seed = 1) {
  auto made = ab::jit(
      [&] { return ab::random::uniform(ab::random::key(seed), sizes, dtype, -1, 1); }, on_gpu());
  ab::Array array = made();
  array.wait();
  return array;
}

inline std::string size_text(std::uint64_t bytes) {
  const char* const units[] = {"KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  std::uint64_t count = bytes >> 10;
  for (; count >= 1024; ++unit) count >>= 10;
  return std::to_string(count) + units[unit];
}

/// Seconds that one of many takes that are submitted one after the other and waited for together:
/// so many that a measure takes about `wanted` seconds.
class Each {
 public:
  Each(std::function<void()> submit, std::function<void()> wait, double wanted)
      : submit_(std::move(submit)), wait_(std::move(wait)) {
    for (int i = 0; i < 3; ++i) run(1);  // compiled, measured, scheduled again
    if (wanted > 0) count_ = static_cast<int>(std::clamp(wanted / run(2), 1.0, 1000.0));
  }
  double operator()() const { return run(count_); }

 private:
  double run(int count) const {
    return time_of([&] {
             for (int i = 0; i < count; ++i) submit_();
             wait_();
           }) /
           count;
  }

  std::function<void()> submit_, wait_;
  int count_ = 1;
};

/// Seconds of a measure, long enough that waiting at its end counts for little.
inline double wanted_seconds(const Settings& settings) { return settings.quick ? 0 : 5e-3; }

/// Calls of ours. The first one's results are waited for by themselves, which throws what went
/// wrong: waiting for everything does not.
template <class Call>
Each each_of_ours(const Session& session, Call call) {
  auto first = call();
  ab::tree::for_each_array(first, [](ab::Array& array) { array.wait(); });
  return {[call] { call(); }, [] { ab::wait_all(); }, wanted_seconds(session.settings)};
}

}  // namespace bench
