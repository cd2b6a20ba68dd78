// Reductions in vector loops, across their tails, and inside them, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "codegen/cpu/emit/lane_sums.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "tests/codegen/cpu/kernel_sketch.h"
#include "tests/codegen/cpu/same_bits.h"

namespace anabranch::cpu {
namespace {

constexpr std::int64_t sizes[] = {0,  1,  2,   9,    31,
                                  32, 33, 129, 1000, 9001};  // to 3 levels of blocks

struct Form {
  int width, unroll;
};
constexpr Form forms[] = {{1, 1}, {16, 2}, {32, 3}};

struct Case {
  Op op;
  Combine combine;
  Dtype dtype;
};

// The value that changes nothing.
Literal identity(const Case& c) {
  return visit_dtype(c.dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return Literal::scalar(c.combine == Combine::all || c.combine == Combine::minimum ||
                             c.combine == Combine::argmin);
    } else if (c.combine == Combine::sum) {
      return Literal::scalar(convert_scalar<T>(0.0));
    } else if (c.combine == Combine::product) {
      return Literal::scalar(convert_scalar<T>(1.0));
    } else {
      const bool lowest = c.combine == Combine::maximum || c.combine == Combine::argmax;
      return Literal::scalar(convert_scalar<T>(lowest ? -HUGE_VAL : HUGE_VAL));
    }
  });
}

Literal samples(Dtype dtype, std::int64_t size, Combine combine, std::uint32_t seed) {
  std::mt19937 random(seed);
  // From seed 7 on two places lead, which can be in any two vectors of a turn.
  const auto place = [&] {
    return static_cast<std::int64_t>(random()) % std::max<std::int64_t>(size, 1);
  };
  const std::int64_t leaders[] = {place(), place()};
  return visit_dtype(dtype, [&]<class T>() {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size) * sizeof(T));
    for (std::int64_t i = 0; i < size; ++i) {
      double x = static_cast<double>(random() % 7) - 3;
      // Exact in any order: powers of two, few of them.
      if (combine == Combine::product) {
        x = i > 1000 ? 1 : i % 100 == 3 ? 2 : i % 90 == 4 ? -0.5 : 1;
      }
      if (combine == Combine::any || combine == Combine::all) {
        x = (i == size / 2) == (combine == Combine::any) && seed % 2 == 0;
      }
      // Rows of their own with NaN, with zeros of both signs, and all the lowest.
      const bool ordered = combine == Combine::maximum || combine == Combine::minimum ||
                           combine == Combine::argmax || combine == Combine::argmin;
      if (ordered && seed == 3 && random() % 50 == 0) x = NAN;
      if (ordered && seed == 4) x = random() % 2 ? 0.0 : -0.0;
      if (ordered && seed == 5) x = -HUGE_VAL;
      if (ordered && seed == 6) x = HUGE_VAL;
      if (ordered && seed >= 7) {
        const bool leads = i == leaders[0] || i == leaders[1];
        const bool greatest = combine == Combine::maximum || combine == Combine::argmax;
        x = !leads ? 1 : greatest ? 2 : 0;
      }
      T value = convert_scalar<T>(x);
      std::memcpy(&bytes[static_cast<std::size_t>(i) * sizeof(T)], &value, sizeof(T));
    }
    return Literal(Type{dtype, Shape{size}}, std::move(bytes));
  });
}

bool is_position(Combine combine) {
  return combine == Combine::argmax || combine == Combine::argmin;
}

// out[0] = the reduction of in[0 .. size)
Kernel row_kernel(const Case& c, std::int64_t size, Form form, const std::string& name) {
  KernelSketch sketch(name);
  auto in = sketch.buffer(Access::read, c.dtype, size);
  auto out = sketch.buffer(Access::write, is_position(c.combine) ? i64 : c.dtype, 1);
  Reduction reduction;
  reduction.combine = c.combine;
  reduction.initial = {sketch.constant(c.dtype, identity(c).bits(0).low)};
  if (is_position(c.combine)) reduction.initial.push_back(sketch.number(std::int64_t{0}));
  Index i = sketch.open(rows(size, form.width, form.unroll));
  reduction.values = {sketch.load(in, i)};
  if (is_position(c.combine)) reduction.values.push_back(sketch.scalar(i));
  std::vector<Ref> results = sketch.close({reduction});
  sketch.store(out, sketch.at(0), results.back());
  return sketch.kernel();
}

