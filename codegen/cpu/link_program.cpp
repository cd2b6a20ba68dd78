#include "codegen/cpu/link_program.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/cpu/compile_kernels.h"
#include "codegen/cpu/convolution/convolution.h"
#include "codegen/cpu/dot/maker.h"
#include "codegen/cpu/grain.h"
#include "codegen/cpu/inline_kernels.h"
#include "codegen/cpu/kernel_time.h"
#include "codegen/cpu/native_flow.h"
#include "codegen/kernel/key.h"

namespace anabranch::cpu {
namespace {

bool is_on_cpu(const Program& program, const Step& step) {
  return program.devices[device_of(program, step)].device.kind() == DeviceKind::cpu;
}

/// The kernels that need a function of their own, by number.
class Needed {
 public:
  explicit Needed(const Program& program) : kernels_(program.kernels) {
    visit(program, false);
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  }

  const std::vector<std::uint32_t>& numbers() const { return numbers_; }
  std::vector<const Kernel*> kernels() const {
    std::vector<const Kernel*> kernels;
    for (std::uint32_t number : numbers_) kernels.push_back(&kernels_[number]);
    return kernels;
  }

 private:
  // `is_inside`: of a loop or a branch that is one function.
  void visit(const Program& program, bool is_inside) {
    for (const Step& step : program.steps) {
      if (!is_on_cpu(program, step)) continue;
      for (const Program& inner : inner_programs(step)) visit(inner, is_whole_flow(step));
      const std::optional<std::uint32_t> kernel = kernel_of(step);
      if (!kernel) continue;
      const bool is_plain = std::holds_alternative<KernelStep>(step.work);
      if (is_inside && is_plain && may_be_inlined(kernels_[*kernel])) continue;
      numbers_.push_back(*kernel);
    }
  }

  std::span<const Kernel> kernels_;
  std::vector<std::uint32_t> numbers_;
};

class ProgramLinker {
 public:
  ProgramLinker(const Program& program, CodeCache* cache)
      : program_(program), cache_(cache), tasks_(program.kernels.size()) {}

  void link(LinkedCode& code) {
    compile_kernels_into(code);
    link(program_, code);
  }

 private:
  void compile_kernels_into(LinkedCode& code) {
    const Needed needed(program_);
    std::unordered_map<std::string, std::size_t> known;  // by what the code depends on
    std::vector<std::size_t> code_of;
    std::vector<const Kernel*> together;
    for (const Kernel* kernel : needed.kernels()) {
      const auto [entry, is_new] = known.emplace(code_key(*kernel), together.size());
      code_of.push_back(entry->second);
      if (is_new) together.push_back(kernel);
    }
    const Code compiled = compile_kernels(together, cache_);
    code.bytes += compiled.bytes;
    code.instructions += compiled.instructions;
    const double cached = cached_bytes(program_.kernels);
    for (std::size_t i = 0; i < code_of.size(); ++i) {
      const std::uint32_t number = needed.numbers()[i];
      const Kernel& kernel = program_.kernels[number];
      tasks_[number] = HostTask{compiled.functions[code_of[i]], compiled.keep_alive,
                                kernel.extent(), grain(kernel, cached), cut(kernel)};
    }
  }

  void link(const Program& program, LinkedCode& code) {
    for (StepId i = 0; i < program.steps.size(); ++i) {
      const Step& step = program.steps[i];
      if (is_on_cpu(program, step)) link(step, code.steps[i]);
    }
  }

  // Other kinds of steps are no business of a backend's.
  void link(const Step& step, LinkedStep& code) {
    if (const auto* kernel = std::get_if<KernelStep>(&step.work)) {
      if (tasks_[kernel->kernel].function) code.task = tasks_[kernel->kernel];
    } else if (const auto* dot = std::get_if<DotStep>(&step.work)) {
      code.task = dots_(*dot, epilogue(*dot)).dot;
    } else if (const auto* pack = std::get_if<PackStep>(&step.work)) {
      code.task = dots_(pack->dot, epilogue(pack->dot)).pack.value();
    } else if (const auto* convolution = std::get_if<ConvolutionStep>(&step.work)) {
      code.task = make_convolution(*convolution, epilogue(*convolution));
    } else if (const auto* filters = std::get_if<PackFiltersStep>(&step.work)) {
      code.task = pack_filters(filters->convolution);
    }
    const std::span<const Program> inner = inner_programs(step);
    for (std::size_t i = 0; i < inner.size(); ++i) link(inner[i], code.regions[i]);
    if (is_whole_flow(step)) code.task = native_flow(step, code, program_.kernels, cache_);
  }

  template <class Product>
  HostTask epilogue(const Product& product) const {
    return product.epilogue ? tasks_[product.epilogue->kernel] : HostTask();
  }

  const Program& program_;
  CodeCache* cache_;
  std::vector<HostTask> tasks_;  // by kernel
  DotMaker dots_;
};

void add_flows(const Program& program, const LinkedCode& code, std::span<const Kernel> kernels,
               Stage stage, std::string& text) {
  for (StepId i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!is_on_cpu(program, step)) continue;
    if (is_whole_flow(step)) {
      text += "\n" + (stage == Stage::llvm ? flow_llvm_text(step, code.steps[i], kernels)
                                           : flow_assembly_text(step, code.steps[i], kernels));
    }
    const std::span<const Program> inner = inner_programs(step);
    for (std::size_t k = 0; k < inner.size(); ++k) {
      add_flows(inner[k], code.steps[i].regions[k], kernels, stage, text);
    }
  }
}

}  // namespace

void link_program(const Program& program, CodeCache* cache, LinkedCode& code) {
  ProgramLinker(program, cache).link(code);
}

std::string code_text(const Program& program, const LinkedCode& code, Stage stage) {
  const std::vector<const Kernel*> kernels = Needed(program).kernels();
  std::string text = stage == Stage::llvm ? llvm_text(kernels) : assembly_text(kernels);
  add_flows(program, code, program.kernels, stage, text);
  return text;
}

}  // namespace anabranch::cpu
