#include "runtime/device/ceiling.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "runtime/executor/run.h"

namespace anabranch {
namespace {

constexpr int repetitions = 5;  // the best counts: others may hold the cores meanwhile

// Larger than any cache, so that memory is what is measured.
constexpr std::int64_t block_bytes = 1 << 20;
constexpr std::int64_t blocks = 64;

void copy_blocks(const void*, void* const* buffers, std::int64_t begin, std::int64_t end) {
  std::memcpy(static_cast<char*>(buffers[1]) + begin * block_bytes,
              static_cast<const char*>(buffers[0]) + begin * block_bytes,
              static_cast<std::size_t>((end - begin) * block_bytes));
}

// Multiply-adds that do not wait for each other: enough chains to fill the units' latency.
constexpr std::int64_t chains = 12;
constexpr std::int64_t rounds = 1 << 13;

// The compiler makes each one instruction where the caller's target has it.
template <class T, class Vector = T>
__attribute__((always_inline)) inline double multiply_add_chains() {
  Vector sums[chains], factor = Vector{} + T{0.5};
  for (Vector& sum : sums) sum = factor;
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (Vector& sum : sums) sum = sum * factor + factor;
  }
  Vector all = sums[0];
  for (const Vector& sum : sums) all += sum;
  T first;
  std::memcpy(&first, &all, sizeof first);
  return static_cast<double>(first);
}

#if defined(__x86_64__)
template <class T>
__attribute__((target("avx512f"))) double multiply_add_512() {
  using Vector __attribute__((vector_size(64))) = T;
  return multiply_add_chains<T, Vector>();
}

template <class T>
__attribute__((target("avx2,fma"))) double multiply_add_256() {
  using Vector __attribute__((vector_size(32))) = T;
  return multiply_add_chains<T, Vector>();
}
#endif

/// By the widest vectors that this CPU has.
struct MultiplyAdd {
  double (*run)();
  std::size_t lanes;
};

template <class T>
MultiplyAdd widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {multiply_add_512<T>, 64 / sizeof(T)};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {multiply_add_256<T>, 32 / sizeof(T)};
  }
#endif
  return {multiply_add_chains<T>, 1};
}

void multiply_add(const void* context, void* const* buffers, std::int64_t begin, std::int64_t end) {
  auto* results = static_cast<double*>(buffers[1]);
  const auto& work = *static_cast<const MultiplyAdd*>(context);
  for (std::int64_t i = begin; i < end; ++i) results[i] = work.run();
}

// One step from an input to an output of so many bytes.
Program program_of(const char* name, std::int64_t bytes) {
  const Type type{Dtype::u8, Shape{bytes}};
  Step step;
  step.work = CopyStep();  // no kernel; what its task does is nothing that a step can say
  step.name = name;
  step.buffers = {0, 1};
  step.writes = {1};
  step.predicted_ns = 1e6;  // never on the caller's thread
  Program made;
  made.name = name;
  made.inputs = {type};
  made.slots = {{Slot::Kind::input, 0, 0, type, "%0"}, {Slot::Kind::output, 0, 0, type, "%1"}};
  made.outputs = {1};
  made.steps.push_back(std::move(step));
  made.streams.emplace_back().commands.emplace_back(Launch{0});
  return made;
}

// `task` as its one step.
std::shared_ptr<const Executable> executable_of(const char* name, HostTask task,
                                                std::int64_t bytes) {
  auto code = std::make_shared<LinkedCode>();
  code->steps.emplace_back().task = std::move(task);
  return std::make_shared<Executable>(Executable{program_of(name, bytes), std::move(code)});
}

double best_seconds(const std::shared_ptr<const Executable>& executable) {
  const Program& program = executable->program;
  const auto bytes = program.inputs[0].bytes();
  const Buffer input = Buffer::allocate(program.device(), bytes);
  std::memset(input.data(), 1, bytes);
  // Its output's memory will be found again, and mapped.
  run(executable, {input})[0].ready().wait();
  double best = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run(executable, {input})[0].ready().wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

template <class T>
double operations_per_second() {
  const auto work = std::make_shared<const MultiplyAdd>(widest<T>());
  const std::int64_t pieces = 16 * std::max(1u, std::thread::hardware_concurrency());
  const auto bytes = pieces * static_cast<std::int64_t>(sizeof(double));
  const double seconds = best_seconds(
      executable_of("measure arithmetic", HostTask{multiply_add, work, pieces, 1}, bytes));
  const std::int64_t rows = 2 * chains * rounds * pieces;
  return static_cast<double>(rows) * static_cast<double>(work->lanes) / seconds;
}

Ceiling measure() {
  const HostTask copies{copy_blocks, nullptr, blocks, 1};
  const double copy_seconds =
      best_seconds(executable_of("measure copies", copies, blocks * block_bytes));
  return {2.0 * static_cast<double>(blocks * block_bytes) / copy_seconds,
          operations_per_second<float>(), operations_per_second<double>()};
}

}  // namespace

const Ceiling& measured_ceiling() {
  static const Ceiling ceiling = measure();
  return ceiling;
}

}  // namespace anabranch