Literal expected_of(const Case& c, const Literal& input) {
  Node node;
  node.op = c.op;
  node.types = {Type{is_position(c.combine) ? i64 : c.dtype, {}}};
  if (is_position(c.combine)) {
    node.attributes = AxisAttributes{0};
  } else {
    node.attributes = AxesAttributes{{0}};
  }
  return interpret(node, std::vector{input})[0];
}

bool is_same(const Literal& x, const Literal& y) {
  return visit_dtype(x.type().dtype, [&]<class T>() {
    T a = x.values<T>()[0], b = y.values<T>()[0];
    return x == y || (a != a && b != b);
  });
}

class Reduce : public testing::TestWithParam<Case> {};

TEST_P(Reduce, EqualsTheInterpreter) {
  const Case& c = GetParam();
  std::vector<Kernel> kernels;
  for (std::int64_t size : sizes) {
    if (size == 0 && is_position(c.combine)) continue;
    for (Form form : forms) {
      kernels.push_back(row_kernel(c, size, form, "row" + std::to_string(kernels.size())));
    }
  }
  Code code = compile_legalised(kernels);
  for (std::uint32_t seed = 1; seed <= 26; ++seed) {
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const std::int64_t size = kernels[k].buffers[0].size;
      Literal input = samples(c.dtype, size, c.combine, seed);
      Literal expected = expected_of(c, input);
      Memory in(input), out(expected.bytes().size());
      void* pointers[] = {in.data(), out.data()};
      code.functions[k](nullptr, pointers, 0, 1);
      EXPECT_TRUE(is_same(out.literal(expected.type()), expected))
          << name(c.op) << " of " << name(c.dtype) << "[" << size << "], form "
          << k % std::size(forms) << ", samples " << seed << ": "
          << out.literal(expected.type()).bits(0).low << " instead of " << expected.bits(0).low;
    }
  }
}

std::vector<Case> reduce_cases() {
  std::vector<Case> cases;
  for (Dtype dtype : {i8, i32, u16, u64, f16, bf16, f32, f64}) {
    cases.push_back({Op::reduce_sum, Combine::sum, dtype});
    cases.push_back({Op::reduce_product, Combine::product, dtype});
  }
  for (Dtype dtype : {bool_, i8, i32, i64, u8, u64, f16, bf16, f32, f64}) {
    cases.push_back({Op::reduce_max, Combine::maximum, dtype});
    cases.push_back({Op::reduce_min, Combine::minimum, dtype});
    cases.push_back({Op::argmax, Combine::argmax, dtype});
    cases.push_back({Op::argmin, Combine::argmin, dtype});
  }
  cases.push_back({Op::reduce_any, Combine::any, bool_});
  cases.push_back({Op::reduce_all, Combine::all, bool_});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ops, Reduce, testing::ValuesIn(reduce_cases()), [](const auto& info) {
  return std::string(name(info.param.op)) + "_" + std::string(name(info.param.dtype));
});

// A float no longer grows by 1 beyond 2^24: where one accumulator takes more ones, they are counted
// in blocks.
TEST(LongSum, DoesNotStagnate) {
  for (Form form : {Form{1, 1}, Form{16, 2}}) {
    const std::int64_t count = (std::int64_t{1} << 25) * form.width * form.unroll;
    KernelSketch sketch("ones");
    auto in = sketch.buffer(Access::read, f32, 1);
    auto out = sketch.buffer(Access::write, f32, 1);
    Index zero = sketch.at(0);
    Reduction sum;
    sum.initial = {sketch.number(0.0f)};
    sketch.open(rows(count, form.width, form.unroll));
    sum.values = {sketch.load(in, zero)};
    sketch.store(out, zero, sketch.close({sum})[0]);
    Code code = compile_legalised(std::span(&sketch.kernel(), 1));
    float one = 1, total = 0;
    void* pointers[] = {&one, &total};
    code.functions[0](nullptr, pointers, 0, 1);
    EXPECT_EQ(total, static_cast<float>(count)) << form.width;
  }
}

