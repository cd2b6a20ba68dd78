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

/// What constants that are written out take together: a few letters may claim any number of
/// elements.
inline constexpr std::size_t most_expanded_bytes = std::size_t{1} << 30;

/// The whole literal, a splat repeated. Takes its bytes from those that are left, or throws Error.
Literal expanded(const DenseValue& value, const Type& type, std::size_t& bytes_left);

}  // namespace anabranch::stablehlo
