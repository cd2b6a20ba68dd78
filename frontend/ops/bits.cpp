#include "anabranch/bits.h"

#include "anabranch/creation.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/special_terms.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

Dtype unsigned_of_width(int width) {
  return width == 8 ? u8 : width == 16 ? u16 : width == 32 ? u32 : u64;
}

Term same_width_bitcast(const Term& x, Dtype dtype) {
  const Type& type = type_of(x.array());
  if (type.dtype == dtype) return x;
  return {
      record(Op::bitcast_convert, {x.array()}, x.where(), NoAttributes{}, Type{dtype, type.shape}),
      x.where()};
}

// The parts of each element along a new last axis.
Term split_bits(const Term& x, Dtype dtype) {
  const Type& type = type_of(x.array());
  const int wide = info(type.dtype).bits, narrow = info(dtype).bits;
  const Dtype holds = unsigned_of_width(wide), part = unsigned_of_width(narrow);
  const Term position = {
      record(Op::iota, {}, x.where(), AxisAttributes{0}, Type{holds, Shape({wide / narrow})}),
      x.where()};
  const Term bits = {expand_dims(same_width_bitcast(x, holds), -1), x.where()};
  const Term shifted = bits >> (position * narrow);
  const std::uint64_t mask = (std::uint64_t{1} << narrow) - 1;
  return same_width_bitcast(converted(shifted & mask, part), dtype);
}

// The last axis as the parts of one element.
Term join_bits(const Term& x, Dtype dtype) {
  const Type& type = type_of(x.array());
  const int narrow = info(type.dtype).bits, wide = info(dtype).bits, count = wide / narrow;
  if (type.rank() == 0 || type.shape[type.rank() - 1] != count) {
    fail("bitcast: " + describe(x) + " to " + std::string(name(dtype)) +
             ": the last axis has to be the " + std::to_string(count) + " parts of an element",
         x.where());
  }
  const Dtype part = unsigned_of_width(narrow), holds = unsigned_of_width(wide);
  const Term bits = converted(same_width_bitcast(x, part), holds);
  const auto part_at = [&](int at) {
    return Term(index(bits, at, -1), x.where()) << (at * narrow);
  };
  Term all = part_at(0);
  for (int at = 1; at < count; ++at) all = all | part_at(at);
  return same_width_bitcast(all, dtype);
}

}  // namespace

Array bitcast(const Operand& x, Dtype dtype) {
  const Term y = with_own_dtype({as_array("bitcast", x), x.where()});
  const Dtype from = type_of(y.array()).dtype;
  const int own = info(from).bits, wanted = info(dtype).bits;
  if (from != dtype && (is_complex(from) || is_complex(dtype))) {
    fail("bitcast: " + describe(x) + " to " + std::string(name(dtype)) +
             ": complex numbers are no other's bits; use real and imag, or complex",
         x.where());
  }
  if (own == wanted && from != dtype && (from == bool_ || dtype == bool_)) {
    // A bool is 0 or 1, or whether any bit is set.
    const bool is_made = dtype == bool_;
    return is_made ? converted(same_width_bitcast(y, u8), bool_)
                   : same_width_bitcast(converted(y, u8), dtype);
  }
  if (own == wanted) return same_width_bitcast(y, dtype);
  if (from == bool_ || dtype == bool_) {
    fail("bitcast: " + describe(x) + " to " + std::string(name(dtype)) +
             ": a bool has no parts; convert with .astype(...)",
         x.where());
  }
  return own > wanted ? split_bits(y, dtype) : join_bits(y, dtype);
}

Array reduce_precision(const Operand& x, int exponent_bits, int mantissa_bits) {
  const Term y = with_own_dtype(term("reduce_precision", x));
  if (exponent_bits < 1 || mantissa_bits < 0) {
    fail("reduce_precision: " + std::to_string(exponent_bits) + " exponent bits and " +
             std::to_string(mantissa_bits) + " mantissa bits; give at least 1 and 0",
         x.where());
  }
  const DtypeInfo& dtype = info(y.array().dtype());
  const Dtype holds = unsigned_of_width(dtype.bits);
  const int mantissa = dtype.precision - 1, exponent = dtype.bits - 1 - mantissa;
  Term bits = {bitcast(y, holds), x.where()};
  const Term sign = bits & (std::uint64_t{1} << (dtype.bits - 1));
  if (const int dropped = mantissa - mantissa_bits; dropped > 0) {
    // Half of what is dropped, less one where the last bit that stays is even; it may carry into
    // the exponent, up to infinity.
    const std::uint64_t rest = (std::uint64_t{1} << dropped) - 1;
    const Term last = (bits >> dropped) & 1;
    bits = bits + (last + (rest >> 1));
    bits = bits - (bits & rest);
  }
  if (exponent_bits < exponent) {
    const std::int64_t bias = (1 << (exponent - 1)) - 1, reduced = (1 << (exponent_bits - 1)) - 1;
    const auto at = [&](std::int64_t biased) {
      return static_cast<std::uint64_t>(biased) << mantissa;
    };
    const Term magnitude = bits & at((1 << exponent) - 1);
    const Term too_large = magnitude > at(bias + reduced),
               too_small = magnitude <= at(bias - reduced);
    bits = where(too_large, sign | at((1 << exponent) - 1), where(too_small, sign, bits));
  }
  const Term rounded = {bitcast(bits, y.array().dtype()), x.where()};
  return where(isnan(y), y, rounded);
}

Array nextafter(const Operand& x, const Operand& y) {
  const auto [a, b] = terms_of("nextafter", x, y);
  const Term from = with_own_dtype(a), to = with_own_dtype(b);
  const DtypeInfo& dtype = info(from.array().dtype());
  const Dtype holds = unsigned_of_width(dtype.bits);
  const Term bits = {bitcast(from, holds), x.where()};
  // Floats of one sign are ordered as their bits are.
  const Term grows = (from < 0) == (to < from);
  const Term next = where(grows, bits + 1, bits - 1);
  const Term sign = Term(bitcast(to, holds), x.where()) & (std::uint64_t{1} << (dtype.bits - 1));
  const Term chosen = {bitcast(where(from == 0, sign | 1, next), from.array().dtype()), x.where()};
  return where(isnan(from) | isnan(to), from + to, where(from == to, to, chosen));
}

namespace {

Array rotated(const char* function, const Operand& x, const Operand& count, bool left) {
  const auto [a, b] = terms_of(function, x, count, Takes::integers);
  const Term bits = with_own_dtype(a), by = with_own_dtype(b);
  const Dtype dtype = bits.array().dtype(), holds = unsigned_of_width(info(dtype).bits);
  const int width = info(dtype).bits;
  const Term whole = same_width_bitcast(bits, holds);
  const Term up = same_width_bitcast(by, holds) & (width - 1), down = width - up;
  const Term turned = left ? (whole << up) | (whole >> down) : (whole >> up) | (whole << down);
  return same_width_bitcast(turned, dtype);
}

}  // namespace

Array rotate_left(const Operand& x, const Operand& count) {
  return rotated("rotate_left", x, count, true);
}

Array rotate_right(const Operand& x, const Operand& count) {
  return rotated("rotate_right", x, count, false);
}

}  // namespace anabranch
