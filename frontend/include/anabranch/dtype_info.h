// What is to be known of element types: limits, kinds, and what two of them come to.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string_view>

#include "anabranch/dtype.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

struct FloatInfo {
  Dtype dtype;
  int bits;
  double eps;              ///< from 1 to the next number
  double max, min;         ///< the greatest finite number, and the least
  double smallest_normal;  ///< the least above 0 of full precision
};
/// The limits of a float dtype. Throws Error for others.
FloatInfo finfo(Dtype dtype, std::source_location where = std::source_location::current());

struct IntegerInfo {
  Dtype dtype;
  int bits;
  std::int64_t min;
  std::uint64_t max;
};
/// The limits of an integer dtype. Throws Error for others.
IntegerInfo iinfo(Dtype dtype, std::source_location where = std::source_location::current());

/// The dtype that operations bring arrays of these to. Throws Error where there is none: kinds
/// (bool, integer, float) do not mix, nor u64 with signed integers.
Dtype result_type(std::initializer_list<Dtype> dtypes,
                  std::source_location where = std::source_location::current());

/// Whether every value of `from` has an equal in `to`, as `result_type` sees it.
bool can_cast(Dtype from, Dtype to);

/// Whether a dtype is of a kind: "bool", "signed integer", "unsigned integer", "integral", "real
/// floating", "complex floating" or "numeric". Throws Error for another word.
bool isdtype(Dtype dtype, std::string_view kind,
             std::source_location where = std::source_location::current());

}  // namespace anabranch
