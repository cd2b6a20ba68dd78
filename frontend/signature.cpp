#include "frontend/signature.h"

#include <array>

namespace anabranch {

const Type& scalar_type(Dtype dtype) {
  static const std::array<Type, dtype_count> types = [] {
    std::array<Type, dtype_count> types;
    for (int i = 0; i < dtype_count; ++i) types[static_cast<std::size_t>(i)] = {Dtype(i), {}};
    return types;
  }();
  return types[static_cast<std::size_t>(dtype)];
}

bool Signature::any_traced() const {
  for (const Leaf& leaf : leaves) {
    if (leaf.array && leaf.array->expression() &&
        leaf.array->expression()->kind == Expression::Kind::traced) {
      return true;
    }
  }
  return false;
}

}  // namespace anabranch
