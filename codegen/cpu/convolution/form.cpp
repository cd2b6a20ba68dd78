#include "codegen/cpu/convolution/form.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "codegen/cpu/dot/design.h"

namespace anabranch::cpu {
namespace {

using Dims = dnnl::memory::dims;
using Kind = ConvolutionForm::Kind;

// In the order of `axes`: batch or output feature, feature, spatial ones.
ConvolutionView view_of(const Shape& shape, const std::vector<std::int64_t>& axes) {
  const std::vector<std::int64_t> strides = shape.strides();
  ConvolutionView view;
  for (std::int64_t axis : axes) {
    view.sizes.push_back(shape[static_cast<int>(axis)]);
    view.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return view;
}

void swap_first_two(ConvolutionView& view) {
  std::swap(view.sizes[0], view.sizes[1]);
  std::swap(view.strides[0], view.strides[1]);
}

// Filters [groups * outputs, inputs, ...] as [groups, outputs, inputs, ...].
void split_groups(ConvolutionView& filters, std::int64_t groups) {
  if (groups == 1) return;
  filters.sizes[0] /= groups;
  filters.sizes.insert(filters.sizes.begin(), groups);
  filters.strides.insert(filters.strides.begin(), filters.strides[0] * filters.sizes[1]);
}

std::int64_t product(const Dims& sizes, std::ptrdiff_t from) {
  return std::accumulate(sizes.begin() + from, sizes.end(), std::int64_t{1}, std::multiplies<>());
}

bool are_all(const Dims& list, std::int64_t value) {
  return std::ranges::all_of(list, [&](std::int64_t entry) { return entry == value; });
}

// What is padded behind, so that `count` windows of `window` places, `stride` apart, just fit.
std::int64_t padding_behind(std::int64_t count, std::int64_t stride, std::int64_t window,
                            std::int64_t dilation, std::int64_t size, std::int64_t low) {
  return (count - 1) * stride + (window - 1) * dilation + 1 - size - low;
}

// Elements behind the last window are left out of the view, in place of padding below zero.
void crop_rest(ConvolutionForm& form) {
  for (std::size_t i = 0; i < form.high.size(); ++i) {
    const std::int64_t rest = std::min<std::int64_t>(form.high[i], 0);
    form.lhs.sizes[i + 2] += rest;
    form.high[i] -= rest;
  }
}

// Along which axes filters, before they are split in groups, are not in the order that is wanted:
// backwards where `wanted` is 1.
std::vector<bool> turned_axes(const ConvolutionForm& form, const ConvolutionAttributes& a,
                              std::int64_t wanted) {
  std::vector<bool> turned;
  for (std::size_t i = 0; i < a.rhs_reversals.size(); ++i) {
    turned.push_back(a.rhs_reversals[i] != wanted && form.rhs.sizes[i + 2] > 1);
  }
  return turned;
}

void set_forward(ConvolutionForm& form, const ConvolutionAttributes& a) {
  form.kind = Kind::forward;
  form.turned = turned_axes(form, a, 0);
  form.strides = a.strides;
  form.dilations = a.rhs_dilations;
  form.low = a.low;
  split_groups(form.rhs, a.groups);
  const std::size_t first = form.rhs.sizes.size() - a.strides.size();
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    form.high.push_back(padding_behind(form.result.sizes[i + 2], a.strides[i],
                                       form.rhs.sizes[first + i], a.rhs_dilations[i],
                                       form.lhs.sizes[i + 2], a.low[i]));
  }
  crop_rest(form);
}

// The gradient of the data of a convolution whose stride is the dilation here, whose filters are
// turned round and whose padding is what the window leaves of ours.
void set_backward_data(ConvolutionForm& form, const ConvolutionAttributes& a) {
  form.kind = Kind::backward_data;
  form.turned = turned_axes(form, a, 1);
  form.strides = a.lhs_dilations;
  form.dilations = a.rhs_dilations;
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    const std::int64_t window = form.rhs.sizes[i + 2];
    form.low.push_back((window - 1) * a.rhs_dilations[i] - a.low[i]);
    form.high.push_back(padding_behind(form.lhs.sizes[i + 2], a.lhs_dilations[i], window,
                                       a.rhs_dilations[i], form.result.sizes[i + 2],
                                       form.low.back()));
  }
  split_groups(form.rhs, a.groups);
  // The other convolution's outputs are our inputs.
  const std::size_t outputs = a.groups == 1 ? 0 : 1;
  std::swap(form.rhs.sizes[outputs], form.rhs.sizes[outputs + 1]);
  std::swap(form.rhs.strides[outputs], form.rhs.strides[outputs + 1]);
}

// Filters that are read backwards everywhere are those of the other convolution as they are.
bool is_gradient_of_data(const ConvolutionForm& form, const ConvolutionAttributes& a) {
  if (!are_all(a.rhs_reversals, 1) || !are_all(a.strides, 1)) return false;
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    const std::int64_t reach = (form.rhs.sizes[i + 2] - 1) * a.rhs_dilations[i];
    if (reach < a.low[i] || reach < a.high[i]) return false;
  }
  return true;
}

// The gradient of the filters of a convolution whose batch is our features and the other way round.
void set_backward_filters(ConvolutionForm& form, const ConvolutionAttributes& a) {
  form.kind = Kind::backward_filters;
  form.turned.assign(a.strides.size(), false);
  form.strides = a.rhs_dilations;
  form.dilations = a.strides;
  form.low = a.low;
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    form.high.push_back(padding_behind(form.rhs.sizes[i + 2], a.rhs_dilations[i],
                                       form.result.sizes[i + 2], a.strides[i],
                                       form.lhs.sizes[i + 2], a.low[i]));
  }
  crop_rest(form);
  for (ConvolutionView* view : {&form.lhs, &form.rhs, &form.result}) swap_first_two(*view);
}

}  // namespace