// Sums of floats start anew in each block; what the loop folds beside them carries on.
TEST(LongSum, LeavesOtherReductionsWhole) {
  constexpr std::int64_t size = 9001;
  for (Form form : forms) {
    KernelSketch sketch("beside");
    auto in = sketch.buffer(Access::read, f32, size);
    auto out = sketch.buffer(Access::write, f32, 2);
    auto whole = sketch.buffer(Access::write, i64, 2);
    const Ref zero = sketch.number(std::int64_t{0});
    const Ref lowest = sketch.number(-std::numeric_limits<float>::infinity());
    Reduction sum, count, maximum, place;
    sum.initial = {sketch.number(0.0f)};
    count.initial = {zero};
    maximum.combine = Combine::maximum;
    maximum.initial = {lowest};
    place.combine = Combine::argmax;
    place.initial = {lowest, zero};
    Index i = sketch.open(rows(size, form.width, form.unroll));
    Ref x = sketch.load(in, i);
    sum.values = maximum.values = {x};
    count.values = {sketch.scalar(i)};
    place.values = {x, count.values[0]};
    const std::vector<Ref> results = sketch.close({count, sum, maximum, place});
    sketch.store(out, sketch.at(0), results[1]);
    sketch.store(out, sketch.at(1), results[2]);
    sketch.store(whole, sketch.at(0), results[0]);
    sketch.store(whole, sketch.at(1), results[4]);
    Code code = compile_legalised(std::span(&sketch.kernel(), 1));

    std::vector<float> values(size);
    for (std::int64_t k = 0; k < size; ++k) values[k] = static_cast<float>(k % 300);
    values[8000] = 1e3;
    float floats[2] = {};
    std::int64_t integers[2] = {};
    void* pointers[] = {values.data(), floats, integers};
    code.functions[0](nullptr, pointers, 0, 1);
    double expected = 0;
    for (float value : values) expected += static_cast<double>(value);
    EXPECT_EQ(floats[0], static_cast<float>(expected));
    EXPECT_EQ(floats[1], 1e3f);
    EXPECT_EQ(integers[0], size * (size - 1) / 2);
    EXPECT_EQ(integers[1], 8000);
  }
}

// Sums and sums of squares of rows in rows, of which the lanes are put together after the last, and
// the same where a row's own sum is stored, or a maximum is beside it, as they are then.
TEST(LaneSums, AreTakenThroughTheLoopsAround) {
  enum class Beside { nothing, row_sums, maximum };
  for (Beside beside : {Beside::nothing, Beside::row_sums, Beside::maximum}) {
    for (std::int64_t size : {1, 15, 16, 33, 70}) {
      for (std::int64_t rows_of_each : {1, 3, 40}) {
        for (Form form : forms) {
          constexpr std::int64_t all = 2;
          const std::int64_t count = all * rows_of_each * size;
          KernelSketch sketch("rows");
          const auto in = sketch.buffer(Access::read, f32, count);
          const auto out = sketch.buffer(Access::write, f32, 3);
          const auto sums = sketch.buffer(Access::write, f32, all * rows_of_each);
          Reduction parts[2], row[2], whole[2], greatest[3];
          for (auto* sum : {parts, row, whole}) {
            for (int i = 0; i < 2; ++i) sum[i].initial = {sketch.number(0.0f)};
          }
          for (Reduction& maximum : greatest) {
            maximum.combine = Combine::maximum;
            maximum.initial = {sketch.number(-std::numeric_limits<float>::infinity())};
          }
          const auto with_maximum = [&](Reduction(&sum)[2], std::size_t level) {
            std::vector<Reduction> made = {sum[0], sum[1]};
            if (beside == Beside::maximum) made.push_back(greatest[level]);
            return made;
          };
          const Index j = sketch.open(rows(all));
          const Index k = sketch.open(rows(rows_of_each));
          const Index l = sketch.open(rows(size, form.width, form.unroll));
          const Index number = sketch.add(sketch.multiply(j, rows_of_each), k);
          const Ref x = sketch.load(in, sketch.add(sketch.multiply(number, size), l));
          parts[0].values = greatest[0].values = {x};
          parts[1].values = {sketch.multiply(x, x)};
          std::vector<Ref> results = sketch.close(with_maximum(parts, 0));
          if (beside == Beside::row_sums) sketch.store(sums, number, results[0]);
          for (auto* sum : {row, whole}) {
            for (std::size_t i = 0; i < 2; ++i) sum[i].values = {results[i]};
            if (beside == Beside::maximum) greatest[sum == row ? 1 : 2].values = {results[2]};
            results = sketch.close(with_maximum(sum == row ? row : whole, sum == row ? 1 : 2));
          }
          for (std::size_t i = 0; i < results.size(); ++i) {
            sketch.store(out, sketch.at(static_cast<std::int64_t>(i)), results[i]);
          }
          const bool has_lanes = form.width > 1 && beside != Beside::maximum;
          const std::size_t loops = !has_lanes ? 0 : beside == Beside::row_sums ? 0 : 2;
          EXPECT_EQ(lane_sums(sketch.kernel()).lanes.size(), loops);

          Code code = compile_legalised(std::span(&sketch.kernel(), 1));
          std::vector<float> values(static_cast<std::size_t>(count));
          float expected[3] = {0, 0, -1}, got[3] = {};
          for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(i % 7);
            expected[0] += values[i];
            expected[1] += values[i] * values[i];
            expected[2] = std::max(expected[2], values[i]);
          }
          std::vector<float> of_rows(static_cast<std::size_t>(all * rows_of_each));
          void* pointers[] = {values.data(), got, of_rows.data()};
          code.functions[0](nullptr, pointers, 0, 1);
          EXPECT_EQ(got[0], expected[0]);
          EXPECT_EQ(got[1], expected[1]);
          if (beside == Beside::maximum) {
            EXPECT_EQ(got[2], expected[2]);
          }
          if (beside != Beside::row_sums) continue;
          float sum_of_rows = 0;
          for (float sum : of_rows) sum_of_rows += sum;
          EXPECT_EQ(sum_of_rows, expected[0]);
        }
      }
    }
  }
}

