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

}  // namespace random
}  // namespace anabranch
