// The host's Fourier transforms against the interpreter: one long transform, a few of them and
// several axes, on one thread, cut into ranges and by threads that work together; the same bits
// whoever works, on every instruction set.
#include "codegen/fft/task.h"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <thread>

#include "codegen/fft/four_step.h"
#include "tests/support/compare.h"
#include "tests/support/fft_bounds.h"
#include "tests/support/host_call.h"
#include "tests/support/random_literal.h"

namespace anabranch {
namespace {

using fft::InstructionSet;
using Lengths = std::vector<std::int64_t>;

struct Call : HostCall {
  Call(FftKind kind, Lengths lengths, Literal given)
      : HostCall(Op::fft, FftAttributes{kind, std::move(lengths)}, std::move(given)) {}

  Literal alone(std::int64_t threads, InstructionSet set) const {
    return HostCall::alone(fft_task(step, threads, set));
  }

  // In ranges of one, each on a thread of its own where they work together.
  Literal cut(std::int64_t threads, InstructionSet set) const {
    const HostTask task = fft_task(step, threads, set);
    return result([&](void* const* buffers) {
      if (task.share) return run_together(task, buffers);
      for (std::int64_t i = task.extent; i-- > 0;) {
        task.function(task.context.get(), buffers, i, i + 1);
      }
    });
  }
};

// The bits of all ways to compute it, which are those of one thread with the baseline.
Literal by_all_ways(const Call& call) {
  const Literal first = call.alone(1, InstructionSet::baseline);
  for (const InstructionSet set : fft::instruction_sets()) {
    SCOPED_TRACE("instruction set " + std::to_string(static_cast<int>(set)));
    EXPECT_EQ(call.alone(1, set), first);
    EXPECT_EQ(call.cut(1, set), first);
    EXPECT_EQ(call.alone(4, set), first);
    EXPECT_EQ(call.cut(4, set), first);
  }
  return first;
}

Call random_call(FftKind kind, const Lengths& lengths, std::int64_t count, bool is_narrow) {
  Lengths sizes = lengths;
  if (kind == FftKind::irfft) sizes.back() = sizes.back() / 2 + 1;
  if (count > 0) sizes.insert(sizes.begin(), count);
  const Dtype reals = is_narrow ? f32 : f64, complexes = is_narrow ? c64 : c128;
  const Type type{kind == FftKind::rfft ? reals : complexes, Shape(sizes)};
  Random random(static_cast<std::uint64_t>(lengths.back() + count));
  return Call(kind, lengths, random_literal(random, type, Flavour::ordinary));
}

std::string text_of(const Call& call) {
  return to_string(call.operand.type()) + " " +
         std::to_string(static_cast<int>(std::get<FftAttributes>(call.step.attributes).type));
}

void expect_interpreted(FftKind kind, const Lengths& lengths, std::int64_t count, bool is_narrow) {
  const Call call = random_call(kind, lengths, count, is_narrow);
  SCOPED_TRACE(text_of(call));
  const Literal found = by_all_ways(call);
  const Bounded wanted[] = {fft_bounded(call.node(), Bounded::exact(call.operand),
                                        interpret(call.node(), std::span(&call.operand, 1))[0])};
  EXPECT_EQ(difference(wanted, std::span(&found, 1)), std::nullopt);
}

// A line of [count, length], by the plain method on one thread.
template <class T>
std::vector<std::complex<T>> plainly(const Call& call, std::int64_t length, std::int64_t line) {
  const auto& attributes = std::get<FftAttributes>(call.step.attributes);
  const bool is_forward = attributes.type == FftKind::fft;
  std::vector<std::complex<T>> result(static_cast<std::size_t>(length));
  fft::kernels(InstructionSet::baseline)
      .of<T>()
      .complex_to_complex({.length = length, .from = {}, .to = {}, .is_alone = true},
                          call.operand.values<std::complex<T>>().data() + line * length,
                          result.data(), is_forward,
                          is_forward ? T(1) : T(1) / static_cast<T>(length));
  return result;
}

// The interpreter sums n^2 products: of these only some are held against the definition.
template <class T>
void expect_defined(FftKind kind, std::int64_t length, std::int64_t count) {
  const Call call = random_call(kind, {length}, count, sizeof(T) == 4);
  SCOPED_TRACE(text_of(call));
  const Literal literal = by_all_ways(call);
  const auto found = literal.values<std::complex<T>>();
  const auto from = call.operand.values<std::complex<T>>();
  const auto n = static_cast<std::size_t>(length);
  const Bounded bounded = fft_bounded(call.node(), Bounded::exact(call.operand), literal);
  const auto bounds = bounded.bound.values<double>();
  for (std::size_t begin = 0; begin < found.size(); begin += n) {
    const auto plain = plainly<T>(call, length, static_cast<std::int64_t>(begin / n));
    for (std::size_t k = 0; k < n; ++k) {
      ASSERT_LE(std::abs(found[begin + k] - plain[k]), 2 * bounds[begin + k]) << begin << " " << k;
    }
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, n / 3, n / 2, n - 1}) {
      std::complex<double> sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const double turns = static_cast<double>(j * k % n) / static_cast<double>(n);
        const double angle = (kind == FftKind::fft ? -2 : 2) * std::numbers::pi * turns;
        sum += std::complex<double>(from[begin + j]) * std::polar(1.0, angle);
      }
      if (kind == FftKind::ifft) sum /= static_cast<double>(n);
      ASSERT_LE(std::abs(std::complex<double>(found[begin + k]) - sum), bounds[begin + k]) << k;
    }
  }
}