// Loops of up to four turns are written out, longer ones are loops.
std::vector<std::pair<std::int64_t, Form>> depths_and_forms() {
  std::vector<std::pair<std::int64_t, Form>> all;
  for (std::int64_t depth : {1, 2, 4, 5, 11}) {
    for (Form form : forms) all.emplace_back(depth, form);
  }
  return all;
}

// A loop inside the vector loop: each lane sums a column of in[depth, size].
TEST(ColumnSum, CarriesVectorAccumulators) {
  constexpr std::int64_t size = 100;
  for (auto [depth, form] : depths_and_forms()) {
    KernelSketch sketch("columns");
    auto in = sketch.buffer(Access::read, i32, depth * size);
    auto out = sketch.buffer(Access::write, i32, size);
    Reduction sum;
    sum.initial = {sketch.constant(i32, 0)};
    Index j = sketch.open(range(size, form.width, form.unroll));
    Index i = sketch.open(rows(depth));
    sum.values = {sketch.load(in, sketch.add(sketch.multiply(i, size), j))};
    Ref total = sketch.close({sum})[0];
    sketch.store(out, j, total);
    sketch.close();
    Code code = compile_legalised(std::span(&sketch.kernel(), 1));

    Literal input = samples(i32, depth * size, Combine::sum, 1);
    Memory in_memory(input), out_memory(size * 4);
    void* pointers[] = {in_memory.data(), out_memory.data()};
    for (auto [begin, end] : {std::pair{0, 3}, {3, 37}, {37, 100}}) {
      code.functions[0](nullptr, pointers, begin, end);
    }
    Literal output = out_memory.literal({i32, Shape{size}});
    for (std::int64_t column = 0; column < size; ++column) {
      std::int32_t expected = 0;
      for (std::int64_t row = 0; row < depth; ++row) {
        expected += input.values<std::int32_t>()[static_cast<std::size_t>(row * size + column)];
      }
      EXPECT_EQ(output.values<std::int32_t>()[static_cast<std::size_t>(column)], expected);
    }
  }
}

// NaN above all, and -0 below 0.
template <class T>
T extreme_of(Combine how, T x, T y) {
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<T>::quiet_NaN();
  if (x == y) return std::signbit(x) == (how == Combine::maximum) ? y : x;
  return (x > y) == (how == Combine::maximum) ? x : y;
}

