#include "codegen/cuda/whole_flows.h"

#include <algorithm>
#include <map>

#include "codegen/cuda/emit/flow.h"
#include "codegen/cuda/keep_rows.h"
#include "codegen/cuda/map_threads.h"

namespace anabranch::cuda {
namespace {

// Of one multiprocessor: that much of memory in a cycle, and so many operations, by the CUDA C++
// Programming Guide's tables of arithmetic throughput. A step that takes one block longer than this
// many cycles is better shared out over the whole GPU, though the stream then has to come to each
// kernel and the host to each step.
constexpr double bytes_per_cycle = 64;
constexpr double operations_per_cycle = 64;
constexpr double most_cycles = 8192;

// A block has 48 KB without asking for more; some is for what reductions exchange.
constexpr std::int64_t most_shared_bytes = 40 << 10;
// A kernel takes 4 KB of arguments.
constexpr std::size_t most_arguments = 500;

double cycles(const Cost& cost) {
  return static_cast<double>(cost.bytes_read + cost.bytes_written) / bytes_per_cycle +
         static_cast<double>(cost.operations) / operations_per_cycle;
}

bool is_small(const Program& region) {
  double sum = 0;
  for (const Step& step : region.steps) {
    if (is_whole_flow(step)) continue;  // small itself, and no quicker outside
    if (!std::holds_alternative<KernelStep>(step.work) &&
        !std::holds_alternative<CopyStep>(step.work)) {
      return false;
    }
    sum += cycles(step.cost);
  }
  return sum <= most_cycles;
}

}  // namespace

std::span<const KernelPass> mapping_passes() {
  static constexpr KernelPass passes[] = {map_threads_pass, keep_rows_pass};
  return passes;
}

bool is_small(std::span<const Program> regions) {
  return std::ranges::all_of(regions, [](const Program& region) { return is_small(region); });
}

bool can_be_whole(const Step& flow, std::span<const Kernel> kernels) {
  KernelContext context{.block_threads = block_threads(flow, kernels)};
  std::map<std::uint32_t, Kernel> mapped;
  const FlowText text = emit_flow(flow, [&](std::uint32_t number) -> const Kernel& {
    const auto [at, is_new] = mapped.try_emplace(number);
    if (is_new) at->second = run_passes(mapping_passes(), kernels[number], context);
    return at->second;
  });
  return text.shared_bytes <= most_shared_bytes &&
         flow.buffers.size() + text.constants.size() <= most_arguments;
}

}  // namespace anabranch::cuda
