// Compiled functions: one program per types, called from anywhere.
#include "frontend/run/program_cache.h"
#include "tests/support/values.h"

namespace {

ab::Array layer(ab::Array w, ab::Array x) { return ab::tanh(ab::matmul(x, w)); }

TEST(Jit, CompilesOncePerTypes) {
  auto fast = ab::jit(layer);
  ab::Array w = ab::ones(ab::f32, {3, 2}), x = ab::ones(ab::f32, {4, 3});
  EXPECT_NEAR(fast(w, x).to_vector<float>()[7], std::tanh(3), 1e-6);
  fast(w, x + 1);
  EXPECT_EQ(fast.traces(), 1);
  EXPECT_EQ(fast.last_retrace(), "");
  fast(w, ab::ones(ab::f32, {5, 3}));
  EXPECT_EQ(fast.traces(), 2);
  EXPECT_EQ(fast.last_retrace(), "argument 1: f32[5,3] instead of f32[4,3]");
}

TEST(Jit, RecordedArraysMayBePassed) {
  auto square = ab::jit([](ab::Array x) { return x * x; });
  EXPECT_EQ(square(ab::arange(3, ab::f32) + 1).to_vector<float>(), (std::vector<float>{1, 4, 9}));
}

TEST(Jit, OutputsMayBeInputsAndConstants) {
  auto pass = ab::jit([](ab::Array x) {
    return std::tuple{x, ab::array({1, 2}), ab::reshape(x, {2, 1}), x};
  });
  ab::Array x = ab::array({5.0f, 6.0f});
  auto [a, b, c, d] = pass(x);
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{5, 6}));
  EXPECT_EQ(b.to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(c.shape(), ab::Shape({2, 1}));
  EXPECT_EQ(d.to_vector<float>(), (std::vector<float>{5, 6}));
}

TEST(Jit, ShowsEveryStage) {
  ab::Options options;
  options.device = ab::Device::cpu();  // a GPU's code has no LLVM IR
  auto f = ab::jit([](ab::Array x) { return ab::softmax(x * 2 + 1); }, options);
  ab::Spec x = ab::spec(ab::f32, {64, 128});
  EXPECT_NE(f.dump(ab::Stage::trace, x).find("multiply"), std::string::npos);
  EXPECT_NE(f.dump(ab::Stage::optimized, x).find("fusion"), std::string::npos);
  EXPECT_NE(f.dump(ab::Stage::kernels, x).find("for "), std::string::npos);
  EXPECT_NE(
      f.dump(ab::Stage::kernels, x).find("# kernel1 reads %0: f32[64,128] and writes %1: f32"),
      std::string::npos);
  EXPECT_NE(f.dump(ab::Stage::schedule, x).find("kernel kernel1(%0, out %1)"), std::string::npos);
  EXPECT_NE(f.dump(ab::Stage::llvm, x).find("define"), std::string::npos);
  EXPECT_FALSE(f.dump(ab::Stage::assembly, x).empty());
  EXPECT_NE(f.dump(ab::Stage::schedule, x).find("stream"), std::string::npos);
  EXPECT_NE(f.dump(ab::Stage::memory, x).find("inputs 32768, outputs 32768"), std::string::npos);
  EXPECT_NE(f.dump(ab::Stage::cuda, x).find("__global__ void"), std::string::npos);
  EXPECT_EQ(f.cost(x).kernels, 1);
  EXPECT_EQ(f.memory(x).temporaries, 0u);
}

TEST(Jit, NamesEachValueAsTheOptimizedGraphDoes) {
  auto f = ab::jit([](ab::Array x) {
    ab::Array top = ab::max(x, 0);  // two results in one kernel, and a constant between
    return std::tuple{ab::sum(x, 0), top, ab::matmul(x, x) + 1, ab::array({1.0f, 2.0f})};
  });
  ab::Spec x = ab::spec(ab::f32, {64, 64});
  const std::string graph = f.dump(ab::Stage::optimized, x);
  const std::string schedule = f.dump(ab::Stage::schedule, x);
  const std::string slots = schedule.substr(0, schedule.find("(%"));
  for (auto at = slots.find('%'); at != std::string::npos; at = slots.find('%', at + 1)) {
    std::string value = slots.substr(at, slots.find(" = ", at) - at);
    // A GPU's products need memory beside what they compute: "%3.workspace" is for %3.
    if (const auto part = value.find('.'); part != std::string::npos) {
      value = value.substr(0, part) + ": ";
    }
    EXPECT_NE(graph.find(value), std::string::npos) << value << " is not in\n" << graph;
  }
}

