#include "ir/program/verify_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/infer/infer.h"

namespace anabranch {
namespace {

using Fault = std::optional<std::string>;

class StepVerifier {
 public:
  StepVerifier(const Program& program, const Step& step, std::span<const Kernel> kernels)
      : program_(program), step_(step), kernels_(kernels) {}

  Fault operator()(const KernelStep& run) const {
    return kernel(run.kernel, 0, step_.buffers.size());
  }

  Fault operator()(const DotStep& dot) const {
    if (auto wrong = epilogue_buffers(dot)) return wrong;
    const std::size_t inputs = dot.epilogue ? dot.epilogue->inputs : dot.has_bias ? 1 : 0;
    const std::size_t outputs = dot.epilogue ? dot.epilogue->outputs : 1;
    const std::size_t least = 2 + inputs + outputs;
    if (step_.buffers.size() < least || step_.buffers.size() > least + 1) {
      return count(fmt::format("{} or {}", least, least + 1));
    }
    if (dot.packed && *dot.packed > 1) return "packs an operand that it does not have";
    if (dot.is_symmetric && (step_.buffers[0] != step_.buffers[1] || !reads_alike(dot))) {
      return "is symmetric, and does not multiply an array with itself";
    }
    if (auto wrong = product(Op::dot, dot)) return wrong;
    for (std::uint32_t operand : {0u, 1u}) {
      if (dot.packed == operand) continue;
      if (auto wrong = holds(operand, operand == 0 ? dot.lhs : dot.rhs)) return wrong;
    }
    if (!dot.epilogue) return holds(2 + inputs, dot.result);
    // The epilogue's first buffer is the dot's result.
    return kernel(dot.epilogue->kernel, 1, inputs + outputs);
  }

  Fault operator()(const PackStep& pack) const {
    if (step_.buffers.size() != 2) return count("2");
    const std::uint32_t operand = pack.dot.packed.value_or(0);
    return holds(0, operand == 0 ? pack.dot.lhs : pack.dot.rhs);
  }

  Fault operator()(const ConvolutionStep& convolution) const {
    if (auto wrong = epilogue_buffers(convolution)) return wrong;
    const auto& epilogue = convolution.epilogue;
    const std::size_t inputs = epilogue ? epilogue->inputs : 0;
    const std::size_t outputs = epilogue ? epilogue->outputs : 1;
    if (step_.buffers.size() != 2 + inputs + outputs) {
      return count(std::to_string(2 + inputs + outputs));
    }
    if (auto wrong = product(Op::convolution, convolution)) return wrong;
    if (auto wrong = holds(0, convolution.lhs)) return wrong;
    if (!convolution.packed) {
      if (auto wrong = holds(1, convolution.rhs)) return wrong;
    }
    if (!epilogue) return holds(2, convolution.result);
    return kernel(epilogue->kernel, 1, inputs + outputs);
  }

  Fault operator()(const PackFiltersStep& pack) const {
    if (step_.buffers.size() != 2) return count("2");
    return holds(0, pack.convolution.rhs);
  }

  Fault operator()(const CopyStep&) const { return copy(); }
  Fault operator()(const TransferStep&) const { return copy(); }

  Fault operator()(const CallStep& call) const {
    if (!is_call(call.op)) return fmt::format("calls {}, which is no call", name(call.op));
    std::vector<Type> types = call.operands;
    try {
      for (Type& result : result_types(call)) types.push_back(std::move(result));
    } catch (const Error& error) {
      return error.what();
    }
    if (step_.buffers.size() != types.size()) return count(std::to_string(types.size()));
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (auto wrong = holds(i, types[i])) return wrong;
    }
    return {};
  }

  // What a loop's condition and body take are its carries, then its captures; further buffers are
  // there once it is finished (plan/control_flow.h).
  Fault operator()(const LoopStep& loop) const {
    if (loop.regions.size() != 2) return "runs no condition and body";
    const bool is_finished = !loop.rotation.empty();
    const std::size_t carries = loop.body().outputs.size();
    if (is_finished && loop.carries() != carries) return "says where other carries are written";
    if (is_finished && loop.rotation.size() < carries) return "has fewer places than carries";
    const std::size_t operands = loop.body().inputs.size();
    const std::size_t buffers = operands + (is_finished ? loop.rotation.size() + 1 : carries);
    if (operands < carries || step_.buffers.size() != buffers) {
      return count(std::to_string(buffers));
    }
    if (loop.condition().outputs.size() != 1) return "has a condition of more than one result";
    for (std::uint32_t written : loop.written) {
      if (written >= loop.rotation.size()) return "writes a place that does not exist";
    }
    if (auto wrong = takes(loop.condition(), 0)) return wrong;
    return takes(loop.body(), 0);
  }

