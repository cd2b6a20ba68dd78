// Donated arguments: what is written over, and what is not. That a donated array is gone, and that
// no other array changes, is tested in contract.cpp.
#include <anabranch/anabranch.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ab = anabranch;

namespace {

constexpr std::int64_t n = 1 << 18;  // of f32: a megabyte
constexpr std::size_t megabyte = std::size_t{1} << 20;

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "no error";
}

ab::Array ready_full(float value) {
  ab::Array array = ab::full({n}, value);
  array.wait();
  return array;
}

// The most that a call takes beyond what was in use before.
template <class Call>
std::size_t peak_of(Call&& call) {
  ab::wait_all();
  const ab::Device device = ab::default_device();
  ab::reset_peak_memory(device);
  const std::size_t before = ab::memory_use(device).in_use;
  call();
  ab::wait_all();
  return ab::memory_use(device).peak - before;
}

auto increment() {
  return ab::jit([](ab::Array x, ab::Array y) { return x + y; });
}

TEST(Donate, TheResultLiesWhereTheArrayWas) {
  auto call = increment();
  ab::Array x = ready_full(1), y = ready_full(2);
  call(x, y).wait();
  ab::wait_all();
  ab::Array kept, given;
  EXPECT_GE(peak_of([&] { kept = call(x, y); }), megabyte);
  EXPECT_LT(peak_of([&] { given = call(ab::donate(x), y); }), megabyte);
  EXPECT_EQ(given.to_vector<float>(), kept.to_vector<float>());
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(n, 2));
}

TEST(Donate, TwiceToOneCallIsAnErrorThatConsumesNothing) {
  auto call = increment();
  ab::Array x = ab::array(std::vector<float>{1, 2, 3}, {3});
  const std::string message = message_of([&] { call(ab::donate(x), ab::donate(x)); });
  EXPECT_EQ(message.find("donate: one array is donated twice to the same call, at donate.cpp:"), 0u)
      << message;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3}));
}

TEST(Donate, ACallThatThrowsConsumesNothing) {
  auto call = increment();
  ab::Array x = ab::array(std::vector<float>{1, 2, 3}, {3}), y = ab::zeros({2});
  EXPECT_THROW(call(ab::donate(x), y), ab::Error);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3}));
}

TEST(Donate, BorrowedMemoryAndConstantsAreNotWritten) {
  auto call = increment();
  std::vector<float> mine(n, 5);
  ab::Array y = ready_full(2);
  ab::Array borrowed = ab::borrow(mine.data(), {n}, [] {}), there = y.to(borrowed.device());
  EXPECT_EQ(call(ab::donate(borrowed), there).to_vector<float>(), std::vector<float>(n, 7));
  EXPECT_EQ(mine, std::vector<float>(n, 5));
  // A result that is a constant of the program, or one of its arguments.
  auto constant = ab::jit([](ab::Array x) {
    return std::pair{ab::array(std::vector<float>{1, 2}, {2}), x};
  });
  auto [first, passed] = constant(y);
  auto add = ab::jit([](ab::Array x) { return x + 1; });
  EXPECT_EQ(add(ab::donate(first)).to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(constant(y).first.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(add(ab::donate(passed)).to_vector<float>(), std::vector<float>(n, 3));
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(n, 2));
}

TEST(Donate, WhatIsStillReadIsNotWrittenOver) {
  // The transpose reads elements that the sum has already written.
  auto call = ab::jit([](ab::Array x) { return x + ab::permute_dims(x, {1, 0}); });
  ab::Array x = ab::reshape(ab::arange(9.0f), {3, 3});
  const std::vector<float> expected = call(x).to_vector<float>();
  EXPECT_EQ(call(ab::donate(x)).to_vector<float>(), expected);
}

struct Params {
  ab::Array weights, bias;
};

Params update(const Params& p, const ab::Array& x) {
  ab::Array error = ab::matmul(x, p.weights) + p.bias;
  ab::Array by_weights = ab::matmul(ab::permute_dims(x, {1, 0}), error);
  return {p.weights - 1e-3f * by_weights, p.bias - 1e-3f * ab::sum(error, {0})};
}

TEST(Donate, ATrainingStepNeedsNoSecondSetOfParameters) {
  const auto fresh = [] {
    Params p{ab::full({512, 512}, 0.5f), ab::full({512}, 0.25f)};
    p.weights.wait();
    p.bias.wait();
    return p;
  };
  auto step = ab::jit(update);
  ab::Array x = ab::full({8, 512}, 0.01f);
  x.wait();
  Params kept = fresh(), given = fresh();
  step(kept, x).weights.wait();
  Params next;
  const std::size_t without = peak_of([&] { next = step(kept, x); });
  kept = next;
  const std::size_t with = peak_of([&] { given = step(ab::donate(given), x); });
  EXPECT_LT(with + megabyte / 2, without) << step.dump(ab::Stage::memory, kept, x);
  for (int i = 0; i < 20; ++i) {
    kept = step(kept, x);
    given = step(ab::donate(given), x);
  }
  EXPECT_EQ(given.weights.to_vector<float>(), kept.weights.to_vector<float>());
  EXPECT_EQ(given.bias.to_vector<float>(), kept.bias.to_vector<float>());
}

TEST(Donate, WorksWithCompileAndInsideATrace) {
  auto compiled = ab::compile([](ab::Array x) { return x * 2; }, ab::spec(ab::f32, {n}));
  ab::Array x = ready_full(3);
  compiled(x).wait();
  EXPECT_LT(peak_of([&] { x = compiled(ab::donate(x)); }), megabyte);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(n, 6));
  EXPECT_EQ(compiled(ab::donate(x * 2)).to_vector<float>(), std::vector<float>(n, 24));
  auto outer = ab::jit([&](ab::Array y) { return compiled(ab::donate(y)); });
  EXPECT_EQ(outer(x).to_vector<float>(), std::vector<float>(n, 12));
  auto twice = ab::jit([&](ab::Array y) {
    ab::Array z = compiled(ab::donate(y));
    return z + y;
  });
  EXPECT_NE(message_of([&] { twice(x); }).find("given away by donate"), std::string::npos);
}

}  // namespace
