// What fails takes only what depends on it along: every allocation and every step of a training
// step, on one device and over two, is made to fail once.
#include <climits>

#include "anabranch/device_memory.h"
#include "anabranch/devices.h"
#include "runtime/device/device_state.h"
#include "runtime/memory/allocator.h"
#include "tests/support/values.h"

namespace {

struct Params {
  ab::Array w1, b1, w2, b2;
};

// A step of gradient descent on a two-layer perceptron with a squared error, each layer where its
// weights are.
std::pair<ab::Array, Params> train(const Params& p, const ab::Array& x, const ab::Array& t) {
  ab::Array h = ab::tanh(ab::matmul(x, p.w1) + p.b1);
  ab::Array sent = h.to(p.w2.device());
  ab::Array e = ab::matmul(sent, p.w2) + p.b2 - t;
  ab::Array loss = ab::mean(e * e);
  ab::Array de = e * (2.0f / static_cast<float>(e.size()));
  ab::Array back = ab::matmul(de, ab::permute_dims(p.w2, {1, 0})).to(p.w1.device());
  ab::Array dh = back * (1 - h * h);
  auto update = [](ab::Array parameter, ab::Array by) { return parameter - by * 0.1f; };
  return {loss, Params{update(p.w1, ab::matmul(ab::permute_dims(x, {1, 0}), dh)),
                       update(p.b1, ab::sum(dh, {0})),
                       update(p.w2, ab::matmul(ab::permute_dims(sent, {1, 0}), de)),
                       update(p.b2, ab::sum(de, {0}))}};
}

ab::Array numbers(const ab::Sizes& sizes, int seed, const ab::Device& device = {}) {
  ab::Array made = ab::random::uniform(ab::random::key(static_cast<std::uint64_t>(seed)), sizes);
  made = made.to(device);
  made.wait();
  return made;
}

struct Outcome {
  int failed = 0, whole = 0;
};

struct Setting {
  int streams, devices;
};

class Faults : public ::testing::TestWithParam<Setting> {
 protected:
  using Inject = void (*)(const ab::Device&, std::uint64_t);

  void SetUp() override { ab::set_cpu_devices(GetParam().devices); }
  void TearDown() override {
    ab::wait_all();
    ab::set_cpu_devices(1);
  }

  // The default one alone, or the CPU and another.
  static std::vector<ab::Device> devices() {
    const ab::Device cpu = ab::Device::cpu(0), wanted = ab::default_device();
    if (GetParam().devices == 1) return {wanted};
    return {cpu, wanted == cpu ? ab::Device::cpu(1) : wanted};
  }

  // Fails the k-th on each device for every k there is; gives how many there were, where that is
  // least.
  int fail_each(Inject inject) {
    ab::Options options;
    options.streams = GetParam().streams;
    options.use_all_streams = options.streams > 1;
    auto step = ab::jit(train, options);
    const ab::Device first = devices().front(), last = devices().back();
    const Params start{numbers({64, 96}, 1, first), numbers({96}, 2, first),
                       numbers({96, 32}, 3, last), numbers({32}, 4, last)};
    const ab::Array x = numbers({48, 64}, 5, first), t = numbers({48, 32}, 6, last);
    const auto call = [&] { return step(start, x, t); };
    int least = INT_MAX;
    for (const ab::Device& device : devices()) {
      SCOPED_TRACE(to_string(device));
      least = std::min(least, fail_each(inject, device, call));
    }
    return least;
  }

  template <class Call>
  static int fail_each(Inject inject, const ab::Device& device, const Call& call) {
    const auto expected = results(call());
    ab::wait_all();
    const std::vector<std::size_t> before = bytes_in_use();
    Outcome all;
    for (int k = 0; k < 1000; ++k) {
      inject(device, static_cast<std::uint64_t>(k));
      Outcome outcome;
      try {
        read(call(), expected, outcome);
      } catch (const ab::Error&) {
        ++outcome.failed;  // at the call
      }
      inject(device, UINT64_MAX);
      ab::wait_all();
      EXPECT_EQ(bytes_in_use(), before) << k;
      EXPECT_EQ(results(call()), expected) << k;
      ab::wait_all();
      if (outcome.failed == 0) {
        EXPECT_GT(all.whole, 0) << "every failure took everything along";
        return k;
      }
      all.whole += outcome.whole;
    }
    return 1000;
  }

