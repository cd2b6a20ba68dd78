// Custom calls that wait for the host, and that ask for what waits for them.
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "anabranch/limits.h"
#include "runtime/executor/stall.h"
#include "tests/frontend/held_array.h"
#include "tests/frontend/in_flight_limits.h"
#include "tests/support/values.h"

namespace {

using namespace std::chrono_literals;

// What `ask` throws inside a custom call.
std::string error_inside(const std::function<void()>& ask) {
  std::string text = "no error";
  auto call = [&](const ab::CustomCall& call) {
    try {
      ask();
    } catch (const ab::Error& error) {
      text = error.what();
    }
    call.result<float>(0)[0] = 1;
  };
  ab::custom_call("waits_inside", call, ab::spec(ab::f32, {}), ab::scalar(1.0f)).wait();
  return text;
}

TEST(CustomCallWaits, ForAllIsAnError) {
  EXPECT_EQ(error_inside([] { ab::wait_all(); }),
            "wait_all: called inside a custom call, which is part of what it waits for; call it "
            "where programs are started");
}

TEST(CustomCallWaits, ForAnArrayThatIsNotThereIsAnError) {
  HeldArray held;
  const ab::Array sum = held.array + 1;
  std::vector<float> four(4);
  const std::function<void()> ways[] = {
      [&] { held.array.wait(); },
      [&] { sum.wait(); },
      [&] { sum.to_vector<float>(); },
      [&] { sum.copy_to(std::span<float>(four)); },
      [&] { ab::to_string(sum); },
      [&] { ab::sum(sum).item<float>(); },
      [&] { ab::jit([](ab::Array x) { return x * 2; })(held.array).wait(); },
  };
  for (const auto& ask : ways) {
    const std::string text = error_inside(ask);
    EXPECT_TRUE(
        text.starts_with("wait: inside a custom call, for an array whose value is not "
                         "there yet; make it an operand of the call"))
        << text;
  }
  auto values = held.array.to_vector_async<float>();
  EXPECT_FALSE(values.wait_for(0s));
  EXPECT_FALSE(values.wait_until(std::chrono::steady_clock::time_point::min()));
  const std::function<void()> of_futures[] = {[&] { values.get(); }, [&] { values.wait(); },
                                              [&] { values.wait_for(1h); }};
  for (const auto& ask : of_futures) {
    const std::string text = error_inside(ask);
    EXPECT_TRUE(text.starts_with("future: waited for inside a custom call")) << text;
  }
  held.arrive();
  sum.wait();
  EXPECT_TRUE(values.valid());
  EXPECT_EQ(error_inside([&] { sum.wait(); }), "no error");
  EXPECT_EQ(error_inside([&] { four = sum.to_vector<float>(); }), "no error");
  EXPECT_EQ(four, std::vector<float>(4, 2.0f));
}

/// A custom call that passes its operand on once the host lets it, at the latest at the end.
struct Gate {
  ~Gate() { open(); }
  ab::Array operator()(ab::Array x) const {
    auto call = [gate = &is_open](const ab::CustomCall& call) {
      gate->wait(false);
      std::ranges::copy(call.operand<float>(0), call.result<float>(0).begin());
    };
    return ab::custom_call("waits_gate", call, ab::spec(ab::f32, x.shape()), x);
  }
  void open() {
    is_open = true;
    is_open.notify_all();
  }
  std::atomic<bool> is_open = false;
};

// A host that has to hand in more than the limit before it opens the gate, on a thread of its own.
void expect_no_deadlock(Gate& gate, std::function<void()> host) {
  std::promise<void> done;
  std::future<void> is_done = done.get_future();
  std::thread thread([&] {
    host();
    done.set_value();
  });
  EXPECT_EQ(is_done.wait_for(60s), std::future_status::ready) << "the host is stuck";
  gate.open();
  thread.join();
}

TEST(CustomCallWaits, ForTheHostAtTheLimitOfExecutions) {
  const Limits limits;
  auto next = ab::jit([](ab::Array x) { return x + 1; });
  next(ab::ones(ab::f32, {4})).wait();
  ab::set_in_flight_limit(limits.device, 3);
  for (int round = 0; round < 2; ++round) {
    Gate gate;
    expect_no_deadlock(gate, [&] {
      ab::Array x = gate(ab::ones(ab::f32, {4}));
      for (int i = 0; i < 10; ++i) x = next(x);
      gate.open();
      EXPECT_EQ(x.to_vector<float>(), std::vector<float>(4, 11.0f));
    });
  }
}

TEST(CustomCallWaits, ForTheHostAtTheLimitOfBytes) {
  const Limits limits;
  auto sum = ab::jit([](ab::Array x) { return ab::sum(ab::sin(x) * 0 + x); });
  const ab::Array x = ab::ones(ab::f32, {100'000});
  sum(x).wait();
  ab::set_in_flight_bytes(limits.device, 1);
  Gate gate;
  expect_no_deadlock(gate, [&] {
    const ab::Array held = gate(x);
    ab::eval(held);
    EXPECT_EQ(sum(x).item<float>(), 100'000);  // held back: another has begun, and has not ended
    gate.open();
    EXPECT_EQ(sum(held).item<float>(), 100'000);
  });
}

TEST(CustomCallWaits, ALimitGivesWayOnlyWhereNothingElseCanMove) {
  ab::Stall stall;
  auto now = std::chrono::steady_clock::time_point() + 1h;
  // Whether it gives way within `time`, looking every 10 ms.
  const auto gives_way = [&](auto time, std::uint64_t calls, bool host_waits, bool can_move) {
    bool any = false;
    for (auto spent = 0ms; spent < time; spent += 10ms) {
      now += 10ms;
      any |= stall.look(now, {calls, host_waits, can_move});
    }
    return any;
  };
  EXPECT_FALSE(gives_way(200ms, 1, false, false));
  EXPECT_FALSE(gives_way(200ms, 2, true, false));  // a call has begun or ended meanwhile
  EXPECT_TRUE(gives_way(100ms, 2, true, false));
  EXPECT_TRUE(gives_way(10ms, 2, true, false));  // one more, each time
  EXPECT_FALSE(gives_way(1s, 2, true, true));    // kernels run
  EXPECT_TRUE(gives_way(10ms, 2, true, false));
  // It ended while the host was at the limit: calls are as slow as that by themselves.
  EXPECT_FALSE(gives_way(2500ms, 3, true, false));
  EXPECT_TRUE(gives_way(300ms, 3, true, false));
  // The host was not, so that it may have made it end.
  EXPECT_FALSE(gives_way(2500ms, 4, false, false));
  EXPECT_TRUE(gives_way(300ms, 4, true, false));
  gives_way(20s, 4, true, true);
  EXPECT_FALSE(gives_way(4900ms, 5, true, false));
  EXPECT_TRUE(gives_way(200ms, 5, true, false));
}

}  // namespace
