// What print writes, parse reads back to an equal graph: each op with each dtype it takes, and each
// bit of the numbers.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/graph/verify.h"
#include "ir/infer/infer.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

void expect_round_trip(const Graph& graph) {
  const std::string text = to_string(graph);
  const Graph again = parse(text);
  EXPECT_EQ(again, graph) << text;
  EXPECT_EQ(again.hash(), graph.hash());
  EXPECT_EQ(to_string(again), text);
  EXPECT_NO_THROW(verify(again));
}

Graph scalar_body(Dtype dtype) {
  GraphBuilder body("");
  Value so_far = body.parameter({dtype, {}});
  Value next = body.parameter({dtype, {}});
  return body.build({body.add(Op::maximum, {so_far, next})});
}

std::vector<Graph> branches(const Type& array) {
  GraphBuilder first("two words"), second("");
  return {first.build({first.parameter(array)}), second.build({second.parameter(array)})};
}

// A loop whose body branches: regions in regions.
std::vector<Graph> loop_regions(const Type& array) {
  GraphBuilder condition("condition"), body("body");
  const Value count = condition.parameter({Dtype::i32, {}});
  condition.parameter(array);
  const Value i = body.parameter({Dtype::i32, {}});
  const Value x = body.parameter(array);
  const Value branched = body.add(Op::case_, {i, x}, NoAttributes{}, std::nullopt, branches(array));
  return {condition.build({condition.add(Op::compare, {count, count}, CompareAttributes{})}),
          body.build({i, branched})};
}

