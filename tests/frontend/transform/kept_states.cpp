// How many states of a while_loop its gradient keeps: the same numbers, for more or less memory.
#include <atomic>
#include <functional>
#include <string>

#include "tests/support/values.h"

namespace {

using ab::Array;
using ab::Spec;

constexpr std::int64_t size = 1 << 14;

Array turn(const Array& i, const Array& x) { return ab::sin(x * (1 + 0.01f * i.astype(ab::f32))); }

// `turns` of them; the state is one array beside its number.
auto looped(ab::WhileOptions options) {
  return [=](const Array& x, const Array& turns) {
    const auto goes_on = [&](const auto& state) { return std::get<0>(state) < turns; };
    const auto body = [](const auto& state) {
      const auto& [i, y] = state;
      return std::tuple{i + 1, turn(i, y)};
    };
    return ab::sum(std::get<1>(ab::while_loop(goes_on, body, std::tuple{0, x}, options)));
  };
}

TEST(KeptStates, ChangeNoGradient) {
  const Array x = ab::linspace(-1.0, 1.0, 5);
  for (const std::int64_t turns : {0, 1, 6, 50}) {
    const auto unrolled = [&](Array y) {
      for (std::int64_t i = 0; i < turns; ++i) y = turn(ab::scalar(i), y);
      return ab::sum(y);
    };
    const std::vector<double> wanted = doubles(ab::jit(ab::grad(unrolled))(x));
    const Array count = ab::scalar(static_cast<std::int32_t>(turns));
    for (const std::int64_t states : {1, 2, 5, 32, 60}) {
      const auto f = ab::grad(looped({.kept_states = states}));
      expect_close(doubles(ab::jit(f)(x, count)), wanted, 1e-5, "jitted");
      expect_close(doubles(f(x, count)), wanted, 1e-5, "recorded");
      const auto of_rows = ab::jit(ab::vmap(f, ab::in_axes(0, ab::unmapped)));
      expect_close(doubles(of_rows(ab::stack({x, x}), count)),
                   doubles(ab::stack({ab::jit(f)(x, count), ab::jit(f)(x, count)})), 1e-5,
                   "batched");
      const auto fori = ab::jit(ab::grad([&](const Array& y, const Array& n) {
        const auto body = [](const Array& i, const Array& z) { return turn(i, z); };
        return ab::sum(ab::fori_loop(0, n, body, y, {.kept_states = states}));
      }));
      expect_close(doubles(fori(x, count)), wanted, 1e-5, "fori_loop");
    }
  }
}

std::int64_t peak(ab::WhileOptions loop) {
  ab::Options options;
  options.device = ab::Device::cpu();  // a GPU's loops have further places
  options.streams = 1;                 // what is computed side by side takes more
  const auto compiled = ab::jit(ab::grad(looped(loop)), options);
  return static_cast<std::int64_t>(
      compiled.memory(ab::spec(ab::f32, {size}), ab::spec(ab::i32, {})).temporaries);
}

// Those that are kept, in two places: the loop that keeps them is in another one, whose turns
// change places. A few arrays of the state's size come to it.
TEST(KeptStates, AreWhatTheGradientTakes) {
  constexpr std::int64_t state = size * 4;
  for (const std::int64_t states : {1, 2, 8, 100}) {
    const std::int64_t bytes = peak({.kept_states = states});
    EXPECT_GE(bytes, states * state) << states;
    EXPECT_LE(bytes, (2 * states + 8) * state) << states;
  }
  EXPECT_EQ(peak({}), peak({.kept_states = 32}));
}

// binomial(s + t, s) turns are computed less than t times each again.
TEST(KeptStates, SayHowOftenTurnsAreComputed) {
  static std::atomic<int> computed = 0;
  const auto counting = [](const Array& i) {
    return ab::custom_call(
        "count",
        [](const ab::CustomCall& call) {
          ++computed;
          call.result<std::int32_t>(0)[0] = call.operand<std::int32_t>(0)[0] + 1;
        },
        ab::spec(ab::i32, {}), i);
  };
  const auto turns_of = [&](std::int64_t states) {
    const auto f = [&](const Array& x, const Array& turns) {
      const auto goes_on = [&](const auto& state) { return std::get<0>(state) < turns; };
      const auto body = [&](const auto& state) {
        const auto& [i, y] = state;
        return std::tuple{counting(i), turn(i, y)};
      };
      return ab::sum(std::get<1>(
          ab::while_loop(goes_on, body, std::tuple{ab::scalar(0), x}, {.kept_states = states})));
    };
    computed = 0;
    ab::jit(ab::grad(f))(ab::ones({3}), ab::scalar(100)).wait();
    return computed.load();
  };
  const int all = turns_of(100), eight = turns_of(8), two = turns_of(2), one = turns_of(1);
  EXPECT_LE(all, 3 * 100);
  EXPECT_LE(eight, (1 + 3 + 1) * 100);  // binomial(11, 8) = 165
  EXPECT_LE(two, (1 + 13 + 1) * 100);   // binomial(15, 2) = 105
  EXPECT_GE(one, 100 * 99 / 2);
  EXPECT_LT(all, eight);
  EXPECT_LT(eight, two);
  EXPECT_LT(two, one);
}

TEST(KeptStates, AreAtLeastOne) {
  for (const std::int64_t states : {0, -3}) {
    const auto f = looped({.kept_states = states});
    try {
      ab::trace(f, ab::spec(ab::f32, {3}), ab::spec(ab::i32, {}));
      FAIL() << "nothing is thrown";
    } catch (const ab::Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find("while_loop: kept_states is " + std::to_string(states) +
                          "; a loop is taken backwards from at least 1 kept state, at "
                          "kept_states.cpp:"),
                0u)
          << text;
    }
  }
}

TEST(KeptStates, AreInTheTextWhereTheyAreGiven) {
  const auto text = [](ab::WhileOptions options) {
    return to_string(ab::trace(looped(options), ab::spec(ab::f32, {3}), ab::spec(ab::i32, {})));
  };
  EXPECT_NE(text({.kept_states = 8}).find("kept_states=8 graph condition"), std::string::npos);
  EXPECT_EQ(text({}).find("kept_states="), std::string::npos);
}

}  // namespace
