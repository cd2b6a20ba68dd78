// Asking for results before they are needed, and waiting for all of them.
#pragma once

#include <concepts>
#include <span>

#include "anabranch/array.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// Dispatches everything that `arrays` still need, as one program, and returns without waiting.
/// What other handles hold on the way becomes concrete too, so that nothing runs twice. Arrays that
/// are traced stay as they are.
void evaluate(std::span<const Array> arrays);

/// Dispatches what the arrays still need, as one program, without waiting for it.
template <std::same_as<Array>... Arrays>
void eval(const Arrays&... arrays) {
  const Array list[] = {arrays...};
  evaluate(list);
}

/// Dispatches everything that is recorded and still held, then waits until nothing is in
/// flight on any device. Errors stay with the arrays that they belong to. Throws Error inside a
/// custom call.
void wait_all();

}  // namespace anabranch
