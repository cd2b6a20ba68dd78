// Each op that is no function of one number, in each form that its attributes give it, against
// central differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "ir/text/parse.h"
#include "passes/transform/jvp.h"
#include "passes/transform/jvp_rules.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using testing::check_derivatives;
using testing::DerivativeCheck;
using testing::spread_numbers;

// Operands, then the lines of the body; the results of the last line are the outputs. Floats and
// complex numbers are drawn from `low` to `high`, integers from 0 to 3.
struct Line {
  std::string_view operands, body;
  double low = -2, high = 2;
  int order = 2;
};

std::string results_of(std::string_view body) {
  const std::size_t last = body.rfind('\n') == std::string_view::npos ? 0 : body.rfind('\n') + 1;
  std::string results(body.substr(last, body.find(" = ", last) - last)), names;
  for (std::size_t at = results.find('%'); at != std::string::npos;
       at = results.find('%', at + 1)) {
    names += (names.empty() ? "" : ", ") + results.substr(at, results.find(':', at) - at);
  }
  return names;
}

// `x` in another dtype: "f64" -> "c128".
std::string with_dtype(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    text.replace(at, from.size(), to);
  }
  return text;
}

void check(const Line& line, const std::string& dtype, std::mt19937& random) {
  std::string text = "graph main(" + std::string(line.operands) + ") {\n" + std::string(line.body) +
                     "\nreturn " + results_of(line.body) + "\n}";
  text = with_dtype(text, "FLOAT", dtype);
  const Graph graph = parse(text);
  for (int k = 0; k < 3; ++k) {
    std::vector<Literal> inputs;
    for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
      const Type& type = graph.parameter_type(i);
      inputs.push_back(has_tangent(type.dtype)
                           ? spread_numbers(type, random, line.low, line.high)
                           : spread_numbers(type, random, 0, type.dtype == bool_ ? 1.99 : 3.99));
    }
    check_derivatives(graph, inputs, random, text, {.tolerance = 2e-5, .order = line.order});
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

constexpr Line elementwise[] = {
    {"%0: FLOAT[2,3], %1: FLOAT[2,3]", "%2: FLOAT[2,3] = add %0, %1"},
    {"%0: FLOAT[2,3], %1: FLOAT[2,3]", "%2: FLOAT[2,3] = subtract %0, %1"},
    {"%0: FLOAT[2,3]", "%2: FLOAT[2,3] = subtract %0, %0"},
    {"%0: FLOAT[2,3], %1: FLOAT[2,3]", "%2: FLOAT[2,3] = multiply %0, %1"},
    {"%0: FLOAT[2,3], %1: FLOAT[2,3]", "%2: FLOAT[2,3] = divide %0, %1", 0.5, 2},
    {"%0: FLOAT[2,3], %1: FLOAT[2,3]", "%2: FLOAT[2,3] = power %0, %1", 0.5, 2},
    {"%0: bool[2,3], %1: FLOAT[2,3], %2: FLOAT[2,3]", "%3: FLOAT[2,3] = select %0, %1, %2"},
    {"%0: FLOAT[0,3], %1: FLOAT[0,3]", "%2: FLOAT[0,3] = multiply %0, %1"},
    {"%0: FLOAT[2,3]", "%1: FLOAT[2,3] = optimization_barrier %0"},
};
constexpr Line of_reals[] = {
    {"%0: f64[2,3], %1: f64[2,3]", "%2: f64[2,3] = remainder %0, %1", 0.5, 2, 1},
    {"%0: f64[2,3], %1: f64[2,3]", "%2: f64[2,3] = maximum %0, %1", -2, 2, 1},
    {"%0: f64[2,3], %1: f64[2,3]", "%2: f64[2,3] = minimum %0, %1", -2, 2, 1},
    {"%0: f64[2,3], %1: f64[2,3]", "%2: f64[2,3] = atan2 %0, %1", 0.3, 2},
    {"%0: f64[3], %1: f64[3], %2: f64[3]", "%3: f64[3] = clamp %0, %1, %2", -2, 2, 1},
    {"%0: f64[3], %1: f64[3]", "%2: c128[3] = complex %0, %1"},
    {"%0: c128[3]", "%1: f64[3] = real %0"},
    {"%0: c128[3]", "%1: f64[3] = imag %0"},
    {"%0: c128[3]", "%1: f64[3] = convert %0"},
    {"%0: f64[3]", "%1: c128[3] = convert %0"},
    {"%0: f64[4,3]", "%1: f64[4,3] = sort %0 axis=0", -2, 2, 1},
    {"%0: f64[2,5]", "%1: f64[2,5] = sort %0 axis=1 descending=true", -2, 2, 1},
    {"%0: f64[3,4]", "%1: f64[3,4] = cumulative %0 axis=1 of=maximum reverse=true", -2, 2, 1},
    {"%0: f64[3,4]", "%1: f64[3,4] = cumulative %0 axis=0 of=minimum", -2, 2, 1},
    {"%0: f64[2,3]", "%1: f64[] = reduce_max %0 axes=[0,1]", -2, 2, 1},
    {"%0: f64[2,3,2]", "%1: f64[2,2] = reduce_min %0 axes=[1]", -2, 2, 1},
    {"%0: f64[2,3], %1: f64[]",
     "%2: f64[2] = reduce %0, %1 axes=[1] graph(%0: f64[], %1: f64[]) {\n"
     "%2: f64[] = multiply %0, %1\n%3: f64[] = add %0, %1\n%4: f64[] = add %2, %3\nreturn %4\n}"},
    {"%0: f64[4], %1: i32[3,1], %2: f64[3]",
     "%3: f64[4] = scatter %0, %1, %2 inserted_axes=[0] start_axes=[0] index_vector_axis=1 "
     "combiner=minimum",
     -2, 2, 1},
    {"%0: f64[4], %1: i32[3,1], %2: f64[3]",
     "%3: f64[4] = scatter %0, %1, %2 inserted_axes=[0] start_axes=[0] index_vector_axis=1 "
     "combiner=maximum",
     -2, 2, 1},
    {"%0: f64[2,5]", "%1: c128[2,3] = fft %0 type=rfft lengths=[5]"},
    {"%0: f64[3,4]", "%1: c128[3,3] = fft %0 type=rfft lengths=[3,4]"},
    {"%0: c128[2,3]", "%1: f64[2,5] = fft %0 type=irfft lengths=[5]"},
    {"%0: c128[3,3]", "%1: f64[3,4] = fft %0 type=irfft lengths=[3,4]"},
};

constexpr Line moves[] = {
    {"%0: FLOAT[2,3]", "%1: FLOAT[3,2] = reshape %0"},
    {"%0: FLOAT[3,1]", "%1: FLOAT[2,4,3] = broadcast_in_dim %0 axes=[2,1]"},
    {"%0: FLOAT[]", "%1: FLOAT[2,3] = broadcast_in_dim %0"},
    {"%0: FLOAT[3]", "%1: FLOAT[2,3] = broadcast_in_dim %0 axes=[1]"},
    {"%0: FLOAT[2,3,4]", "%1: FLOAT[4,2,3] = transpose %0 axes=[2,0,1]"},
    {"%0: FLOAT[5,6]", "%1: FLOAT[2,3] = slice %0 start=[1,0] limit=[4,6] stride=[2,2]"},
    {"%0: FLOAT[5]", "%1: FLOAT[0] = slice %0 start=[2] limit=[2] stride=[1]"},
    {"%0: FLOAT[2,3]", "%1: FLOAT[2,3] = reverse %0 axes=[0,1]"},
    {"%0: FLOAT[3,2], %1: FLOAT[]",
     "%2: FLOAT[6,3] = pad %0, %1 low=[2,-1] high=[-1,2] interior=[1,0]"},
    {"%0: FLOAT[0,2], %1: FLOAT[]",
     "%2: FLOAT[3,2] = pad %0, %1 low=[2,0] high=[1,0] interior=[0,0]"},
    {"%0: FLOAT[7]", "%1: FLOAT[2,3] = sliding_windows %0 sizes=[3] strides=[2] dilations=[2]"},
    {"%0: FLOAT[5,6]",
     "%1: FLOAT[4,3,2,2] = sliding_windows %0 sizes=[2,2] strides=[1,2] dilations=[1,1]"},
    {"%0: FLOAT[2]", "%1: FLOAT[0,3] = sliding_windows %0 sizes=[3] strides=[1] dilations=[1]"},
    {"%0: FLOAT[2,3], %1: FLOAT[2,1], %2: FLOAT[2,0]",
     "%3: FLOAT[2,4] = concatenate %0, %1, %2 axis=1"},
    {"%0: FLOAT[5,4], %1: i32[], %2: i32[]",
     "%3: FLOAT[2,3] = dynamic_slice %0, %1, %2 sizes=[2,3]"},
    {"%0: FLOAT[5,4], %1: FLOAT[2,3], %2: i32[], %3: i32[]",
     "%4: FLOAT[5,4] = dynamic_update_slice %0, %1, %2, %3"},
    {"%0: FLOAT[4,3], %1: i32[5]",
     "%2: FLOAT[5,3] = gather %0, %1 offset_axes=[1] collapsed_axes=[0] start_axes=[0] "
     "index_vector_axis=1 sizes=[1,3]"},
    {"%0: FLOAT[3,3], %1: i32[2,2]",  // held inside
     "%2: FLOAT[2,2,2] = gather %0, %1 offset_axes=[1,2] start_axes=[0,1] index_vector_axis=1 "
     "sizes=[2,2]"},
    {"%0: FLOAT[2,4], %1: i32[2,3]",
     "%2: FLOAT[2,3] = gather %0, %1 collapsed_axes=[1] operand_batch_axes=[0] "
     "index_batch_axes=[0] start_axes=[1] index_vector_axis=2 sizes=[1,1]"},
    {"%0: FLOAT[4,3], %1: i32[5,1], %2: FLOAT[5,3]",
     "%3: FLOAT[4,3] = scatter %0, %1, %2 window_axes=[1] inserted_axes=[0] start_axes=[0] "
     "index_vector_axis=1 combiner=add"},
    {"%0: FLOAT[3,3], %1: i32[2,2], %2: FLOAT[2,2,2]",  // outside too
     "%3: FLOAT[3,3] = scatter %0, %1, %2 window_axes=[1,2] start_axes=[0,1] index_vector_axis=1 "
     "combiner=add"},
    {"%0: FLOAT[3,3], %1: i32[3,2], %2: FLOAT[3,2,2]",
     "%3: FLOAT[3,3] = scatter %0, %1, %2 window_axes=[1,2] start_axes=[0,1] index_vector_axis=1 "
     "combiner=replace"},
    {"%0: FLOAT[3,2], %1: i32[3,4], %2: FLOAT[3,4]",
     "%3: FLOAT[3,2] = scatter %0, %1, %2 inserted_axes=[1] operand_batch_axes=[0] "
     "index_batch_axes=[0] start_axes=[1] index_vector_axis=2 combiner=replace"},
    {"%0: FLOAT[4], %1: i32[6,1], %2: FLOAT[6]",
     "%3: FLOAT[4] = scatter %0, %1, %2 inserted_axes=[0] start_axes=[0] index_vector_axis=1 "
     "combiner=multiply"},
    {"%0: FLOAT[2,3,4]", "%1: FLOAT[3] = reduce_sum %0 axes=[0,2]"},
    {"%0: FLOAT[2,5]", "%1: FLOAT[2] = reduce_product %0 axes=[1]"},
    {"%0: FLOAT[3,2,0]", "%1: FLOAT[3] = reduce_product %0 axes=[1,2]"},
    {"%0: FLOAT[3,4]", "%1: FLOAT[3,4] = cumulative %0 axis=1 of=sum reverse=true"},
    {"%0: FLOAT[5]", "%1: FLOAT[5] = cumulative %0 axis=0 of=product"},
    {"%0: FLOAT[2,3], %1: FLOAT[3,4]",
     "%2: FLOAT[2,4] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]"},
    {"%0: FLOAT[3,2,4], %1: FLOAT[5,4,3]",
     "%2: FLOAT[3,2,5] = dot %0, %1 lhs_batch=[0] rhs_batch=[2] lhs_contracting=[2] "
     "rhs_contracting=[1]"},
    {"%0: FLOAT[3,2,4,2], %1: FLOAT[2,5,4,3]",
     "%2: FLOAT[3,2,5] = dot %0, %1 lhs_batch=[0] rhs_batch=[3] lhs_contracting=[3,2] "
     "rhs_contracting=[0,2]"},
    {"%0: FLOAT[2], %1: FLOAT[3,2]", "%2: FLOAT[2,3,2] = dot %0, %1"},
    {"%0: FLOAT[2,3]", "%2: FLOAT[2,2] = dot %0, %0 lhs_contracting=[1] rhs_contracting=[1]"},
    {"%0: FLOAT[2,3,5,4], %1: FLOAT[4,3,2,2]",
     "%2: FLOAT[2,4,4,4] = convolution %0, %1 lhs_axes=[0,1,2,3] rhs_axes=[0,1,2,3] "
     "result_axes=[0,1,2,3] strides=[1,1] low=[0,1] high=[0,0] lhs_dilations=[1,1] "
     "rhs_dilations=[1,1] rhs_reversals=[0,0] groups=1 feature_splits=1"},
    {"%0: FLOAT[4,5,2], %1: FLOAT[2,6,2]",  // two groups, the axes in other orders
     "%2: FLOAT[6,2,5] = convolution %0, %1 lhs_axes=[2,0,1] rhs_axes=[1,2,0] result_axes=[1,0,2] "
     "strides=[2] low=[1] high=[0] lhs_dilations=[2] rhs_dilations=[1] rhs_reversals=[1] "
     "groups=2 feature_splits=1"},
    {"%0: FLOAT[2,2,9], %1: FLOAT[3,2,2]",  // dilated filters, cropped
     "%2: FLOAT[2,3,3] = convolution %0, %1 lhs_axes=[0,1,2] rhs_axes=[0,1,2] "
     "result_axes=[0,1,2] strides=[2] low=[-1] high=[0] lhs_dilations=[1] rhs_dilations=[3] "
     "rhs_reversals=[0] groups=1 feature_splits=1"},
    {"%0: FLOAT[3,4]", "%1: FLOAT[3,4] = transfer %0 device=cpu:0"},
};

constexpr Line of_complex[] = {
    {"%0: c128[2,3,4]", "%1: c128[2,3,4] = fft %0 type=ifft lengths=[3,4]"},
    {"%0: c128[5]", "%1: c128[5] = fft %0 type=fft lengths=[5]"},
};

template <std::size_t Count>
void check_all(const Line (&lines)[Count], std::initializer_list<const char*> dtypes) {
  for (const char* dtype : dtypes) {
    std::mt19937 random(5);
    for (const Line& line : lines) {
      check(line, dtype, random);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(DerivativesOfOps, AgreeWithDifferences) {
  check_all(elementwise, {"f64", "c128"});
  check_all(of_reals, {"f64"});
  check_all(moves, {"f64", "c128"});
  check_all(of_complex, {"c128"});
}

// Those of linear_algebra.cpp and of loops (derivatives.cpp), and what only later passes make.
bool is_tested_elsewhere(Op op) {
  constexpr Op ops[] = {Op::cholesky,
                        Op::triangular_solve,
                        Op::lu,
                        Op::qr,
                        Op::householder_product,
                        Op::svd,
                        Op::eigh,
                        Op::eig,
                        Op::tridiagonal_solve,
                        Op::while_,
                        Op::case_,
                        Op::composite,
                        Op::fusion,
                        Op::custom_call};
  return std::find(std::begin(ops), std::end(ops), op) != std::end(ops);
}

TEST(DerivativesOfOps, EveryOpWithADerivativeIsTested) {
  std::set<std::string_view> tested;
  const auto note = [&](const auto& lines) {
    for (const Line& line : lines) {
      for (const OpInfo& op : all_ops()) {
        if (line.body.find(" = " + std::string(op.name) + " ") != std::string_view::npos) {
          tested.insert(op.name);
        }
      }
    }
  };
  note(elementwise);
  note(of_reals);
  note(moves);
  note(of_complex);
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const Op op = static_cast<Op>(i);
    const bool is_function = info(op).arity == 1 && is_elementwise(op);
    if (is_function || is_tested_elsewhere(op)) continue;
    if (jvp_rule(op).kind == JvpRule::Kind::none) continue;
    EXPECT_TRUE(tested.contains(info(op).name)) << info(op).name;
  }
}

}  // namespace
}  // namespace anabranch
