#include "anabranch/dtype.h"

namespace anabranch {

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (int i = 0; i < dtype_count; ++i) {
    if (all_dtypes[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

}  // namespace anabranch