  Fault operator()(const BranchStep& branch) const {
    if (branch.branches.empty()) return "has no branches";
    const std::size_t operands = branch.branches[0].inputs.size();
    const std::size_t results = branch.branches[0].outputs.size();
    const std::size_t least = 1 + operands + results;
    if (step_.buffers.size() < least || step_.buffers.size() > least + 1) {
      return count(fmt::format("{} or {}", least, least + 1));
    }
    for (const Program& region : branch.branches) {
      if (region.outputs.size() != results) return "has branches of other results";
      if (auto wrong = takes(region, 1)) return wrong;
    }
    return {};
  }

 private:
  Fault count(const std::string& wanted) const {
    return fmt::format("has {} buffers instead of {}", step_.buffers.size(), wanted);
  }

  // Their sum is then one that does not wrap around.
  template <class Work>
  Fault epilogue_buffers(const Work& work) const {
    const std::size_t most = step_.buffers.size();
    if (!work.epilogue || (work.epilogue->inputs <= most && work.epilogue->outputs <= most)) {
      return {};
    }
    return fmt::format("has {} buffers, and its epilogue {} inputs and {} outputs", most,
                       work.epilogue->inputs, work.epilogue->outputs);
  }

  const Slot& slot(std::size_t buffer) const { return program_.slots[step_.buffers[buffer]]; }

  Fault holds(std::size_t buffer, const Type& type) const {
    if (slot(buffer).type.bytes() >= type.bytes()) return {};
    return fmt::format("needs {} in {}, which is {}", to_string(type), slot(buffer).name,
                       to_string(slot(buffer).type));
  }

  // The step's buffers from `first` on are what the region takes.
  Fault takes(const Program& region, std::size_t first) const {
    if (first + region.inputs.size() > step_.buffers.size()) return "runs what takes more buffers";
    for (std::size_t i = 0; i < region.inputs.size(); ++i) {
      if (auto wrong = holds(first + i, region.inputs[i])) return wrong;
    }
    return {};
  }

  Fault copy() const {
    if (step_.buffers.size() != 2) return count("2");
    return holds(1, slot(0).type);
  }

  template <class Work>
  Fault product(Op op, const Work& work) const {
    try {
      const Type operands[] = {work.lhs, work.rhs};
      const Type result = infer(op, operands, work.attributes, std::nullopt, {}, {})[0];
      if (result.shape == work.result.shape) return {};
      return fmt::format("says {}, and the product is {}", to_string(work.result),
                         to_string(result));
    } catch (const Error& error) {
      return error.what();
    }
  }

  // The kernel takes `buffers` of the step's: from the first on, or, where its own first is the
  // result of a dot, from the third on.
  Fault kernel(std::uint32_t number, std::size_t first, std::size_t buffers) const {
    if (kernels_.empty()) return {};  // an outline, or tasks of a test's own
    if (number >= kernels_.size())
      return fmt::format("runs kernel {}, which does not exist", number);
    const Kernel& kernel = kernels_[number];
    const auto arguments = static_cast<std::size_t>(std::ranges::count_if(
        kernel.buffers, [](const KernelBuffer& b) { return b.access != Access::scratch; }));
    if (arguments != first + buffers) {
      return fmt::format("gives {} {} buffers instead of {}", kernel.name, first + buffers,
                         arguments);
    }
    for (std::size_t i = first; i < arguments; ++i) {
      const KernelBuffer& wanted = kernel.buffers[i];
      const std::size_t buffer = i + first;
      if (auto wrong = holds(buffer, {wanted.dtype, Shape{wanted.size}})) return wrong;
      const bool written =
          std::ranges::find(step_.writes, step_.buffers[buffer]) != step_.writes.end();
      if (wanted.access == Access::write && !written) {
        return fmt::format("does not say that {} writes {}", kernel.name, slot(buffer).name);
      }
    }
    return {};
  }

  const Program& program_;
  const Step& step_;
  std::span<const Kernel> kernels_;
};

}  // namespace

std::optional<std::string> fault_of(const Program& program, const Step& step,
                                    std::span<const Kernel> kernels) {
  return std::visit(StepVerifier(program, step, kernels), step.work);
}

}  // namespace anabranch
