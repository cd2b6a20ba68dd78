// Types of the text as ours, and ours as the text writes them.
#pragma once

#include <optional>
#include <string>

#include "anabranch/type.h"
#include "frontend/stablehlo/source_text.h"
#include "frontend/stablehlo/syntax.h"

namespace anabranch::stablehlo {

/// The dtype that an element type stands for, if there is one; of a narrow one, what carries it.
std::optional<Dtype> dtype_of_element(std::string_view element);
/// "i1", "ui8", "f32", "complex<f32>"
std::string element_of_dtype(Dtype dtype);
/// "tensor<2x3xf32>"
std::string type_text(const Type& type);

/// Throws ReadError for what is no tensor, for dynamic sizes, quantized and unknown element types.
Type to_type(const SourceText& source, const TypeSyntax& type);

}  // namespace anabranch::stablehlo
