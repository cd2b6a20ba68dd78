// custom_call: a C++ function over plain memory as an operation.
#pragma once

#include <concepts>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "frontend/array.h"
#include "frontend/record.h"
#include "frontend/signature.h"
#include "ir/custom_call.h"

namespace anabranch {

/// The name of a custom call, and the line where the user wrote it.
struct CallName {
  std::string name;
  std::source_location where;

  CallName(const char* name, std::source_location where = std::source_location::current())
      : name(name), where(where) {}
};

/// An array of type `result` that `function(call)` writes: it reads `call.operand<float>(0)` and
/// writes `call.result<float>(0)`, and has no other effect (see CustomFunction). Graphs know it by
/// its name, so one name stands for one function in the whole process: what the function captures
/// is what it captured when the name was first used. Throws Error where the name stands for a
/// function of another C++ type. What the function throws becomes the error of the result.
///
///     ab::Array y = ab::custom_call("median", [](const ab::CustomCall& call) {
///       call.result<float>(0)[0] = median(call.operand<float>(0));
///     }, ab::spec(ab::f32, {}), x);
template <std::invocable<const CustomCall&> Function, std::same_as<Array>... Arrays>
Array custom_call(const CallName& name, Function function, const Spec& result,
                  const Arrays&... operands) {
  register_custom_call(name.name, std::move(function), typeid(Function));
  return record(Op::custom_call, {operands...}, name.where,
                CustomCallAttributes{name.name, {result.type}});
}

}  // namespace anabranch
