#include "codegen/kernel/combine_op.h"

namespace anabranch {

std::optional<Op> combine_op(Combine combine) {
  switch (combine) {
    case Combine::sum:
      return Op::add;
    case Combine::product:
      return Op::multiply;
    case Combine::maximum:
      return Op::maximum;
    case Combine::minimum:
      return Op::minimum;
    case Combine::any:
      return Op::or_;
    case Combine::all:
      return Op::and_;
    case Combine::argmax:
    case Combine::argmin:
    case Combine::carry:
    case Combine::while_:
      break;
  }
  return std::nullopt;
}

}  // namespace anabranch
