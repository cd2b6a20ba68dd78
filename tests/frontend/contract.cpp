// The async contract, line by line. Work is held back by inputs that have not arrived, so that what
// is in flight does not depend on how fast anything is.
#include <atomic>
#include <cfenv>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <thread>

#include "anabranch/device_memory.h"
#include "anabranch/devices.h"
#include "anabranch/limits.h"
#include "frontend/array/expression.h"
#include "frontend/run/program_cache.h"
#include "frontend/trace/record.h"
#include "tests/frontend/held_array.h"
#include "tests/frontend/in_flight_limits.h"
#include "tests/support/values.h"

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

bool has_run(const ab::Array& array) { return array.expression()->is_concrete(); }

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<float> numbers(const ab::Array& array) { return array.to_vector<float>(); }

std::vector<float> four(float value) { return std::vector<float>(4, value); }

// Line 1: an operation on arrays returns at once. Outside `jit` it is recorded, and runs when a
// value is asked for or when the recorded graph grows past a limit; a jitted call is dispatched at
// once. A million recorded operations neither overflow the stack nor keep dead nodes alive.

TEST(ContractLine1, RecordedOperationsRunWhenAValueIsAskedFor) {
  float values[4];
  std::ostringstream text;
  const std::pair<const char*, std::function<void(const ab::Array&)>> ways[] = {
      {"wait", [](const ab::Array& x) { x.wait(); }},
      {"item", [](const ab::Array& x) { x[0].item<float>(); }},
      {"to_vector", [](const ab::Array& x) { x.to_vector<float>(); }},
      {"copy_to", [&](const ab::Array& x) { x.copy_to(std::span<float>(values)); }},
      {"printing", [&](const ab::Array& x) { text << x; }},
      {"wait_all", [](const ab::Array&) { ab::wait_all(); }},
      {"eval", [](const ab::Array& x) { ab::eval(x); }},
  };
  for (const auto& [name, ask] : ways) {
    ab::Array x = ab::sqrt(ab::ones(ab::f32, {4})) + 1;
    EXPECT_FALSE(has_run(x)) << name;
    ask(x);
    EXPECT_TRUE(has_run(x)) << name;
    EXPECT_EQ(x.to_vector<float>(), four(2)) << name;
  }
}

TEST(ContractLine1, OperationsAndCallsReturnBeforeTheirOperandsArrive) {
  HeldArray x;
  auto twice = ab::jit([](ab::Array x) { return x * 2; });
  ab::Array recorded = x.array + 1, called = twice(x.array);
  EXPECT_FALSE(has_run(recorded));
  EXPECT_TRUE(has_run(called));  // on its way
  ab::eval(recorded);
  EXPECT_TRUE(has_run(recorded));
  EXPECT_FALSE(recorded.ready() || called.ready());
  x.arrive();
  EXPECT_TRUE(eventually([&] { return called.ready(); }));  // though nobody asks
  EXPECT_EQ(called.to_vector<float>(), four(2));
  EXPECT_EQ(recorded.to_vector<float>(), four(2));
}

TEST(ContractLine1, ALongRecordingRunsByItself) {
  HeldArray x;
  ab::Array y = x.array;
  std::vector<ab::Array> all;
  all.push_back(y = y + 1);
  EXPECT_FALSE(has_run(y));
  for (std::uint32_t i = 0; i < ab::recording_limit; ++i) all.push_back(y = y + 1);
  EXPECT_TRUE(has_run(all.front()));
  EXPECT_FALSE(x.arrived());
}

TEST(ContractLine1, AMillionRecordedOperationsKeepNothingAlive) {
  constexpr int count = sanitized ? 20'000 : 1'000'000;
  ab::Array y = ab::zeros(ab::f32, {4}), one = ab::ones(ab::f32, {4});
  ab::wait_all();
  ab::reset_peak_memory(ab::default_device());
  const auto before = ab::memory_use(ab::default_device()).in_use;
  std::weak_ptr<ab::Expression> dead;
  for (int i = 0; i < count; ++i) {
    y = y + one;
    if (i == 0) dead = y.expression();
  }
  EXPECT_TRUE(dead.expired());
  EXPECT_EQ(y.to_vector<float>(), four(count));
  EXPECT_LT(ab::memory_use(ab::default_device()).peak, before + (8u << 20));
}

// Line 2: the host waits only when it asks to, or when too much is in flight: by count (default 32
// executions a device) and by bytes. Both limits can be set and read. A loop that never waits runs
// in bounded memory.

