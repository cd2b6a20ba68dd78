// Object files to callable code in this process (ORC).
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace anabranch::cpu {

/// Machine code linked into this process; given back when the last handle goes.
struct LoadedCode {
  std::vector<void*> addresses;  ///< one per symbol asked for
  std::shared_ptr<const void> keep_alive;
};

/// Links an object file; other object files do not see its symbols. Throws InternalError, and
/// std::bad_alloc where the machine has no memory left. Thread-safe.
LoadedCode load(const std::string& object, const std::vector<std::string>& symbols);

}  // namespace anabranch::cpu
