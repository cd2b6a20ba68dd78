// Functions of the user with several results.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>

#include "anabranch/devices.h"
#include "frontend/run/program_cache.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "tests/support/values.h"

namespace {

using Floats = std::vector<float>;

// The least and the greatest element, and all of them in order.
void sorted(const ab::CustomCall& call) {
  const auto from = call.operand<float>(0);
  const auto to = call.result<float>(2);
  std::ranges::copy(from, to.begin());
  std::ranges::sort(to);
  call.result<float>(0)[0] = to.front();
  call.result<float>(1)[0] = to.back();
}

const auto number = ab::spec(ab::f32, {});
ab::Spec number_spec() { return number; }

auto sort(ab::Array x) {
  return ab::custom_call("custom_sorted", sorted,
                         std::tuple{std::pair{number, number}, ab::spec(ab::f32, x.shape())}, x);
}

std::string message_of(const ab::Array& array) {
  try {
    array.wait();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CustomCall, GivesATreeOfResults) {
  ab::Array x = ab::array({3.0f, 1.0f, 2.0f});
  auto [ends, all] = sort(x * 2);
  EXPECT_EQ(ends.first.item<float>(), 2);
  EXPECT_EQ(ends.second.item<float>(), 6);
  EXPECT_EQ(all.to_vector<float>(), (Floats{2, 4, 6}));
}

TEST(CustomCall, IsOneNodeOfATrace) {
  auto f = [](ab::Array x) {
    auto [ends, all] = sort(x * 2);
    return std::tuple{all - ends.first, ends.second};
  };
  const ab::Graph graph = ab::trace(f, ab::spec(ab::f32, {3}));
  EXPECT_NE(ab::to_string(graph).find("name=custom_sorted results=[f32[],f32[],f32[3]]"),
            std::string::npos)
      << graph;
  EXPECT_EQ(ab::parse(ab::to_string(graph)), graph);
  auto [above, greatest] = ab::jit(f)(ab::array({3.0f, 1.0f, 2.0f}));
  EXPECT_EQ(above.to_vector<float>(), (Floats{0, 2, 4}));
  EXPECT_EQ(greatest.item<float>(), 6);
}

TEST(CustomCall, MayHaveResultsThatNobodyReads) {
  auto f = ab::jit([](ab::Array x) { return std::get<0>(sort(x)).second + 1; });
  EXPECT_EQ(f(ab::array({3.0f, 1.0f, 2.0f})).item<float>(), 4);
}

TEST(CustomCall, GivesListsAndMapsOfThem) {
  auto digits = [](const ab::CustomCall& call) {
    for (std::size_t i = 0; i < call.result_count(); ++i) {
      call.result<std::int32_t>(i)[0] = call.operand<std::int32_t>(0)[0] + static_cast<int>(i);
    }
  };
  const auto one = ab::spec(ab::i32, {});
  ab::Array x = ab::scalar(7);
  const std::vector<ab::Array> list =
      ab::custom_call("custom_digits", digits, std::vector{one, one, one}, x);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[2].item<std::int32_t>(), 9);
  const std::map<std::string, ab::Spec> named{{"first", one}, {"second", one}};
  std::map<std::string, ab::Array> map = ab::custom_call("custom_digits", digits, named, x);
  EXPECT_EQ(map.at("second").item<std::int32_t>(), 8);
}

TEST(CustomCall, FailsAllItsResultsAndNoOthers) {
  auto fails = [](const ab::CustomCall&) { throw std::runtime_error("no such file"); };
  auto f = [&](ab::Array x) {
    auto [a, b] = ab::custom_call("custom_fails", fails, std::pair{number, number}, x);
    return std::tuple{a, b * 2, x + 1};
  };
  ab::Array x = ab::array({3.0f});
  for (auto [a, b, other] : {f(x), ab::jit(f)(x)}) {
    for (const ab::Array& lost : {a, b}) {
      EXPECT_NE(message_of(lost).find("no such file, at custom_call.cpp:"), std::string::npos)
          << message_of(lost);
    }
    EXPECT_EQ(other.item<float>(), 4);
  }
}

// Dumps tell functions of one name and calls in a loop apart; to the user all of them are "parse".
TEST(CustomCall, IsNamedInErrorsByItsName) {
  const auto nothing = [](const ab::CustomCall&) {};
  const auto throws = [](const ab::CustomCall&) { throw std::runtime_error("no such file"); };
  const auto misreads = [](const ab::CustomCall& call) { call.operand<int>(0); };
  const auto parse = [](auto function, ab::Array x) {
    return ab::custom_call("parse", function, ab::spec(ab::f32, {3}), x);
  };
  const int line = __LINE__ - 2;
  const auto wanted = [&](const std::string& what) {
    return "custom_call parse: " + what + ", at custom_call.cpp:" + std::to_string(line);
  };
  const ab::Array x = ab::array({3.0f, 1.0f, 2.0f});
  parse(nothing, x).wait();
  EXPECT_EQ(message_of(parse(throws, x)), wanted("no such file"));
  EXPECT_EQ(message_of(parse(misreads, x)),
            wanted("f32[3] taken as i32; take it as what it is, or convert it before the call"));
  const auto missing = [](const ab::CustomCall& call) { call.operand_type(1); };
  EXPECT_EQ(message_of(parse(missing, x)), wanted("there is no operand 1"));
  const auto loop = [&](ab::Array x) {
    const auto body = [&](ab::Array, ab::Array y) { return parse(throws, parse(nothing, y)); };
    return ab::fori_loop(0, 3, body, x);
  };
  EXPECT_EQ(message_of(ab::jit(loop)(x)), wanted("no such file"));

  const ab::Graph graph =
      ab::trace([&](ab::Array x) { return parse(throws, x); }, ab::spec(ab::f32, {3}));
  const ab::Literal input(ab::Type{ab::f32, {3}}, std::vector<std::byte>(12));
  try {
    ab::interpret(graph, std::span(&input, 1));
    ADD_FAILURE() << "no error";
  } catch (const ab::Error& error) {
    EXPECT_EQ(error.what(), wanted("no such file"));
  }
}

std::thread::id called_on;

void note_thread(const ab::CustomCall& call) {
  called_on = std::this_thread::get_id();
  call.result<float>(0)[0] = 1;
}

// Who waits may be tracing, or hold locks; kernels before the call it may run itself.
TEST(CustomCall, NeverRunsOnAThreadThatWaitsForIt) {
  const auto noted = ab::jit([](ab::Array x) {
    return ab::custom_call("note_thread", note_thread, number, ab::sum(ab::sin(x)));
  });
  const ab::Array x = ab::ones(ab::f32, {10'000});
  for (int i = 0; i < 100; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // workers fall asleep
    EXPECT_EQ(noted(x).item<float>(), 1);
    EXPECT_NE(called_on, std::this_thread::get_id());
  }
}

// A name is for dumps: functions under one name are as many as there are.
TEST(CustomCall, MeansTheFunctionThatItIsGiven) {
  const auto plus = [](float number) {
    return [number](ab::Array x) {
      auto add = [number](const ab::CustomCall& call) {
        call.result<float>(0)[0] = call.operand<float>(0)[0] + number;
      };
      return ab::custom_call("custom_plus", add, number_spec(), x);
    };
  };
  const ab::Array x = ab::scalar(1.0f);
  const ab::Array one = plus(1)(x), two = plus(2)(x), again = plus(1)(x);
  EXPECT_EQ(one.item<float>(), 2);
  EXPECT_EQ(two.item<float>(), 3);
  EXPECT_EQ(again.item<float>(), 2);
  const ab::Array both = ab::jit([&](ab::Array x) { return plus(10)(x) - plus(20)(x); })(x);
  EXPECT_EQ(both.item<float>(), -10);
}

TEST(CustomCall, WithTheSamePlainCapturesIsTheSame) {
  const auto add = [](ab::Array x, float number) {
    auto add = [number](const ab::CustomCall& call) {
      call.result<float>(0)[0] = call.operand<float>(0)[0] + number;
    };
    return ab::custom_call("custom_add", add, number_spec(), x);
  };
  const ab::Array x = ab::scalar(1.0f);
  EXPECT_EQ(add(x, 5).item<float>(), 6);
  const auto before = ab::program_cache_use();
  EXPECT_EQ(add(x, 5).item<float>(), 6);
  EXPECT_EQ(ab::program_cache_use().misses, before.misses);
  EXPECT_EQ(add(x, 6).item<float>(), 7);
  EXPECT_EQ(ab::program_cache_use().misses, before.misses + 1);
}

void first_of(const ab::CustomCall& call) {
  call.result<float>(0)[0] = call.operand<float>(0).front();
}
void last_of(const ab::CustomCall& call) {
  call.result<float>(0)[0] = call.operand<float>(0).back();
}

TEST(CustomCall, OfFunctionsAndOfWhatHoldsMore) {
  const ab::Array x = ab::array({1.0f, 2.0f, 3.0f});
  const auto end = [&](auto function) {
    return ab::custom_call("custom_end", function, number_spec(), x).template item<float>();
  };
  EXPECT_EQ(end(first_of), 1);
  EXPECT_EQ(end(last_of), 3);
  EXPECT_EQ(end([](const ab::CustomCall& call) { call.result<float>(0)[0] = 7; }), 7);
  for (const char* text : {"some text", "another text, which is longer"}) {
    const auto size = [text = std::string(text)](const ab::CustomCall& call) {
      call.result<float>(0)[0] = static_cast<float>(text.size());
    };
    EXPECT_EQ(end(size), std::string_view(text).size());
    EXPECT_EQ(end(std::function<void(const ab::CustomCall&)>(size)), std::string_view(text).size());
  }
}

// What it holds lives as long as the graphs that mean it.
TEST(CustomCall, KeepsWhatItsFunctionHolds) {
  auto held = std::make_shared<float>(4.0f);
  const std::weak_ptr<float> watched = held;
  std::optional<ab::Graph> graph;
  for (int other = 0; other < 2; ++other) {
    auto call = [held](const ab::CustomCall& call) { call.result<float>(0)[0] = *held; };
    auto f = [&](ab::Array x) { return ab::custom_call("custom_holds", call, number_spec(), x); };
    graph = ab::trace(f, number_spec());
  }
  held.reset();
  ASSERT_FALSE(watched.expired());
  const std::string text = ab::to_string(*graph);
  EXPECT_NE(text.find("name=custom_holds function=1 results=[f32[]]"), std::string::npos) << text;
  std::optional<ab::Graph> parsed = ab::parse(text);
  EXPECT_EQ(*parsed, *graph);
  graph.reset();
  const ab::Literal one = ab::Literal::scalar(1.0f);
  EXPECT_EQ(ab::interpret(*parsed, std::span(&one, 1))[0].values<float>()[0], 4);
  parsed.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_THROW(ab::parse(text), ab::Error);
}

// The same memory as an array of ones that has just gone.
TEST(CustomCall, LeavesZerosWhereItWritesNothing) {
  constexpr std::int64_t size = 1000;
  const auto nothing = [](const ab::CustomCall&) {};
  const auto some = [](const ab::CustomCall& call) { call.result<float>(0)[1] = 2; };
  const auto spec = ab::spec(ab::f32, {size});
  std::vector<float> zeros(size), two(size);
  two[1] = 2;
  auto f = ab::jit([&](ab::Array x) {
    ab::Array y = ab::sin(x) + 1;
    ab::Array z = ab::custom_call("custom_writes_nothing", nothing, spec, y);
    return std::tuple{z, ab::custom_call("custom_writes_some", some, spec, y + z)};
  });
  for (int i = 0; i < 3; ++i) {
    ab::full({size}, 1.0f).wait();
    auto [none, one] = f(ab::ones(ab::f32, {size}));
    EXPECT_EQ(none.to_vector<float>(), zeros);
    EXPECT_EQ(one.to_vector<float>(), two);
  }
}

TEST(CustomCall, NeedsAResult) {
  try {
    ab::custom_call(
        "custom_nothing", [](const ab::CustomCall&) {}, std::tuple{}, ab::scalar(1));
    FAIL() << "no error";
  } catch (const ab::Error& error) {
    EXPECT_NE(std::string(error.what()).find("custom_nothing gives no result"), std::string::npos)
        << error.what();
  }
}

TEST(CustomCall, RunsWhereItsOperandsAre) {
  ab::set_cpu_devices(2);
  const ab::Device second = ab::Device::cpu(1);
  auto check = [&](ab::Array x) {
    auto [ends, all] = sort(x);
    EXPECT_EQ(all.device(), second);
    return ends.first + all;
  };
  ab::Array x = ab::array({3.0f, 1.0f, 2.0f}).to(second);
  for (const ab::Array& y : {check(x), ab::jit(check)(x)}) {
    EXPECT_EQ(y.device(), second);
    EXPECT_EQ(y.to_vector<float>(), (Floats{2, 3, 4}));
  }
  ab::wait_all();
  ab::set_cpu_devices(1);
}

// Loops and branches record all their results in the same way.
TEST(CustomCall, LikeALoopKnowsItsDeviceWhileTraced) {
  ab::set_cpu_devices(2);
  const ab::Device second = ab::Device::cpu(1);
  auto f = ab::jit([&](ab::Array x) {
    ab::Array y = ab::fori_loop(
        0, 3, [](ab::Array, ab::Array v) { return v * 2; }, x);
    EXPECT_EQ(y.device(), second);
    return y + ab::ones(ab::f32, {1}).to(y.device());
  });
  EXPECT_EQ(f(ab::array({1.0f}).to(second)).to_vector<float>(), (Floats{9}));
  ab::wait_all();
  ab::set_cpu_devices(1);
}

}  // namespace