// With `allowed` executions in flight, the host goes on; with one more it waits for the oldest.
void expect_wait_after(int allowed, std::int64_t size) {
  auto twice = ab::jit([](ab::Array x) { return x * 2; });
  twice(ab::ones(ab::f32, {size})).wait();
  ab::wait_all();
  HeldArray oldest(size), others(size);
  ab::timeline::Recording recording;
  std::atomic<int> submitted = 0;
  bool waited = false;
  std::thread host([&] {
    std::vector<ab::Array> results;
    for (int i = 0; i < allowed; ++i) {
      results.push_back(twice(i == 0 ? oldest.array : others.array));
      ++submitted;
    }
    results.push_back(twice(others.array));
    waited = oldest.arrived();
  });
  EXPECT_TRUE(eventually([&] { return submitted == allowed; }));
  give_a_chance();
  oldest.arrive();
  host.join();
  EXPECT_TRUE(waited);
  EXPECT_FALSE(others.arrived());  // it waited for the oldest alone
  int shown = 0;
  for (const auto& event : recording.stop().events) {
    shown += event.category == ab::timeline::Category::in_flight_wait;
  }
  EXPECT_EQ(shown, 1);
}

TEST(ContractLine2, TheHostWaitsForTheOldestOfTooMany) {
  const Limits limits;
  EXPECT_EQ(limits.count, 32);
  for (int allowed : {limits.count, 3}) {
    ab::set_in_flight_limit(limits.device, allowed);
    EXPECT_EQ(ab::in_flight_limit(limits.device), allowed);
    expect_wait_after(allowed, 4);
  }
  ab::Options options;
  options.in_flight = 5;
  ab::jit([](ab::Array x) { return x; }, options);
  EXPECT_EQ(ab::in_flight_limit(limits.device), 5);
  EXPECT_THROW(ab::set_in_flight_limit(limits.device, 0), ab::Error);
}

TEST(ContractLine2, TheHostWaitsForTheOldestOfTooManyBytes) {
  const Limits limits;
  EXPECT_GT(limits.bytes, 0u);
  if (limits.device.kind() == ab::DeviceKind::cpu) {
    EXPECT_LE(limits.bytes, std::size_t{256} << 20);
  }
  constexpr std::int64_t size = 1 << 10;
  for (int allowed : {7, 2}) {
    const auto bytes = static_cast<std::size_t>(allowed * 2 * size * 4);  // in and out
    ab::set_in_flight_bytes(limits.device, bytes);
    EXPECT_EQ(ab::in_flight_bytes(limits.device), bytes);
    expect_wait_after(allowed, size);
  }
  ab::Options options;
  options.in_flight_bytes = 1 << 20;
  ab::jit([](ab::Array x) { return x; }, options);
  EXPECT_EQ(ab::in_flight_bytes(limits.device), std::size_t{1} << 20);
  EXPECT_THROW(ab::set_in_flight_bytes(limits.device, 0), ab::Error);
}

TEST(ContractLine2, WhatWouldExceedTheBytesDoesNotBegin) {
  const Limits limits;
  static std::atomic<int> at_work, most;
  at_work = most = 0;
  auto f = ab::jit([](ab::Array x) {
    return ab::custom_call(
        "contract_at_work",
        [](const ab::CustomCall& call) {
          most = std::max<int>(most, ++at_work);
          give_a_chance();
          --at_work;
          call.result<float>(0)[0] = call.operand<float>(0)[0];
        },
        ab::spec(ab::f32, {1}), x);
  });
  f(ab::ones(ab::f32, {1})).wait();
  ab::set_in_flight_bytes(limits.device, 1);
  HeldArray held(1);
  ab::Array first = f(held.array), second = f(held.array);  // two may always be in flight
  held.arrive();
  EXPECT_EQ(second.item<float>() + first.item<float>(), 2);
  EXPECT_EQ(most, 1);
}

TEST(ContractLine2, ALoopThatNeverWaitsRunsInBoundedMemory) {
  constexpr std::int64_t size = 1 << 16;  // of which 2,000 would be 500 MB
  auto step = ab::jit([](ab::Array x) { return x * 0.5f + 1; });
  ab::Array x = ab::ones(ab::f32, {size});
  x.wait();
  ab::wait_all();
  ab::reset_peak_memory(ab::default_device());
  const auto before = ab::memory_use(ab::default_device()).in_use;
  const auto in_flight = static_cast<std::size_t>(ab::in_flight_limit(ab::default_device()));
  for (int i = 0; i < 2000; ++i) x = step(x);
  EXPECT_LE(ab::memory_use(ab::default_device()).peak, before + (in_flight + 2) * size * 4);
  EXPECT_FLOAT_EQ(x.to_vector<float>()[0], 2);
}

