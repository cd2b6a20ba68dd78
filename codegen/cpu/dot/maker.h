// DotMaker: the dots of one compilation, equal ones made once.
#pragma once

#include <map>
#include <string>

#include "codegen/cpu/dot/dot.h"

namespace anabranch::cpu {

/// The dots of one compilation: equal ones (the same types, attributes and epilogue's code) have
/// the same primitives, workspaces and code.
class DotMaker {
 public:
  const DotTasks& operator()(const DotStep& dot, const HostTask& epilogue);

 private:
  std::map<std::string, DotTasks> made_;
};

}  // namespace anabranch::cpu
