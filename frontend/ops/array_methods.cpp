// The operations that an Array has as members.
#include "anabranch/array.h"
#include "anabranch/elementwise.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/run/evaluate.h"
#include "frontend/trace/record.h"
#include "runtime/device/device.h"

namespace anabranch {

Array Array::to(const Device& device, std::source_location where) const {
  const Expression& expression = get("to", where);
  if (!exists(device)) {
    fail("to: " + to_string(expression.type) + ": " + missing_text(device), where);
  }
  if (expression.kind == Expression::Kind::scalar) {
    return array_of(expression.type, memory_of(*this, device));
  }
  if (expression.device() == device) return *this;
  return record(Op::transfer, {*this}, where, DeviceAttributes{device});
}

Array Array::astype(Dtype dtype, std::source_location where) const {
  return anabranch::astype(Operand(*this, where), dtype);
}

Array Array::operator[](Position position) const {
  return index({*this, position.where}, position.value);
}

}  // namespace anabranch