// What a loop takes whose every step needs the one before and 256 KB that are new.
std::size_t peak_of_loop(bool waits) {
  auto step = ab::jit([](ab::Array state, ab::Array batch) {
    return ab::tanh(ab::matmul(batch, state)) * 0.5f + state;
  });
  const ab::Device device = ab::default_device();
  const std::vector<float> values(256 * 256, 0.25f);
  const auto batch = [&] { return ab::array(std::span<const float>(values), {256, 256}); };
  ab::Array state = batch();
  ab::wait_all();
  ab::reset_peak_memory(device);
  const std::size_t before = ab::memory_use(device).in_use;
  for (int i = 0; i < 100; ++i) {
    state = step(state, batch());
    if (waits) state.wait();
  }
  state.wait();
  return ab::memory_use(device).peak - before;
}

TEST(ContractLine2, ALoopThatNeverWaitsTakesAtMostTheLimitMore) {
  const Limits limits;
  const std::size_t waiting = peak_of_loop(true);
  for (std::size_t limit : {std::size_t{1} << 20, std::size_t{4} << 20}) {
    ab::set_in_flight_bytes(limits.device, limit);
    EXPECT_LE(peak_of_loop(false), waiting + limit + (256 * 256 * 4)) << limit;
  }
}

// Line 3: x.wait() waits for x alone, wait_all() for everything; x.ready() never waits.

TEST(ContractLine3, WaitWaitsForOneAndReadyForNone) {
  HeldArray late;
  auto twice = ab::jit([](ab::Array x) { return x * 2; });
  ab::Array first = twice(late.array), second = twice(ab::ones(ab::f32, {4}));
  ab::Array recorded = late.array + 1;
  second.wait();
  EXPECT_TRUE(second.ready());
  EXPECT_FALSE(first.ready());
  EXPECT_FALSE(recorded.ready());
  EXPECT_FALSE(has_run(recorded));  // asking whether it is ready starts nothing
  EXPECT_FALSE(late.arrived());

  bool waited = false;
  std::thread host([&] {
    first.wait();
    waited = late.arrived();
  });
  give_a_chance();
  late.arrive();
  host.join();
  EXPECT_TRUE(waited);
  EXPECT_TRUE(first.ready());
}

TEST(ContractLine3, WaitAllWaitsForEverything) {
  HeldArray early, late, latest;
  auto twice = ab::jit([](ab::Array x) { return x * 2; });
  ab::Array oldest = twice(early.array), middle = twice(latest.array), recorded = late.array + 1;
  twice(latest.array);  // whose result nobody holds
  bool waited = false;
  std::thread host([&] {
    ab::wait_all();
    waited = latest.arrived();
  });
  EXPECT_TRUE(eventually([&] { return has_run(recorded); }));
  for (const auto& [held, result] : {std::pair{&early, &oldest}, std::pair{&late, &recorded}}) {
    held->arrive();
    EXPECT_TRUE(eventually([&] { return result->ready(); }));
    give_a_chance();
  }
  latest.arrive();
  host.join();
  EXPECT_TRUE(waited);
  EXPECT_TRUE(oldest.ready() && middle.ready() && recorded.ready());
}

// Line 4: what is wrong with a call throws there and then. What goes wrong later arrives in the
// results: every read of them, or of what depends on them, throws the first error; other work goes
// on. Nothing is printed.

TEST(ContractLine4, AWrongCallThrowsAtOnceWithOpTypesAndLine) {
  HeldArray x;
  std::string message = error_of([&] { x.array + ab::ones(ab::f32, {3}); });
  std::string line = ", at contract.cpp:" + std::to_string(__LINE__ - 1);
  EXPECT_NE(message.find("add: "), std::string::npos) << message;
  EXPECT_NE(message.find("f32[4] and f32[3]"), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with(line)) << message;

  message = error_of([&] { x.array.to_vector<int>(); });
  line = ", at contract.cpp:" + std::to_string(__LINE__ - 1);
  EXPECT_NE(message.find("to_vector: f32[4] read as i32"), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with(line)) << message;

  message = error_of([&] { ab::bitwise_and(x.array, x.array); });
  line = ", at contract.cpp:" + std::to_string(__LINE__ - 1);
  EXPECT_NE(message.find("bitwise_and: "), std::string::npos) << message;
  EXPECT_NE(message.find("f32[4]"), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with(line)) << message;

  message = error_of([&] { ab::pad(x.array, {-9}, {0}, 0); });
  line = ", at contract.cpp:" + std::to_string(__LINE__ - 1);
  EXPECT_NE(message.find("pad: crops more than there is on axis 0: f32[4]"), std::string::npos);
  EXPECT_TRUE(message.ends_with(line)) << message;

  message = error_of([&] { x.array.to(ab::Device::cuda(63)); });
  EXPECT_NE(message.find("to: f32[4]: there is no device cuda:63"), std::string::npos) << message;

  auto product = ab::jit([](ab::Array a, ab::Array b) { return ab::matmul(a, b); });
  line = ", at contract.cpp:" + std::to_string(__LINE__ - 1);
  message = error_of([&] { product(x.array, ab::ones(ab::f32, {3})); });
  EXPECT_NE(message.find("matmul: inner sizes differ: f32[4] x f32[3]"), std::string::npos);
  EXPECT_NE(message.find(line), std::string::npos) << message;

  ab::set_cpu_devices(2);
  ab::Array there = ab::ones(ab::f32, {4}).to(ab::Device::cpu(1));
  message = error_of([&] { x.array + there; });
  line = ", at contract.cpp:" + std::to_string(__LINE__ - 1);
  const std::string here = to_string(ab::default_device());
  EXPECT_NE(message.find("add: operands live on " + here + " and on cpu:1"), std::string::npos)
      << message;
  EXPECT_TRUE(message.ends_with(line)) << message;
  ab::set_cpu_devices(1);
  EXPECT_FALSE(x.arrived());
}

