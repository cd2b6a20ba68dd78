// Programs over two devices: two virtual CPU devices, or the CPU and the GPU that the suite runs
// on.
#include "anabranch/devices.h"

#include <thread>

#include "anabranch/device_memory.h"
#include "anabranch/limits.h"
#include "codegen/compile.h"
#include "ir/custom_call.h"
#include "ir/text/parse.h"
#include "passes/placement.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/memory/allocator.h"
#include "tests/frontend/held_array.h"
#include "tests/support/default_device.h"
#include "tests/support/values.h"

namespace {

const ab::Device first = ab::Device::cpu(0);
// Asked for when a test runs: a process that has opened a GPU's driver has no children that may.
ab::Device second() {
  static const ab::Device found =
      ab::default_device() == first ? ab::Device::cpu(1) : ab::default_device();
  return found;
}

class Devices : public ::testing::Test {
 protected:
  void SetUp() override { ab::set_cpu_devices(2); }
  void TearDown() override {
    ab::wait_all();
    ab::set_cpu_devices(1);
  }

 private:
  const ab::testing::DefaultDevice default_device_{first};
};

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Devices, ShareTheCores) {
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (int devices : {1, 2, 3, 5, 64}) {
    ab::set_cpu_devices(devices);
    int next = 0;
    for (int i = 0; i < devices; ++i) {
      const ab::CoreRange cores = ab::cores(ab::Device::cpu(i));
      if (devices > all) {
        EXPECT_EQ(cores.count, 1);
        EXPECT_EQ(cores.first, i % all);
        continue;
      }
      EXPECT_EQ(cores.first, next);
      EXPECT_EQ(cores.count, all / devices + (i < all % devices ? 1 : 0));
      next += cores.count;
    }
    EXPECT_TRUE(devices > all || next == all) << devices;
    EXPECT_EQ(ab::cpu::ThreadPool::of(first).size(), ab::cores(first).count);
  }
}

TEST_F(Devices, ChangeInNumberWhileWorkIsInFlight) {
  auto step = ab::jit([](ab::Array x) { return ab::tanh(x) + 1; });
  ab::Array x = ab::ones(ab::f32, {1 << 16});
  ab::Array once = step(x);
  for (int i = 0; i < 40; ++i) {
    ab::set_cpu_devices(1 + i % 3);
    x = step(x);
  }
  ab::set_cpu_devices(2);
  EXPECT_NEAR(x.to_vector<float>()[7], 1.9613, 1e-3);
  EXPECT_NEAR(once.to_vector<float>()[7], 1.7616, 1e-3);
}

TEST_F(Devices, ATransferIsRecordedAndRunsOnce) {
  ab::Array x = ab::array({1.0f, 2.0f, 3.0f});
  ab::Array there = (x * 2).to(second());
  EXPECT_EQ(there.device(), second());
  EXPECT_FALSE(there.ready());
  ab::Array sum = there + 1;
  EXPECT_EQ(sum.device(), second());
  ab::Array back = sum.to(first);
  EXPECT_EQ(back.to_vector<float>(), (std::vector<float>{3, 5, 7}));
  EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{3, 5, 7}));
  EXPECT_EQ(back.to(first).expression(), back.expression());
}

TEST_F(Devices, HaveMemoryOfTheirOwn) {
  ab::wait_all();
  const std::size_t before = ab::memory_use(second()).in_use;
  ab::Array x = ab::ones(ab::f32, {1 << 16}).to(second());
  x.wait();
  EXPECT_GE(ab::memory_use(second()).in_use, before + (4u << 16));
  x = {};
  ab::wait_all();
  EXPECT_EQ(ab::memory_use(second()).in_use, before);
}

