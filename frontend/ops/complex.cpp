#include "anabranch/complex.h"

#include "anabranch/creation.h"
#include "anabranch/elementwise.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

Array part(const Op op, const Array& z, SourceLocation where) { return record(op, {z}, where); }

}  // namespace

Array complex(const Operand& re, const Operand& im) {
  std::vector<Array> both = promote("complex", {&re, &im}, Takes::floats);
  broadcast("complex", both, re.where());
  if (byte_size(both[0].expression()->type.dtype) < byte_size(f32)) {
    fail("complex: " + describe(re) + " and " + describe(im) +
             " are neither f32 nor f64; convert with .astype(ab::f32)",
         re.where());
  }
  return record(Op::complex, both, re.where());
}

Array real(const Operand& z) {
  const Array array = as_array("real", z, Takes::numbers);
  return is_complex(array.dtype()) ? part(Op::real, array, z.where()) : array;
}

Array imag(const Operand& z) {
  const Array array = as_array("imag", z, Takes::numbers);
  return is_complex(array.dtype()) ? part(Op::imag, array, z.where())
                                   : zeros_like({array, z.where()});
}

Array conj(const Operand& z) {
  const Array array = as_array("conj", z, Takes::numbers);
  if (!is_complex(array.dtype())) return array;
  const Term re = {part(Op::real, array, z.where()), z.where()};
  const Term im = {part(Op::imag, array, z.where()), z.where()};
  return complex(re, -im);
}

Array angle(const Operand& z) {
  const Term array = term("angle", z, Takes::floats_or_complex);
  return atan2(Term(imag(array), z.where()), Term(real(array), z.where()));
}

}  // namespace anabranch
