// What print and parse must agree on: the characters of names and the bits of a plain NaN.
#pragma once

#include <cstdint>

#include "anabranch/dtype.h"

namespace anabranch {

/// Graph names and words: letters, digits, underscores and dots, not beginning with a digit or a
/// dot.
constexpr bool starts_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool continues_identifier(char c) {
  return starts_identifier(c) || (c >= '0' && c <= '9') || c == '.';
}

/// The NaN that is written "nan": positive, quiet, no payload. The dtype must be a float's.
constexpr std::uint64_t quiet_nan_bits(Dtype dtype) {
  const int precision = info(dtype).precision;
  return ((std::uint64_t{2} << (info(dtype).bits - precision)) - 1) << (precision - 2);
}

}  // namespace anabranch