// A graph of one node of `op` over arrays [2,3] of `dtype`; throws Error where the op does not take
// it.
Graph sample(Op op, Dtype dtype) {
  const OpInfo& row = info(op);
  GraphBuilder builder("sample");
  const Type array{dtype, {2, 3}};
  Value x = builder.parameter(array);
  std::vector<Value> inputs(row.arity == OpInfo::variadic ? 2 : static_cast<std::size_t>(row.arity),
                            x);
  Attributes attributes = default_attributes(op);
  std::optional<Type> stated;
  std::vector<Graph> regions;
  if (row.has(OpInfo::typed)) stated = array;
  if (auto* axes = std::get_if<AxesAttributes>(&attributes)) axes->axes = {0, 1};
  if (auto* axis = std::get_if<AxisAttributes>(&attributes)) axis->axis = 1;
  if (op == Op::constant) {
    return builder.build({builder.constant(Literal::scalar(dtype, 1))});
  } else if (op == Op::composite) {
    attributes = CompositeAttributes{CompositeRule::named, 1, {}, "a \"state\""};
    inputs = {x};
    regions = {branches(array)[0]};
  } else if (op == Op::check) {
    attributes = CheckAttributes{{"\"x\" is positive, at model.cpp:12", ""}};
    inputs = {builder.parameter({Dtype::i32, {2}}), x, x};
  } else if (op == Op::select) {
    inputs[0] = builder.parameter({Dtype::bool_, {2, 3}});
  } else if (op == Op::compare) {
    attributes = CompareAttributes{Comparison::ge};
  } else if (op == Op::slice) {
    attributes = SliceAttributes{{0, 1}, {2, 3}, {1, 2}};
  } else if (op == Op::pad) {
    inputs[1] = builder.parameter({dtype, {}});
    attributes = PadAttributes{{-1, 2}, {0, 0}, {0, 1}};
  } else if (op == Op::sliding_windows) {
    attributes = WindowsAttributes{{1, 2}, {2, 1}, {3, 1}};
  } else if (op == Op::convolution) {
    attributes = ConvolutionAttributes{{1, 0}, {0, 1}, {0, 1}, {}, {}, {}, {}, {}, {}, 2};
    inputs[1] = builder.parameter({dtype, {4, 1}});
  } else if (op == Op::argmax || op == Op::argmin) {
    stated = Type{Dtype::i32, {2}};
  } else if (op == Op::reduce) {
    inputs[1] = builder.parameter({dtype, {}});
    regions = {scalar_body(dtype)};
  } else if (op == Op::dot) {
    attributes = DotAttributes{{0}, {0}, {1}, {1}};
  } else if (op == Op::dynamic_slice || op == Op::dynamic_update_slice) {
    const Value start = builder.parameter({Dtype::i64, {}});
    const Value other = builder.parameter({Dtype::i32, {}});
    inputs = {x, start, other};
    if (op == Op::dynamic_update_slice) inputs = {x, x, start, other};
    if (op == Op::dynamic_slice) attributes = SizesAttributes{{0, 3}};
  } else if (op == Op::gather) {
    inputs[1] = builder.parameter({Dtype::i64, {1, 3}});
    attributes = GatherAttributes{{0}, {1}, {}, {}, {1}, 0, {2, 1}};
  } else if (op == Op::scatter) {
    inputs = {x, builder.parameter({Dtype::i32, {2, 5}}), builder.parameter({dtype, {2, 5}})};
    attributes = ScatterAttributes{{}, {1}, {0}, {0}, {1}, 2, ScatterCombiner::maximum};
  } else if (op == Op::sort) {
    attributes = SortAttributes{1, true};
  } else if (op == Op::argsort) {
    attributes = ArgsortAttributes{0, false, PositionDtype::i32};
  } else if (op == Op::cumulative) {
    attributes = CumulativeAttributes{1, Running::maximum, true};
  } else if (op == Op::transfer) {
    attributes = DeviceAttributes{Device::cpu(1)};
  } else if (op == Op::custom_call) {
    attributes = CustomCallAttributes{"two words", {array, {Dtype::i32, {}}}};
  } else if (op == Op::cholesky || op == Op::eigh || op == Op::eig || op == Op::schur ||
             op == Op::triangular_solve) {
    inputs.assign(inputs.size(), builder.parameter({dtype, {2, 3, 3}}));
    if (op == Op::cholesky) attributes = TriangleAttributes{true};
    if (op == Op::eigh) attributes = EighAttributes{true, false};
    if (op == Op::eig) attributes = EigAttributes{false, true};
    if (op == Op::schur) attributes = SchurAttributes{true};
    if (op == Op::triangular_solve) {
      attributes = TriangularSolveAttributes{true, false, true, Transpose::adjoint};
    }
  } else if (op == Op::fft) {
    attributes = FftAttributes{is_complex(dtype) ? FftKind::ifft : FftKind::rfft, {2, 3}};
  } else if (op == Op::svd) {
    attributes = SvdAttributes{true, true};
  } else if (op == Op::qr_pivoted) {
    inputs = {builder.parameter({dtype, {3, 2}}), builder.parameter({Dtype::i32, {2}})};
  } else if (op == Op::householder_product) {
    inputs = {builder.parameter({dtype, {3, 2}}), builder.parameter({dtype, {2}})};
  } else if (op == Op::tridiagonal_solve) {
    inputs.assign(3, builder.parameter({dtype, {2, 3}}));
    inputs.push_back(builder.parameter({dtype, {2, 3, 1}}));
  } else if (is_control(op)) {
    inputs = {builder.parameter({Dtype::i32, {}}), x};
    regions = op == Op::while_ ? loop_regions(array) : branches(array);
    if (op == Op::while_) attributes = WhileAttributes{8};
  } else if (op == Op::fusion) {
    inputs = {x};
    GraphBuilder body("two words");
    Value y = body.parameter(array);
    const Value turned = body.add(Op::reverse, {y}, AxesAttributes{{1}});
    regions = {body.build({turned, body.add(Op::maximum, {turned, y})})};
    attributes = FusionAttributes{FusionKind::elementwise};
  }
  return builder.build({builder.add(op, inputs, attributes, stated, regions)});
}

TEST(RoundTrip, KeepsEveryOpAndDtype) {
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const auto op = static_cast<Op>(i);
    if (op == Op::parameter) continue;  // in each of the others
    int taken = 0;
    for (int d = 0; d < dtype_count; ++d) {
      std::optional<Graph> graph;
      try {
        graph = sample(op, static_cast<Dtype>(d));
      } catch (const Error&) {
        continue;  // a dtype that the op does not take
      }
      ++taken;
      expect_round_trip(*graph);
    }
    EXPECT_GT(taken, 0) << all_ops()[i].name << " has no sample";
  }
}

