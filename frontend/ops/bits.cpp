#include "anabranch/bits.h"

#include "anabranch/complex.h"
#include "anabranch/creation.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/bits.h"
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

// A bool is a byte in memory, of which one bit counts.
int bits_of(Dtype dtype) { return dtype == bool_ ? 1 : info(dtype).bits; }

// The bits of each element as an unsigned integer; those of a bool are 0 or 1.
Term as_word(const Term& x) {
  const Dtype dtype = x.array().dtype();
  return dtype == bool_ ? converted(x, u8)
                        : same_width_bitcast(x, unsigned_of_width(info(dtype).bits));
}

// The low bits of unsigned integers as another dtype; a bool is whether any bit is set.
Term of_word(const Term& word, Dtype dtype) {
  if (dtype == bool_) return converted(word, bool_);
  return same_width_bitcast(converted(word, unsigned_of_width(info(dtype).bits)), dtype);
}

// The parts of each element along a new last axis.
Term split_bits(const Term& x, Dtype dtype) {
  const int wide = bits_of(x.array().dtype()), narrow = bits_of(dtype);
  const Term bits = {expand_dims(as_word(x), -1), x.where()};
  const Type along{bits.array().dtype(), Shape({wide / narrow})};
  const Term position = {record(Op::iota, {}, x.where(), AxisAttributes{0}, along), x.where()};
  const Term shifted = bits >> (position * narrow);
  const std::uint64_t mask = (std::uint64_t{1} << narrow) - 1;
  return of_word(shifted & mask, dtype);
}

void demand_parts(const Term& x, Dtype dtype) {
  const Type& type = type_of(x.array());
  const int count = bits_of(dtype) / bits_of(type.dtype);
  if (type.rank() > 0 && type.shape[type.rank() - 1] == count) return;
  fail("bitcast: " + describe(x) + " to " + std::string(name(dtype)) +
           ": the last axis has to be the " + std::to_string(count) + " parts of an element",
       x.where());
}

// The last axis as the parts of one element.
Term join_bits(const Term& x, Dtype dtype) {
  demand_parts(x, dtype);
  const int wide = bits_of(dtype), narrow = bits_of(x.array().dtype());
  const Term bits = converted(as_word(x), unsigned_of_width(wide));
  const auto part_at = [&](int at) {
    return Term(index(bits, at, -1), x.where()) << (at * narrow);
  };
  Term all = part_at(0);
  for (int at = 1; at < wide / narrow; ++at) all = all | part_at(at);
  return same_width_bitcast(all, dtype);
}

Term recut(const Term& x, Dtype dtype) {
  return bits_of(x.array().dtype()) > bits_of(dtype) ? split_bits(x, dtype) : join_bits(x, dtype);
}

// A c128 and two c64: each c64 has the bits of one part of the c128.
Term recut_complex(const Term& z, Dtype dtype) {
  if (z.array().dtype() == c64) demand_parts(z, dtype);
  const Term re = {real(z), z.where()}, im = {imag(z), z.where()};
  const Term parts = recut({stack({re, im}, -1), z.where()}, part_dtype(dtype));
  const auto part_at = [&](int at) { return Term(index(parts, at, -1), z.where()); };
  return {complex(part_at(0), part_at(1)), z.where()};
}

}  // namespace

Array bitcast(const Operand& x, Dtype dtype) {
  const Term y = with_own_dtype({as_array("bitcast", x), x.where()});
  const Dtype from = y.array().dtype();
  if (from == dtype || (from != bool_ && dtype != bool_)) return bitcast_convert(y, dtype);
  if (info(from).bits != info(dtype).bits) {
    fail("bitcast: " + describe(x) + " to " + std::string(name(dtype)) +
             ": a bool has no parts; convert with .astype(...)",
         x.where());
  }
  return of_word(as_word(y), dtype);
}

Array bitcast_convert(const Operand& x, Dtype dtype) {
  const Term y = with_own_dtype({as_array("bitcast", x), x.where()});
  const Dtype from = y.array().dtype();
  if (from == dtype) return y;
  if (is_complex(from) != is_complex(dtype)) {
    fail("bitcast: " + describe(x) + " to " + std::string(name(dtype)) +
             ": complex numbers are no other's bits; use real and imag, or complex",
         x.where());
  }
  if (is_complex(from)) return recut_complex(y, dtype);
  if (bits_of(from) == bits_of(dtype)) return same_width_bitcast(y, dtype);
  return recut(y, dtype);
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
