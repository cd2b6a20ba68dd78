// The layouts that oneDNN's fast code reads and writes: as memory has them, or its own.
#pragma once

#include <optional>

#include "codegen/cpu/convolution/form.h"

namespace anabranch::cpu {

struct ConvolutionLayouts {
  /// Images stay as they are; else a thread copies its part of them.
  bool is_plain = true;
  /// Of all filters, whatever the part; none for the gradient of filters, which reads none and
  /// writes a part of them in a layout of the library's.
  std::optional<dnnl::memory::desc> filters;
};

/// Nothing where there is no fast code. Throws nothing of oneDNN's.
std::optional<ConvolutionLayouts> layouts_of(const ConvolutionForm& form);

/// A part's primitive in these layouts. Throws dnnl::error where there is none.
ConvolutionPrimitive describe(const ConvolutionForm& part, const ConvolutionLayouts& layouts);

}  // namespace anabranch::cpu