// Fails the test if anything is printed while it lives.
struct Silence {
  Silence() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
  }
  ~Silence() {
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
};

TEST(ContractLine4, ALaterErrorArrivesInWhatDependsOnItAndNowhereElse) {
  const Silence silence;
  const Limits limits;
  ab::set_in_flight_bytes(limits.device, SIZE_MAX);  // or what no memory could hold is held back
  HeldArray x;
  auto huge = ab::jit([](ab::Array x) { return ab::broadcast_to(x[0], {std::int64_t{1} << 50}); });
  auto sum = ab::jit([](ab::Array x, ab::Array y) { return ab::sum(x) + ab::sum(y); });
  ab::Array failed = huge(x.array), other_failed = huge(x.array + 1);
  ab::Array dependent = sum(failed, x.array), recorded = ab::sum(failed) + 1;
  ab::Array both = sum(failed, other_failed), other = sum(x.array, x.array);
  x.arrive();
  const std::string first = error_of([&] { failed.wait(); });
  EXPECT_NE(first.find("memory"), std::string::npos) << first;
  EXPECT_EQ(error_of([&] { failed.wait(); }), first);
  const std::string either = error_of([&] { both.wait(); });
  EXPECT_TRUE(either == first || either == error_of([&] { other_failed.wait(); })) << either;
  for (const ab::Array& array : {dependent, recorded}) {
    EXPECT_EQ(error_of([&] { array.wait(); }), first);
    EXPECT_EQ(error_of([&] { array.item<float>(); }), first);
    EXPECT_EQ(error_of([&] { array.to_vector<float>(); }), first);
    EXPECT_EQ(error_of([&] { to_string(array); }), first);
  }
  EXPECT_EQ(other.item<float>(), 8);
  ab::wait_all();  // errors stay with their arrays
  EXPECT_EQ(sum(x.array, other).item<float>(), 12);
}

TEST(ContractLine4, AFailedLaunchIsReadWithItsLineAndTheRestGoesOn) {
  const Silence silence;
  static std::atomic<int> later_calls;
  later_calls = 0;
  const auto first_fails = [](const ab::CustomCall& call) {
    if (call.operand<float>(0)[0] > 0) throw std::runtime_error("the first");
    call.result<float>(0)[0] = 0;
  };
  const auto later = [](const ab::CustomCall&) {
    ++later_calls;
    throw std::runtime_error("a later one");
  };
  const ab::Spec one = ab::spec(ab::f32, {1});
  int line = 0;
  auto program = [&](ab::Array x) {
    ab::Array failed = ab::custom_call("contract_first", first_fails, one, x);
    line = __LINE__ - 1;
    ab::Array dependent = ab::custom_call("contract_later", later, one, failed + x);
    return std::tuple{failed, dependent, ab::exp(x)};
  };
  auto jitted = ab::jit(program);
  for (int way = 0; way < 3; ++way) {
    HeldArray held(1);
    if (way == 2) held.arrive();  // then it may run while it is called
    auto [failed, dependent, other] = way == 0 ? program(held.array) : jitted(held.array);
    held.arrive();
    ab::Array further = ab::jit([](ab::Array x) { return ab::sum(x); })(dependent);
    ab::Array more = other * 2;
    const std::string first = error_of([&] { failed.wait(); });
    EXPECT_NE(first.find("contract_first"), std::string::npos) << first;
    EXPECT_TRUE(first.ends_with(": the first, at contract.cpp:" + std::to_string(line))) << first;
    for (const ab::Array& array : {failed, dependent, further, dependent + failed}) {
      float value = 0;
      EXPECT_EQ(error_of([&] { array.wait(); }), first);
      EXPECT_EQ(error_of([&] { array.to_vector<float>(); }), first);
      EXPECT_EQ(error_of([&] { array.to_vector_async<float>().get(); }), first);
      EXPECT_EQ(error_of([&] { array.copy_to(std::span<float>(&value, 1)); }), first);
    }
    EXPECT_EQ(later_calls, 0);  // what has no operands does not run
    EXPECT_FLOAT_EQ(other.item<float>(), std::exp(1.0f));
    EXPECT_FLOAT_EQ(more.item<float>(), 2 * std::exp(1.0f));
  }
  ab::Array fine = std::get<0>(jitted(ab::zeros(ab::f32, {1})));
  EXPECT_EQ(fine.item<float>(), 0);
}