TEST_F(Devices, AFunctionTakesAndReturnsArraysOnSeveral) {
  auto f = ab::jit([](ab::Array x, ab::Array y, ab::Array scale) {
    ab::Array u = ab::exp(x) * scale;
    ab::Array v = ab::tanh(y) * scale + 0.5f;
    return std::tuple{u + v.to(x.device()), v, u.to(v.device()) - v};
  });
  ab::Array x = ab::array({0.0f, 1.0f}), y = ab::array({0.5f, -0.5f}).to(second());
  for (float scale : {2.0f, 3.0f}) {
    auto [sum, v, difference] = f(x, y, scale);
    EXPECT_EQ(sum.device(), first);
    EXPECT_EQ(v.device(), second());
    EXPECT_EQ(difference.device(), second());
    EXPECT_NEAR(sum.to_vector<float>()[1], std::exp(1) * scale - std::tanh(0.5) * scale + 0.5,
                1e-4);
    EXPECT_NEAR(v.to_vector<float>()[0], std::tanh(0.5) * scale + 0.5, 1e-5);
    EXPECT_NEAR(difference.to_vector<float>()[0], scale - std::tanh(0.5) * scale - 0.5, 1e-5);
  }
  EXPECT_EQ(f.traces(), 1);
  f(x, y.to(first), 2.0f);
  EXPECT_EQ(f.traces(), 2);
  EXPECT_EQ(f.last_retrace(), "argument 1: f32[2] instead of f32[2] on " + to_string(second()));
}

TEST_F(Devices, CopiesHaveStreamsOfTheirOwn) {
  auto f = ab::jit([](ab::Array x, ab::Array y) { return ab::exp(x).to(second()) + ab::tanh(y); });
  ab::Array x = ab::ones(ab::f32, {64}), y = ab::ones(ab::f32, {64}).to(second());
  auto compiled = f.compilation(x, y);
  const ab::Program& program = compiled->program();
  ab::verify(program);
  int copies = 0;
  for (const ab::Stream& stream : program.streams) {
    for (const ab::Command& command : stream) {
      const ab::Step* step = ab::step_of(program, command);
      if (!step) continue;
      const bool is_copy = std::holds_alternative<ab::TransferStep>(step->work);
      EXPECT_EQ(is_copy, stream.kind == ab::Stream::Kind::copy);
      copies += is_copy;
      for (ab::SlotId id : step->writes) {
        EXPECT_EQ(program.slots[id].device, stream.device);
      }
    }
  }
  EXPECT_EQ(copies, 1);
  const ab::ProgramCost cost = f.cost(x, y);
  EXPECT_EQ(cost.copies, 1);
  EXPECT_EQ(cost.library_calls, 0);
  EXPECT_EQ(cost.kernels, 2);
  EXPECT_NE(f.dump(ab::Stage::schedule, x, y).find(" on " + to_string(second()) + " copy {"),
            std::string::npos);
}

TEST_F(Devices, CopiesAreDrawnAsSuch) {
  auto f = ab::jit([](ab::Array x) { return ab::exp(ab::exp(x).to(second())); });
  f(ab::ones(ab::f32, {64})).wait();
  ab::timeline::Recording recording;
  const std::vector<float> values(64, 1.0f);
  ab::Array y = f(ab::array(std::span<const float>(values), {64}));
  y.to_vector<float>();
  y.to_vector_async<float>().get();
  std::vector<float> copied(64);
  y.copy_to(std::span<float>(copied));
  ab::wait_all();
  std::map<std::string, int> copies;
  for (const auto& event : recording.stop().events) {
    if (event.category != ab::timeline::Category::copy) continue;
    EXPECT_EQ(event.details.bytes, event.name.starts_with("transfer") ? 512 : 256);
    // "cpu:0 copies 1", without the number of the row
    const std::string track = to_string(event.track);
    ++copies[track.substr(0, track.rfind(' ')) + ": " + event.name.substr(0, 9)];
  }
  const std::string there = to_string(second());
  const std::map<std::string, int> expected = {{"cpu:0 copies: copy from", 1},
                                               {there + " copies: copy to t", 3},
                                               {there + " stream: transfer2", 1}};
  EXPECT_EQ(copies, expected);
}

