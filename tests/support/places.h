// Where the tests' files lie: in this source tree, or in the bundle that they were packed into.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace anabranch::testing {

/// `in_bundle` below the folder that ANABRANCH_BUNDLE names (tools/gpu_suite sets it); where it is
/// not set, `built`: the absolute path that was compiled in.
inline std::filesystem::path place(const char* in_bundle, const char* built) {
  const char* bundle = std::getenv("ANABRANCH_BUNDLE");
  return bundle ? std::filesystem::path(bundle) / in_bundle : std::filesystem::path(built);
}

}  // namespace anabranch::testing
