// convolution: sums of products over windows, accumulated in a wider type and rounded once.
#include "ir/interpret/rules.h"

namespace anabranch {

Results rules::convolution(const Node& node, Operands operands) {
  const auto& a = node.as<ConvolutionAttributes>();
  const Shape &lhs = operands[0].type().shape, &rhs = operands[1].type().shape;
  const auto lhs_strides = pick(lhs.strides(), a.lhs_axes);
  const auto rhs_strides = pick(rhs.strides(), a.rhs_axes);
  const auto lhs_sizes = pick(lhs.sizes(), a.lhs_axes), rhs_sizes = pick(rhs.sizes(), a.rhs_axes);
  // Over the input features of a group, or of one of its parts, and the places in a window.
  std::vector<std::int64_t> inner_sizes(rhs_sizes.begin() + 1, rhs_sizes.end());
  inner_sizes[0] /= a.feature_splits;
  const Shape inner(inner_sizes);
  const std::int64_t outputs_of_group = rhs_sizes[0] / a.groups;

  return visit_any_dtype(operands[0].type().dtype, [&]<class T>() {
    using Sum = Exact<T>;
    const auto x = operands[0].values<T>(), w = operands[1].values<T>();
    Elements<T> result(node.types[0]);
    std::int64_t next = 0;
    for_each_place(node.types[0].shape, [&](const std::vector<std::int64_t>& place) {
      const bool is_split = a.feature_splits > 1;
      const auto of_result = pick(std::span(place).subspan(is_split ? 1 : 0), a.result_axes);
      const std::int64_t first_feature = is_split ? place[0] * inner_sizes[0] : 0;
      const std::int64_t first_input = of_result[1] / outputs_of_group * rhs_sizes[1];
      Sum sum{0};
      for_each_place(inner, [&](const std::vector<std::int64_t>& in_window) {
        const std::int64_t feature = first_feature + in_window[0];
        std::int64_t from =
            of_result[0] * lhs_strides[0] + (first_input + feature) * lhs_strides[1];
        std::int64_t with = of_result[1] * rhs_strides[0] + feature * rhs_strides[1];
        bool is_zero = false;
        for (std::size_t i = 0; i < a.strides.size(); ++i) {
          const std::int64_t padded =
              of_result[i + 2] * a.strides[i] + in_window[i + 1] * a.rhs_dilations[i] - a.low[i];
          const std::int64_t element = padded / a.lhs_dilations[i];
          is_zero = is_zero || padded < 0 || padded % a.lhs_dilations[i] != 0 ||
                    element >= lhs_sizes[i + 2];
          from += element * lhs_strides[i + 2];
          const std::int64_t in_filter =
              a.rhs_reversals[i] == 0 ? in_window[i + 1] : rhs_sizes[i + 2] - 1 - in_window[i + 1];
          with += in_filter * rhs_strides[i + 2];
        }
        const Sum left = is_zero ? Sum{0} : Sum(x[static_cast<std::size_t>(from)]);
        sum = sum_of(sum, product_of(left, Sum(w[static_cast<std::size_t>(with)])));
      });
      result[next++] = convert_scalar<T>(sum);
    });
    return std::move(result).finish();
  });
}

}  // namespace anabranch