TEST_F(Devices, TheNullDeviceSchedulesThemToo) {
  const ab::Graph graph = ab::parse(
      "graph(%0: f32[64], %1: f32[64]) {\n"
      "  %2: f32[64] = exponential %0\n"
      "  %3: f32[64] = transfer %2 device=null:1\n"
      "  %4: f32[64] = add %3, %1\n"
      "  return %4, %2 }");
  ab::Options options;
  options.device = ab::Device::null(0);
  options.parameters = {ab::Device::null(0), ab::Device::null(1)};
  const auto compiled = ab::compile(graph, options);
  ab::verify(compiled.program());
  EXPECT_EQ(compiled.program().streams.size(), 3u);
  EXPECT_EQ(compiled.program().event_count, 2u);
}

// The program's own device has a constant, and nothing to do.
TEST_F(Devices, AllMayRunOnAnotherThanTheProgramsOwn) {
  const ab::Graph graph = ab::parse(
      "graph(%0: f32[64]) {\n"
      "  %1: f32[] = constant 2\n"
      "  %2: f32[64] = exponential %0\n"
      "  return %2, %1 }");
  ab::Options options;
  options.device = ab::Device::null(0);
  options.parameters = {ab::Device::null(1)};
  const auto compiled = ab::compile(graph, options);
  ab::verify(compiled.program());
  ASSERT_EQ(compiled.program().streams.size(), 1u);
  const ab::DeviceIndex index = compiled.program().streams[0].device;
  EXPECT_EQ(compiled.program().devices[index].device, ab::Device::null(1));
}

TEST_F(Devices, WhatDoesNotMeetIsRefusedAtTheCall) {
  ab::Array x = ab::array({1.0f, 2.0f}), y = ab::ones(ab::f32, {2}).to(second());
  const std::string wanted =
      "add: operands live on cpu:0 and on " + to_string(second()) + "; move one with .to(device)";
  EXPECT_EQ(message_of([&] { x + y; }).substr(0, wanted.size()), wanted);
  auto f = ab::jit([](ab::Array a, ab::Array b) { return a + b; });
  EXPECT_EQ(message_of([&] { f(x, y); }).substr(0, wanted.size()), wanted);
  const auto and_y = [&](ab::Array, ab::Array carry) { return carry + y; };
  const std::string in_loop = message_of([&] { ab::fori_loop(0, 3, and_y, x); });
  EXPECT_TRUE(in_loop.starts_with("fori_loop: operands live on ")) << in_loop;
  y.wait();  // so that the branch does not compute it
  const auto same = [](ab::Array carry) { return carry; };
  const std::string in_branch = message_of([&] {
    ab::cond(
        true, [&](ab::Array carry) { return carry + y; }, same, x);
  });
  EXPECT_TRUE(in_branch.starts_with("cond: operands live on ")) << in_branch;
}

TEST_F(Devices, NothingIsFusedAcrossATransfer) {
  const ab::Graph graph = ab::parse(std::string("graph(%0: f32[8], %1: f32[8]) {\n") +
                                    "  %2: f32[] = constant 2\n"
                                    "  %3: f32[8] = broadcast_in_dim %2\n"
                                    "  %4: f32[8] = multiply %0, %3\n"
                                    "  %5: f32[8] = transfer %4 device=" +
                                    to_string(second()) +
                                    "\n"
                                    "  %6: f32[8] = multiply %1, %3\n"
                                    "  %7: f32[8] = add %5, %6\n"
                                    "  return %7, %4 }");
  ab::Options options;
  options.parameters = {first, second()};
  const auto compiled = ab::compile(graph, options);
  EXPECT_EQ(ab::cost(compiled).kernels, 2) << compiled.optimized;
}

// To the bit between CPUs; a GPU's library sums products in an order of its own.
void expect_agree(const ab::Array& a, const ab::Array& b) {
  const std::vector<float> got = a.to_vector<float>(), wanted = b.to_vector<float>();
  if (first.kind() == second().kind()) {
    EXPECT_EQ(got, wanted);
    return;
  }
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-5) << i;
}

