#include "frontend/ops/special_terms.h"

#include <cstdint>

#include "anabranch/bits.h"
#include "frontend/array/expression.h"
#include "frontend/trace/record.h"

namespace anabranch {

std::pair<Term, Term> terms_of(const char* function, const Operand& a, const Operand& b,
                               Takes takes) {
  std::vector<Array> both = promote(function, {&a, &b}, takes);
  const auto is_weak = [](const Array& array) { return array.expression()->weak; };
  if (is_weak(both[0]) != is_weak(both[1])) {
    for (Array& array : both) array = with_own_dtype({array, a.where()});
  }
  broadcast(function, both, a.where());
  return {Term(both[0], a.where()), Term(both[1], a.where())};
}

Term with_own_dtype(const Term& x) {
  const Type& type = type_of(x.array());
  if (!x.array().expression()->weak) return x;
  Array same = record(Op::convert, {x.array()}, x.where(), NoAttributes{}, type);
  same.expression()->weak = false;
  return {same, x.where()};
}

Term polynomial(const Term& x, std::span<const double> coefficients) {
  Term sum = x * coefficients.back() + coefficients[coefficients.size() - 2];
  for (std::size_t i = coefficients.size() - 2; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

Term upper_half(const Term& x) {
  const Term bits = {bitcast(x, u64), x.where()};
  return {bitcast(bits & ~std::uint64_t{0x7ffffff}, f64), x.where()};
}

}  // namespace anabranch