// Line 5: order comes from data alone. Results do not depend on the number of streams or threads:
// the same program on the same device gives the same bits each time.

TEST(ContractLine5, TheSameProgramGivesTheSameBitsOnAnyNumberOfStreams) {
  auto program = [](ab::Array x) {
    std::vector<ab::Array> sums;
    for (int i = 1; i <= 6; ++i) {
      ab::Array y = ab::sin(x * static_cast<float>(i));
      ab::Array z = ab::matmul(y, ab::permute_dims(x, {1, 0}));
      sums.push_back(ab::sum(y) + ab::mean(ab::tanh(z)));
    }
    return std::tuple{ab::sum(ab::stack(sums)), ab::max(ab::stack(sums))};
  };
  ab::Array x = ab::random::normal(ab::random::key(5), {64, 96});
  ab::Options options;
  options.streams = 1;
  auto [sum, most] = ab::jit(program, options)(x);
  const auto expected = std::pair(sum.item<float>(), most.item<float>());
  for (int streams : {2, 4, 8}) {
    options.streams = streams;
    options.use_all_streams = true;
    auto compiled = ab::jit(program, options);
    EXPECT_EQ(compiled.cost(x).streams, std::min(streams, 6));
    for (int repetition = 0; repetition < 10; ++repetition) {
      auto [sum, most] = compiled(x);
      EXPECT_EQ(std::pair(sum.item<float>(), most.item<float>()), expected) << streams;
    }
  }
}

TEST(ContractLine5, TheSameProgramGivesTheSameBitsOnAnyNumberOfThreads) {
  auto program = [](ab::Array x, ab::Array, ab::Array square) {
    ab::Array y = ab::tanh(x) / (x * x + 1);
    return std::tuple{y,
                      ab::sum(y),
                      ab::sum(y * x, {0}),
                      ab::mean(y, {1}),
                      ab::softmax(x),
                      ab::matmul(square, square)};
  };
  const ab::Array x = ab::random::normal(ab::random::key(5), {317, 1021});
  const ab::Array square = ab::random::normal(ab::random::key(6), {257, 257});
  auto compiled = ab::jit(program);
  std::vector<std::vector<float>> expected;
  int programs = 0;
  for (int devices : {1, 2, 1}) {  // each with its share of the cores
    ab::set_cpu_devices(devices);
    ++programs;  // the type of what is not used makes another
    for (int i = 0; i < programs; ++i) {
      std::vector<std::vector<float>> values;
      std::apply([&](const auto&... result) { (values.push_back(numbers(result)), ...); },
                 compiled(x, ab::zeros(ab::f32, {1 + i}), square));
      if (expected.empty()) expected = values;
      EXPECT_TRUE(values == expected) << devices << " devices, program " << i;
    }
  }
}

TEST(ContractLine5, TheSameProgramGivesTheSameBitsHoweverTheCallerRounds) {
  auto f = ab::jit([](ab::Array x, ab::Array) {
    ab::Array y = ab::sin(x) / 3;
    for (float constant : {2.0f, 3.0f, 5.0f, 6.0f, 7.0f}) y = y + ab::sqrt(ab::scalar(constant));
    return y;
  });
  const ab::Array unused = ab::ones(ab::f32, {1}), another = ab::ones(ab::f32, {2});
  for (std::int64_t size : {5, 1 << 17}) {  // in the call, and on workers
    const ab::Array x = ab::linspace(0, 1, size, ab::f32);
    const std::vector<float> expected = numbers(f(x, unused));
    ab::set_cpu_devices(2);
    std::fesetround(FE_UPWARD);
    ab::set_cpu_devices(1);  // makes workers
    const std::vector<float> called = numbers(f(x, unused));
    const std::vector<float> compiled = numbers(f(x, another));
    const int rounding = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(rounding, FE_UPWARD);
    EXPECT_TRUE(called == expected) << size;
    EXPECT_TRUE(compiled == expected) << size;
  }
}

