// CHLO: functions of each element, with and without NumPy's broadcasting.
#include <limits>

#include "anabranch/bits.h"
#include "anabranch/elementwise.h"
#include "anabranch/special.h"
#include "frontend/array/expression.h"
#include "frontend/ops/term.h"
#include "frontend/stablehlo/element_ops.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

template <Array (*function)(const Operand&)>
Results of_one(const Site& site) {
  site.expect_operands(1);
  return {function(Operand(site.operand(0), site.where()))};
}

Term chlo_term(const Site& site, std::size_t index) { return {site.operand(index), site.where()}; }

Array broadcast_operand(const Site& site, std::size_t index, const Shape& shape);

template <Array (*function)(const Operand&, const Operand&)>
Results of_two(const Site& site) {
  site.expect_operands(2);
  const Shape shape = site.result_type().shape;
  return {function({broadcast_operand(site, 0, shape), site.where()},
                   {broadcast_operand(site, 1, shape), site.where()})};
}

template <bool of_positive, bool of_negative>
Results is_infinite(const Site& site) {
  site.expect_operands(1);
  const Term x = chlo_term(site, 0);
  const double infinity = std::numeric_limits<double>::infinity();
  if (of_positive && of_negative) return {abs(x) == infinity};
  return {x == (of_positive ? infinity : -infinity)};
}

Results constant_like_op(const Site& site) {
  site.expect_operands(1);
  const Type type = type_of(site.operand(0));
  const Literal value = site.scalar_attribute("value");
  const Array scalar = site.importer.constant({value, false}, value.type(), site.where());
  return {site.repeated(site.converted(scalar, type.dtype), type.shape)};
}

// By NumPy's rule, or as broadcast_dimensions says where the operand of the smaller rank goes.
Array broadcast_operand(const Site& site, std::size_t index, const Shape& shape) {
  const Array x = site.operand(index);
  const Type& type = type_of(x);
  if (type.shape == shape) return x;
  List axes = site.integers("broadcast_dimensions", {});
  if (axes.size() != static_cast<std::size_t>(type.rank())) {
    axes.clear();
    for (int axis = 0; axis < type.rank(); ++axis)
      axes.push_back(shape.rank() - type.rank() + axis);
  }
  return site.record(Op::broadcast_in_dim, {x}, AxesAttributes{axes}, Type{type.dtype, shape});
}

std::vector<Array> broadcast_operands(const Site& site) {
  const Shape shape = site.result_type().shape;
  std::vector<Array> operands;
  for (std::size_t i = 0; i < site.count(); ++i) {
    operands.push_back(broadcast_operand(site, i, shape));
  }
  return operands;
}

template <Op op>
Results broadcast_two(const Site& site) {
  site.expect_operands(2);
  return {element_op(site, op, broadcast_operands(site))};
}

Results broadcast_select_op(const Site& site) {
  site.expect_operands(3);
  return {site.record(Op::select, broadcast_operands(site))};
}

Results broadcast_compare_op(const Site& site) {
  site.expect_operands(2);
  return {compared(site, broadcast_operands(site))};
}

// The upper half of a product of twice the bits. Of 64 bits by halves (Warren, Hacker's Delight,
// section 8-2), as if without a sign, which is put right after.
Results multiply_high(const Site& site) {
  site.expect_operands(2);
  const Term a = chlo_term(site, 0), b = chlo_term(site, 1);
  const Dtype dtype = a.array().dtype();
  if (!is_integer(dtype)) site.fail(std::string(name(dtype)) + " is no integer");
  const int bits = info(dtype).bits;
  if (bits < 64) {
    const Dtype wide = is_signed_integer(dtype) ? i64 : u64;
    return {converted((converted(a, wide) * converted(b, wide)) >> bits, dtype)};
  }
  const auto term = [&](Array array) { return Term(std::move(array), site.where()); };
  const auto high = [](const Term& x) { return x >> 32; };
  const auto low = [](const Term& x) { return x & 0xffffffffu; };
  const Term x = term(bitcast(a, u64)), y = term(bitcast(b, u64));
  const Term middle = high(x) * low(y) + high(low(x) * low(y));
  const Term other = low(x) * high(y) + low(middle);
  Term product = high(x) * high(y) + high(middle) + high(other);
  if (is_signed_integer(dtype)) {
    product = product - term(where(a < 0, y, 0)) - term(where(b < 0, x, 0));
  }
  return {bitcast(product, dtype)};
}

constexpr Translation rows_of_chlo[] = {
    {"acos", of_one<acos>},
    {"acosh", of_one<acosh>},
    {"asin", of_one<asin>},
    {"asinh", of_one<asinh>},
    {"atan", of_one<atan>},
    {"atanh", of_one<atanh>},
    {"cosh", of_one<cosh>},
    {"erf", of_one<erf>},
    {"erf_inv", of_one<erfinv>},
    {"sinh", of_one<sinh>},
    {"square", of_one<square>},
    {"is_inf", is_infinite<true, true>},
    {"is_pos_inf", is_infinite<true, false>},
    {"is_neg_inf", is_infinite<false, true>},
    {"erfc", of_one<erfc>},
    {"lgamma", of_one<lgamma>},
    {"digamma", of_one<digamma>},
    {"bessel_i1e", of_one<bessel_i1e>},
    {"mulhi", multiply_high},
    {"next_after", of_two<nextafter>},
    {"broadcast_next_after", of_two<nextafter>},
    {"polygamma", of_two<polygamma>},
    {"broadcast_polygamma", of_two<polygamma>},
    {"zeta", of_two<zeta>},
    {"broadcast_zeta", of_two<zeta>},
    {"constant_like", constant_like_op},
    {"broadcast_add", broadcast_two<Op::add>},
    {"broadcast_subtract", broadcast_two<Op::subtract>},
    {"broadcast_multiply", broadcast_two<Op::multiply>},
    {"broadcast_divide", broadcast_two<Op::divide>},
    {"broadcast_remainder", broadcast_two<Op::remainder>},
    {"broadcast_power", broadcast_two<Op::power>},
    {"broadcast_maximum", broadcast_two<Op::maximum>},
    {"broadcast_minimum", broadcast_two<Op::minimum>},
    {"broadcast_complex", broadcast_two<Op::complex>},
    {"broadcast_atan2", broadcast_two<Op::atan2>},
    {"broadcast_and", broadcast_two<Op::and_>},
    {"broadcast_or", broadcast_two<Op::or_>},
    {"broadcast_xor", broadcast_two<Op::xor_>},
    {"broadcast_shift_left", broadcast_two<Op::shift_left>},
    {"broadcast_shift_right_arithmetic", broadcast_two<Op::shift_right_arithmetic>},
    {"broadcast_shift_right_logical", broadcast_two<Op::shift_right_logical>},
    {"broadcast_select", broadcast_select_op},
    {"broadcast_compare", broadcast_compare_op},
};

}  // namespace

std::span<const Translation> chlo_translations() { return rows_of_chlo; }

}  // namespace anabranch::stablehlo
