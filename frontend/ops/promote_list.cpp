#include "frontend/ops/promote_list.h"

#include <optional>

#include "frontend/array/expression.h"

namespace anabranch {
namespace {

bool is_weak(const char* function, const Operand& operand) {
  return as_array(function, operand).expression()->weak;
}

// What the arrays with dtypes of their own come to; nothing where there are none.
std::optional<Dtype> dtype_of_arrays(const char* function, const std::vector<Operand>& operands,
                                     Takes takes) {
  std::optional<Dtype> dtype;
  std::vector<const Operand*> before;
  for (const Operand& operand : operands) {
    if (is_weak(function, operand)) continue;
    const Dtype own = type_of(as_array(function, operand, takes)).dtype;
    dtype = dtype ? promoted(*dtype, own) : own;
    // Where it does not meet all of those before, it does not meet one of them.
    for (std::size_t i = 0; !dtype; ++i) promote(function, {before.at(i), &operand}, takes);
    before.push_back(&operand);
  }
  return dtype;
}

}  // namespace

std::vector<Array> promote_list(const char* function, const std::vector<Operand>& operands,
                                Takes takes) {
  const SourceLocation where = operands[0].where();
  const auto dtype = dtype_of_arrays(function, operands, takes);
  // A scalar of the dtype so far. Numbers follow arrays, but a complex one makes floats complex.
  Operand common = dtype ? Operand(array_of(*dtype, 0, where), where) : operands[0];
  for (const Operand& operand : operands) {
    if (!is_weak(function, operand)) continue;
    common = Operand(promote(function, {&common, &operand}, takes)[0], where);
  }
  std::vector<Array> arrays;
  arrays.reserve(operands.size());
  for (const Operand& operand : operands) {
    arrays.push_back(promote(function, {&operand, &common}, takes)[0]);
  }
  return arrays;
}

}  // namespace anabranch