  static std::vector<std::size_t> bytes_in_use() {
    std::vector<std::size_t> bytes;
    for (const ab::Device& device : ab::devices()) bytes.push_back(ab::memory_use(device).in_use);
    return bytes;
  }

  static std::vector<std::vector<float>> results(const std::pair<ab::Array, Params>& made) {
    const auto& [loss, p] = made;
    std::vector<std::vector<float>> values;
    for (const ab::Array& array : {loss, p.w1, p.b1, p.w2, p.b2}) {
      values.push_back(array.to_vector<float>());
    }
    return values;
  }

  // Each result is right, or carries the error with the step and the line.
  static void read(const std::pair<ab::Array, Params>& made,
                   const std::vector<std::vector<float>>& expected, Outcome& outcome) {
    const auto& [loss, p] = made;
    std::size_t next = 0;
    for (const ab::Array& array : {loss, p.w1, p.b1, p.w2, p.b2}) {
      const auto& wanted = expected[next++];
      try {
        EXPECT_EQ(array.to_vector<float>(), wanted);
        ++outcome.whole;
      } catch (const ab::Error& error) {
        ++outcome.failed;
        EXPECT_NE(std::string(error.what()).find(", at faults.cpp:"), std::string::npos)
            << error.what();
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(
    Streams, Faults, ::testing::Values(Setting{1, 1}, Setting{4, 1}, Setting{1, 2}, Setting{4, 2}),
    [](const auto& tested) {
      return std::to_string(tested.param.streams) + "On" + std::to_string(tested.param.devices);
    });

// Of seven steps and their results, each device has about half.
TEST_P(Faults, EveryAllocationOfAStepMayFail) {
  EXPECT_GE(fail_each(ab::fail_allocation_after), GetParam().devices == 1 ? 6 : 3);
}

TEST_P(Faults, EveryLaunchOfAStepMayFail) {
  EXPECT_GE(fail_each(ab::fail_launch_after), GetParam().devices == 1 ? 6 : 3);
}

TEST(Fault, MoreThanTheMachineHasIsAnErrorInTheResult) {
  const ab::Array much = ab::full({std::int64_t{1} << 40}, 1.0f), little = ab::full({4}, 1.0f);
  try {
    much.wait();
    FAIL() << "no error";
  } catch (const ab::Error& error) {
    EXPECT_NE(std::string(error.what()).find("is out of memory"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(little.to_vector<float>(), std::vector<float>(4, 1.0f));
}

TEST(Fault, AnExceptionInACustomCallStopsOnlyWhatNeedsIt) {
  auto f = ab::jit([](ab::Array x) {
    ab::Array bad = ab::custom_call(
        "faults_sometimes",
        [](const ab::CustomCall& call) {
          if (call.operand<float>(0)[0] < 0) throw std::out_of_range("negative");
          call.result<float>(0)[0] = 1;
        },
        ab::spec(ab::f32, {1}), x);
    return std::pair{bad + 1, ab::exp(x)};
  });
  auto [lost, kept] = f(ab::array({-1.0f}));
  EXPECT_FLOAT_EQ(kept.item<float>(), std::exp(-1.0f));
  for (const ab::Array& reads : {lost, lost * 2}) {
    try {
      reads.wait();
      FAIL() << "no error";
    } catch (const ab::Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("faults_sometimes"), std::string::npos) << text;
      EXPECT_NE(text.find(": negative, at faults.cpp:"), std::string::npos) << text;
      EXPECT_THROW(std::rethrow_if_nested(error), std::out_of_range);
    }
  }
  EXPECT_FLOAT_EQ(f(ab::array({3.0f})).first.item<float>(), 2);
}

}  // namespace
