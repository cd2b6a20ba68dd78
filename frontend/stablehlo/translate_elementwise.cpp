// Operations of each element.
#include <charconv>
#include <cmath>

#include "anabranch/bits.h"
#include "anabranch/complex.h"
#include "anabranch/elementwise.h"
#include "frontend/array/expression.h"
#include "frontend/ops/bits.h"
#include "frontend/stablehlo/element_ops.h"
#include "frontend/stablehlo/narrow.h"
#include "frontend/stablehlo/narrow_format.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

// Arrays of one dtype; the shapes are the same, as StableHLO demands.
template <Op op, std::size_t operand_count>
Results same_op(const Site& site) {
  site.expect_operands(operand_count);
  return {element_op(site, op, site.operands())};
}

// Null where the result is of no narrow type.
const NarrowFormat* narrow_result(const Site& site) {
  return site.op.result_types.empty() ? nullptr : narrow_format(site.op.result_types[0].element);
}

Array repeated_like(const Site& site, const Array& scalar, const Array& like) {
  return site.repeated(scalar, type_of(like).shape);
}

/// An integer's bits at the top of what carries it: where the op finds a sign, and nothing above.
struct TopBits {
  int unused = 0;  ///< below them
  std::vector<Array> operands;
};
TopBits top_bits(const Site& site, std::size_t operand_count) {
  site.expect_operands(operand_count);
  TopBits top{.operands = site.operands()};
  const NarrowFormat* narrow = narrow_result(site);
  if (!narrow) return top;
  top.unused = 8 - narrow->bits;
  Array& x = top.operands[0];
  const Array by = repeated_like(site, site.scalar(top.unused, narrow->carrier), x);
  x = site.record(Op::shift_left, {x, by});
  return top;
}

template <Op op>
Results shift_right_op(const Site& site) {
  const TopBits top = top_bits(site, 2);
  const Array shifted = element_op(site, op, top.operands);
  if (top.unused == 0) return {shifted};
  const Array by = site.scalar(top.unused, type_of(shifted).dtype);
  return {site.record(op, {shifted, repeated_like(site, by, shifted)})};
}

Results popcnt_op(const Site& site) {
  return {element_op(site, Op::popcnt, top_bits(site, 1).operands)};
}

// A narrow zero has no more of them than bits.
Results count_leading_zeros_op(const Site& site) {
  const TopBits top = top_bits(site, 1);
  const Array zeros = element_op(site, Op::count_leading_zeros, top.operands);
  if (top.unused == 0) return {zeros};
  const Array most = site.scalar(8 - top.unused, type_of(zeros).dtype);
  return {site.record(Op::minimum, {zeros, repeated_like(site, most, zeros)})};
}

Results select_op(const Site& site) {
  site.expect_operands(3);
  const Array x = site.operand(1);
  return {site.record(Op::select, {repeated_like(site, site.operand(0), x), x, site.operand(2)})};
}

Results clamp_op(const Site& site) {
  site.expect_operands(3);
  const Array x = site.operand(1);
  return {site.record(Op::clamp, {repeated_like(site, site.operand(0), x), x,
                                  repeated_like(site, site.operand(2), x)})};
}

Results convert_op(const Site& site) {
  site.expect_operands(1);
  const Dtype dtype = site.result_type().dtype;
  // Of a complex number only the real part is converted, to bool too.
  const bool takes_real = is_complex(type_of(site.operand(0)).dtype) && !is_complex(dtype);
  const Array x = takes_real ? site.record(Op::real, {site.operand(0)}) : site.operand(0);
  const NarrowFormat* narrow = narrow_result(site);
  if (narrow && type_of(x).dtype == f64 && dtype == f32) return {rounded_to_odd(site, x)};
  if (!narrow || !is_float(type_of(x).dtype) || is_float(dtype)) return {site.converted(x, dtype)};
  // A float saturates at the ends of the narrow type, not at those of what carries it.
  const bool is_signed = is_signed_integer(dtype);
  const double least = is_signed ? -std::ldexp(1.0, narrow->bits - 1) : 0.0;
  const double most = std::ldexp(1.0, narrow->bits - (is_signed ? 1 : 0)) - 1;
  const Type& type = type_of(x);
  const Array bounds[] = {site.repeated(site.scalar(least, type.dtype), type.shape),
                          site.repeated(site.scalar(most, type.dtype), type.shape)};
  return {site.converted(site.record(Op::clamp, {bounds[0], x, bounds[1]}), dtype)};
}

