// Random numbers from explicit keys: the same key gives the same numbers, on every device, always.
//
// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, SC 2011) of the element's
// position under the key, so numbers are computed where they are used and never stored.
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {
namespace random {

/// A key (u64, rank 0) from a seed.
Array key(std::uint64_t seed);

/// `count` new keys from one. A key is used once: to split, or to draw.
std::vector<Array> split(const Operand& key, std::int64_t count = 2);

/// Numbers from `low` up to `high`, evenly: `low` plus (high - low) times a multiple of 2^-24 (f32;
/// f16 2^-11, bf16 2^-8, f64 2^-53) below 1. For bounds other than 0 and 1 rounding may give `high`
/// itself.
Array uniform(const Operand& key, const Sizes& sizes, Dtype dtype = f32, const Operand& low = 0,
              const Operand& high = 1);

/// Numbers of mean 0 and variance 1: the normal distribution's inverse of even ones.
Array normal(const Operand& key, const Sizes& sizes, Dtype dtype = f32);

/// Integers in [low, high), each as likely but for a bias below (high - low) / 2^32. Error unless
/// low < high and high - low <= 2^32.
Array randint(const Operand& key, const Sizes& sizes, std::int64_t low, std::int64_t high,
              Dtype dtype = i32);

/// True with probability `p`: a number, or an f32 array that broadcasts to the sizes.
Array bernoulli(const Operand& key, const Sizes& sizes, const Operand& p = 0.5f);

/// A key from another and an integer scalar: the same integer gives the same key. For keys by
/// number, in loops above all.
Array fold_in(const Operand& key, const Operand& data);

/// Integers of any value, each as likely.
Array bits(const Operand& key, const Sizes& sizes, Dtype dtype = u32);

// Distributions. Parameters are numbers, or arrays that broadcast to the sizes; dtypes are floats,
// and f16 and bf16 are drawn in f32 and rounded. Each draws by the inverse of its distribution
// function unless it says otherwise.

Array exponential(const Operand& key, const Sizes& sizes, Dtype dtype = f32);  ///< of mean 1
Array gumbel(const Operand& key, const Sizes& sizes, Dtype dtype = f32);       ///< the standard one
Array laplace(const Operand& key, const Sizes& sizes, Dtype dtype = f32);   ///< of mean 0, scale 1
Array logistic(const Operand& key, const Sizes& sizes, Dtype dtype = f32);  ///< of mean 0, scale 1
Array cauchy(const Operand& key, const Sizes& sizes, Dtype dtype = f32);  ///< of median 0, scale 1
Array rademacher(const Operand& key, const Sizes& sizes,
                 Dtype dtype = i32);  ///< -1 or 1, as likely; Error for a dtype without -1
/// The normal distribution where `low` < x < `high`, nothing else; NaN where there is no such x. By
/// the inverse of its distribution function, which is 1 from 6 (in f64 from 8) on: beyond those
/// bounds all draws are at one of the two.
Array truncated_normal(const Operand& key, const Sizes& sizes, const Operand& low,
                       const Operand& high, Dtype dtype = f32);
/// The gamma distribution of shape a > 0 and scale 1, by rejection (Marsaglia and Tsang, ACM TOMS
/// 26(3), 2000): a loop, which is not fused.
Array gamma(const Operand& key, const Operand& a, const Sizes& sizes, Dtype dtype = f32);
/// The beta distribution of a, b > 0, from two of the gamma distribution; NaN if both are infinite.
Array beta(const Operand& key, const Operand& a, const Operand& b, const Sizes& sizes,
           Dtype dtype = f32);
/// Counts of events of that mean rate >= 0, as integers: by the sum of probabilities up to 10,
/// beyond by transformed rejection (Hoermann, Insurance: Mathematics and Economics 12(1), 1993):
/// loops, which are not fused. 0 for a rate below 0 or NaN, the dtype's greatest for infinity.
Array poisson(const Operand& key, const Operand& rate, const Sizes& sizes, Dtype dtype = i32);
/// Positions along an axis, each with the probability that softmax gives to the logits there: the
/// greatest of the logits with a Gumbel number added. i64, of the shape without that axis.
Array categorical(const Operand& key, const Operand& logits, Axis axis = -1);

// Orders and samples.

/// The numbers from 0 to count - 1, i64, in an order as likely as any other.
Array permutation(const Operand& key, std::int64_t count);
/// The slabs of x along an axis in such an order.
Array permutation(const Operand& key, const Array& x, Axis axis = 0);
/// Slabs of x along its first axis, each as likely: one for each element of `sizes`, which stand in
/// the axis's place. Without replacement each is drawn at most once; Error where there are too few.
Array choice(const Operand& key, const Array& x, const Sizes& sizes, bool replace = true);
/// The same in proportion to `weights`, floats >= 0, one for each slab; without replacement, one
/// after the other.
Array choice(const Operand& key, const Array& x, const Sizes& sizes, const Array& weights,
             bool replace = true);

}  // namespace random
}  // namespace anabranch
