#include "ir/bounds.h"

#include <type_traits>
#include <utility>

#include "ir/scalar.h"

namespace anabranch {

std::optional<bool> compared(Bounds a, Bounds b, Comparison direction) {
  const bool below = a.high<b.low, above = a.low> b.high;
  const bool at_most = a.high <= b.low, at_least = a.low >= b.high;
  const auto known = [](bool always, bool never) -> std::optional<bool> {
    if (always) return true;
    return never ? std::optional(false) : std::nullopt;
  };
  switch (direction) {
    case Comparison::lt:
      return known(below, at_least);
    case Comparison::le:
      return known(at_most, above);
    case Comparison::gt:
      return known(above, at_most);
    case Comparison::ge:
      return known(at_least, below);
    case Comparison::eq:
      return known(at_most && at_least, below || above);
    case Comparison::ne:
      return known(below || above, at_most && at_least);
  }
  return std::nullopt;
}

bool holds(Dtype dtype, Bounds bounds) {
  return visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return std::in_range<T>(bounds.low) && std::in_range<T>(bounds.high);
    } else {
      return false;
    }
  });
}

}  // namespace anabranch
