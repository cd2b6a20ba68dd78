// Dots through cuBLASLt: alone, and in programs, against the interpreter.
#include "codegen/cuda/dot/dot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "anabranch/error.h"
#include "codegen/compile.h"
#include "codegen/cuda/dot/products.h"
#include "fake_driver.h"
#include "ir/graph/builder.h"
#include "ir/infer/infer.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "runtime/cuda/gpu.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"
#include "tests/support/values.h"

namespace anabranch::cuda {
namespace {

constexpr Dtype dtypes[] = {f16, bf16, f32, f64};

// Sums of products of small integers are exact in any order, in every dtype.
Literal small_integers(const Type& type, std::uint32_t seed) {
  std::mt19937 random(seed);
  return visit_dtype(type.dtype, [&]<class T>() {
    std::vector<std::byte> bytes(type.bytes());
    for (std::int64_t i = 0; i < type.size(); ++i) {
      const T value = convert_scalar<T>(static_cast<double>(random() % 5) - 2);
      std::memcpy(&bytes[static_cast<std::size_t>(i) * sizeof(T)], &value, sizeof(T));
    }
    return Literal(type, std::move(bytes));
  });
}

Buffer to_gpu(const Literal& literal) { return copy_to_device(Device::cuda(0), literal.bytes()); }

Literal interpreted_dot(const Literal& lhs, const Literal& rhs, const DotAttributes& attributes) {
  const Type types[] = {lhs.type(), rhs.type()};
  Node node;
  node.op = Op::dot;
  node.types = infer(Op::dot, types, attributes, std::nullopt, {}, {});
  node.attributes = attributes;
  return interpret(node, std::vector{lhs, rhs})[0];
}

Literal transposed(const Literal& literal, const std::vector<std::int64_t>& order) {
  if (order.empty()) return literal;
  GraphBuilder builder;
  const Value x = builder.parameter(literal.type());
  const Value y = builder.add(Op::transpose, {x}, AxesAttributes{order});
  return interpret(builder.build({y}), std::vector{literal})[0];
}

// The task alone, once its operands are laid out.
Literal dot_on_gpu(const Literal& lhs, const Literal& rhs, const DotAttributes& attributes,
                   const Type& result) {
  const LaidOutDot laid_out = lay_out(lhs.type(), rhs.type(), attributes);
  const DotStep dot{.lhs = laid_out.lhs,
                    .rhs = laid_out.rhs,
                    .result = result,
                    .attributes = laid_out.attributes};
  const Buffer left = to_gpu(transposed(lhs, laid_out.lhs_order));
  const Buffer right = to_gpu(transposed(rhs, laid_out.rhs_order));
  left.ready().wait();
  right.ready().wait();
  const Buffer out = Buffer::allocate(Device::cuda(0), result.bytes());
  const auto room = static_cast<std::size_t>(dot_workspace(dot, 0).value());
  Buffer workspace;
  if (room > 0) workspace = Buffer::allocate(Device::cuda(0), room);
  void* buffers[] = {left.data(), right.data(), out.data(), room > 0 ? workspace.data() : nullptr};
  const DeviceTask task = make_dot(dot, 0);
  task.enqueue(task.context.get(), buffers, Gpu::of(0).main());
  Gpu::of(0).main().record()->wait();
  return read_literal(out, result);
}

// As numbers: a sum of nothing but -0 is 0 with either sign.
void expect_equals_interpreter(Dtype dtype, const Shape& left, const Shape& right,
                               const DotAttributes& attributes) {
  const Literal lhs = small_integers({dtype, left}, 1), rhs = small_integers({dtype, right}, 2);
  ASSERT_TRUE(has_library_dot(lhs.type(), rhs.type(), attributes));
  const Literal wanted = interpreted_dot(lhs, rhs, attributes);
  EXPECT_EQ(doubles(dot_on_gpu(lhs, rhs, attributes, wanted.type())), doubles(wanted))
      << to_string(lhs.type()) << " x " << to_string(rhs.type());
}

struct Case {
  const char* name;
  Shape lhs, rhs;
  DotAttributes attributes;
};

const Case cases[] = {
    {"Matrices", {5, 7}, {7, 3}, {{}, {}, {1}, {0}}},
    {"TransposedLeft", {7, 5}, {7, 3}, {{}, {}, {0}, {0}}},
    {"TransposedRight", {5, 7}, {3, 7}, {{}, {}, {1}, {1}}},
    {"BothTransposed", {33, 17}, {31, 33}, {{}, {}, {0}, {1}}},
    {"RowVectorTimesMatrix", {64}, {64, 129}, {{}, {}, {0}, {0}}},
    {"MatrixTimesVector", {129, 64}, {64}, {{}, {}, {1}, {0}}},
    {"VectorTimesVector", {100}, {100}, {{}, {}, {0}, {0}}},
    {"OuterProduct", {31}, {33}, {{}, {}, {}, {}}},
    {"ScalarTimesScalar", {}, {}, {{}, {}, {}, {}}},
    {"OneElementInner", {9, 1}, {1, 8}, {{}, {}, {1}, {0}}},
    {"Batches", {6, 5, 7}, {6, 7, 3}, {{0}, {0}, {2}, {1}}},
    {"TransposedBatches", {6, 7, 5}, {6, 3, 7}, {{0}, {0}, {1}, {2}}},
    {"TwoBatchAxes", {2, 3, 4, 5}, {2, 3, 5, 6}, {{0, 1}, {0, 1}, {3}, {2}}},
    {"HeadsOfAttention", {2, 5, 3, 8}, {2, 6, 3, 8}, {{0, 2}, {0, 2}, {3}, {3}}},
    {"ManyHeadsOfAttention", {20, 5, 18, 2}, {20, 6, 18, 2}, {{0, 2}, {0, 2}, {3}, {3}}},
    {"BatchInTheMiddle", {4, 3, 5}, {5, 3, 6}, {{1}, {1}, {2}, {0}}},
    {"BatchLast", {4, 5, 3}, {5, 6, 3}, {{2}, {2}, {1}, {0}}},
    {"SwappedBatchAxes", {2, 3, 4, 5}, {3, 2, 5, 6}, {{0, 1}, {1, 0}, {3}, {2}}},
    {"TwoContractingAxes", {3, 4, 5}, {4, 5, 6}, {{}, {}, {1, 2}, {0, 1}}},
    {"ContractingAxesInAnyOrder", {3, 4, 5}, {4, 5, 6}, {{}, {}, {2, 1}, {1, 0}}},
    {"ContractingAxesApart", {4, 3, 5}, {5, 6, 4}, {{}, {}, {0, 2}, {2, 0}}},
    {"FreeAxesApart", {3, 4, 5}, {4, 2}, {{}, {}, {1}, {0}}},
    {"RightFreeAxesApart", {2, 4}, {3, 4, 5}, {{}, {}, {1}, {1}}},
    {"LongRightFreeAxesApart", {2, 4}, {23, 4, 5}, {{}, {}, {1}, {1}}},
};

class DotOnGpu : public ::testing::TestWithParam<std::tuple<std::size_t, Dtype>> {};

TEST_P(DotOnGpu, EqualsTheInterpreter) {
  const Case& shape = cases[std::get<0>(GetParam())];
  expect_equals_interpreter(std::get<1>(GetParam()), shape.lhs, shape.rhs, shape.attributes);
}

INSTANTIATE_TEST_SUITE_P(, DotOnGpu,
                         ::testing::Combine(::testing::Range<std::size_t>(0, std::size(cases)),
                                            ::testing::ValuesIn(dtypes)),
                         [](const auto& info) {
                           return std::string(cases[std::get<0>(info.param)].name) + "_" +
                                  std::string(name(std::get<1>(info.param)));
                         });

// The library adds up halves of a sum, 257 and -256, of which bf16 has no 257.
TEST(SplitDotOnGpu, RoundsOnce) {
  const auto literal = [](const Shape& shape, auto element) {
    std::vector<std::byte> bytes;
    for (std::int64_t i = 0; i < shape.size(); ++i) {
      const auto value = convert_scalar<BFloat16>(element(i));
      const auto* begin = reinterpret_cast<const std::byte*>(&value);
      bytes.insert(bytes.end(), begin, begin + sizeof value);
    }
    return Literal({bf16, shape}, std::move(bytes));
  };
  const Literal lhs = literal({1, 32}, [](std::int64_t i) {
    return i == 0 ? 256.0 : i == 1 ? 1.0 : i == 31 ? -256.0 : 0.0;
  });
  const Literal rhs = literal({32, 2}, [](std::int64_t) { return 1.0; });
  const Literal result = dot_on_gpu(lhs, rhs, {{}, {}, {1}, {0}}, {bf16, {1, 2}});
  EXPECT_EQ(doubles(result), (std::vector<double>{1, 1}));
}

// Up to two axes of each kind, in any order.
TEST(RandomDotOnGpu, EqualsTheInterpreter) {
  constexpr std::int64_t sizes[] = {1, 2, 3, 5, 8, 17};
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    struct Side {
      std::vector<std::int64_t> sizes, kinds;
    } sides[2];
    const auto count = [&] { return static_cast<int>(random() % 3); };
    const auto add = [&](Side& side, std::int64_t kind, std::int64_t size) {
      const std::size_t at = random() % (side.sizes.size() + 1);
      side.sizes.insert(side.sizes.begin() + static_cast<std::ptrdiff_t>(at), size);
      side.kinds.insert(side.kinds.begin() + static_cast<std::ptrdiff_t>(at), kind);
    };
    const int batches = count(), contracting = count();
    for (int i = 0; i < batches + contracting; ++i) {
      const std::int64_t size = sizes[random() % std::size(sizes)];
      for (Side& side : sides) add(side, i, size);
    }
    for (Side& side : sides) {
      for (int i = count(); i > 0; --i) add(side, -1, sizes[random() % std::size(sizes)]);
    }
    const auto axis = [](const Side& side, std::int64_t kind) {
      return std::find(side.kinds.begin(), side.kinds.end(), kind) - side.kinds.begin();
    };
    DotAttributes attributes;
    for (int i = 0; i < batches + contracting; ++i) {
      const bool is_batch = i < batches;
      (is_batch ? attributes.lhs_batch : attributes.lhs_contracting).push_back(axis(sides[0], i));
      (is_batch ? attributes.rhs_batch : attributes.rhs_contracting).push_back(axis(sides[1], i));
    }
    expect_equals_interpreter(dtypes[random() % std::size(dtypes)], Shape(sides[0].sizes),
                              Shape(sides[1].sizes), attributes);
    if (HasFailure()) return;
  }
}

// --- in programs
// -------------------------------------------------------------------------------------

struct OnGpu {
  Compilation compilation;
  std::vector<Literal> outputs;

