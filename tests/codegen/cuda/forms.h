// The forms that a fused group can take, as graphs.
#pragma once

#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace anabranch::testing {

struct Form {
  const char* name;
  const char* text;  ///< N and M stand for sizes
  bool takes_nothing = true;
};
inline void PrintTo(const Form& form, std::ostream* out) { *out << form.text; }

inline const Form forms[] = {
    {"chain", R"(graph g(%0: f32[N,M], %1: f32[M]) {
  %2: f32[N,M] = broadcast_in_dim %1 axes=[1]
  %3: f32[N,M] = add %0, %2
  %4: f32[N,M] = tanh %3
  return %4, %3
})"},
    {"halves", R"(graph g(%0: bf16[N,M], %1: f16[N,M]) {
  %2: f32[N,M] = convert %0
  %3: f32[N,M] = convert %1
  %4: f32[N,M] = multiply %2, %3
  %5: bf16[N,M] = convert %4
  return %5
})"},
    {"transpose", R"(graph g(%0: f32[N,M]) {
  %1: f32[M,N] = transpose %0 axes=[1,0]
  %2: f32[M,N] = negate %1
  return %2
})"},
    {"row_sums", R"(graph g(%0: f32[N,M]) {
  %1: f32[N] = reduce_sum %0 axes=[1]
  return %1
})"},
    {"column_sums", R"(graph g(%0: f32[N,M]) {
  %1: f32[M] = reduce_sum %0 axes=[0]
  %2: f32[M] = reduce_max %0 axes=[0]
  return %1, %2
})"},
    {"whole_sum", R"(graph g(%0: f32[N,M]) {
  %1: f32[] = reduce_sum %0 axes=[0,1]
  %2: f32[] = reduce_min %0 axes=[0,1]
  return %1, %2
})"},
    {"outer_and_inner_axes", R"(graph g(%0: f32[N,3,M]) {
  %1: f32[3] = reduce_sum %0 axes=[0,2]
  return %1
})"},
    {"middle_axis", R"(graph g(%0: f32[3,N,M]) {
  %1: f32[3,M] = reduce_product %0 axes=[1]
  return %1
})"},
    {"argmax_of_rows", R"(graph g(%0: f32[N,M]) {
  %1: i32[N] = argmax %0 axis=1
  %2: i64[M] = argmin %0 axis=0
  return %1, %2
})",
     false},
    {"any_and_all", R"(graph g(%0: bool[N,M]) {
  %1: bool[N] = reduce_any %0 axes=[1]
  %2: bool[N] = reduce_all %0 axes=[1]
  return %1, %2
})"},
    {"softmax", R"(graph g(%0: f32[N,M]) {
  %1: f32[N] = reduce_max %0 axes=[1]
  %2: f32[N,M] = broadcast_in_dim %1 axes=[0]
  %3: f32[N,M] = subtract %0, %2
  %4: f32[N,M] = exponential %3
  %5: f32[N] = reduce_sum %4 axes=[1]
  %6: f32[N,M] = broadcast_in_dim %5 axes=[0]
  %7: f32[N,M] = divide %4, %6
  return %7
})"},
    {"softmax_of_halves", R"(graph g(%0: f16[N,M]) {
  %8: f32[N,M] = convert %0
  %1: f32[N] = reduce_max %8 axes=[1]
  %2: f32[N,M] = broadcast_in_dim %1 axes=[0]
  %3: f32[N,M] = subtract %8, %2
  %4: f32[N,M] = exponential %3
  %5: f32[N] = reduce_sum %4 axes=[1]
  %6: f32[N,M] = broadcast_in_dim %5 axes=[0]
  %7: f32[N,M] = divide %4, %6
  %9: f16[N,M] = convert %7
  return %9
})"},
    {"layer_norm", R"(graph g(%0: f32[N,M], %1: f32[M], %2: f32[M]) {
  %3: f32[N] = reduce_sum %0 axes=[1]
  %4: f32[N,M] = broadcast_in_dim %3 axes=[0]
  %5: f32[N,M] = subtract %0, %4
  %6: f32[N,M] = multiply %5, %5
  %7: f32[N] = reduce_sum %6 axes=[1]
  %8: f32[N] = rsqrt %7
  %9: f32[N,M] = broadcast_in_dim %8 axes=[0]
  %10: f32[N,M] = multiply %5, %9
  %11: f32[N,M] = broadcast_in_dim %1 axes=[1]
  %12: f32[N,M] = multiply %10, %11
  %13: f32[N,M] = broadcast_in_dim %2 axes=[1]
  %14: f32[N,M] = add %12, %13
  return %14
})"},
    {"general_fold", R"(graph g(%0: i32[N,M], %1: i32[]) {
  %2: i32[N] = reduce %0, %1 axes=[1] graph body(%0: i32[], %1: i32[]) {
    %2: i32[] = multiply %0, %1
    %3: i32[] = add %2, %1
    return %3
  }
  return %2
})"},
    {"pad_slice_concatenate", R"(graph g(%0: f32[N,M], %1: f32[]) {
  %2: f32[N,M] = reverse %0 axes=[1]
  %3: f32[N,M] = negate %0
  %4: f32[N,M] = concatenate %2 axis=1
  %5: f32[N,M] = add %3, %4
  return %5
})"},
    {"integer_product", R"(graph g(%0: i32[N,M], %1: i32[M,7]) {
  %2: i32[N,7] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  return %2
})"},
    {"gathered_rows", R"(graph g(%0: f32[9,M], %1: i32[N], %2: f32[M]) {
  %3: f32[N,M] = gather %0, %1 offset_axes=[1] collapsed_axes=[0] start_axes=[0] index_vector_axis=1 sizes=[1,M]
  %4: f32[N,M] = broadcast_in_dim %2 axes=[1]
  %5: f32[N,M] = add %3, %4
  return %5
})"},
    {"gathered_points", R"(graph g(%0: f32[9,M], %1: i64[N,2], %2: i32[N,M]) {
  %3: i32[N,M] = abs %2
  %4: f32[N] = gather %0, %1 collapsed_axes=[0,1] start_axes=[1,0] index_vector_axis=1 sizes=[1,1]
  %5: f32[N,M] = gather %0, %3 collapsed_axes=[0] operand_batch_axes=[1] index_batch_axes=[1] start_axes=[0] index_vector_axis=2 sizes=[1,1]
  %6: f32[N] = reduce_sum %5 axes=[1]
  %7: f32[N] = add %4, %6
  return %7
})",
     false},
    {"random", R"(graph g(%0: u64[]) {
  %1: u64[N,M] = iota axis=1
  %2: u64[N,M] = broadcast_in_dim %0 axes=[]
  %3: u32[N,M] = random_bits %2, %1
  return %3
})"},
};

inline const Form& form(std::string_view name) {
  for (const Form& candidate : forms) {
    if (candidate.name == name) return candidate;
  }
  throw std::out_of_range("no form " + std::string(name));
}

}  // namespace anabranch::testing
