#include "batch_graphs.h"

#include <algorithm>

#include "anabranch/custom_function.h"
#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/infer/infer.h"

namespace anabranch::testing {
namespace {

/// One op: the types of its operands, and the line that applies it to %0, %1 ...
struct Line {
  const char* operands;
  const char* application;
};

constexpr Line index_maps[] = {
    {"%0: f32[2,3]", "%1: f32[3,2] = reshape %0"},
    {"%0: f32[]", "%1: f32[1,1] = reshape %0"},
    {"%0: f32[3]", "%1: f32[2,3,2] = broadcast_in_dim %0 axes=[1]"},
    {"%0: f32[1,3]", "%1: f32[3,2] = broadcast_in_dim %0 axes=[1,0]"},
    {"%0: i32[2,3,4]", "%1: i32[4,2,3] = transpose %0 axes=[2,0,1]"},
    {"%0: f32[5,4]", "%1: f32[2,3] = slice %0 start=[1,0] limit=[5,3] stride=[2,1]"},
    {"%0: f32[3,4]", "%1: f32[3,4] = reverse %0 axes=[1]"},
    {"%0: f32[3,4], %1: f32[]", "%2: f32[6,5] = pad %0, %1 low=[1,-1] high=[0,2] interior=[1,0]"},
    {"%0: bool[3], %1: bool[]", "%2: bool[5] = pad %0, %1 low=[1] high=[1] interior=[0]"},
    {"%0: c64[3], %1: c64[]", "%2: c64[4] = pad %0, %1 low=[1] high=[0] interior=[0]"},
    {"%0: f32[5,4]",
     "%1: f32[2,2,2,2] = sliding_windows %0 sizes=[2,2] strides=[2,2] dilations=[2,1]"},
    {"%0: f32[2,3], %1: f32[1,3], %2: f32[2,3]", "%3: f32[5,3] = concatenate %0, %1, %2 axis=0"},
    {"%0: f32[4,5], %1: i32[], %2: i32[]", "%3: f32[2,3] = dynamic_slice %0, %1, %2 sizes=[2,3]"},
    {"%0: f32[4,5], %1: i32[], %2: i64[]", "%3: f32[4,1] = dynamic_slice %0, %1, %2 sizes=[4,1]"},
    {"%0: f32[]", "%1: f32[] = dynamic_slice %0 sizes=[]"},
    {"%0: f32[4,5], %1: f32[2,3], %2: i32[], %3: i32[]",
     "%4: f32[4,5] = dynamic_update_slice %0, %1, %2, %3"},
    {"%0: i32[4], %1: i32[3], %2: i64[]", "%3: i32[4] = dynamic_update_slice %0, %1, %2"},
    {"%0: f32[], %1: f32[]", "%2: f32[] = dynamic_update_slice %0, %1"},
    {"%0: f32[4,5], %1: i32[3,1]",
     "%2: f32[3,5] = gather %0, %1 offset_axes=[1] collapsed_axes=[0] start_axes=[0] "
     "index_vector_axis=1 sizes=[1,5]"},
    {"%0: f32[4,5], %1: i64[2,3]",
     "%2: f32[2,3,3] = gather %0, %1 offset_axes=[1] collapsed_axes=[0] start_axes=[0] "
     "index_vector_axis=2 sizes=[1,3]"},
    {"%0: f32[2,4,5], %1: i32[2,2,3]",
     "%2: f32[2,2,3] = gather %0, %1 offset_axes=[1] collapsed_axes=[2] operand_batch_axes=[0] "
     "index_batch_axes=[0] start_axes=[2,1] index_vector_axis=1 sizes=[1,2,1]"},
    {"%0: i32[4,5], %1: i32[3,1], %2: i32[3,5]",
     "%3: i32[4,5] = scatter %0, %1, %2 window_axes=[1] inserted_axes=[0] start_axes=[0] "
     "index_vector_axis=1 combiner=add"},
    {"%0: f32[4], %1: i32[3], %2: f32[2,3]",
     "%3: f32[4] = scatter %0, %1, %2 window_axes=[0] start_axes=[0] index_vector_axis=1 "
     "combiner=replace"},
    {"%0: f32[2,4], %1: i32[2,3,1], %2: f32[2,3]",
     "%3: f32[2,4] = scatter %0, %1, %2 inserted_axes=[1] operand_batch_axes=[0] "
     "index_batch_axes=[0] start_axes=[1] index_vector_axis=2 combiner=maximum"},
};

constexpr Line reductions[] = {
    {"%0: f32[2,3,4]", "%1: f32[3] = reduce_sum %0 axes=[0,2]"},
    {"%0: f32[2,3]", "%1: f32[2] = reduce_product %0 axes=[1]"},
    {"%0: f32[2,3]", "%1: f32[] = reduce_max %0 axes=[0,1]"},
    {"%0: i32[2,0]", "%1: i32[2] = reduce_min %0 axes=[1]"},
    {"%0: bool[2,3]", "%1: bool[3] = reduce_any %0 axes=[0]"},
    {"%0: bool[2,3]", "%1: bool[2] = reduce_all %0 axes=[1]"},
    {"%0: f32[2,3]", "%1: i32[2] = argmax %0 axis=1"},
    {"%0: i32[2,3]", "%1: i64[3] = argmin %0 axis=0"},
    {"%0: i32[2,3,4], %1: i32[]",
     "%2: i32[3] = reduce %0, %1 axes=[0,2] graph(%0: i32[], %1: i32[]) {\n"
     "%2: i32[] = add %0, %1\nreturn %2\n}"},
    {"%0: i32[2,3], %1: i32[]",  // the last element, in row-major order
     "%2: i32[] = reduce %0, %1 axes=[0,1] graph(%0: i32[], %1: i32[]) {\nreturn %1\n}"},
    {"%0: i32[2,3], %1: i32[]",  // the first one
     "%2: i32[2] = reduce %0, %1 axes=[1] graph(%0: i32[], %1: i32[]) {\nreturn %0\n}"},
    {"%0: i32[2,0], %1: i32[]",
     "%2: i32[2] = reduce %0, %1 axes=[1] graph(%0: i32[], %1: i32[]) {\n"
     "%2: i32[] = add %0, %1\nreturn %2\n}"},
    {"%0: f32[2,3], %1: i32[2,3], %2: f32[], %3: i32[]",
     "%4: f32[2], %5: i32[2] = reduce %0, %1, %2, %3 axes=[1] "
     "graph(%0: f32[], %1: i32[], %2: f32[], %3: i32[]) {\n"
     "%4: bool[] = compare %0, %2 direction=ge\n"
     "%5: f32[] = select %4, %0, %2\n%6: i32[] = select %4, %1, %3\nreturn %5, %6\n}"},
};

constexpr Line products[] = {
    {"%0: f32[2,3], %1: f32[3,4]",
     "%2: f32[2,4] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]"},
    {"%0: i32[3], %1: i32[3]", "%2: i32[] = dot %0, %1 lhs_contracting=[0] rhs_contracting=[0]"},
    {"%0: i32[3,2,4], %1: i32[5,4,3]",
     "%2: i32[3,2,5] = dot %0, %1 lhs_batch=[0] rhs_batch=[2] lhs_contracting=[2] "
     "rhs_contracting=[1]"},
    {"%0: i32[2], %1: i32[3,2]", "%2: i32[2,3,2] = dot %0, %1"},
    {"%0: f32[2,3,5,4], %1: f32[4,3,2,2]",
     "%2: f32[2,4,4,4] = convolution %0, %1 lhs_axes=[0,1,2,3] rhs_axes=[0,1,2,3] "
     "result_axes=[0,1,2,3] strides=[1,1] low=[0,1] high=[0,0] lhs_dilations=[1,1] "
     "rhs_dilations=[1,1] rhs_reversals=[0,0] groups=1 feature_splits=1"},
    {"%0: i32[4,5,2], %1: i32[2,6,2]",  // two groups, the axes in other orders
     "%2: i32[6,2,5] = convolution %0, %1 lhs_axes=[2,0,1] rhs_axes=[1,2,0] result_axes=[1,0,2] "
     "strides=[2] low=[1] high=[0] lhs_dilations=[2] rhs_dilations=[1] rhs_reversals=[1] "
     "groups=2 feature_splits=1"},
    {"%0: i32[2,4,5], %1: i32[3,4,2]",
     "%2: i32[2,2,3,4] = convolution %0, %1 lhs_axes=[0,1,2] rhs_axes=[0,1,2] "
     "result_axes=[0,1,2] strides=[1] low=[0] high=[0] lhs_dilations=[1] rhs_dilations=[1] "
     "rhs_reversals=[0] groups=1 feature_splits=2"},
    {"%0: i32[5,2,4], %1: i32[2,4,3]",
     "%2: i32[2,3,4,2] = convolution %0, %1 lhs_axes=[1,2,0] rhs_axes=[2,1,0] "
     "result_axes=[2,0,1] strides=[1] low=[0] high=[0] lhs_dilations=[1] rhs_dilations=[1] "
     "rhs_reversals=[0] groups=1 feature_splits=2"},
};

constexpr Line calls[] = {
    {"%0: f32[2,3]", "%1: f32[2,3] = transfer %0 device=cpu:0"},
    {"%0: f32[2,3], %1: f32[2]",
     "%2: f32[2,3], %3: f32[] = custom_call %0, %1 name=batch_test results=[f32[2,3],f32[]]"},
    {"%0: f32[4,3]", "%1: f32[4,3] = sort %0 axis=0"},
    {"%0: f32[3,4]", "%1: i32[3,4] = argsort %0 axis=1 descending=true positions=i32"},
    {"%0: f32[3,4]", "%1: f32[3,4] = cumulative %0 axis=1 of=sum reverse=true"},
    {"%0: f64[3,3]", "%1: f64[3,3] = cholesky %0"},
    {"%0: f64[1,1]", "%1: f64[1,1] = cholesky %0 lower=true"},
    {"%0: f64[3,3], %1: f64[3,2]",
     "%2: f64[3,2] = triangular_solve %0, %1 left_side=true lower=true transpose_a=transpose"},
    {"%0: f64[3,4]", "%1: f64[3,4], %2: i32[3], %3: i32[3] = lu %0"},
    {"%0: c64[2,3,2]", "%1: c64[2,3,2], %2: c64[2,2] = qr %0"},
    {"%0: f64[3,4], %1: i32[4]", "%2: f64[3,4], %3: f64[3], %4: i32[4] = qr_pivoted %0, %1"},
    {"%0: f64[3,2], %1: f64[2]", "%2: f64[3,2] = householder_product %0, %1"},
    {"%0: f64[3,2]",
     "%1: f64[2], %2: f64[3,3], %3: f64[2,2] = svd %0 vectors=true full_matrices=true"},
    {"%0: f64[3,3]", "%1: f64[3], %2: f64[3,3] = eigh %0 vectors=true lower=true"},
    {"%0: f64[3,3]", "%1: c128[3], %2: c128[3,3] = eig %0 right=true"},
    {"%0: c64[2,3,3]", "%1: c64[2,3,3], %2: c64[2,3,3] = schur %0 vectors=true"},
    {"%0: f64[3], %1: f64[3], %2: f64[3], %3: f64[3,2]",
     "%4: f64[3,2] = tridiagonal_solve %0, %1, %2, %3"},
    {"%0: c64[2,3,4]", "%1: c64[2,3,4] = fft %0 type=ifft lengths=[3,4]"},
    {"%0: f32[2,5]", "%1: c64[2,3] = fft %0 type=rfft lengths=[5]"},
};

constexpr const char* loops_and_branches[] = {
    // Checks: elements whose loop is over, or whose branch is another one, would fail.
    R"(graph main(%0: i32[], %1: f32[2]) {
         %2: i32[] = constant 0
         %3: i32[] = constant 7
         %4: i32[] = clamp %2, %0, %3
         %5: i32[], %6: f32[2], %7: i32[] = while %2, %1, %4 graph condition(%0: i32[], %1: f32[2], %2: i32[]) {
           %3: bool[] = compare %0, %2 direction=lt
           return %3
         } graph body(%0: i32[], %1: f32[2], %2: i32[]) {
           %3: i32[] = constant 1
           %4: bool[] = compare %0, %2 direction=ge
           %5: i32[] = convert %4
           %6: i32[] = add %0, %3
           %7: f32[2] = sine %1
           %8: i32[], %9: f32[2] = check %5, %6, %7 messages=["the loop is not over"]
           return %8, %9, %2
         }
         %10: bool[] = compare %4, %2 direction=eq
         %11: i32[] = convert %10
         %12: f32[2] = case %11, %6, %4 graph runs(%0: f32[2], %1: i32[]) {
           %2: i32[] = constant 1
           %3: bool[] = compare %1, %2 direction=lt
           %4: i32[] = convert %3
           %5: f32[2] = negate %0
           %6: f32[2] = check %4, %5 messages=["it ran"]
           return %6
         } graph does_not(%0: f32[2], %1: i32[]) {
           %2: f32[2] = check %1, %0 messages=["it did not run"]
           return %2
         }
         %13: f32[2] = check %2, %12 messages=[never]
         return %5, %13
       })",
    // A function with a derivative of its own, of two arguments and a capture.
    R"(graph main(%0: f32[2], %1: f32[2], %2: f32[]) {
         %3: f32[2], %4: f32[] = composite %0, %1, %2 rule=custom_jvp arguments=2 results=[] graph f(%0: f32[2], %1: f32[2], %2: f32[]) {
           %3: f32[2] = multiply %0, %1
           %4: f32[] = sine %2
           return %3, %4
         } graph rule(%0: f32[2], %1: f32[2], %2: f32[], %3: f32[2], %4: f32[2]) {
           %5: f32[2] = multiply %0, %1
           %6: f32[] = sine %2
           %7: f32[2] = multiply %3, %1
           return %5, %6, %7, %6
         }
         return %3, %4
       })",
    // As many turns as a captured number says, which the batch may share.
    R"(graph main(%0: i32[], %1: f32[2], %2: f32[2]) {
         %3: i32[] = constant 0
         %4: i32[] = constant 3
         %5: i32[] = and %0, %4
         %6: i32[], %7: f32[2] = while %3, %1, %5, %2 graph condition(%0: i32[], %1: f32[2], %2: i32[], %3: f32[2]) {
           %4: bool[] = compare %0, %2 direction=lt
           return %4
         } graph body(%0: i32[], %1: f32[2], %2: i32[], %3: f32[2]) {
           %4: i32[] = constant 1
           %5: i32[] = add %0, %4
           %6: f32[2] = add %1, %3
           return %5, %6
         }
         return %6, %7
       })",
    // What is carried takes two turns to reach the first value and the condition; one stays.
    R"(graph main(%0: i32[], %1: i32[], %2: i32[], %3: f32[2]) {
         %4: i32[], %5: i32[], %6: i32[], %7: f32[2] = while %0, %1, %2, %3 graph condition(%0: i32[], %1: i32[], %2: i32[], %3: f32[2]) {
           %4: i32[] = constant 9
           %5: bool[] = compare %0, %4 direction=lt
           return %5
         } graph body(%0: i32[], %1: i32[], %2: i32[], %3: f32[2]) {
           %4: i32[] = constant 1
           %5: i32[] = maximum %1, %4
           %6: i32[] = add %0, %5
           return %6, %2, %2, %3
         }
         return %4, %5, %6, %7
       })",
    // A loop in a loop, whose turns the outer one counts.
    R"(graph main(%0: i32[], %1: i32[]) {
         %2: i32[] = constant 3
         %3: i32[] = and %0, %2
         %4: i32[], %5: i32[] = while %3, %1 graph condition(%0: i32[], %1: i32[]) {
           %2: i32[] = constant 0
           %3: bool[] = compare %0, %2 direction=gt
           return %3
         } graph body(%0: i32[], %1: i32[]) {
           %2: i32[], %3: i32[] = while %0, %1 graph condition(%0: i32[], %1: i32[]) {
             %2: i32[] = constant 0
             %3: bool[] = compare %0, %2 direction=gt
             return %3
           } graph body(%0: i32[], %1: i32[]) {
             %2: i32[] = constant 1
             %3: i32[] = subtract %0, %2
             %4: i32[] = add %1, %1
             return %3, %4
           }
           %4: i32[] = constant 1
           %5: i32[] = subtract %0, %4
           return %5, %3
         }
         return %4, %5
       })",
    R"(graph main(%0: i32[], %1: f32[2], %2: f32[2]) {
         %3: f32[2], %4: f32[2] = case %0, %1, %2 graph first(%0: f32[2], %1: f32[2]) {
           %2: f32[2] = constant [1, 2]
           return %0, %2
         } graph second(%0: f32[2], %1: f32[2]) {
           %2: f32[2] = negate %0
           return %2, %1
         } graph third(%0: f32[2], %1: f32[2]) {
           return %1, %1
         }
         return %3, %4
       })",
    R"(graph main(%0: i32[], %1: f32[2]) {
         %2: f32[2] = case %0, %1 graph only(%0: f32[2]) {
           %1: f32[2] = constant [1, 2]
           return %1
         }
         return %2
       })",
};