  int library_calls() const { return cost(compilation).library_calls; }
};

std::vector<Literal> inputs_of(const Graph& graph) {
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    inputs.push_back(small_integers(graph.parameter_type(i), static_cast<std::uint32_t>(i)));
  }
  return inputs;
}

Options on_gpu() {
  Options options;
  options.device = Device::cuda(0);
  return options;
}

OnGpu run_on_gpu(const Graph& graph, const std::vector<Literal>& inputs,
                 const Options& options = on_gpu()) {
  OnGpu ran{compile(graph, options), {}};
  std::vector<Buffer> buffers;
  for (const Literal& input : inputs) buffers.push_back(to_gpu(input));
  const std::vector<Buffer> results = run(ran.compilation, std::move(buffers));
  for (std::size_t i = 0; i < results.size(); ++i) {
    ran.outputs.push_back(read_literal(results[i], graph.type(graph.outputs()[i])));
  }
  return ran;
}

// `text` with T for the dtype.
Graph graph_of(std::string text, Dtype dtype) {
  const std::string by(name(dtype));
  for (std::size_t at; (at = text.find('T')) != std::string::npos;) text.replace(at, 1, by);
  return parse(text);
}

constexpr const char* biased = R"(
graph g(%0: T[5,20], %1: T[20,7], %2: T[7]) {
  %3: T[5,7] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  %4: T[5,7] = broadcast_in_dim %2 axes=[1]
  %5: T[5,7] = add %3, %4
)";
const std::string bias_text = std::string(biased) + "  return %5\n}\n";
const std::string relu_text = std::string(biased) + R"(
  %6: T[] = constant 0
  %7: T[5,7] = broadcast_in_dim %6
  %8: T[5,7] = maximum %5, %7
  return %8
}
)";
const std::string gelu_text = std::string(biased) + R"(
  %6: T[] = constant 0.044715
  %7: T[5,7] = broadcast_in_dim %6
  %8: T[5,7] = multiply %5, %5
  %9: T[5,7] = multiply %8, %5
  %10: T[5,7] = multiply %7, %9
  %11: T[5,7] = add %5, %10
  %12: T[] = constant 0.7978845608028654
  %13: T[5,7] = broadcast_in_dim %12
  %14: T[5,7] = multiply %13, %11
  %15: T[5,7] = tanh %14
  %16: T[] = constant 1
  %17: T[5,7] = broadcast_in_dim %16
  %18: T[5,7] = add %15, %17
  %19: T[] = constant 0.5
  %20: T[5,7] = broadcast_in_dim %19
  %21: T[5,7] = multiply %20, %5
  %22: T[5,7] = multiply %21, %18
  return %22
}
)";

