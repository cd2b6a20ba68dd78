#include "anabranch/dtype.h"

#include <string>

#include "anabranch/error.h"

namespace anabranch {

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (int i = 0; i < dtype_count; ++i) {
    if (all_dtypes[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

void refuse_complex(Dtype dtype) {
  throw InternalError("dtype", std::string(name(dtype)) + " where only real numbers are meant");
}

}  // namespace anabranch