void batch_test(const CustomCall& call) {
  const auto x = call.operand<float>(0), y = call.operand<float>(1);
  std::ranges::reverse_copy(x, call.result<float>(0).begin());
  call.result<float>(1)[0] = x[0] - y[1];
}

// All results are outputs.
Graph graph_of(const Line& line) {
  const std::string application = line.application;
  const std::string results = application.substr(0, application.find(" = "));
  std::string outputs;
  for (std::size_t at = 0; (at = results.find('%', at)) != std::string::npos; ++at) {
    outputs += (outputs.empty() ? "" : ", ") + results.substr(at, results.find(':', at) - at);
  }
  return parse("graph main(" + std::string(line.operands) + ") {\n" + application + "\nreturn " +
               outputs + "\n}");
}

// One op on parameters; none where it does not take them.
void add_elementwise(std::vector<Graph>& graphs, Op op, Dtype dtype, const Shape& shape) {
  GraphBuilder builder("main");
  std::vector<Value> operands;
  for (int i = 0; i < info(op).arity; ++i) {
    const bool is_condition = op == Op::select && i == 0;
    operands.push_back(builder.parameter({is_condition ? bool_ : dtype, shape}));
  }
  std::optional<Type> stated;
  if (info(op).has(OpInfo::typed)) stated = Type{dtype == f32 ? i32 : f32, shape};
  try {
    const Value result = builder.add(op, operands, default_attributes(op), stated);
    graphs.push_back(builder.build({result}));
  } catch (const Error&) {
  }
}

}  // namespace

std::vector<Graph> graphs_of_arrays() {
  register_custom_call("batch_test", batch_test);
  std::vector<Graph> graphs;
  const auto add = [&](const auto& lines) {
    for (const Line& line : lines) graphs.push_back(graph_of(line));
  };
  add(index_maps);
  add(reductions);
  add(products);
  add(calls);
  return graphs;
}

std::vector<Graph> graphs_of_control() {
  std::vector<Graph> graphs;
  for (const char* text : loops_and_branches) graphs.push_back(parse(text));
  return graphs;
}

std::vector<Graph> graphs_of_elements() {
  std::vector<Graph> graphs;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const Op op = static_cast<Op>(i);
    if (!is_elementwise(op)) continue;
    for (Dtype dtype : {bool_, i32, u64, f32, c64}) {
      add_elementwise(graphs, op, dtype, Shape{2, 3});
      add_elementwise(graphs, op, dtype, Shape{});
    }
  }
  return graphs;
}

}  // namespace anabranch::testing
