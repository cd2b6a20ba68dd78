// Arrays whose last axis is short, pixels and points: what goes by the place in a row repeats every
// few elements, and what goes by the row stays for a few.
//
// Floor: a copy of the same bytes. Peers: the loops in plain C++, on one thread.
#include <anabranch/anabranch.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

constexpr std::int64_t elements = 1 << 20;

template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 100);
  return values;
}

template <class T>
ab::Array array(std::vector<std::int64_t> shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return ab::array(numbers<T>(count), shape);
}

template <class T>
using Loop = std::function<void(const T* x, T* result, std::size_t rows)>;

template <class T>
void add(const std::string& name, std::int64_t columns, std::int64_t written,
         std::function<ab::Array(ab::Array)> ours, Loop<T> by_hand) {
  const std::int64_t rows = elements / columns;
  const std::string title = name + ", " + std::to_string(columns) + " columns/";
  benchmark::RegisterBenchmark((title + "ours").c_str(), [=](benchmark::State& state) {
    auto call = ab::jit(ours);
    const ab::Array x = array<T>({rows, columns});
    for (auto _ : state) call(x).wait();
  })->UseRealTime();
  benchmark::RegisterBenchmark((title + "peer: the loop in C++").c_str(),
                               [=](benchmark::State& state) {
                                 const std::vector<T> x = numbers<T>(rows * columns);
                                 std::vector<T> result(static_cast<std::size_t>(rows * written));
                                 for (auto _ : state) {
                                   by_hand(x.data(), result.data(), static_cast<std::size_t>(rows));
                                   benchmark::ClobberMemory();
                                 }
                               })
      ->UseRealTime();
}

template <std::size_t width>
void normalised() {
  constexpr auto columns = static_cast<std::int64_t>(width);
  const std::vector<float> by_column = numbers<float>(columns);
  const ab::Array mean = array<float>({columns});
  add<float>(
      "(x - mean) * scale", columns, columns, [=](ab::Array x) { return (x - mean) * mean; },
      [=](const float* x, float* result, std::size_t rows) {
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < width; ++j) {
            result[i * width + j] = (x[i * width + j] - by_column[j]) * by_column[j];
          }
        }
      });
}

template <std::size_t width>
void weighted() {
  constexpr auto columns = static_cast<std::int64_t>(width);
  const std::vector<float> by_row = numbers<float>(elements / columns);
  const ab::Array weight = array<float>({elements / columns});
  add<float>(
      "x * weight of each row", columns, columns,
      [=](ab::Array x) { return x * weight(ab::all, ab::newaxis); },
      [=](const float* x, float* result, std::size_t rows) {
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < width; ++j) {
            result[i * width + j] = x[i * width + j] * by_row[i];
          }
        }
      });
}

void pixels() {
  constexpr std::size_t width = 3;
  add<std::uint8_t>(
      "a fourth byte for each pixel", 3, 4,
      [](ab::Array x) {
        return ab::pad(x, {0, 0}, {0, 1});
      },
      [](const std::uint8_t* x, std::uint8_t* result, std::size_t rows) {
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < width; ++j) result[i * 4 + j] = x[i * width + j];
          result[i * 4 + 3] = 0;
        }
      });
  add<std::uint8_t>(
      "bytes of pixels backwards", 3, 3, [](ab::Array x) { return ab::flip(x, 1); },
      [](const std::uint8_t* x, std::uint8_t* result, std::size_t rows) {
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < width; ++j) {
            result[i * width + j] = x[i * width + width - 1 - j];
          }
        }
      });
}

// The matrices of turns about three axes, from their angles.
void rotations() {
  add<float>(
      "rotation matrices of angles", 3, 9,
      [](ab::Array angles) {
        const auto column = [&](std::int64_t i) { return angles(ab::all, i); };
        const ab::Array cx = ab::cos(column(0)), sx = ab::sin(column(0));
        const ab::Array cy = ab::cos(column(1)), sy = ab::sin(column(1));
        const ab::Array cz = ab::cos(column(2)), sz = ab::sin(column(2));
        return ab::stack({cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz, cy * sz,
                          sx * sy * sz + cx * cz, cx * sy * sz - sx * cz, -sy, sx * cy, cx * cy},
                         1);
      },
      [](const float* angles, float* result, std::size_t rows) {
        for (std::size_t i = 0; i < rows; ++i, angles += 3, result += 9) {
          const float cx = std::cos(angles[0]), sx = std::sin(angles[0]);
          const float cy = std::cos(angles[1]), sy = std::sin(angles[1]);
          const float cz = std::cos(angles[2]), sz = std::sin(angles[2]);
          result[0] = cy * cz, result[1] = sx * sy * cz - cx * sz;
          result[2] = cx * sy * cz + sx * sz, result[3] = cy * sz;
          result[4] = sx * sy * sz + cx * cz, result[5] = cx * sy * sz - sx * cz;
          result[6] = -sy, result[7] = sx * cy, result[8] = cx * cy;
        }
      });
}

}  // namespace

int main(int argc, char** argv) {
  normalised<3>();
  normalised<10>();
  weighted<3>();
  weighted<10>();
  pixels();
  rotations();
  return bench::run(argc, argv);
}