TEST(RoundTrip, KeepsWordsAndLists) {
  for (int i = 0; i < 6; ++i) {
    GraphBuilder builder;
    Value x = builder.parameter({f32, {}});
    expect_round_trip(builder.build(
        {builder.add(Op::compare, {x, x}, CompareAttributes{static_cast<Comparison>(i)})}));
  }
  GraphBuilder builder("");
  builder.parameter({i64, {0, 7}});
  expect_round_trip(builder.build({}));
}

TEST(RoundTrip, KeepsNames) {
  for (const char* name :
       {"", "main", "a.b_2", "two words", "quo\"te", "back\\slash", "line\nbreak", "graph",
        "return", "2nd", "\xc3\xa9t\xc3\xa9", "\x01\x7f"}) {
    GraphBuilder builder(name);
    Value x = builder.parameter({f32, {}});
    expect_round_trip(builder.build({x, x}));
  }
}

template <class T, class Bits>
void expect_bits_kept(const std::vector<Bits>& patterns) {
  std::vector<T> values;
  for (Bits bits : patterns) values.push_back(std::bit_cast<T>(bits));
  GraphBuilder builder;
  const auto size = static_cast<std::int64_t>(values.size());
  Value all = builder.constant(Literal::of<T>(values, {size}));
  const Graph graph = builder.build({all});
  const Graph again = parse(to_string(graph));
  ASSERT_EQ(again.nodes().size(), 1u);
  const Literal& read = again.node(0).as<ConstantAttributes>().value;
  int wrong = 0;
  for (std::int64_t i = 0; i < size && wrong < 5; ++i) {
    const std::uint64_t expected = patterns[static_cast<std::size_t>(i)];
    if (read.bits(i) == expected) continue;
    ++wrong;
    ADD_FAILURE() << std::hex << expected << " reads back as " << read.bits(i).low;
  }
}

std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> patterns;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    patterns.push_back(static_cast<std::uint16_t>(bits));
  }
  return patterns;
}

TEST(RoundTrip, KeepsEveryF16) { expect_bits_kept<Float16>(all_halves()); }
TEST(RoundTrip, KeepsEveryBF16) { expect_bits_kept<BFloat16>(all_halves()); }

TEST(RoundTrip, KeepsF32Bits) {
  std::vector<std::uint32_t> patterns = {
      0x00000000, 0x80000000,              // zeros
      0x00000001, 0x807fffff, 0x00800000,  // subnormal, and the least normal
      0x7f7fffff, 0xff7fffff,              // greatest and lowest
      0x7f800000, 0xff800000,              // infinities
      0x7fc00000, 0xffc00000, 0x7f800001, 0x7fffffff, 0xffbfffff,  // NaNs, quiet and signalling
      0x3dcccccd, 0x3f800000, 0x3f800001, 0x4b800000};
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) patterns.push_back(static_cast<std::uint32_t>(random()));
  expect_bits_kept<float>(patterns);
}

TEST(RoundTrip, KeepsF64Bits) {
  std::vector<std::uint64_t> patterns = {0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
                                         0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
                                         0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
                                         0xfff8000000000000, 0x7ff0000000000001, 0x7fffffffffffffff,
                                         0x3fb999999999999a, 0x3ff0000000000001};
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) patterns.push_back(random());
  expect_bits_kept<double>(patterns);
}

template <class T>
class RoundTripOfIntegers : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(RoundTripOfIntegers, Integers);

TYPED_TEST(RoundTripOfIntegers, KeepTheirEnds) {
  using Bits = std::make_unsigned_t<TypeParam>;
  constexpr auto most = std::numeric_limits<Bits>::max();
  expect_bits_kept<TypeParam, Bits>({Bits{0}, Bits{1}, most, Bits(most / 2), Bits(most / 2 + 1)});
}

}  // namespace
}  // namespace anabranch
