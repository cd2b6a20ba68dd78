// A convolution as oneDNN names it: which of its three primitives computes it, on which views of
// the operands.
//
// A forward convolution of stride 1 with its left operand dilated, or with filters that are read
// backwards, is what another one does to the gradient of its data; a convolution whose window is
// larger than its result is what another one does to get the gradient of its filters.
#pragma once

#include <cstdint>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program/steps.h"

namespace anabranch::cpu {

/// One operand or result in memory as it is: sizes in oneDNN's order, strides in elements.
struct ConvolutionView {
  dnnl::memory::dims sizes, strides;

  dnnl::memory::desc desc() const { return {sizes, dnnl::memory::data_type::f32, strides}; }
  /// The same order of axes in memory, without gaps between elements.
  ConvolutionView dense() const;
  dnnl::memory::desc any() const {
    return {sizes, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
  }
};

/// A primitive, the layouts that it takes, and what it calls them.
struct ConvolutionPrimitive {
  std::function<dnnl::primitive()> make;  ///< compiles it
  dnnl::memory::desc lhs, rhs, result, scratchpad;
  int lhs_argument = 0, rhs_argument = 0, result_argument = 0;
  std::string implementation;

  /// Not plain loops, nor copied windows.
  bool is_fast() const {
    const auto begins = [&](std::string_view name) {
      return implementation.starts_with(name) ||
             implementation.find(":" + std::string(name)) != std::string::npos;
    };
    return !begins("ref") && !begins("gemm");  // "gemm:ref", "x64:gemm:jit"
  }
};

struct ConvolutionForm {
  enum class Kind : std::uint8_t { forward, backward_data, backward_filters };

  Kind kind = Kind::forward;
  /// Of the step's lhs, rhs and result, whatever the primitive calls them.
  ConvolutionView lhs, rhs, result;
  dnnl::memory::dims strides, dilations, low, high;  ///< as the primitive wants them
  std::vector<bool> turned;  ///< per spatial axis, whether the primitive wants filters turned round

  /// The primitive for operands and a result in these layouts, which may be `any`. Throws
  /// dnnl::error where there is none.
  ConvolutionPrimitive describe(const dnnl::memory::desc& lhs, const dnnl::memory::desc& rhs,
                                const dnnl::memory::desc& result) const;
};

/// Nothing where oneDNN has no such form: dtypes but f32, more than three spatial axes or none,
/// nothing to compute, crops before the first element, dilations of the left operand under strides,
/// split features of anything but a gradient of filters.
std::optional<ConvolutionForm> form_of(const ConvolutionStep& step);

}  // namespace anabranch::cpu