TEST(ContractLine5, ALaterCallDoesNotWaitForAnEarlierOne) {
  HeldArray late;
  auto twice = ab::jit([](ab::Array x) { return ab::sum(x * 2); });
  ab::Array earlier = twice(late.array);
  ab::Array later = twice(ab::ones(ab::f32, {1 << 16}));
  EXPECT_EQ(later.item<float>(), 1 << 17);
  EXPECT_EQ((later + 1).item<float>(), (1 << 17) + 1);
  EXPECT_FALSE(earlier.ready());
}

// Line 6: arrays are immutable values and may be used from any thread; a compiled function may be
// called from several threads at once. Destroying an array with work in flight is safe; so is
// leaving `main`.

TEST(ContractLine6, ArraysNeverChange) {
  HeldArray held;
  ab::Array x = held.array, y = x;
  auto step = ab::jit([](ab::Array x) { return x * 2 + 1; });
  ab::Array z = step(x);
  y = y + 1;  // another array; x stays
  held.arrive();
  EXPECT_EQ(step(z).to_vector<float>(), four(7));
  EXPECT_EQ(z.to_vector<float>(), four(3));
  EXPECT_EQ(y.to_vector<float>(), four(2));
  EXPECT_EQ(x.to_vector<float>(), four(1));
}

TEST(ContractLine6, ADonationChangesNothingThatOthersSee) {
  constexpr std::int64_t size = 1 << 18;
  auto add = ab::jit([](ab::Array x, ab::Array y) { return x + y; });
  const auto ready = [](float value) {
    ab::Array array = ab::full({size}, value);
    array.wait();
    return array;
  };
  const auto all = [](float value) { return std::vector<float>(size, value); };
  ab::Array x = ready(1), y = ready(2), same = x;
  EXPECT_TRUE(numbers(add(ab::donate(x), y)) == all(3));
  EXPECT_TRUE(numbers(same) == all(1));
  // As two arguments of one call.
  EXPECT_TRUE(numbers(add(ab::donate(same), same)) == all(2));
  // Seen by what was recorded and has not run, and by a call under way.
  x = ready(4);
  HeldArray held(size);
  ab::Array later = x * 10, called = add(held.array, x);
  EXPECT_TRUE(numbers(add(ab::donate(x), y)) == all(6));
  held.arrive();
  EXPECT_TRUE(numbers(later) == all(40));
  EXPECT_TRUE(numbers(called) == all(5));
}

TEST(ContractLine6, AnyLaterUseOfADonatedArrayNamesTheDonation) {
  auto add = ab::jit([](ab::Array x, ab::Array y) { return x + y; });
  ab::Array x = ab::array({1.0f, 2.0f, 3.0f}), y = x + 1;
  EXPECT_EQ(numbers(add(ab::donate(x), y)), (std::vector<float>{3, 5, 7}));
  const std::string gone =
      "f32[3] was given away by donate at contract.cpp:" + std::to_string(__LINE__ - 2) +
      "; use the result of that call, or keep the array and do not donate it";
  const auto names_it = [&](const std::string& function, const std::function<void()>& use) {
    EXPECT_TRUE(error_of(use).starts_with(function + ": " + gone)) << error_of(use);
  };
  names_it("to_vector", [&] { x.to_vector<float>(); });
  names_it("shape", [&] { x.shape(); });
  names_it("wait", [&] { x.wait(); });
  names_it("add", [&] { x + y; });
  names_it("read", [&] { to_string(x); });
  names_it("jit", [&] { add(x, y); });
  names_it("jit", [&] { add(ab::donate(x), y); });
  EXPECT_FALSE(x.ready());
  x = y;
  EXPECT_EQ(numbers(x), numbers(y));
}

TEST(ContractLine6, ManyThreadsShareArraysAndCompiledFunctions) {
  constexpr int calls = sanitized ? 20 : 300;
  auto f = ab::jit([](ab::Array x, ab::Array n) { return ab::sum(x) + n; });
  auto product = ab::jit([](ab::Array x) { return ab::matmul(x, x); });
  HeldArray held(100);
  const ab::Array recorded = held.array * 2 + 1, ones = ab::ones(ab::f32, {96, 96});
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      ab::Array own = ab::sum(recorded + static_cast<float>(t));
      right += own.item<float>() == 300 + 100 * static_cast<float>(t);
      for (int i = 0; i < calls; ++i) {
        const auto size = static_cast<std::int64_t>(1 + (i + t) % 3);
        const float sum = f(ab::full({size}, 2.0f), i).item<float>();
        right += sum == static_cast<float>(2 * size + i);
        ab::Array later = product(ones) * 2 + static_cast<float>(i);  // some are never read
        if (i % 8 == t) right += later[3][4].item<float>() == static_cast<float>(192 + i);
        if (i % 64 == t) ab::wait_all();
      }
    });
  }
  held.arrive();
  for (std::thread& thread : threads) thread.join();
  int wanted = 4 + 4 * calls;
  for (int t = 0; t < 4; ++t) {
    for (int i = 0; i < calls; ++i) wanted += i % 8 == t;
  }
  EXPECT_EQ(right, wanted);
  EXPECT_EQ(f.traces(), 3);
}

