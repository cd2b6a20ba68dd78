// The table of all programs, which CMake makes of the files in npbench/, pyhpc/ and loops/.
#pragma once

#include <map>
#include <string>

#include "bench/peers/benchmark.h"

namespace peers {

/// By the names of their files.
const std::map<std::string, Benchmark>& suite();

}  // namespace peers
