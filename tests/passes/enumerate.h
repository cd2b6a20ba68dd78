// Values to try a rule on: all of them where there are few, else those where arithmetic goes wrong.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/literal.h"

namespace anabranch {

/// The bits of some values of one dtype.
using Bits = std::vector<std::uint64_t>;

/// Every value of bool and of the dtypes of 8 and 16 bits; `sample_values` of the others.
Bits every_value(Dtype dtype);

/// Special ones, small integers of both signs, and random bits: a few hundred.
Bits sample_values(Dtype dtype);

/// Zeros, ones, both ends of the range and what is next to them, infinities and NaN.
Bits special_values(Dtype dtype);

/// Both signs of 2^k, for every k that a float has, subnormal numbers included.
Bits powers_of_two(Dtype dtype);

/// Small floats of both signs, far from overflow and from 0.
Bits tame_values(Dtype dtype);

/// One array per set, as long as there are combinations of one value from each.
std::vector<Literal> combinations(std::span<const Bits> sets, std::span<const Dtype> dtypes);

}  // namespace anabranch
