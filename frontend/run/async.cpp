#include "anabranch/async.h"

#include "frontend/run/evaluate.h"
#include "runtime/executor/run.h"

namespace anabranch {

void wait_all() {
  evaluate_all();
  wait_for_devices();
}

}  // namespace anabranch
