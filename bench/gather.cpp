// Rows gathered, and rows added where indices say: an embedding of 2^20 rows out of 2^16, forward
// and backward.
//
// Floors: a gather writes its result once and reads as many bytes, as memcpy of that size does. A
// scatter-add reads updates and indices once (a sum of both is the peer); the rows that it adds to
// stay in the cache. The serial loop is what XLA's CPU backend emits. A histogram reads what it
// counts once; its bins stay in the cache.
#include <anabranch/anabranch.h>

#include <cstring>
#include <random>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

constexpr std::int64_t rows = 1 << 16, picked = 1 << 20;

std::vector<int> random_rows() {
  std::mt19937 random(1);
  std::vector<int> indices(picked);
  for (int& index : indices) index = static_cast<int>(random() % rows);
  return indices;
}

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) * 0.25f;
  return values;
}

void traffic(benchmark::State& state, std::int64_t bytes) {
  state.SetBytesProcessed(state.iterations() * bytes);
}

template <int width>
void gather_ours(benchmark::State& state) {
  auto take =
      ab::jit([](ab::Array x, ab::Array at) { return ab::take(x, at, 0, ab::OutOfRange::clip); });
  const ab::Array x = ab::array(numbers(rows * width), {rows, width});
  const ab::Array at = ab::array(random_rows());
  take(x, at).wait();
  for (auto _ : state) take(x, at).wait();
  traffic(state, 2 * picked * width * 4);
}

template <int width>
void copy_of_rows(benchmark::State& state) {
  const std::vector<float> from = numbers(picked * width);
  std::vector<float> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::ClobberMemory();
  }
  traffic(state, 2 * picked * width * 4);
}

template <int width>
void scatter_ours(benchmark::State& state) {
  auto add =
      ab::jit([](ab::Array updates, ab::Array at) { return ab::segment_sum(updates, at, rows); });
  const ab::Array updates = ab::array(numbers(picked * width), {picked, width});
  const ab::Array at = ab::array(random_rows());
  add(updates, at).wait();
  for (auto _ : state) add(updates, at).wait();
  traffic(state, picked * width * 4);
}

template <int width>
void serial_loop(benchmark::State& state) {
  const std::vector<float> updates = numbers(picked * width);
  const std::vector<int> at = random_rows();
  std::vector<float> sums(rows * width);
  for (auto _ : state) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const int row = at[i];
      if (row < 0 || row >= rows) continue;
      for (int k = 0; k < width; ++k) {
        sums[static_cast<std::size_t>(row * width + k)] +=
            updates[i * width + static_cast<std::size_t>(k)];
      }
      benchmark::ClobberMemory();
    }
  }
  traffic(state, picked * width * 4);
}

template <int width>
void sum_of_updates(benchmark::State& state) {
  auto sum = ab::jit([](ab::Array updates, ab::Array at) {
    return std::tuple{ab::max(updates), ab::max(at)};
  });
  const ab::Array updates = ab::array(numbers(picked * width), {picked, width});
  const ab::Array at = ab::array(random_rows());
  std::get<0>(sum(updates, at)).wait();
  for (auto _ : state) {
    const auto [most, last] = sum(updates, at);
    most.wait();
    last.wait();
  }
  traffic(state, picked * width * 4);
}

constexpr std::int64_t counted = 1 << 22;

std::vector<std::uint8_t> random_bytes() {
  std::mt19937 random(2);
  std::vector<std::uint8_t> bytes(counted);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

void histogram_ours(benchmark::State& state) {
  auto count = ab::jit([](ab::Array x) { return ab::bincount(x, 256); });
  const ab::Array x = ab::array(random_bytes(), {counted});
  count(x).wait();
  for (auto _ : state) count(x).wait();
  traffic(state, counted);
}

void histogram_loop(benchmark::State& state) {
  const std::vector<std::uint8_t> bytes = random_bytes();
  std::vector<std::int64_t> counts(256);
  for (auto _ : state) {
    std::fill(counts.begin(), counts.end(), 0);
    for (const std::uint8_t byte : bytes) ++counts[byte];
    benchmark::DoNotOptimize(counts.data());
    benchmark::ClobberMemory();
  }
  traffic(state, counted);
}

std::vector<int> random_bins() {
  std::mt19937 random(3);
  std::vector<int> bins(counted);
  for (int& bin : bins) bin = static_cast<int>(random() % 1000);
  return bins;
}

void weighted_ours(benchmark::State& state) {
  auto add = ab::jit([](ab::Array x, ab::Array bins) { return ab::segment_sum(x, bins, 1000); });
  const ab::Array x = ab::array(numbers(counted), {counted}), bins = ab::array(random_bins());
  add(x, bins).wait();
  for (auto _ : state) add(x, bins).wait();
  traffic(state, 2 * counted * 4);
}

void weighted_loop(benchmark::State& state) {
  const std::vector<float> x = numbers(counted);
  const std::vector<int> bins = random_bins();
  std::vector<float> sums(1000);
  for (auto _ : state) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (std::size_t i = 0; i < x.size(); ++i) sums[static_cast<std::size_t>(bins[i])] += x[i];
    benchmark::DoNotOptimize(sums.data());
    benchmark::ClobberMemory();
  }
  traffic(state, 2 * counted * 4);
}

#define PAIR(name, function) \
  BENCHMARK(function)->Name(name)->UseRealTime()->Unit(benchmark::kMillisecond)
PAIR("gather of 16/ours", gather_ours<16>);
PAIR("gather of 16/peer, memcpy", copy_of_rows<16>);
PAIR("gather of 64/ours", gather_ours<64>);
PAIR("gather of 64/peer, memcpy", copy_of_rows<64>);
PAIR("scatter-add of 16/ours", scatter_ours<16>);
PAIR("scatter-add of 16/peer, floor: the greatest of what is read", sum_of_updates<16>);
PAIR("scatter-add of 16/peer, a serial loop", serial_loop<16>);
PAIR("scatter-add of 1/ours", scatter_ours<1>);
PAIR("scatter-add of 1/peer, a serial loop", serial_loop<1>);
PAIR("bincount of 4M bytes/ours", histogram_ours);
PAIR("bincount of 4M bytes/peer, a serial loop", histogram_loop);
PAIR("4M f32 into 1,000 sums/ours", weighted_ours);
PAIR("4M f32 into 1,000 sums/peer, a serial loop", weighted_loop);

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv); }