TEST_F(Devices, WorkOnBothAndAgreeWithTheInterpreter) {
  auto build = [](ab::Array a, ab::Array b) {
    for (int i = 0; i < 6; ++i) {
      ab::Array u = ab::tanh(a) + 0.1f, v = ab::matmul(b, b) * 0.2f;
      a = u * 0.5f + v.to(a.device());
      b = v - u.to(b.device());
    }
    return std::pair{a, b};
  };
  ab::Array a = ab::linspace(-1, 1, 64, ab::f32), b = ab::linspace(0, 1, 64, ab::f32);
  a = ab::reshape(a, {8, 8});
  b = ab::reshape(b, {8, 8});
  auto [one_a, one_b] = ab::jit(build)(a, b);
  for (int streams : {1, 4}) {
    ab::Options options;
    options.streams = streams;
    options.use_all_streams = streams > 1;
    auto f = ab::jit(build, options);
    for (int round = 0; round < 20; ++round) {
      auto [two_a, two_b] = f(a, b.to(second()));
      EXPECT_EQ(two_b.device(), second());
      expect_agree(two_a, one_a);
      expect_agree(two_b, one_b);
    }
  }
}

TEST_F(Devices, WhatSpansThemCountsOnEach) {
  auto f = ab::jit([](ab::Array x) { return (x * 2).to(second()) + 1; });
  f(ab::ones(ab::f32, {4})).wait();
  for (const ab::Device& device : {first, second()}) {
    ab::wait_all();
    const int limit = ab::in_flight_limit(device);
    ab::set_in_flight_limit(device, 3);
    HeldArray oldest, others;
    std::atomic<int> submitted = 0;
    bool waited = false;
    std::thread host([&] {
      std::vector<ab::Array> results = {f(oldest.array), f(others.array), f(others.array)};
      submitted = 3;
      results.push_back(f(others.array));  // one too many
      waited = oldest.arrived();
    });
    EXPECT_TRUE(eventually([&] { return submitted == 3; }));
    give_a_chance();
    oldest.arrive();
    host.join();
    EXPECT_TRUE(waited) << to_string(device);
    ab::set_in_flight_limit(device, limit);
  }
}

TEST_F(Devices, WhatSpansThemTakesOfEachWhatItsLimitAllows) {
  constexpr std::size_t size = 1 << 18;
  auto f = ab::jit([](ab::Array x) { return ab::exp(ab::broadcast_to(x.to(second()), {size})); });
  ab::Array x = ab::ones(ab::f32, {1});
  f(x).wait();
  ab::wait_all();
  const std::size_t limit = ab::in_flight_bytes(second()), few = 8 * size;
  ab::set_in_flight_bytes(second(), few);
  ab::reset_peak_memory(second());
  const std::size_t before = ab::memory_use(second()).in_use;
  for (int i = 0; i < 100; ++i) f(x);
  ab::wait_all();
  EXPECT_LE(ab::memory_use(second()).peak, before + few + size);
  ab::set_in_flight_bytes(second(), limit);
}

TEST_F(Devices, AsynchronousReadsArriveWithTheValueOrTheError) {
  ab::Array x = ab::arange(0, 1000, 1, ab::f32) * 2;
  auto later = x.to_vector_async<float>();
  EXPECT_EQ(later.get(), x.to_vector<float>());
  auto moved = x.to(second()).to_vector_async<float>();
  EXPECT_EQ(moved.get(), x.to_vector<float>());
  auto failing = ab::custom_call(
      "devices_fails", [](const ab::CustomCall&) { throw std::runtime_error("no such file"); },
      ab::spec(ab::f32, {3}), x);
  auto never = failing.to_vector_async<float>();
  EXPECT_NE(message_of([&] { never.get(); }).find("no such file, at devices.cpp:"),
            std::string::npos);
}

