// Every elementwise op on every dtype it takes, compiled, against the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ir/infer/infer.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "ir/text/print.h"
#include "tests/codegen/cpu/kernel_sketch.h"

namespace anabranch::cpu {
namespace {

constexpr std::int64_t count = 129;  // of elements, unless said otherwise
constexpr Dtype dtypes[] = {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64};

// Values where ops have corners, then random bits. `seed` also turns the order, so that two
// operands meet in many combinations.
Literal samples(Dtype dtype, std::uint32_t seed) {
  std::mt19937_64 random(seed + 1);
  constexpr double corners[] = {
      0.0,           -0.0,         1.0,    -1.0,     2.0,       -2.0,     0.5,
      -0.5,          1.5,          2.5,    -2.5,     3.0,       7.0,      0.49999997,
      127.0,         -128.0,       255.0,  32767.0,  65504.0,   -65536.0, 2147483647.0,
      -2147483648.0, 4294967296.0, 9.2e18, -9.3e18,  1.9e19,    1e-40,    6e-8,
      1e-310,        3e38,         1e300,  HUGE_VAL, -HUGE_VAL, NAN};
  return visit_any_dtype(dtype, [&]<class T>() {
    std::vector<std::byte> bytes(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
      T value{};
      if ((i + seed) % 4 != 0) {
        value = convert_scalar<T>(corners[random() % std::size(corners)]);
      } else if constexpr (std::is_same_v<T, bool>) {
        value = random() % 2 != 0;
      } else {
        const ElementBits words(random(), random());
        std::memcpy(static_cast<void*>(&value), &words, sizeof(T));
      }
      std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
    }
    return Literal(Type{dtype, Shape{count}}, std::move(bytes));
  });
}

struct Case {
  Op op;
  std::vector<Dtype> operands;
  Dtype result;
  Comparison direction = Comparison::eq;
};

Attributes attributes_of(const Case& c) {
  if (c.op == Op::compare) return CompareAttributes{c.direction};
  return NoAttributes{};
}

// Whether the op takes these dtypes, as `infer` has it.
std::optional<Dtype> result_of(Op op, const std::vector<Dtype>& operands,
                               std::optional<Dtype> stated) {
  std::vector<Type> types;
  for (Dtype dtype : operands) types.push_back(Type{dtype, Shape{count}});
  std::optional<Type> stated_type;
  if (stated) stated_type = Type{*stated, Shape{count}};
  Attributes attributes = NoAttributes{};
  if (op == Op::compare) attributes = CompareAttributes{};
  try {
    return infer(op, types, attributes, stated_type, {}, {})[0].dtype;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<Case> cases_of(Op op) {
  std::vector<Case> cases;
  auto try_case = [&](std::vector<Dtype> operands, std::optional<Dtype> stated = std::nullopt) {
    auto result = result_of(op, operands, stated);
    if (!result) return;
    // The accuracy of approximate ops has tests of its own.
    if (info(op).has(OpInfo::approximate) && is_float(*result)) return;
    // What the pass expand leaves of complex numbers.
    const bool takes_apart = op == Op::real || op == Op::imag;
    if (is_complex(operands.back()) && op != Op::select && !takes_apart) return;
    int directions = op == Op::compare ? 6 : 1;
    for (int d = 0; d < directions; ++d) {
      cases.push_back({op, operands, *result, static_cast<Comparison>(d)});
    }
  };
  if (op == Op::random_bits) {
    try_case({u64, u64});
    return cases;
  }
  std::vector<Dtype> all(std::begin(dtypes), std::end(dtypes));
  all.insert(all.end(), {c64, c128});
  for (Dtype dtype : all) {
    if (info(op).has(OpInfo::typed)) {
      for (Dtype to : dtypes) try_case({dtype}, to);
    } else if (op == Op::select) {
      try_case({bool_, dtype, dtype});
    } else {
      try_case(std::vector<Dtype>(static_cast<std::size_t>(info(op).arity), dtype));
    }
  }
  return cases;
}

Kernel kernel_of(const Case& c, int width, int unroll, std::int64_t count = cpu::count) {
  KernelSketch sketch("case");
  std::vector<std::uint32_t> inputs;
  for (Dtype dtype : c.operands) inputs.push_back(sketch.buffer(Access::read, dtype, count));
  auto output = sketch.buffer(Access::write, c.result, count);
  Index i = sketch.open(range(count, width, unroll));
  std::vector<Ref> operands;
  for (std::uint32_t input : inputs) operands.push_back(sketch.load(input, i));
  sketch.store(output, i, sketch.compute(c.result, c.op, operands, c.direction));
  sketch.close();
  return sketch.kernel();
}

Literal run(HostTask::Function function, const std::vector<Literal>& operands, Type result,
            std::span<const std::int64_t> cuts) {
  std::vector<Memory> memory;
  for (const Literal& operand : operands) memory.emplace_back(operand);
  memory.emplace_back(result.bytes());
  std::vector<void*> pointers;
  for (Memory& m : memory) pointers.push_back(m.data());
  std::int64_t begin = 0;
  for (std::int64_t end : cuts) {
    function(nullptr, pointers.data(), begin, end);
    begin = end;
  }
  EXPECT_TRUE(memory.back().is_intact());
  return memory.back().literal(std::move(result));
}

// Equal bits, any NaN being as good as another (payloads differ between libm and hardware).
template <class T>
bool same(T x, T y) {
  if constexpr (is_complex_storage<T>) return same(x.real(), y.real()) && same(x.imag(), y.imag());
  return std::memcmp(&x, &y, sizeof(T)) == 0 || (x != x && y != y);
}

void expect_same(const Literal& actual, const Literal& expected,
                 const std::vector<Literal>& operands, const std::string& what) {
  visit_any_dtype(actual.type().dtype, [&]<class T>() {
    auto a = actual.values<T>();
    auto e = expected.values<T>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (same(a[i], e[i])) continue;
      std::string text;
      for (const Literal& x : operands) {
        text += " " + std::to_string(x.bits(static_cast<std::int64_t>(i)).low);
      }
      const auto at = static_cast<std::int64_t>(i);
      ADD_FAILURE() << what << " at " << i << ": " << element_to_string(actual, at)
                    << " instead of " << element_to_string(expected, at) << ", operand bits"
                    << text;
      return;
    }
  });
}

class Elementwise : public testing::TestWithParam<Op> {};

TEST_P(Elementwise, EqualsTheInterpreter) {
  constexpr std::pair<int, int> forms[] = {{1, 1}, {16, 1}, {16, 2}, {64, 1}};
  constexpr std::int64_t whole[] = {count};
  constexpr std::int64_t cut[] = {0, 1, 3, 10, 18, 27, 58, 90, 123, count};
  for (const Case& c : cases_of(GetParam())) {
    std::vector<Kernel> kernels;
    for (auto [width, unroll] : forms) kernels.push_back(kernel_of(c, width, unroll));
    for (std::size_t k = 0; k < kernels.size(); ++k) kernels[k].name += std::to_string(k);
    Code code = compile_legalised(kernels);
    for (std::uint32_t seed : {0u, 1u, 2u}) {
      std::vector<Literal> operands;
      for (Dtype dtype : c.operands) {
        operands.push_back(samples(dtype, seed * 7 + static_cast<std::uint32_t>(operands.size())));
      }
      Node node;
      node.op = c.op;
      node.types = {Type{c.result, Shape{count}}};
      node.attributes = attributes_of(c);
      Literal expected = interpret(node, operands)[0];
      for (std::size_t k = 0; k < std::size(forms); ++k) {
        std::string what = std::string(name(c.op)) + " " + std::string(name(c.operands.back())) +
                           " -> " + std::string(name(c.result)) + " width " +
                           std::to_string(forms[k].first);
        expect_same(run(code.functions[k], operands, node.types[0], whole), expected, operands,
                    what);
        expect_same(run(code.functions[k], operands, node.types[0], cut), expected, operands,
                    what + " cut");
      }
    }
  }
}

void expect_converts(const Literal& values, Dtype to) {
  const Dtype from = values.type().dtype;
  const std::int64_t size = values.type().size();
  const Case c{Op::convert, {from}, to};
  std::vector<Kernel> kernels = {kernel_of(c, 1, 1, size), kernel_of(c, 16, 2, size)};
  kernels[1].name += "_vector";
  Node node;
  node.op = Op::convert;
  node.types = {Type{to, Shape{size}}};
  const std::vector<Literal> operands = {values};
  const Literal expected = interpret(node, operands)[0];
  const Code code = compile_legalised(kernels);
  for (HostTask::Function function : code.functions) {
    expect_same(run(function, operands, node.types[0], std::span(&size, 1)), expected, operands,
                std::string(name(from)) + " -> " + std::string(name(to)));
  }
}

// Of elements that have these as their lowest bits.
Literal literal_of(Dtype dtype, std::span<const std::uint64_t> bits) {
  const std::size_t size = byte_size(dtype);
  std::vector<std::byte> bytes(bits.size() * size);
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(&bytes[i * size], &bits[i], size);
  return Literal(Type{dtype, Shape{static_cast<std::int64_t>(bits.size())}}, std::move(bytes));
}

// Half way between two results and next to it, where an intermediate float would be half way too.
TEST(Conversions, OfIntegersToHalfPrecisionRoundOnce) {
  for (Dtype from : {i32, u32, i64, u64}) {
    const int most = static_cast<int>(8 * byte_size(from)) - 1;
    for (auto [to, digits] : {std::pair{f16, 11}, std::pair{bf16, 8}}) {
      std::vector<std::uint64_t> values;
      const std::uint64_t one = std::uint64_t{1} << (digits - 1);
      for (int shift = 1; shift + digits <= most; ++shift) {
        for (std::uint64_t number : {one, one + 1, 2 * one - 1}) {
          const std::uint64_t tie = (number << shift) + (std::uint64_t{1} << (shift - 1));
          for (std::uint64_t value : {tie - 1, tie, tie + 1}) {
            values.push_back(value);
            values.push_back(0 - value);
          }
        }
      }
      expect_converts(literal_of(from, values), to);
    }
  }
}

// NaN of any payload among them.
TEST(Conversions, OfFloatsToHalfPrecisionLookAtEveryBit) {
  std::vector<std::uint64_t> bits;
  for (std::uint64_t upper = 0; upper < 1u << 16; ++upper) {
    for (std::uint64_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      bits.push_back(upper << 16 | lower);
    }
  }
  const Literal values = literal_of(f32, bits);
  for (Dtype to : {f16, bf16}) expect_converts(values, to);
}

TEST(ElementwiseCases, CoverEveryExactOp) {
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    Op op = static_cast<Op>(i);
    if (!is_elementwise(op) || info(op).has(OpInfo::approximate)) continue;
    EXPECT_FALSE(cases_of(op).empty()) << name(op);
  }
  EXPECT_EQ(cases_of(Op::maximum).size(), std::size(dtypes));
  EXPECT_EQ(cases_of(Op::convert).size(), std::size(dtypes) * std::size(dtypes));
}

std::vector<Op> exact_ops() {
  std::vector<Op> ops;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    Op op = static_cast<Op>(i);
    if (is_elementwise(op) && !cases_of(op).empty()) ops.push_back(op);
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Ops, Elementwise, testing::ValuesIn(exact_ops()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace anabranch::cpu
