// Hashing several words, one after the other.
#pragma once

#include <cstdint>

namespace anabranch {

/// `hash` with one more word: the combination of Boost 1.56's hash_combine, times a constant of
/// MurmurHash3's finalizer.
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash ^= word + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

}  // namespace anabranch
