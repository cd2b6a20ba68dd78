// Functions of neural networks, each of them one kernel once fused.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

Array relu(const Operand& x);      ///< max(x, 0)
Array sigmoid(const Operand& x);   ///< 1 / (1 + e^-x)
Array silu(const Operand& x);      ///< x * sigmoid(x)
Array softplus(const Operand& x);  ///< log(1 + e^x) without overflow

enum class Gelu : std::uint8_t { exact, tanh };
/// x * P(X <= x) for a standard normal X, or its tanh approximation (Hendrycks and Gimpel,
/// arXiv:1606.08415, section 2).
Array gelu(const Operand& x, Gelu form = Gelu::exact);

/// e^x / sum(e^x) along an axis, without overflow. Computed in f32 for f16 and bf16.
Array softmax(const Operand& x, Axis axis = -1);
/// log(softmax(x)), without the loss of taking a logarithm of small numbers. Computed in f32 for
/// f16 and bf16.
Array log_softmax(const Operand& x, Axis axis = -1);

/// 1 at the position that each index names along a new last axis of `count`, 0 elsewhere; all 0 for
/// an index out of range.
Array one_hot(const Operand& indices, std::int64_t count, Dtype dtype = f32);

/// (x - mean) / sqrt(var + epsilon) over the axes, times `scale`, plus `shift`, which broadcast.
/// The dtype is what the three come to; computed in f32 where that is f16 or bf16.
Array layer_norm(const Operand& x, const Operand& scale, const Operand& shift,
                 const Axes& axes = -1, double epsilon = 1e-5);

/// How a convolution moves and which axes are which. Lists have one entry per spatial axis; an
/// empty one stands for ones, of padding for zeros. A layout has one letter per axis: N the batch,
/// C the feature, O and I the output and input feature, other letters the spatial axes, by the same
/// letters in all three; empty: N, C and O, I first, then the spatial axes.
struct ConvOptions {
  std::vector<std::int64_t> strides = {};
  std::vector<std::int64_t> padding_low = {}, padding_high = {};  ///< zeros; negative ones crop
  std::vector<std::int64_t> lhs_dilation = {};                    ///< of x: 2 puts a zero between
  std::vector<std::int64_t> rhs_dilation = {};                    ///< of w
  std::int64_t groups = 1;        ///< of features, each seen by its own outputs alone
  std::int64_t batch_groups = 1;  ///< of the batch, each seen by its own outputs alone
  std::string_view lhs_layout = {}, rhs_layout = {}, result_layout = {};
};

/// Sums of products of the windows of x with w (a cross-correlation: w is not turned round), by
/// default of x[N, C, spatial...] and w[O, C / groups, spatial...], giving [N, O, spatial...]. A
/// spatial axis of n elements becomes (low + (n - 1) * lhs_dilation + 1 + high - (k - 1) *
/// rhs_dilation - 1) / stride + 1, rounded down, for a window of k; none if the window does not
/// fit. Numbers of any dtype, which are promoted to one; f16 and bf16 add in f32. Error where
/// sizes, lists or layouts do not fit.
Array conv(const Operand& x, const Operand& w, const ConvOptions& options = {});

/// Around the axes that are pooled, one number per axis; none: 0.
struct Padding {
  std::vector<std::int64_t> low = {}, high = {};
};

/// The maximum of each window over the last axes, one size and one stride per axis (of x[N,C,H,W]
/// and sizes {2, 2}: over H and W); a NaN in a window is its maximum. An axis of n elements becomes
/// (n + low + high - size) / stride + 1, rounded down; padding never is the maximum unless a window
/// holds nothing else. Real numbers of any dtype. Error for a size or stride below 1, for more
/// sizes than axes, and for sizes, strides and padding of different lengths.
Array max_pool(const Operand& x, const Sizes& sizes, const Sizes& strides,
               const Padding& padding = {});
/// Windows side by side: the strides are the sizes.
Array max_pool(const Operand& x, const Sizes& sizes);
/// The mean of each window, see `max_pool`; padding counts as zeros. Floats; computed in f32 for
/// f16 and bf16.
Array avg_pool(const Operand& x, const Sizes& sizes, const Sizes& strides,
               const Padding& padding = {});
/// Windows side by side: the strides are the sizes.
Array avg_pool(const Operand& x, const Sizes& sizes);

}  // namespace anabranch
