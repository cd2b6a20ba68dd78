#include "anabranch/detail/any_function.h"

#include "anabranch/error.h"

namespace anabranch {

void detail::throw_no_function() {
  throw Error("an empty function was given: give one that can be called");
}

}  // namespace anabranch