void expect_defined(std::int64_t length, std::int64_t count) {
  for (const FftKind kind : {FftKind::fft, FftKind::ifft}) {
    expect_defined<float>(kind, length, count);
    expect_defined<double>(kind, length, count);
  }
}

void expect_interpreted(const Lengths& lengths, std::int64_t count) {
  for (const bool is_narrow : {false, true}) {
    expect_interpreted(FftKind::fft, lengths, count, is_narrow);
    expect_interpreted(FftKind::ifft, lengths, count, is_narrow);
  }
}

void expect_interpreted_of_reals(const Lengths& lengths, std::int64_t count) {
  for (const bool is_narrow : {false, true}) {
    expect_interpreted(FftKind::rfft, lengths, count, is_narrow);
    expect_interpreted(FftKind::irfft, lengths, count, is_narrow);
  }
}

// From 2^14 on by the four-step method, where there are factors: 3 * 2^13, 16 * 1031 and 5^7 have
// some, 2 * 8209 has none.
TEST(FftTask, OneLongTransform) {
  for (const std::int64_t length : {8192, 16383, 16384, 16385, 16496, 16418, 24576, 65536, 78125}) {
    EXPECT_EQ(fft::FourStep<float>::suits(length),
              length == 16384 || length == 16496 || length >= 24576 || length == 16385)
        << length;
    expect_defined(length, 0);
  }
}

TEST(FftTask, AFewLongTransforms) {
  for (const std::int64_t count : {1, 2, 3, 5}) {
    for (const std::int64_t length : {8192, 16384, 24576}) expect_defined(length, count);
  }
}

TEST(FftTask, ShortTransforms) {
  for (const std::int64_t count : {0, 1, 2, 3, 5, 16, 33, 63}) {
    for (const std::int64_t length : {1, 2, 7, 64, 304, 320}) {
      expect_interpreted({length}, count);
      expect_interpreted_of_reals({length}, count);
    }
  }
  for (const std::int64_t length : {1000, 1024, 1531}) {
    for (const std::int64_t count : {0, 3}) {
      expect_interpreted({length}, count);
      expect_interpreted_of_reals({length}, count);
    }
  }
}

TEST(FftTask, LongTransformsOfRealsHaveTheirBits) {
  for (const FftKind kind : {FftKind::rfft, FftKind::irfft}) {
    for (const std::int64_t length : {4096, 15625, 16384, 16418, 24576}) {
      for (const bool is_narrow : {false, true}) {
        by_all_ways(random_call(kind, {length}, 0, is_narrow));
      }
    }
  }
}

TEST(FftTask, SeveralAxes) {
  const Lengths all[] = {{1, 1},   {1, 128},  {128, 1},    {128, 96},   {97, 65},
                         {3, 512}, {40, 304}, {20, 3, 50}, {40, 33, 16}};
  for (const Lengths& lengths : all) {
    for (const std::int64_t count : {0, 2, 3}) {
      expect_interpreted(lengths, count);
      expect_interpreted_of_reals(lengths, count);
    }
  }
}

TEST(FftTask, SharesOutWhatIsLarge) {
  const auto extent_of = [](FftKind kind, Lengths lengths, Shape shape, std::int64_t threads) {
    const CallStep step{Op::fft, {{c128, shape}}, FftAttributes{kind, std::move(lengths)}};
    const HostTask task = fft_task(step, threads);
    return task.share ? task.extent : -task.extent;
  };
  EXPECT_EQ(extent_of(FftKind::fft, {1 << 18}, Shape{1 << 18}, 4), 4);
  EXPECT_EQ(extent_of(FftKind::ifft, {512, 512}, Shape{512, 512}, 4), 4);
  EXPECT_EQ(extent_of(FftKind::irfft, {512, 512}, Shape{512, 257}, 4), 4);
  EXPECT_EQ(extent_of(FftKind::fft, {1 << 18}, Shape{3, 1 << 18}, 4), 4);
  EXPECT_EQ(extent_of(FftKind::fft, {1 << 18}, Shape{4, 1 << 18}, 4), -4);
  EXPECT_EQ(extent_of(FftKind::fft, {1 << 18}, Shape{1 << 18}, 1), -1);
  EXPECT_EQ(extent_of(FftKind::fft, {1 << 12}, Shape{1 << 12}, 4), -1);
  EXPECT_EQ(extent_of(FftKind::fft, {8, 8}, Shape{8, 8}, 4), -1);
}

}  // namespace
}  // namespace anabranch
