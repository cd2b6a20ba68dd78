// How a graph names the functions of the user that it calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "anabranch/custom_function.h"

namespace anabranch {

/// Which of the functions under one name a graph calls; the function lives as long as a handle of
/// it. Equal if the numbers are.
struct CustomFunctionHandle {
  std::uint64_t number = 0;                        ///< 0: the first one under the name
  std::shared_ptr<const CustomFunction> function;  ///< null: the one registered under the name

  /// Whether the name says it all: the text form leaves the number out.
  bool empty() const { return number == 0; }
  bool operator==(const CustomFunctionHandle& other) const { return number == other.number; }
};

/// The handle of `function` under `name`: the same one as before for the same identity. Nothing is
/// registered under an empty name, which the op refuses. Thread-safe.
CustomFunctionHandle handle_of(const std::string& name, CustomFunction function,
                               detail::FunctionIdentity identity);

/// Throws Error where there is no such function, or none any more.
std::shared_ptr<const CustomFunction> custom_function(const std::string& name,
                                                      const CustomFunctionHandle& handle = {});

}  // namespace anabranch
