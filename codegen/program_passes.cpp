#include "codegen/program_passes.h"

#include <algorithm>
#include <utility>

#include "anabranch/error.h"
#include "codegen/backends.h"
#include "codegen/plan/fuse_steps.h"
#include "codegen/plan/step_costs.h"
#include "codegen/schedule/schedule.h"
#include "passes/pass.h"

namespace anabranch {
namespace {

bool runs_kernels(const Program& program) {
  return std::ranges::any_of(program.steps, [](const Step& step) {
    return kernel_of(step) || std::ranges::any_of(inner_programs(step), runs_kernels);
  });
}

// The text of a program may leave them out.
void demand_kernels(const Program& program) {
  if (!program.kernels.empty() || !runs_kernels(program)) return;
  throw Error(
      "program " + program.name +
      ": it runs kernels, and has none; put their text, as the stage kernels has it, before "
      "the program's");
}

void run_kernel_passes(const Program& program, std::vector<Kernel>& kernels, const PassRun& run) {
  for (const Step& step : program.steps) {
    for (const Program& inner : inner_programs(step)) run_kernel_passes(inner, kernels, run);
    const std::optional<std::uint32_t> number = kernel_of(step);
    if (!number) continue;
    const Backend& backend = backend_of(program.devices[device_of(program, step)].device);
    const bool is_epilogue = epilogue_of(step) != nullptr;
    kernels[*number] =
        run_passes(backend.kernel_passes(), std::move(kernels[*number]),
                   {.target = backend.kernel_target(), .row_major = is_epilogue}, run);
  }
}

Program optimise_kernels(const Program& program, ProgramContext& context) {
  demand_kernels(program);
  Program made = program;
  run_kernel_passes(program, made.kernels, context.run);
  return made;
}

void add_steps(Program& program, std::span<const Kernel> kernels) {
  for (DeviceIndex i = 0; i < program.devices.size(); ++i) {
    backend_of(program.devices[i].device).add_steps(program, i, kernels);
  }
  for (Step& step : program.steps) {
    for (Program& inner : inner_programs(step)) add_steps(inner, kernels);
  }
}

Program fuse_kernels(const Program& program, ProgramContext&) {
  demand_kernels(program);
  Program made = program;
  fuse_steps(made);
  return made;
}

Program pack_operands(const Program& program, ProgramContext&) {
  demand_kernels(program);
  Program made = program;
  add_steps(made, program.kernels);
  return made;
}

Program estimate_costs(const Program& program, ProgramContext& context) {
  demand_kernels(program);
  Program made = program;
  set_costs(made, program.kernels, context.options);
  return made;
}

// `block_threads` of the flow around that runs whole; 0 outside.
void map_kernels(const Program& program, int block_threads, std::vector<Kernel>& kernels,
                 const PassRun& run) {
  for (const Step& step : program.steps) {
    const Backend& backend = backend_of(program.devices[device_of(program, step)].device);
    const int inside = block_threads == 0 && is_whole_flow(step)
                           ? backend.block_threads(step, kernels)
                           : block_threads;
    for (const Program& inner : inner_programs(step)) map_kernels(inner, inside, kernels, run);
    const std::optional<std::uint32_t> number = kernel_of(step);
    if (!number) continue;
    kernels[*number] = run_passes(backend.mapping_passes(), std::move(kernels[*number]),
                                  {.block_threads = block_threads}, run);
  }
}

Program share_out_kernels(const Program& program, ProgramContext& context) {
  demand_kernels(program);
  Program made = program;
  map_kernels(program, 0, made.kernels, context.run);
  return made;
}

Program lay_on_streams(const Program& program, ProgramContext& context) {
  Program made = program;
  context.has_choice = put_on_streams(made, context.options);
  return made;
}

Program plan_memory(const Program& program, ProgramContext& context) {
  if (program.streams.empty() && !program.steps.empty()) {
    throw Error("program " + program.name + ": it is on no streams; run the pass schedule before");
  }
  Program made = program;
  fit_memory(made, context.options);
  return made;
}

constexpr ProgramPass passes[] = {
    {"kernels", "run the passes of each kernel's backend", optimise_kernels, true, true},
    {"fuse_loops", "take several kernels over one array block after block", fuse_kernels},
    {"pack", "lay out once what many blocks of a product read", pack_operands},
    {"costs", "estimate what steps take, and finish loops and branches", estimate_costs, true,
     true},
    {"threads", "run the passes that give each kernel's iterations to threads", share_out_kernels,
     true, true},
    {"schedule", "put steps on streams", lay_on_streams, true, true},
    {"memory", "give temporaries their places in one arena", plan_memory, true, true},
};

// Over graphs, kernels and programs; one that several backends have, several times.
template <class Visit>
void for_each_pass(Visit visit) {
  for (const Pass& pass : all_passes()) visit(pass);
  for (const Backend* backend : backends()) {
    for (const KernelPass& pass : backend->all_kernel_passes()) visit(pass);
  }
  for (const ProgramPass& pass : passes) visit(pass);
}

}  // namespace

std::span<const ProgramPass> program_passes() { return passes; }

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for_each_pass([&](const auto& pass) {
    if (std::ranges::find(names, pass.name) == names.end()) names.push_back(pass.name);
  });
  return names;
}

void check_pass_names(std::span<const std::string> names) {
  for (const std::string& name : names) {
    std::string all;
    for (std::string_view known : pass_names()) {
      all += (all.empty() ? "" : ", ") + std::string(known);
    }
    bool is_known = false, is_needed = false;
    for_each_pass([&](const auto& pass) {
      is_known |= pass.name == name;
      is_needed |= pass.name == name && pass.is_needed;
    });
    if (!is_known) throw Error("there is no pass " + name + "; there are " + all);
    if (is_needed) throw Error("pass " + name + " cannot be left out: nothing runs without it");
  }
}

}  // namespace anabranch