ConvolutionView ConvolutionView::dense() const {
  std::vector<std::size_t> by_stride(sizes.size());
  std::iota(by_stride.begin(), by_stride.end(), std::size_t{0});
  std::ranges::stable_sort(by_stride, {}, [&](std::size_t i) { return strides[i]; });
  ConvolutionView made = *this;
  std::int64_t stride = 1;
  for (std::size_t axis : by_stride) {
    made.strides[axis] = stride;
    stride *= sizes[axis];
  }
  return made;
}

std::optional<ConvolutionForm> form_of(const ConvolutionStep& step) {
  const ConvolutionAttributes& a = step.attributes;
  const auto is_f32 = [](const Type& type) { return type.dtype == f32 && type.size() > 0; };
  if (!is_f32(step.lhs) || !is_f32(step.rhs) || !is_f32(step.result)) return std::nullopt;
  if (a.strides.empty() || a.strides.size() > 3) return std::nullopt;
  ConvolutionForm form;
  form.lhs = view_of(step.lhs.shape, a.lhs_axes);
  form.rhs = view_of(step.rhs.shape, a.rhs_axes);
  const bool is_split = a.feature_splits > 1;
  const std::span<const std::int64_t> sizes(step.result.shape.sizes());
  const auto of_a_part = sizes.subspan(is_split ? 1 : 0);
  form.result = view_of(Shape(of_a_part), a.result_axes);
  const bool is_spread = !are_all(a.lhs_dilations, 1);
  if (is_spread && !are_all(a.strides, 1)) return std::nullopt;
  if (is_spread || is_gradient_of_data(form, a)) {
    set_backward_data(form, a);
  } else if (a.groups == 1 && are_all(a.rhs_reversals, 0) &&
             product(form.rhs.sizes, 2) > product(form.result.sizes, 2)) {
    set_backward_filters(form, a);
  } else {
    set_forward(form, a);
  }
  if (is_split && form.kind != Kind::backward_filters) return std::nullopt;
  const auto is_crop = [](std::int64_t padding) { return padding < 0; };
  if (std::ranges::any_of(form.low, is_crop)) return std::nullopt;
  return form;
}

ConvolutionPrimitive ConvolutionForm::describe(const dnnl::memory::desc& lhs_desc,
                                               const dnnl::memory::desc& rhs_desc,
                                               const dnnl::memory::desc& result_desc) const {
  using namespace dnnl;
  Dims gaps = dilations;
  for (std::int64_t& gap : gaps) --gap;
  primitive_attr attributes;
  attributes.set_scratchpad_mode(scratchpad_mode::user);
  const engine& cpu = cpu_engine();
  const auto direct = algorithm::convolution_direct;
  ConvolutionPrimitive made;
  const auto note = [&](const auto& found) {
    made.scratchpad = found.scratchpad_desc();
    made.implementation = found.impl_info_str();
  };
  // What a gradient's primitive wants to know of the forward one.
  const auto hint = [&](const memory::desc& source, const memory::desc& filters,
                        const memory::desc& target) {
    return convolution_forward::primitive_desc(
        convolution_forward::desc(prop_kind::forward_training, direct, source, filters, target,
                                  strides, gaps, low, high),
        cpu);
  };
  switch (kind) {
    case Kind::forward: {
      const convolution_forward::primitive_desc found(
          convolution_forward::desc(prop_kind::forward_inference, direct, lhs_desc, rhs_desc,
                                    result_desc, strides, gaps, low, high),
          attributes, cpu);
      note(found);
      made.lhs = found.src_desc(), made.rhs = found.weights_desc(), made.result = found.dst_desc();
      made.lhs_argument = DNNL_ARG_SRC, made.rhs_argument = DNNL_ARG_WEIGHTS;
      made.result_argument = DNNL_ARG_DST;
      made.make = [found] { return convolution_forward(found); };
      break;
    }
    case Kind::backward_data: {
      const convolution_backward_data::primitive_desc found(
          convolution_backward_data::desc(direct, result_desc, rhs_desc, lhs_desc, strides, gaps,
                                          low, high),
          attributes, cpu, hint(result.any(), rhs.any(), lhs.any()));
      note(found);
      made.lhs = found.diff_dst_desc(), made.rhs = found.weights_desc();
      made.result = found.diff_src_desc();
      made.lhs_argument = DNNL_ARG_DIFF_DST, made.rhs_argument = DNNL_ARG_WEIGHTS;
      made.result_argument = DNNL_ARG_DIFF_SRC;
      made.make = [found] { return convolution_backward_data(found); };
      break;
    }
    case Kind::backward_filters: {
      const convolution_backward_weights::primitive_desc found(
          convolution_backward_weights::desc(direct, lhs_desc, result_desc, rhs_desc, strides, gaps,
                                             low, high),
          attributes, cpu, hint(lhs.any(), result.any(), rhs.any()));
      note(found);
      made.lhs = found.src_desc(), made.rhs = found.diff_dst_desc();
      made.result = found.diff_weights_desc();
      made.lhs_argument = DNNL_ARG_SRC, made.rhs_argument = DNNL_ARG_DIFF_DST;
      made.result_argument = DNNL_ARG_DIFF_WEIGHTS;
      made.make = [found] { return convolution_backward_weights(found); };
      break;
    }
  }
  return made;
}

}  // namespace anabranch::cpu
