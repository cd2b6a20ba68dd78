#include "codegen/costs.h"

#include <algorithm>

namespace anabranch {
namespace {

constexpr double bytes_per_ns = 10;
constexpr double operations_per_ns = 4;

}  // namespace

double core_ns(const Cost& cost) {
  const auto bytes = static_cast<double>(cost.bytes_read + cost.bytes_written);
  const auto operations = static_cast<double>(cost.operations);
  return std::max(bytes / bytes_per_ns, operations / operations_per_ns);
}

}  // namespace anabranch
