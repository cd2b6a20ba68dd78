#include "codegen/cpu/convolution/layouts.h"

#include "codegen/cpu/dot/one_thread.h"

namespace anabranch::cpu {
namespace {

bool has_filters(const ConvolutionForm& form) {
  return form.kind != ConvolutionForm::Kind::backward_filters;
}

// In layouts of which `is_plain` alone is decided.
std::optional<ConvolutionLayouts> try_layouts(const ConvolutionForm& form, bool is_plain) {
  try {
    ConvolutionLayouts made{is_plain, {}};
    const ConvolutionPrimitive found = describe(form, made);
    if (!found.is_fast()) return std::nullopt;
    if (has_filters(form)) made.filters = found.rhs;
    return made;
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<ConvolutionLayouts> layouts_of(const ConvolutionForm& form) {
  const OneThread alone;
  if (auto plain = try_layouts(form, true)) return plain;
  return try_layouts(form, false);
}

ConvolutionPrimitive describe(const ConvolutionForm& part, const ConvolutionLayouts& layouts) {
  const auto layout = [&](const ConvolutionView& view) {
    return layouts.is_plain ? view.desc() : view.any();
  };
  if (!has_filters(part)) {
    // Some of the features of an image lie apart; the fast code reads them copied together.
    return part.describe(layout(part.lhs), layout(part.rhs.dense()), part.result.any());
  }
  const dnnl::memory::desc rhs = layouts.filters ? *layouts.filters : part.rhs.any();
  return part.describe(layout(part.lhs), rhs, layout(part.result));
}

}  // namespace anabranch::cpu
