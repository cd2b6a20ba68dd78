// The values of dense constants: lists, splats, blobs of hexadecimal bytes.
#pragma once

#include "frontend/stablehlo/source_text.h"
#include "frontend/stablehlo/syntax.h"
#include "ir/literal.h"

namespace anabranch::stablehlo {

/// The elements of a constant; of a splat one, rank 0, however many the type has.
struct DenseValue {
  Literal elements;
  bool is_splat = false;
};

/// Reads `dense<...>` or dense_resource<...> as `type`. Throws ReadError where the elements do not
/// fit it. Takes memory in proportion to the text.
DenseValue read_dense(const SourceText& source, const ModuleSyntax& module,
                      const Attribute& attribute, const Type& type);

/// The whole literal, a splat repeated. Throws Error where that takes more than 2^30 bytes.
Literal expanded(const DenseValue& value, const Type& type);

}  // namespace anabranch::stablehlo