// Each lane takes the extreme of in[rows, size, columns] over the rows, then the columns.
template <class T>
void check_windows(Combine how, std::int64_t rows_of_each, std::int64_t columns, Form form) {
  constexpr std::int64_t size = 70;
  constexpr Dtype dtype = std::is_same_v<T, float> ? f32 : f64;
  const std::int64_t count = rows_of_each * size * columns;
  const T least = how == Combine::maximum ? -std::numeric_limits<T>::infinity()
                                          : std::numeric_limits<T>::infinity();
  KernelSketch sketch("windows");
  const auto in = sketch.buffer(Access::read, dtype, count);
  const auto out = sketch.buffer(Access::write, dtype, size);
  Reduction inner, outer;
  inner.combine = outer.combine = how;
  inner.initial = outer.initial = {sketch.constant(dtype, std::bit_cast<BitsOf<T>>(least))};
  const Index j = sketch.open(range(size, form.width, form.unroll));
  const Index k = sketch.open(rows(rows_of_each));
  const Index l = sketch.open(rows(columns));
  const Index number = sketch.add(sketch.multiply(k, size), j);
  inner.values = {sketch.load(in, sketch.add(sketch.multiply(number, columns), l))};
  outer.values = {sketch.close({inner})[0]};
  sketch.store(out, j, sketch.close({outer})[0]);
  sketch.close();
  const Code code = compile_legalised(std::span(&sketch.kernel(), 1));

  constexpr T values[] = {-0.0, 0.0, -1, 2, -3, std::numeric_limits<T>::infinity()};
  std::mt19937 random(1);
  std::vector<T> x(static_cast<std::size_t>(count)), got(size);
  for (T& element : x) {
    element = random() % 9 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                : values[random() % (random() % 2 ? 2 : std::size(values))];
  }
  void* pointers[] = {x.data(), got.data()};
  code.functions[0](nullptr, pointers, 0, size);
  for (std::int64_t i = 0; i < size; ++i) {
    T expected = least;
    for (std::int64_t r = 0; r < rows_of_each; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t at = (r * size + i) * columns + c;
        expected = extreme_of(how, expected, x[static_cast<std::size_t>(at)]);
      }
    }
    EXPECT_TRUE(have_same_bits(got[static_cast<std::size_t>(i)], expected))
        << rows_of_each << " by " << columns << ", lane " << i << " of " << form.width;
  }
}

TEST(Windows, OfEachLaneHaveTheirExtremes) {
  for (auto [depth, form] : depths_and_forms()) {
    for (std::int64_t columns : {1, 2, 3, 6}) {
      for (Combine how : {Combine::maximum, Combine::minimum}) {
        check_windows<float>(how, depth, columns, form);
        check_windows<double>(how, depth, columns, {std::min(form.width, 8), form.unroll});
      }
    }
  }
}

// so_far * 3 + next, which only the right order gets right; once by itself, once per lane of a
// vector loop.
Reduction polynomial(KernelSketch& sketch, Ref initial, Ref next) {
  Reduction reduction;
  reduction.combine = Combine::carry;
  reduction.initial = {initial};
  reduction.so_far = {sketch.define(i32, Argument{})};
  const Ref scaled = sketch.multiply(reduction.so_far[0], sketch.constant(i32, 3));
  reduction.values = {sketch.add(scaled, next)};
  return reduction;
}

TEST(Carry, RunsInOrder) {
  constexpr std::int64_t size = 40;
  for (auto [depth, form] : depths_and_forms()) {
    KernelSketch sketch("polynomial");
    auto in = sketch.buffer(Access::read, i32, depth * size);
    auto out = sketch.buffer(Access::write, i32, size);
    const Ref seven = sketch.constant(i32, 7);
    Index j = sketch.open(range(size, form.width, form.unroll));
    Index i = sketch.open(rows(depth));
    const Ref next = sketch.load(in, sketch.add(sketch.multiply(i, size), j));
    Ref total = sketch.close({polynomial(sketch, seven, next)})[0];
    sketch.store(out, j, total);
    sketch.close();
    Code code = compile_legalised(std::span(&sketch.kernel(), 1));

    Literal input = samples(i32, depth * size, Combine::sum, 2);
    Memory in_memory(input), out_memory(size * 4);
    void* pointers[] = {in_memory.data(), out_memory.data()};
    code.functions[0](nullptr, pointers, 0, size);
    Literal output = out_memory.literal({i32, Shape{size}});
    for (std::int64_t column = 0; column < size; ++column) {
      std::uint32_t expected = 7;
      for (std::int64_t row = 0; row < depth; ++row) {
        auto next = input.values<std::int32_t>()[static_cast<std::size_t>(row * size + column)];
        expected = expected * 3 + static_cast<std::uint32_t>(next);
      }
      EXPECT_EQ(output.values<std::int32_t>()[static_cast<std::size_t>(column)],
                static_cast<std::int32_t>(expected));
    }
  }
}