TEST_F(Devices, CustomCallsReadAndWrite) {
  auto reversed = [](const ab::CustomCall& call) {
    auto from = call.operand<float>(0);
    std::copy(from.rbegin(), from.rend(), call.result<float>(0).begin());
  };
  auto turn = [&](ab::Array x) {
    return ab::custom_call("devices_turn", reversed, ab::spec(ab::f32, {3}), x * 2) + 1;
  };
  ab::Array x = ab::array({1.0f, 2.0f, 3.0f});
  const std::vector<float> expected = {7, 5, 3};
  EXPECT_EQ(turn(x).to_vector<float>(), expected);
  EXPECT_EQ(ab::jit(turn)(x.to(second())).to_vector<float>(), expected);
  const ab::Graph graph = ab::trace(turn, x);
  EXPECT_NE(ab::to_string(graph).find("custom_call %3 name=devices_turn results=[f32[3]]"),
            std::string::npos)
      << graph;
  EXPECT_EQ(ab::parse(ab::to_string(graph)), graph);
  const auto nothing = [](const ab::CustomCall&) {};
  EXPECT_EQ(message_of([&] { ab::register_custom_call("devices_turn", nothing); }),
            "register_custom_call: devices_turn: another function is registered under this name; "
            "give one of them another");
  const ab::Graph unknown = ab::parse(
      "graph(%0: f32[3]) { %1: f32[3] = custom_call %0 name=devices_nobody results=[f32[3]] "
      "return %1 }");
  EXPECT_EQ(message_of([&] { ab::compile(unknown, ab::Options{}); }),
            "custom_call devices_nobody: no function is registered under this name; "
            "register_custom_call does that");
}

TEST_F(Devices, ThoseOfParametersAndTransfersExist) {
  const auto refused = [](const std::string& device, const ab::ParameterDevices& parameters) {
    const ab::Graph graph = ab::parse(
        "graph(%0: f32[8,8], %1: f32[8,8]) {\n"
        "  %2: f32[8,8] = transfer %0 device=" +
            device +
            "\n"
            "  %3: f32[8,8] = exponential %2\n"
            "  return %3, %1\n}",
        "away.abir");
    ab::Options options;
    options.parameters = parameters;
    return message_of([&] { ab::compile(graph, options); });
  };
  const std::string missing = "compile: there is no device cpu:9; there is cpu:0, cpu:1";
  const std::string there = refused("cpu:9", {});
  EXPECT_TRUE(there.starts_with(missing) && there.ends_with(", at away.abir:2")) << there;
  const std::string parameter = refused("cpu:1", {std::nullopt, ab::Device::cpu(4)});
  EXPECT_TRUE(parameter.starts_with("compile: parameter 1: there is no device cpu:4; "))
      << parameter;
}

// Neither leaves a function under that name: the second refusal is the first one's.
TEST_F(Devices, CustomCallsHaveNames) {
  const auto nothing = [](const ab::CustomCall&) {};
  const auto refused = [&] {
    const ab::Array x = ab::ones(ab::f32, {3});
    return message_of([&] { ab::custom_call("", nothing, ab::spec(ab::f32, {3}), x); });
  };
  const std::string unnamed = "custom_call: needs the name of a function: f32[3], at devices.cpp:";
  const std::string no_name =
      "register_custom_call: the name is empty; give one that graphs call it by";
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(refused().starts_with(unnamed)) << refused();
    EXPECT_EQ(message_of([&] { ab::register_custom_call("", nothing); }), no_name);
  }
  EXPECT_NE(message_of([] { ab::custom_function(""); }).find("no function is registered"),
            std::string::npos);
}

TEST_F(Devices, LimitsOfMemoryAreOfAllTemporaries) {
  ab::Options options;
  options.memory_limit = 1000;
  for (const ab::Device& device : {first, second()}) {
    const auto f = ab::jit(
        [&](ab::Array x) {
          const ab::Array there = x.to(device);
          return ab::sort(ab::sort(ab::sort(there, 0) * 2, 1), 0).to(first);
        },
        options);
    const std::string message = message_of([&] { f(ab::ones({30, 30})); });
    EXPECT_NE(message.find("Options::memory_limit is 1000"), std::string::npos) << message;
  }
}

}  // namespace