Results bitcast_convert_op(const Site& site) {
  site.expect_operands(1);
  return {bitcast_convert({site.operand(0), site.where()}, site.result_type().dtype)};
}

// "e5m10", or the two numbers.
Results reduce_precision_op(const Site& site) {
  site.expect_operands(1);
  std::int64_t exponent = site.integer("exponent_bits", -1);
  std::int64_t mantissa = site.integer("mantissa_bits", -1);
  const std::string format = site.word("format", "");
  const std::size_t middle = format.find('m');
  const auto read = [](std::string_view digits, std::int64_t& number) {
    const char* end = digits.data() + digits.size();
    const auto found = std::from_chars(digits.data(), end, number);
    if (found.ec != std::errc() || found.ptr != end) number = -1;
  };
  if (format.starts_with('e') && middle != format.npos) {
    read(std::string_view(format).substr(1, middle - 1), exponent);
    read(std::string_view(format).substr(middle + 1), mantissa);
  }
  if (exponent < 1 || mantissa < 0 || exponent > 1024 || mantissa > 1024) {
    site.fail("needs a format, such as e5m10");
  }
  const Operand x(site.operand(0), site.where());
  return {reduce_precision(x, static_cast<int>(exponent), static_cast<int>(mantissa))};
}

Results compare_op(const Site& site) {
  site.expect_operands(2);
  return {compared(site, site.operands())};
}

template <Array (*part)(const Operand&)>
Results part_of(const Site& site) {
  site.expect_operands(1);
  return {part({site.operand(0), site.where()})};
}

constexpr Translation rows[] = {
    {"complex", same_op<Op::complex, 2>},
    {"real", part_of<real>},
    {"imag", part_of<imag>},
    {"conj", part_of<conj>},
    {"abs", same_op<Op::abs, 1>},
    {"negate", same_op<Op::negate, 1>},
    {"sign", same_op<Op::sign, 1>},
    {"not", same_op<Op::not_, 1>},
    {"popcnt", popcnt_op},
    {"count_leading_zeros", count_leading_zeros_op},
    {"floor", same_op<Op::floor, 1>},
    {"ceil", same_op<Op::ceil, 1>},
    {"round_nearest_even", same_op<Op::round_nearest_even, 1>},
    {"round_nearest_afz", same_op<Op::round_nearest_afz, 1>},
    {"is_finite", same_op<Op::is_finite, 1>},
    {"sqrt", same_op<Op::sqrt, 1>},
    {"rsqrt", same_op<Op::rsqrt, 1>},
    {"cbrt", same_op<Op::cbrt, 1>},
    {"exponential", same_op<Op::exponential, 1>},
    {"exponential_minus_one", same_op<Op::exponential_minus_one, 1>},
    {"log", same_op<Op::log, 1>},
    {"log_plus_one", same_op<Op::log_plus_one, 1>},
    {"logistic", same_op<Op::logistic, 1>},
    {"sine", same_op<Op::sine, 1>},
    {"cosine", same_op<Op::cosine, 1>},
    {"tan", same_op<Op::tan, 1>},
    {"tanh", same_op<Op::tanh, 1>},
    {"add", same_op<Op::add, 2>},
    {"subtract", same_op<Op::subtract, 2>},
    {"multiply", same_op<Op::multiply, 2>},
    {"divide", same_op<Op::divide, 2>},
    {"remainder", same_op<Op::remainder, 2>},
    {"power", same_op<Op::power, 2>},
    {"maximum", same_op<Op::maximum, 2>},
    {"minimum", same_op<Op::minimum, 2>},
    {"atan2", same_op<Op::atan2, 2>},
    {"and", same_op<Op::and_, 2>},
    {"or", same_op<Op::or_, 2>},
    {"xor", same_op<Op::xor_, 2>},
    {"shift_left", same_op<Op::shift_left, 2>},
    {"shift_right_arithmetic", shift_right_op<Op::shift_right_arithmetic>},
    {"shift_right_logical", shift_right_op<Op::shift_right_logical>},
    {"select", select_op},
    {"clamp", clamp_op},
    {"convert", convert_op},
    {"bitcast_convert", bitcast_convert_op},
    {"reduce_precision", reduce_precision_op},
    {"compare", compare_op},
};

}  // namespace

std::span<const Translation> elementwise_translations() { return rows; }

}  // namespace anabranch::stablehlo
