#include "frontend/ops/term.h"

#include "frontend/array/expression.h"
#include "frontend/ops/promote.h"

namespace anabranch {

Array as_array_like(const Term& a, const Term& b) {
  Array array = number_as("constant", a.number(), b.array().dtype(), b.where());
  array.expression()->weak = b.array().expression()->weak;
  return array;
}

}  // namespace anabranch
