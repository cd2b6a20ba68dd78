#include "codegen/cpu/native_flow.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "codegen/cpu/emit/flow.h"
#include "codegen/cpu/jit.h"
#include "codegen/cpu/leaked_on_error.h"
#include "codegen/cpu/link.h"
#include "codegen/cpu/object_code.h"
#include "codegen/cpu/team_loops.h"
#include "runtime/cpu/hot_team.h"

namespace anabranch::cpu {
namespace {

// To go from step to step through the executor takes 0.2 us for each launch, and to hand a part to
// another core some more; a step that takes much longer gains by other cores what it loses: one of
// 49 us takes 1.6 times as long on one core.
constexpr double native_ns = 40'000;
constexpr double native_ns_of_team = 500'000;

double predicted_ns(const Program& region) {
  double ns = 0;
  for (const Step& step : region.steps) ns += step.predicted_ns;
  return ns;
}

/// Of the longest of a loop's or a branch's regions.
double turn_ns(const Step& flow) {
  double ns = 0;
  for (const Program& region : inner_programs(flow)) ns = std::max(ns, predicted_ns(region));
  return ns;
}

/// What a native function is given besides its buffers: an array of pointers, and what keeps alive
/// what they point to.
struct FlowContext {
  std::vector<const void*> pointers;
  std::vector<std::shared_ptr<const void>> owners;
};

void emit(FlowEmitter& emitter, const Step& flow, const LinkedStep& code,
          std::span<const Kernel> kernels) {
  if (const auto* loop = std::get_if<LoopStep>(&flow.work)) {
    emitter.emit_loop(*loop, code, kernels);
  } else {
    emitter.emit_branch(std::get<BranchStep>(flow.work), code, kernels);
  }
}

/// A module of one function, which `emitter` has written.
struct FlowModule {
  FlowModule(const Step& flow, const LinkedStep& code, std::span<const Kernel> kernels,
             const llvm::TargetMachine& machine)
      : module(flow.name, *context), emitter(*module, flow.name) {
    set_target(*module, machine);
    emit(emitter, flow, code, kernels);
    verify(*module);
  }

  LeakedOnError<llvm::LLVMContext> context;
  LeakedOnError<llvm::Module> module;
  FlowEmitter emitter;
};

std::string bitcode_of(const llvm::Module& module) {
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  return bitcode;
}

}  // namespace

bool is_small(std::span<const Program> regions, std::span<const Kernel> kernels) {
  return std::ranges::all_of(regions, [&](const Program& region) {
    const bool is_innermost = std::ranges::all_of(region.steps, [](const Step& step) {
      return inner_programs(step).empty() || is_whole_flow(step);
    });
    const double most = gains_by_team(region, kernels) ? native_ns_of_team : native_ns;
    return is_innermost && predicted_ns(region) <= most;
  });
}

HostTask native_flow(const Step& flow, const LinkedStep& code, std::span<const Kernel> kernels,
                     CodeCache* cache) {
  const LentCodeGenerator generator;
  FlowModule made(flow, code, kernels, generator->machine());
  // Addresses are found while it is emitted, so that it is always made.
  const std::string object = object_of({bitcode_of(*made.module),
                                        [&]() -> llvm::Module& { return *made.module; },
                                        {"optimized", &optimize}},
                                       *generator, cache);
  LoadedCode loaded = load(object, {flow.name});
  auto context = std::make_shared<FlowContext>();
  context->pointers = made.emitter.pointers();
  context->owners = made.emitter.owners();
  context->owners.push_back(std::move(loaded.keep_alive));
  HostTask native;
  native.function = reinterpret_cast<HostTask::Function>(loaded.addresses[0]);
  native.context = std::shared_ptr<const void>(context, context->pointers.data());
  if (!made.emitter.gains_by_team()) return native;
  return HotTeam::task(std::move(native), turn_ns(flow) > native_ns);
}

std::string flow_llvm_text(const Step& flow, const LinkedStep& code,
                           std::span<const Kernel> kernels) {
  const LentCodeGenerator generator;
  const FlowModule made(flow, code, kernels, generator->machine());
  optimize(*made.module, generator->machine());
  return text_of(*made.module);
}

std::string flow_assembly_text(const Step& flow, const LinkedStep& code,
                               std::span<const Kernel> kernels) {
  const LentCodeGenerator generator;
  const FlowModule made(flow, code, kernels, generator->machine());
  optimize(*made.module, generator->machine());
  return generator->assembly(*made.module);
}

}  // namespace anabranch::cpu
