#include "resources.h"

#include <algorithm>
#include <cstdio>
#include <regex>

namespace anabranch::testing {

// "Compiling entry function 'kernel3' for 'sm_80'", then its stack frame and spills, then "Used 12
// registers, ... 256 bytes smem".
void Resources::add(const std::string& log) {
  static const std::regex line(
      "entry function '([^']+)'|(\\d+) bytes spill stores|Used (\\d+) registers|(\\d+) bytes smem|"
      "(\\d+) bytes stack frame");
  std::string kernel;
  for (std::sregex_iterator found(log.begin(), log.end(), line), end; found != end; ++found) {
    const std::smatch& match = *found;
    if (match[1].matched) {
      kernel = match[1];
      ++kernels;
    }
    if (match[2].matched && match[2] != "0") spills.push_back(kernel);
    if (match[3].matched) most_registers = std::max(most_registers, std::stoi(match[3]));
    if (match[4].matched) most_shared_bytes = std::max(most_shared_bytes, std::stoi(match[4]));
    if (match[5].matched) most_stack_bytes = std::max(most_stack_bytes, std::stoi(match[5]));
  }
}

void Resources::report(int architecture, std::size_t count, const char* things) const {
  std::printf(
      "ring 1, sm_%d: %d kernels of %zu %s, at most %d registers, %d bytes shared, %zu spill, %d "
      "bytes of stack\n",
      architecture, kernels, count, things, most_registers, most_shared_bytes, spills.size(),
      most_stack_bytes);
}

}  // namespace anabranch::testing
