// convolution: sums of products over windows, accumulated in a wider type and rounded once, or in
// the order of another implementation.
#include <span>

#include "ir/graph/walk.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

template <class T>
class ExactSum {
 public:
  explicit ExactSum(std::int64_t /*terms*/, bool /*in_a_row*/) {}
  void add(T x, T w) { sum_ = sum_of(sum_, product_of(Exact<T>(x), Exact<T>(w))); }
  T total() const { return convert_scalar<T>(sum_); }

 private:
  Exact<T> sum_{0};
};

template <class T>
class SumInXlaOrder : public ExactSum<T> {
  using ExactSum<T>::ExactSum;
};

template <std::floating_point T>
class SumInXlaOrder<T> {
 public:
  SumInXlaOrder(std::int64_t terms, bool in_a_row) : paired_(in_a_row ? 0 : terms / 2 * 2) {}
  void add(T x, T w) {
    // What has no partner comes after all pairs.
    if (count_ == paired_) sums_ = {sums_[0] + sums_[1], 0};
    T& sum = sums_[count_ < paired_ ? count_ % 2 : 0];
    sum = std::fma(x, w, sum);
    ++count_;
  }
  T total() const { return sums_[0] + sums_[1]; }

 private:
  std::int64_t paired_, count_ = 0;
  std::array<T, 2> sums_{};
};

template <template <class> class Sum>
Results convolve(const Node& node, Operands operands) {
  const auto& a = node.as<ConvolutionAttributes>();
  const Shape &lhs = operands[0].type().shape, &rhs = operands[1].type().shape;
  const auto lhs_strides = pick(lhs.strides(), a.lhs_axes);
  const auto rhs_strides = pick(rhs.strides(), a.rhs_axes);
  const auto lhs_sizes = pick(lhs.sizes(), a.lhs_axes), rhs_sizes = pick(rhs.sizes(), a.rhs_axes);
  // Over the places in a window and the input features of a group, or of one of its parts.
  const std::int64_t features = rhs_sizes[1] / a.feature_splits;
  std::vector<std::int64_t> inner_sizes(rhs_sizes.begin() + 2, rhs_sizes.end());
  inner_sizes.push_back(features);
  const Shape inner(inner_sizes);
  const std::int64_t outputs_of_group = rhs_sizes[0] / a.groups;

  return visit_any_dtype(operands[0].type().dtype, [&]<class T>() {
    const auto x = operands[0].values<T>(), w = operands[1].values<T>();
    Elements<T> result(node.types[0]);
    std::int64_t next = 0;
    for_each_place(node.types[0].shape, [&](const std::vector<std::int64_t>& place) {
      const bool is_split = a.feature_splits > 1;
      const auto of_result = pick(std::span(place).subspan(is_split ? 1 : 0), a.result_axes);
      const std::int64_t first_feature = is_split ? place[0] * features : 0;
      const std::int64_t first_input = of_result[1] / outputs_of_group * rhs_sizes[1];
      Sum<T> sum(inner.size(), adds_in_a_row(a));
      for_each_place(inner, [&](const std::vector<std::int64_t>& in_window) {
        const std::int64_t feature = first_feature + in_window.back();
        std::int64_t from =
            of_result[0] * lhs_strides[0] + (first_input + feature) * lhs_strides[1];
        std::int64_t with = of_result[1] * rhs_strides[0] + feature * rhs_strides[1];
        bool is_zero = false;
        for (std::size_t i = 0; i < a.strides.size(); ++i) {
          const std::int64_t padded =
              of_result[i + 2] * a.strides[i] + in_window[i] * a.rhs_dilations[i] - a.low[i];
          const std::int64_t element = padded / a.lhs_dilations[i];
          is_zero = is_zero || padded < 0 || padded % a.lhs_dilations[i] != 0 ||
                    element >= lhs_sizes[i + 2];
          from += element * lhs_strides[i + 2];
          const std::int64_t in_filter =
              a.rhs_reversals[i] == 0 ? in_window[i] : rhs_sizes[i + 2] - 1 - in_window[i];
          with += in_filter * rhs_strides[i + 2];
        }
        const T left = is_zero ? T{} : x[static_cast<std::size_t>(from)];
        sum.add(left, w[static_cast<std::size_t>(with)]);
      });
      result[next++] = sum.total();
    });
    return std::move(result).finish();
  });
}

}  // namespace

Results rules::convolution(const Node& node, Operands operands) {
  return convolve<ExactSum>(node, operands);
}

bool adds_in_a_row(const ConvolutionAttributes& a) {
  return a.strides.size() == 1 && a.groups == 1;
}

Results interpret_in_xla_order(const Graph& graph, Operands inputs) {
  return walk(graph, inputs, [](const Node& node, Operands operands) {
    if (node.op == Op::convolution) return convolve<SumInXlaOrder>(node, operands);
    return interpret(node, operands);
  });
}

}  // namespace anabranch
