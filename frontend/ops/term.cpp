#include "frontend/ops/term.h"

#include "frontend/ops/promote.h"

namespace anabranch {

Array as_array_like(const Term& a, const Term& b) {
  return number_as("constant", a.number(), b.array().dtype(), b.where());
}

}  // namespace anabranch