TEST(ContractLine6, ArraysMayBeDestroyedInFlight) {
  auto f = ab::jit([](ab::Array x) { return ab::tanh(ab::matmul(x, x)); });
  const auto destroy_in_flight = [&] {
    HeldArray held(64 * 64);
    ab::Array kept;
    for (int i = 0; i < 8; ++i) {
      ab::Array x = ab::reshape(held.array, {64, 64}) * 0.01f;
      ab::Array result = f(f(x));
      if (i == 7) kept = result;
    }
    held.arrive();
    EXPECT_GT(kept.to_vector<float>()[0], 0);
    ab::wait_all();
  };
  destroy_in_flight();  // compiles: the cache may forget other programs, and their constants
  const auto before = ab::memory_use(ab::default_device()).in_use;
  destroy_in_flight();
  EXPECT_EQ(ab::memory_use(ab::default_device()).in_use, before);
}

[[noreturn]] void leave_main_in_flight() {
  static std::vector<ab::Array> kept;  // outlives the library's own statics
  static HeldArray never(16);
  auto f = ab::jit([](ab::Array x) { return ab::tanh(ab::matmul(x, x)); });
  ab::Array x = ab::full({128, 128}, 0.01f);
  for (int i = 0; i < 20; ++i) kept.push_back(x = f(x));
  kept.push_back(f(ab::reshape(never.array, {4, 4})));
  kept.push_back(kept.back() + 1);
  std::exit(7);
}

// The pool stops after the libraries are closed where it began before them.
[[noreturn]] void leave_main_with_products_in_flight() {
  ab::Array x = ab::full({300, 300}, 0.5f), w = ab::full({300, 300}, 0.01f);
  ab::wait_all();
  const auto f = ab::jit([](ab::Array x, ab::Array w) { return ab::tanh(ab::matmul(x, w)); });
  for (int i = 0; i < 20; ++i) x = f(x, w);
  std::exit(7);
}

// Plans are used until the pool stops, which began before the first of them was made.
[[noreturn]] void leave_main_with_transforms_in_flight() {
  const auto turn = [](ab::Array x) { return ab::fft::ifft(ab::fft::fft(x)); };
  const ab::Array x = ab::ones({64, 257}, ab::c64);
  turn(x).wait();
  const auto f = ab::jit([&](ab::Array x) {
    return ab::fori_loop(
        0, 2'000, [&](ab::Array, ab::Array x) { return turn(x); }, x);
  });
  static const ab::Array never = f(x);
  std::exit(7);
}

TEST(ContractLine6DeathTest, LeavingMainWithTransformsInFlightIsSafe) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave_main_with_transforms_in_flight(), testing::ExitedWithCode(7), "^$");
}

TEST(ContractLine6DeathTest, LeavingMainWithProductsInFlightIsSafe) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave_main_with_products_in_flight(), testing::ExitedWithCode(7), "^$");
}

TEST(ContractLine6DeathTest, LeavingMainWithWorkInFlightIsSafe) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave_main_in_flight(), testing::ExitedWithCode(7), "^$");
}

// What a handler that was registered after the last compilation compiles is run.
[[noreturn]] void compile_while_leaving() {
  ab::jit([](ab::Array x) { return ab::cos(x) * 2; })(ab::zeros({2})).wait();
  std::atexit([] {
    const auto late = ab::jit([](ab::Array x) { return ab::sum(ab::exp(x) + x * x) - 1; });
    if (late(ab::zeros({3})).item<float>() != 2) std::_Exit(1);
  });
  std::exit(7);
}

// One that was registered before is called after static objects of the compiler are gone.
[[noreturn]] void compile_after_leaving() {
  static const auto early = ab::jit([](ab::Array x) { return ab::cos(x) * 2; });
  std::atexit([] {
    if (early(ab::zeros({2})).to_vector<float>()[0] != 2) std::_Exit(1);
    try {
      ab::jit([](ab::Array x) { return ab::sum(ab::exp(x) + x * x) - 1; })(ab::zeros({3})).wait();
      std::_Exit(2);
    } catch (const ab::Error& error) {
      const bool is_told = std::string(error.what()).find("is leaving main") != std::string::npos;
      std::_Exit(is_told ? 7 : 3);
    }
  });
  early(ab::zeros({2})).wait();
  std::exit(4);
}

