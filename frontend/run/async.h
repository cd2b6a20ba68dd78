// Asking for results before they are needed, and waiting for all of them.
#pragma once

#include <concepts>
#include <vector>

#include "frontend/array/array.h"
#include "frontend/run/evaluate.h"

namespace anabranch {

/// Dispatches what the arrays still need, as one program, without waiting for it.
template <std::same_as<Array>... Arrays>
void eval(const Arrays&... arrays) {
  const Array list[] = {arrays...};
  evaluate(list);
}

/// Dispatches everything that is recorded and held by somebody, then waits until nothing is in
/// flight on any device. Errors stay with the arrays that they belong to. Throws Error inside a
/// custom call.
void wait_all();

}  // namespace anabranch
