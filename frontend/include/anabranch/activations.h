// Activations of neural networks, of each element unless an axis is named.
//
// relu, sigmoid, silu (swish), softplus, gelu, softmax and log_softmax are in anabranch/nn.h. All
// take floats; what takes several steps computes f16 and bf16 in f32 and rounds once.
#pragma once

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

Array relu6(const Operand& x);                            ///< min(max(x, 0), 6)
Array leaky_relu(const Operand& x, double slope = 0.01);  ///< x where x >= 0, else slope x
Array elu(const Operand& x, double alpha = 1);            ///< x where x > 0, else alpha (e^x - 1)
Array celu(const Operand& x, double alpha = 1);  ///< x where x > 0, else alpha (e^(x / alpha) - 1)
/// 1.0507 elu(x, 1.6733): keeps mean 0 and variance 1 (Klambauer et al., arXiv:1706.02515).
Array selu(const Operand& x);
Array mish(const Operand& x);            ///< x tanh(softplus(x)) (Misra, arXiv:1908.08681)
Array soft_sign(const Operand& x);       ///< x / (|x| + 1)
Array log_sigmoid(const Operand& x);     ///< log(sigmoid(x)), far below 0, too
Array hard_sigmoid(const Operand& x);    ///< relu6(x + 3) / 6
Array hard_swish(const Operand& x);      ///< x hard_sigmoid(x)
Array hard_tanh(const Operand& x);       ///< x held between -1 and 1
Array sparse_plus(const Operand& x);     ///< 0 up to -1, x from 1 on, between them (x + 1)^2 / 4
Array sparse_sigmoid(const Operand& x);  ///< its derivative: (x + 1) / 2 held between 0 and 1
/// (x + sqrt(x^2 + b)) / 2, b >= 0, close to softplus.
Array squareplus(const Operand& x, double b = 4);

/// The first half along an axis times the sigmoid of the second (Dauphin et al., arXiv:1612.08083).
/// Error for an axis of odd size.
Array glu(const Operand& x, Axis axis = -1);

/// (x - mean) / sqrt(var + epsilon) over the axes: `layer_norm` without scale and shift.
Array standardize(const Operand& x, const Axes& axes = -1, double epsilon = 1e-5);

}  // namespace anabranch