TEST(Jit, CompilesWithPassesLeftOut) {
  auto function = [](ab::Array x) { return ab::mean(ab::tanh(x * 2 + ab::arange(4, ab::f32)), 1); };
  ab::Array x = ab::random::uniform(ab::random::key(0), {8, 4});
  auto expected = ab::jit(function)(x).to_vector<float>();
  ab::Options options;
  options.disabled = {"fuse"};
  auto plain = ab::jit(function, options);
  EXPECT_GT(plain.cost(x).kernels, 1);
  auto values = plain(x).to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-6);
}

TEST(Jit, RefusesOptionsOutOfRange) {
  const auto error_with = [](const ab::Options& options) -> std::string {
    try {
      ab::jit([](ab::Array x) { return x + 1; }, options)(ab::array({1.0f}));
    } catch (const ab::Error& error) {
      return error.what();
    }
    return "";
  };
  ab::Options no_streams, negative;
  no_streams.streams = 0;
  negative.in_flight = -1;
  EXPECT_NE(error_with(no_streams).find("Options::streams is 0; set it to 1 or more"),
            std::string::npos);
  EXPECT_NE(error_with(negative).find("set_in_flight_limit: -1 on"), std::string::npos);
}

TEST(Jit, EqualGraphsShareAProgram) {
  auto misses = [] { return ab::program_cache_use().misses; };
  ab::Array x = ab::array({1.0f, 2.0f, 4.0f, 8.0f, 16.0f});
  ab::jit([](ab::Array x) { return ab::log2(x) * 0.123f; })(x);
  auto before = misses();
  ab::jit([](ab::Array x) { return ab::log2(x) * 0.123f; })(x);
  EXPECT_EQ(misses(), before);
}

TEST(Jit, ProgramsWithLargeConstantsAreForgottenEarlier) {
  auto use = [](float first) {
    std::vector<float> values(std::size_t{1} << 25);  // 128 MiB
    values[0] = first;
    return ab::jit([&](ab::Array x) { return x + ab::array(values); })(ab::scalar(1.0f));
  };
  use(1);
  const ab::ProgramCacheUse one = ab::program_cache_use();
  EXPECT_GE(one.bytes, std::size_t{128} << 20);
  use(2);
  use(3);
  const ab::ProgramCacheUse three = ab::program_cache_use();
  // On a GPU one of them alone takes more: it has the constant there as well.
  EXPECT_TRUE(three.bytes <= ab::program_cache_bytes || three.programs == 1) << three.bytes;
  EXPECT_LT(three.programs, one.programs + 2);
  use(3);
  EXPECT_EQ(ab::program_cache_use().hits, three.hits + 1);
}

TEST(Jit, ForgetsTheLeastRecentlyUsed) {
  auto f = ab::jit([](ab::Array x, std::int64_t) { return x; });
  auto call = [&](std::int64_t value) {
    EXPECT_EQ(f(ab::scalar(1.0f), ab::static_arg(value)).item<float>(), 1);
  };
  const auto limit = static_cast<std::int64_t>(ab::JitCache::limit);
  for (std::int64_t i = 0; i < limit; ++i) call(i);
  call(0);      // now the most recent
  call(limit);  // sends 1 away
  EXPECT_EQ(f.traces(), limit + 1);
  call(0);
  EXPECT_EQ(f.traces(), limit + 1);
  call(1);
  EXPECT_EQ(f.traces(), limit + 2);
}

TEST(Compile, TakesOneSignature) {
  auto f = ab::compile(layer, ab::spec(ab::f32, {3, 2}), ab::spec(ab::f32, {4, 3}));
  EXPECT_NEAR(f(ab::ones(ab::f32, {3, 2}), ab::ones(ab::f32, {4, 3})).to_vector<float>()[0],
              std::tanh(3), 1e-6);
  EXPECT_THROW(f(ab::ones(ab::f32, {3, 2}), ab::ones(ab::f32, {5, 3})), ab::Error);
}

}  // namespace
