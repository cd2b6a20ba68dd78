// The epilogues that cuBLASLt computes with a dot, before the result is written.
//
//   %1 = broadcast_in_dim bias axes=[1]
//   %2 = add %0, %1                          ->    bias, relu
//   %3 = maximum %2, 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ir/graph/graph.h"
#include "ir/program/steps.h"

namespace anabranch::cuda {

struct LibraryEpilogue {
  std::optional<std::size_t>
      bias;  ///< which parameter of the epilogue's region; one value a column
  Activation activation = Activation::none;  ///< after the bias
};

/// What computes all of `epilogue`, a region whose parameter 0 is the dot's result with rows of
/// `columns` elements; nothing where cuBLASLt has no such thing.
///
/// Activations are its own only with `fast_math`: its relu turns a NaN into 0, and its gelu is the
/// approximation by tanh (Hendrycks and Gimpel 2016, section 2), of which it does not state how
/// exact it is.
std::optional<LibraryEpilogue> library_epilogue(const Graph& epilogue, std::int64_t columns,
                                                bool fast_math);

}  // namespace anabranch::cuda
