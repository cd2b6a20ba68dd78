// Convolutions as sums of products of arrays, which fuse with what is around them.
//
// Of few terms: each is an array of the result's size.
//
//   y[i] = x[i] * w[0] + x[i + 1] * w[1] + x[i + 2] * w[2]
//
// Of few results, as the gradient of filters: each is a reduction.
//
//   y[0] = sum(x[:-1] * w),  y[1] = sum(x[1:] * w)
//
// Libraries are fast where many features lie side by side, and slow here.
#pragma once

#include <optional>

#include "passes/rewrite.h"

namespace anabranch {

/// `node`, a convolution, as such sums; nothing where a library is faster.
std::optional<Value> convolution_as_sums(Rewriter& graph, const Node& node);

/// The left operand with its padding, its axes as they are.
Value padded_lhs(Rewriter& graph, Value lhs, const ConvolutionAttributes& a);

/// Filters as [group, output, feature, places...], read forwards; a split is a group whose outputs
/// are all of them.
Value filters_of(Rewriter& graph, Value rhs, const ConvolutionAttributes& a);

}  // namespace anabranch