TEST(ContractLine6DeathTest, HandlersOfLeavingCompileOrAreTold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(compile_while_leaving(), testing::ExitedWithCode(7), "^$");
  EXPECT_EXIT(compile_after_leaving(), testing::ExitedWithCode(7), "^$");
}

// A thread compiles one program after the other, also once static objects of the compiler are gone.
[[noreturn]] void leave_main_while_a_thread_compiles() {
  std::atexit([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); });
  static std::atomic<int> compiled = 0;
  std::thread([] {
    try {
      for (int size = 1;; ++compiled, ++size) {
        const ab::Array x = ab::ones({size});
        (ab::sin(x) + ab::exp(x * 2) + ab::sum(ab::tanh(x))).wait();
      }
    } catch (const ab::Error& error) {
      const bool is_told = std::string(error.what()).find("is leaving main") != std::string::npos;
      if (!is_told) std::_Exit(1);
    }
    std::this_thread::sleep_for(std::chrono::hours(1));
  }).detach();
  while (compiled < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::exit(7);
}

TEST(ContractLine6DeathTest, LeavingMainWhileAThreadCompilesIsSafe) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EXIT(leave_main_while_a_thread_compiles(), testing::ExitedWithCode(7), "^$");
  }
}

// Each thread is tracing one when it calls the other: neither waits for the other's trace.
TEST(ContractLine6, FunctionsThatCallEachOtherAreTracedInSeveralThreads) {
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> inside = 0;
    std::function<ab::Array(ab::Array)> calls[2];
    const ab::Array one = ab::ones({3});
    const auto made = [&](int other) {
      return ab::jit([&, other, again = std::make_shared<std::atomic<bool>>()](ab::Array x) {
        if (again->exchange(true)) return x * 2;
        ++inside;
        for (int i = 0; i < 1000 && inside < 2; ++i) std::this_thread::yield();
        return x + calls[other](one);
      });
    };
    const auto f = made(1), g = made(0);
    calls[0] = [&](ab::Array a) { return f(a); };
    calls[1] = [&](ab::Array a) { return g(a); };
    std::thread thread([&] { f(one).wait(); });
    g(one).wait();
    thread.join();
    EXPECT_GE(f.traces(), 1);
    EXPECT_GE(g.traces(), 1);
  }
}

// Line 7: a number that changes between calls does not recompile: arithmetic arguments are traced
// as inputs of rank 0; static_arg(v) makes one part of the key. A retrace can be explained.

TEST(ContractLine7, ANumberThatChangesDoesNotCompileAgain) {
  auto scale = ab::jit([](ab::Array x, ab::Array rate) { return x * rate + 0.125f; });
  ab::Array x = ab::array({1.0f, 2.0f});
  auto lazily = [&](int i) { return (x * i + 0.5 * i).to_vector<float>()[1]; };
  EXPECT_EQ(scale(x, 0.5).to_vector<float>()[1], 1.125f);
  EXPECT_EQ(lazily(1), 2.5f);
  const auto misses = ab::program_cache_use().misses;
  for (int i = 2; i < 6; ++i) {
    EXPECT_EQ(scale(x, 0.5 * i).to_vector<float>()[1], static_cast<float>(i) + 0.125f);
    EXPECT_EQ(lazily(i), 2.5f * static_cast<float>(i));
  }
  EXPECT_EQ(scale.traces(), 1);
  EXPECT_EQ(ab::program_cache_use().misses, misses);
  EXPECT_EQ(scale.compilation(x, 0.5)->traced.parameter_type(1).rank(), 0);
}

TEST(ContractLine7, AStaticArgumentThatChangesDoesAndSaysSo) {
  auto power = ab::jit([](ab::Array x, int n) {
    ab::Array y = x;
    for (int i = 1; i < n; ++i) y = y * x;
    return y;
  });
  EXPECT_EQ(power(ab::scalar(2.0f), ab::static_arg(3)).item<float>(), 8);
  EXPECT_EQ(power(ab::scalar(3.0f), ab::static_arg(3)).item<float>(), 27);
  EXPECT_EQ(power.traces(), 1);
  EXPECT_EQ(power(ab::scalar(2.0f), ab::static_arg(5)).item<float>(), 32);
  EXPECT_EQ(power.traces(), 2);
  EXPECT_EQ(power.last_retrace(), "argument 1: static 5 instead of static 3");
  power(ab::ones(ab::f32, {2}), ab::static_arg(5));
  EXPECT_EQ(power.traces(), 3);
  EXPECT_EQ(power.last_retrace(), "argument 0: f32[2] instead of f32[]");
  power(ab::scalar(2.0f),
        ab::static_arg(7));  // two arguments differ from the last, one from another
  EXPECT_EQ(power.last_retrace(), "argument 1: static 7 instead of static 5");
}

}  // namespace
