#include "passes/real_parts.h"

#include <limits>

namespace anabranch {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The sign bit alone, and all others, in the integers as wide as x.
struct SignBits {
  Part bits, sign;
};
SignBits sign_bits(Part x) {
  const Dtype dtype = byte_size(x.dtype()) == 8 ? u64 : u32;
  const std::uint64_t sign = std::uint64_t{1} << (info(dtype).bits - 1);
  const Part bits = x.bits_as(dtype);
  const Shape shape = x.graph->type(x.value).shape;
  return {bits, {x.graph, x.graph->splat(Literal::scalar(dtype, ElementBits(sign)), shape)}};
}

}  // namespace

Part is_infinite(Part x) { return abs(x) == infinity; }
Part is_finite(Part x) { return abs(x) < infinity; }

Part with_sign_of(Part magnitude, Part sign) {
  const SignBits of_sign = sign_bits(sign), of_magnitude = sign_bits(magnitude);
  const Part rest = of_magnitude.bits & !of_magnitude.sign;
  return (rest | (of_sign.bits & of_sign.sign)).bits_as(magnitude.dtype());
}

Part times_sign_of(Part x, Part sign) {
  const SignBits of_sign = sign_bits(sign), of_x = sign_bits(x);
  return of_x.bits.op(Op::xor_, of_sign.bits & of_sign.sign).bits_as(x.dtype());
}

Parts parts_of(Rewriter& graph, Value complex) {
  const Value re = graph.add(Op::real, {complex});
  return {{&graph, re}, {&graph, graph.add(Op::imag, {complex})}};
}

}  // namespace anabranch
