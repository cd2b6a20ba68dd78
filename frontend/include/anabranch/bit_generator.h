// Random bits from a state that is handed on, as StableHLO's rng_bit_generator.
#pragma once

#include <cstdint>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// Counter-based generators (Salmon, Moraes, Dror, Shaw: Parallel random numbers, SC 2011):
/// Philox 4x32 of 10 rounds, Threefry 2x32 of 20; `standard` is Philox.
enum class RandomAlgorithm : std::uint8_t { standard, philox, threefry };

struct RandomBits {
  Array state;  ///< to draw the next bits from; of the type of the first
  Array bits;
};

/// Evenly distributed bits, of integers or floats, and the next state. The same bits as XLA gives:
/// the state, u64, is the key and then the counter: of Threefry in one number, [2]; of Philox in
/// two, the lower first, [3], or [2] without the upper one. Integers of 8 and 16 bits are the lower
/// parts of words. Error for a state of another type, and for bool.
RandomBits rng_bit_generator(const Operand& state, RandomAlgorithm algorithm, const Sizes& sizes,
                             Dtype dtype = u32);

}  // namespace anabranch
