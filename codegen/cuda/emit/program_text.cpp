#include "codegen/cuda/emit/program_text.h"

#include <numeric>
#include <vector>

#include "codegen/cuda/gather.h"

namespace anabranch::cuda {
namespace {

std::vector<DeviceIndex> gpus_of(const Program& program) {
  std::vector<DeviceIndex> all(program.devices.size());
  std::iota(all.begin(), all.end(), DeviceIndex{0});
  std::vector<DeviceIndex> gpus = all;
  std::erase_if(gpus, [&](DeviceIndex device) {
    return program.devices[device].device.kind() != DeviceKind::cuda;
  });
  return gpus.empty() ? all : gpus;
}

}  // namespace

std::string program_text(const Program& program) {
  const Gathered gathered = gather(program, gpus_of(program));
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "\n") + part; };
  for (const Gathered::Part& part : gathered.parts) add(part.kernel.text);
  for (const Gathered::Conditional& conditional : gathered.conditionals) add(conditional.text.text);
  return text;
}

}  // namespace anabranch::cuda
