#include "runtime/memory/host_memory.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace anabranch {
namespace {

struct Bytes {
  std::size_t memory = 0, swap = 0;
};

Bytes of_machine() {
  struct sysinfo machine;
  if (::sysinfo(&machine) != 0) return {SIZE_MAX / 2, 0};
  return {std::size_t{machine.totalram} * machine.mem_unit,
          std::size_t{machine.totalswap} * machine.mem_unit};
}

// A number, or no limit where the file says "max", or is not there.
std::size_t limit_in(const std::string& file) {
  std::size_t limit = SIZE_MAX;
  std::ifstream stream(file);
  if (!(stream >> limit)) return SIZE_MAX;
  return limit;
}

// Of the group and of those that it is in. Version 2 bounds memory and swap apart, version 1
// together. Without std::filesystem::path, whose operator/ in libstdc++ 12 frees twice where memory
// ends.
std::size_t allowed(const Bytes& machine) {
  std::size_t least = machine.memory + machine.swap;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string kinds = line.substr(first + 1, second - first - 1);
    const bool unified = kinds.empty();
    if (!unified && kinds != "memory") continue;
    const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (std::string group = line.substr(second + 1);; group.resize(group.rfind('/'))) {
      if (group == "/") group.clear();
      const std::string folder = root + group;
      if (unified) {
        const std::size_t memory = std::min(machine.memory, limit_in(folder + "/memory.max"));
        const std::size_t swap = std::min(machine.swap, limit_in(folder + "/memory.swap.max"));
        least = std::min(least, memory + swap);
      } else {
        least = std::min(least, limit_in(folder + "/memory.memsw.limit_in_bytes"));
      }
      if (group.find('/') == group.npos) break;
    }
  }
  return least;
}

}  // namespace

std::size_t host_memory() {
  static const std::size_t bytes = allowed(of_machine());
  return bytes;
}

}  // namespace anabranch
