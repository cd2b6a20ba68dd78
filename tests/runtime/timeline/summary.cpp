#include <gtest/gtest.h>

#include "anabranch/timeline_summary.h"
#include "runtime/device/ceiling.h"

namespace anabranch::timeline {
namespace {

using std::chrono::microseconds;

Event event(Track track, std::string name, Category category, int begin, int end,
            Details details = {}) {
  const Clock::time_point zero{};
  return {track,  std::move(name), category, zero + microseconds(begin), zero + microseconds(end),
          details};
}

Timeline two_streams() {
  const Track first{Track::Kind::stream, Device::cpu(), 0};
  const Track second{Track::Kind::stream, Device::cpu(), 1};
  const Track worker{Track::Kind::worker, {}, 0};
  const Details product{3000, 6000, SourceLocation("model.cpp", 3)};
  return {{},
          {event({}, "compile main", Category::compile, 0, 50),
           event(first, "dot1", Category::library, 100, 110, product),
           event(worker, "dot1", Category::range, 100, 110),
           event(second, "kernel2", Category::kernel, 105, 135, {2000, 10}),
           event(second, "kernel2", Category::kernel, 135, 140, {400, 2}),
           event(first, "wait", Category::wait, 110, 140),
           event(first, "dot1", Category::library, 140, 160, product),
           event({}, "wait", Category::host_wait, 60, 160, {0, 0, SourceLocation("main.cpp", 9)}),
           event(first, "copy", Category::copy, 160, 170, {500}),
           event(first, "copy", Category::copy, 170, 200, {700})}};
}

TEST(Summary, AddsUpWhatIsAlike) {
  const Summary summary = summarize(two_streams());
  ASSERT_EQ(summary.launches.size(), 4u);
  const SummaryRow& copies = summary.launches[0];
  EXPECT_EQ(copies.name, "copy");
  EXPECT_EQ(copies.bytes, 1200);
  EXPECT_EQ(copies.total, microseconds(40));
  const SummaryRow& dots = summary.launches[1];  // two runs of one shape
  EXPECT_EQ(dots.name, "dot1 (model.cpp:3)");
  EXPECT_EQ(dots.count, 2);
  EXPECT_EQ(dots.total, microseconds(30));
  EXPECT_EQ(dots.mean(), microseconds(15));
  EXPECT_DOUBLE_EQ(dots.bandwidth(), 6000 / 30e-6);
  EXPECT_DOUBLE_EQ(dots.rate(), 12000 / 30e-6);
  EXPECT_EQ(summary.launches[2].count, 1);  // two shapes, a row each
  EXPECT_EQ(summary.launches[3].count, 1);
  EXPECT_EQ(summary.launched, microseconds(105));
  EXPECT_EQ(summary.span, microseconds(100));
}

TEST(Summary, KnowsBusyStreamsAndTheHost) {
  const Summary summary = summarize(two_streams());
  ASSERT_EQ(summary.streams.size(), 2u);
  EXPECT_EQ(summary.streams[0].busy, microseconds(70));
  EXPECT_EQ(summary.streams[1].busy, microseconds(35));
  ASSERT_EQ(summary.host.size(), 2u);
  EXPECT_EQ(summary.host[0].name, "wait (main.cpp:9)");
  EXPECT_EQ(summary.host[0].total, microseconds(100));
  EXPECT_EQ(summary.host[1].category, Category::compile);
}

TEST(Summary, PrintsSharesOfTheCeiling) {
  EXPECT_EQ(to_string(summarize(two_streams()), {1e9, 2e9, 1e9}),
            R"(  count   total ms    mean us  share      GB/s   best   GFLOP/s   best
      2      0.040      20.00  38.1%       0.0     3%                   copy
      2      0.030      15.00  28.6%       0.2    20%       0.4    20%  dot1 (model.cpp:3)
      1      0.030      30.00  28.6%       0.1     7%       0.0     0%  kernel2
      1      0.005       5.00   4.8%       0.1     8%       0.0     0%  kernel2
      1      0.100     100.00                                           host: wait (main.cpp:9)
      1      0.050      50.00                                           host: compile main
cpu:0 stream 0 was busy for 70% of 0.100 ms
cpu:0 stream 1 was busy for 35% of 0.100 ms
best, as measured on all cores: copies of 1.0 GB/s, multiply-adds of 2 GFLOP/s (f32) and 1 (f64)
)");
  EXPECT_NE(to_string(Summary{}, {1e9, 2e9}).find("copies of 1.0 GB/s"), std::string::npos);
}

TEST(Summary, HoldsF64AgainstWhatF64Reaches) {
  const Track track{Track::Kind::stream, Device::cpu(), 0};
  const Details details{.operations = 5000, .is_f64 = true};
  const Summary summary =
      summarize({{}, {event(track, "kernel1", Category::kernel, 0, 10, details)}});
  const std::string text = to_string(summary, {1e9, 2e9, 1e9});
  EXPECT_NE(text.find("0.5    50%  kernel1"), std::string::npos) << text;
}

TEST(Summary, MeasuresAGpuByItsOwnCeiling) {
  const Track track{Track::Kind::stream, Device::cuda(), 0};
  const Summary summary =
      summarize({{}, {event(track, "kernel1", Category::kernel, 0, 10, {3000, 6000})}});
  ASSERT_EQ(summary.launches.size(), 1u);
  EXPECT_EQ(summary.launches[0].device, Device::cuda());
  const std::string text = to_string(summary, {1e6, 1e6});  // of which it would be 30,000 %
  EXPECT_NE(text.find("0.3     0%       0.6     0%  kernel1"), std::string::npos) << text;
  EXPECT_NE(text.find("best of cuda:0, by its clocks: memory of "), std::string::npos) << text;
}

TEST(Ceiling, OfAGpuFollowsFromItsClocks) {
  const Ceiling h100 = ceiling_of(cuda::GpuFacts{});
  EXPECT_DOUBLE_EQ(h100.bytes_per_second, 3.35e12);
  EXPECT_NEAR(h100.operations_per_second, 67e12, 0.5e12);
  EXPECT_NEAR(h100.f64_operations_per_second, 33.5e12, 0.25e12);
}

TEST(Ceiling, IsMeasuredOnce) {
  const Ceiling& ceiling = measured_ceiling();
  EXPECT_GT(ceiling.bytes_per_second, 1e6);
  EXPECT_GT(ceiling.operations_per_second, 1e6);
  EXPECT_GT(ceiling.f64_operations_per_second, 1e6);
  EXPECT_EQ(&measured_ceiling(), &ceiling);
}

}  // namespace
}  // namespace anabranch::timeline
