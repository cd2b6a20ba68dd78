#include "frontend/async.h"

#include "runtime/run.h"

namespace anabranch {

void wait_all() {
  evaluate_all();
  wait_for_devices();
}

}  // namespace anabranch