void expect_near(const Literal& got, const Literal& wanted, double tolerance) {
  ASSERT_EQ(got.type(), wanted.type());
  visit_dtype(got.type().dtype, [&]<class T>() {
    for (std::size_t i = 0; i < got.values<T>().size(); ++i) {
      const auto a = convert_scalar<double>(got.values<T>()[i]);
      const auto b = convert_scalar<double>(wanted.values<T>()[i]);
      EXPECT_NEAR(a, b, tolerance * std::max(1.0, std::abs(b))) << "element " << i;
    }
  });
}

class EpiloguesOnGpu : public ::testing::TestWithParam<Dtype> {};

TEST_P(EpiloguesOnGpu, ABiasIsAdded) {
  const Graph graph = graph_of(bias_text, GetParam());
  const auto inputs = inputs_of(graph);
  EXPECT_EQ(run_on_gpu(graph, inputs).outputs, interpret(graph, inputs));
}

// The library does not say how exact its gelu is.
TEST_P(EpiloguesOnGpu, ActivationsFollowWithFastMath) {
  Options options = on_gpu();
  options.fast_math = true;
  const double tolerance = GetParam() == bf16 ? 1e-1 : 1e-2;
  for (const std::string& text : {relu_text, gelu_text}) {
    const Graph graph = graph_of(text, GetParam());
    const auto inputs = inputs_of(graph);
    expect_near(run_on_gpu(graph, inputs, options).outputs[0], interpret(graph, inputs)[0],
                tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(, EpiloguesOnGpu, ::testing::ValuesIn(dtypes),
                         [](const auto& info) { return std::string(name(info.param)); });

// The pretended library takes every bias, relu and gelu.
class PretendedEpilogues : public testing::PretendedDriver,
                           public ::testing::WithParamInterface<Dtype> {};

TEST_P(PretendedEpilogues, BiasIsTheLibrarys) {
  const Graph graph = graph_of(bias_text, GetParam());
  const auto inputs = inputs_of(graph);
  const OnGpu ran = run_on_gpu(graph, inputs);
  EXPECT_EQ(ran.compilation.program().kernels.size(), 0u);
  EXPECT_EQ(ran.library_calls(), 1);
  EXPECT_EQ(ran.outputs, interpret(graph, inputs));
}

TEST_P(PretendedEpilogues, ActivationsAreTheLibrarysWithFastMath) {
  Options options = on_gpu();
  options.fast_math = true;
  const double tolerance = GetParam() == f16 ? 1e-2 : GetParam() == bf16 ? 1e-1 : 1e-6;
  for (const std::string& text : {relu_text, gelu_text}) {
    const Graph graph = graph_of(text, GetParam());
    const auto inputs = inputs_of(graph);
    const OnGpu ran = run_on_gpu(graph, inputs, options);
    EXPECT_EQ(ran.compilation.program().kernels.size(), 0u) << text;
    expect_near(ran.outputs[0], interpret(graph, inputs)[0], tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(, PretendedEpilogues, ::testing::ValuesIn(dtypes),
                         [](const auto& info) { return std::string(name(info.param)); });

// Without fast math a NaN goes through relu, which is a kernel's then.
TEST(EpilogueOnGpu, KeepsNaN) {
  const Graph graph = graph_of(relu_text, f32);
  std::vector<Literal> inputs = inputs_of(graph);
  const std::vector<float> bias(7, std::numeric_limits<float>::quiet_NaN());
  inputs[2] = Literal::of(std::span<const float>(bias), Shape{7});
  const OnGpu ran = run_on_gpu(graph, inputs);
  EXPECT_EQ(ran.compilation.program().kernels.size(), 1u);
  for (const float value : ran.outputs[0].values<float>()) EXPECT_TRUE(std::isnan(value));
}

TEST(EpilogueOnGpu, AnyOtherIsAKernel) {
  const Graph graph = parse(R"(
graph g(%0: f32[6,20], %1: f32[20,6], %2: f32[6,6]) {
  %3: f32[6,6] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  %4: f32[6,6] = multiply %3, %2
  %5: f32[6,6] = add %4, %3
  return %4, %5
}
)");
  const auto inputs = inputs_of(graph);
  const OnGpu ran = run_on_gpu(graph, inputs);
  EXPECT_EQ(ran.compilation.program().kernels.size(), 1u);
  EXPECT_EQ(ran.library_calls(), 1);
  EXPECT_EQ(ran.outputs, interpret(graph, inputs));
}

TEST(ProgramOnGpu, TransposesWhatTheLibraryDoesNotTake) {
  const Graph graph = parse(R"(
graph g(%0: f32[4,5,3], %1: f32[5,6,3]) {
  %2: f32[3,4,6] = dot %0, %1 lhs_batch=[2] rhs_batch=[2] lhs_contracting=[1] rhs_contracting=[0]
  return %2
}
)");
  const auto inputs = inputs_of(graph);
  const OnGpu ran = run_on_gpu(graph, inputs);
  EXPECT_EQ(ran.compilation.program().kernels.size(), 2u);
  EXPECT_EQ(ran.library_calls(), 1);
  EXPECT_EQ(ran.outputs, interpret(graph, inputs));
}

TEST(ProgramOnGpu, NothingToSumGivesZeros) {
  for (const char* text : {R"(
graph g(%0: f32[4,0], %1: f32[0,6]) {
  %2: f32[4,6] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  return %2
}
)",
                           R"(
graph g(%0: f32[0,5], %1: f32[5,6]) {
  %2: f32[0,6] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  return %2
}
)"}) {
    const Graph graph = parse(text);
    const auto inputs = inputs_of(graph);
    EXPECT_EQ(run_on_gpu(graph, inputs).outputs, interpret(graph, inputs));
  }
}

// Each has a workspace of its own: the GPU takes the work of two streams in any order.
TEST(ProgramOnGpu, DotsOnSeveralStreamsAtOnce) {
  const Graph graph = parse(R"(
graph g(%0: f32[24,24], %1: f32[24,24]) {
  %2: f32[24,24] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  %3: f32[24,24] = dot %1, %0 lhs_contracting=[1] rhs_contracting=[0]
  %4: f32[24,24] = dot %0, %1 lhs_contracting=[0] rhs_contracting=[0]
  return %2, %3, %4
}
)");
  const auto inputs = inputs_of(graph);
  const std::vector<Literal> wanted = interpret(graph, inputs);
  Options options = on_gpu();
  options.use_all_streams = true;
  for (int round = 0; round < 20; ++round) {
    const OnGpu ran = run_on_gpu(graph, inputs, options);
    EXPECT_EQ(ran.compilation.program().streams.size(), 3u);
    EXPECT_EQ(ran.outputs, wanted);
  }
}

TEST(ProgramOnGpu, DotsInALoop) {
  const Graph graph = parse(R"(
graph g(%0: f32[20,20], %1: f32[20,20]) {
  %2: i32[] = constant 0
  %3: i32[], %4: f32[20,20], %5: f32[20,20] = while %2, %0, %1 graph condition(%0: i32[], %1: f32[20,20], %2: f32[20,20]) {
    %3: i32[] = constant 3
    %4: bool[] = compare %0, %3 direction=lt
    return %4
  } graph body(%0: i32[], %1: f32[20,20], %2: f32[20,20]) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
    %5: f32[20,20] = dot %1, %2 lhs_contracting=[1] rhs_contracting=[0]
    %6: f32[] = constant 0.0625
    %7: f32[20,20] = broadcast_in_dim %6
    %8: f32[20,20] = multiply %5, %7
    return %4, %8, %2
  }
  return %4
}
)");
  const auto inputs = inputs_of(graph);
  const OnGpu ran = run_on_gpu(graph, inputs);
  EXPECT_EQ(ran.library_calls(), 1);
  EXPECT_EQ(ran.outputs, interpret(graph, inputs));
}

// A product of two numbers of which one is no TF32.
float product_of_numbers(const Options& options) {
  const Graph graph = parse(R"(
graph g(%0: f32[1,1], %1: f32[1,1]) {
  %2: f32[1,1] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  return %2
}
)");
  const auto matrix = [](float value) {
    return Literal::of(std::span<const float>(&value, 1), Shape{1, 1});
  };
  const std::vector<Literal> inputs = {matrix(1 + 0x1p-12f), matrix(1)};
  return run_on_gpu(graph, inputs, options).outputs[0].values<float>()[0];
}

TEST(ProgramOnGpu, RoundsToTf32OnlyIfAsked) {
  EXPECT_EQ(product_of_numbers(on_gpu()), 1 + 0x1p-12f);
}

// Where it is asked to, a real library may, and the pretended one does.
using PretendedTf32 = testing::PretendedDriver;

TEST_F(PretendedTf32, IsUsedIfAsked) {
  Options options = on_gpu();
  options.tf32 = true;
  EXPECT_EQ(product_of_numbers(options), 1);
}

}  // namespace
}  // namespace anabranch::cuda