// The Fibonacci numbers, with a counter that all lanes share: each is computed from what the others
// were.
TEST(Carry, HandsOnAllAtOnce) {
  constexpr std::int64_t size = 40;
  for (auto [turns, form] : depths_and_forms()) {
    KernelSketch sketch("fibonacci");
    auto in = sketch.buffer(Access::read, i32, size);
    auto out = sketch.buffer(Access::write, i32, size);
    const Ref zero = sketch.constant(i32, 0), one = sketch.constant(i32, 1);
    Index j = sketch.open(range(size, form.width, form.unroll));
    const Ref first = sketch.load(in, j);
    sketch.open(rows(turns));
    std::vector<Reduction> carries;
    for (Ref initial : {first, zero, zero}) {
      carries.push_back({Combine::carry, {initial}, {}, {}, {sketch.define(i32, Argument{})}});
    }
    const Ref a = carries[0].so_far[0], b = carries[1].so_far[0], count = carries[2].so_far[0];
    carries[0].values = {b};
    carries[1].values = {sketch.add(sketch.add(a, b), count)};
    carries[2].values = {sketch.add(count, one)};
    const std::vector<Ref> results = sketch.close(carries);
    sketch.store(out, j, sketch.add(results[1], results[2]));
    sketch.close();
    Code code = compile_legalised(std::span(&sketch.kernel(), 1));

    Literal input = samples(i32, size, Combine::sum, 3);
    Memory in_memory(input), out_memory(size * 4);
    void* pointers[] = {in_memory.data(), out_memory.data()};
    code.functions[0](nullptr, pointers, 0, size);
    Literal output = out_memory.literal({i32, Shape{size}});
    for (std::size_t k = 0; k < size; ++k) {
      auto x = static_cast<std::uint32_t>(input.values<std::int32_t>()[k]);
      std::uint32_t y = 0;
      for (std::uint32_t turn = 0; turn < turns; ++turn) x = std::exchange(y, x + y + turn);
      EXPECT_EQ(output.values<std::int32_t>()[k], static_cast<std::int32_t>(y + turns));
    }
  }
}

TEST(Carry, IsRefusedInAVectorLoop) {
  KernelSketch sketch("carry");
  auto out = sketch.buffer(Access::write, i32, 1);
  const Ref seven = sketch.constant(i32, 7), one = sketch.constant(i32, 1);
  sketch.open(rows(64, 16));
  Ref total = sketch.close({polynomial(sketch, seven, one)})[0];
  sketch.store(out, sketch.at(0), total);
  EXPECT_THROW(compile_legalised(std::span(&sketch.kernel(), 1)), InternalError);
}

// The product of a row is not fused into the sums of its elements: it would be computed for each.
TEST(Contraction, LeavesProductsOutsideTheLoop) {
  constexpr std::int64_t size = 33;
  KernelSketch sketch("shifted");
  auto in = sketch.buffer(Access::read, f32, size);
  auto out = sketch.buffer(Access::write, f32, 3 * size);
  Index row = sketch.open(range(3));
  Index base = sketch.multiply(row, size);
  Ref shift = sketch.multiply(sketch.load(in, row), sketch.number(0.5f));
  Index i = sketch.open(rows(size, 16, 2));
  sketch.store(out, sketch.add(base, i), sketch.add(sketch.load(in, i), shift));
  sketch.close();
  sketch.close();
  Code code = compile_legalised(std::span(&sketch.kernel(), 1));
  Literal input = samples(f32, size, Combine::sum, 1);
  Memory in_memory(input), out_memory(3 * size * 4);
  void* pointers[] = {in_memory.data(), out_memory.data()};
  code.functions[0](nullptr, pointers, 0, 3);
  auto x = input.values<float>();
  Literal output = out_memory.literal({f32, Shape{3, size}});
  for (std::size_t k = 0; k < 3 * size; ++k) {
    EXPECT_EQ(output.values<float>()[k], x[k % size] + x[k / size] * 0.5f);
  }
}

// A product that only a sum uses is fused into it: the sum of x * x rounds once per element.
TEST(Contraction, FusesProductsIntoSums) {
  KernelSketch sketch("squares");
  auto in = sketch.buffer(Access::read, f32, 1);
  auto out = sketch.buffer(Access::write, f32, 1);
  Index zero = sketch.at(0);
  Ref x = sketch.load(in, zero);
  sketch.store(out, zero,
               sketch.compute(f32, Op::subtract, {sketch.multiply(x, x), sketch.number(1.0f)}));
  Code code = compile_legalised(std::span(&sketch.kernel(), 1));
  float value = 1.0f + 0x1p-20f;
  float result = 0;
  void* pointers[] = {&value, &result};
  code.functions[0](nullptr, pointers, 0, 1);
  const std::string assembly = assembly_text(sketch.kernel());
  const bool has_fma = assembly.find("vfm") != std::string::npos;
  EXPECT_EQ(result, has_fma ? std::fma(value, value, -1.0f) : value * value - 1.0f);
}

}  // namespace
}  // namespace anabranch::cpu
