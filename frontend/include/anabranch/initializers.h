// First values of what a network learns: random arrays whose scale keeps that of what passes
// through.
//
//   const ab::Array w = ab::init::he_normal(key, {784, 128});                  // for dense
//   const ab::Array f = ab::init::he_normal(key, {32, 3, 5, 5}, ab::init::conv_axes);
//
// Keys are as in anabranch/random.h; dtypes are floats. Throws Error for fewer than two sizes.
#pragma once

#include <cstdint>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {
namespace init {

/// Which axes are the inputs' and the outputs'. The product of all others (of a window) counts
/// towards both: fan_in = inputs * others, fan_out = outputs * others.
struct FanAxes {
  std::int64_t in = -2, out = -1;  ///< negative ones count from the last
};
inline constexpr FanAxes dense_axes = {-2, -1};  ///< of w[inputs, outputs]
inline constexpr FanAxes conv_axes = {1, 0};     ///< of w[outputs, inputs, spatial...]

/// Even numbers within sqrt(6 / (fan_in + fan_out)) of 0 (Glorot, Bengio: Understanding the
/// difficulty of training deep feedforward neural networks, AISTATS 2010, equation 16); also called
/// Xavier's.
Array glorot_uniform(const Operand& key, const Sizes& sizes, const FanAxes& axes = dense_axes,
                     Dtype dtype = f32);
/// Normal numbers of variance 2 / (fan_in + fan_out) (equation 12 there).
Array glorot_normal(const Operand& key, const Sizes& sizes, const FanAxes& axes = dense_axes,
                    Dtype dtype = f32);
/// Even numbers within sqrt(6 / fan_in) of 0, for what relu follows (He et al.: arXiv:1502.01852,
/// section 2.2); also called Kaiming's.
Array he_uniform(const Operand& key, const Sizes& sizes, const FanAxes& axes = dense_axes,
                 Dtype dtype = f32);
/// Normal numbers of variance 2 / fan_in (equation 10 there).
Array he_normal(const Operand& key, const Sizes& sizes, const FanAxes& axes = dense_axes,
                Dtype dtype = f32);
/// Even numbers within sqrt(3 / fan_in) of 0 (LeCun et al.: Efficient BackProp, 1998, section 4.6).
Array lecun_uniform(const Operand& key, const Sizes& sizes, const FanAxes& axes = dense_axes,
                    Dtype dtype = f32);
/// Normal numbers of variance 1 / fan_in (equation 16 there).
Array lecun_normal(const Operand& key, const Sizes& sizes, const FanAxes& axes = dense_axes,
                   Dtype dtype = f32);

/// `stddev` times normal numbers between -2 and 2: of deviation 0.88 stddev, since the tails are
/// cut.
Array truncated_normal(const Operand& key, const Sizes& sizes, double stddev = 1,
                       Dtype dtype = f32);

/// `gain` times a matrix of orthonormal columns, or rows where they are fewer, as likely as any
/// other (Saxe, McClelland, Ganguli: arXiv:1312.6120; Mezzadri: arXiv:math-ph/0609050, section 5).
/// The last size counts the columns, the others together the rows.
Array orthogonal(const Operand& key, const Sizes& sizes, double gain = 1, Dtype dtype = f32);

}  // namespace init
}  // namespace anabranch
