// DotMaker: the dots of one compilation, equal ones made once.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "codegen/cpu/dot/dot.h"

namespace anabranch::cpu {

/// The dots of one compilation: equal ones (the same types, attributes and epilogue's code) have
/// the same primitives, workspaces and code.
class DotMaker {
 public:
  DotTasks operator()(const Type& lhs, const Type& rhs, const Type& result,
                      const DotAttributes& attributes, const std::optional<Epilogue>& epilogue);

 private:
  std::map<std::string, DotTasks> made_;
};

}  // namespace anabranch::cpu
