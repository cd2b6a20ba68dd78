#include "frontend/run/async.h"

#include "runtime/executor/run.h"

namespace anabranch {

void wait_all() {
  evaluate_all();
  wait_for_devices();
}

}  // namespace anabranch
