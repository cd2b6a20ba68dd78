#include "codegen/costs.h"

#include <algorithm>

namespace anabranch {
namespace {

constexpr double bytes_per_ns = 10;
constexpr double operations_per_ns = 4;
constexpr double users_ns = 1e5;

}  // namespace

double core_ns(const Cost& cost) {
  const auto bytes = static_cast<double>(cost.bytes_read + cost.bytes_written);
  const auto operations = static_cast<double>(cost.operations);
  return std::max(bytes / bytes_per_ns, operations / operations_per_ns);
}

double call_ns(const Step& step) {
  return std::max(core_ns(step.cost), calls_user(step) ? users_ns : 0);
}

}  // namespace anabranch
