// Backend: what the compiler asks of a kind of device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "anabranch/options.h"
#include "anabranch/stage.h"
#include "codegen/kernel/fuse_loops.h"
#include "codegen/kernel/pass.h"
#include "codegen/lower/lower_target.h"
#include "codegen/plan/dot_split.h"
#include "codegen/schedule/device_model.h"
#include "ir/kernel/kernel.h"
#include "ir/program/program.h"
#include "passes/row_blocks/block_costs.h"
#include "runtime/executor/executable.h"

namespace anabranch {

/// A dot as its library computes it, with the kernels around that.
struct DotPlan {
  /// What becomes of what is computed on the dot's result.
  enum class Epilogue : std::uint8_t {
    none,    ///< there is nothing, or the library computes it: `dot` says what
    inside,  ///< a kernel that the library's call runs on blocks of the result
    after    ///< kernels of their own
  };

  DotStep dot;
  std::optional<Node> lhs_layout, rhs_layout;  ///< fusions that copy an operand before
  std::optional<std::size_t> bias;             ///< which of the split's extra inputs it adds
  std::int64_t workspace_bytes = 0;
  Epilogue epilogue = Epilogue::none;
};

/// One per kind of device. Stateless: it may be used from any thread.
class Backend {
 public:
  virtual ~Backend() = default;

  // --- plan

  /// How a dot is computed by a library of the device; nothing where loops compute it. Throws Error
  /// where a library that it needs is missing.
  virtual std::optional<DotPlan> plan_dot(const DotSplit& split, const Device& device,
                                          const Options& options) const = 0;
  /// Whether a library of the device computes this convolution. Others are written as dots.
  virtual bool takes(const ConvolutionStep&) const { return false; }
  /// Whether that library runs an epilogue on parts of the result while they are in the cache.
  /// Kernels of their own follow elsewhere.
  virtual bool runs_epilogue(const ConvolutionStep&) const { return true; }
  /// Whether threads that each follow a row of an array, an element a turn, read it as fast as
  /// threads that read a row together.
  virtual bool follows_rows() const { return false; }
  /// How kernels sum the columns of a matrix, and multiply two.
  virtual LowerTarget lower_target() const { return {}; }
  /// The passes of a kernel as `lower` made it, and what they should know about the machine.
  virtual std::span<const KernelPass> kernel_passes() const = 0;
  virtual Target kernel_target() const = 0;
  /// Those that follow once it is known which loops and branches run whole: they give a kernel's
  /// iterations to threads.
  virtual std::span<const KernelPass> mapping_passes() const { return {}; }
  /// Both, in the order in which they run.
  std::vector<KernelPass> all_kernel_passes() const {
    const std::span<const KernelPass> first = kernel_passes(), then = mapping_passes();
    std::vector<KernelPass> all(first.begin(), first.end());
    all.insert(all.end(), then.begin(), then.end());
    return all;
  }
  /// When kernels over one array are worth one loop; as it is, never.
  virtual LoopFusionCosts loop_fusion_costs() const { return {}; }
  /// Adds the steps that its steps on this device need before them.
  virtual void add_steps(Program& program, DeviceIndex device,
                         std::span<const Kernel> kernels) const = 0;

  // --- costs

  /// What blocks of rows cost and save on a device of this kind; as it is, they are not for it.
  virtual BlockCosts block_costs(const Device&) const { return {}; }

  /// Sets the time and the parallelism of a step that is neither a loop nor a branch, by its
  /// `cost` and what it is.
  virtual void predict(Step& step, const Program& program,
                       std::span<const Kernel> kernels) const = 0;
  /// What the scheduler knows of one of its devices.
  virtual DeviceModel model(const Device& device, const Options& options) const = 0;
  /// Whether the regions of a loop or a branch are so small that one task might as well run all of
  /// it. They have costs; where they are small each is then scheduled on one stream.
  virtual bool is_small(std::span<const Program> regions,
                        std::span<const Kernel> kernels) const = 0;
  /// Whether one task can run the whole of `flow`, a loop or a branch whose regions are small and
  /// scheduled.
  virtual bool can_be_whole(const Step& flow, std::span<const Kernel> kernels) const = 0;
  /// How many threads the kernels of such a flow share; 0 where that is nothing to them.
  virtual int block_threads(const Step&, std::span<const Kernel>) const { return 0; }

  // --- link

  /// Gives each step on devices of this kind its code, those inside loops and branches too. `code`
  /// has an entry per step, and the constants. Throws Error where a device cannot be used.
  virtual void link(const Program& program, const Options& options, LinkedCode& code) const = 0;
  /// The code of one of the stages llvm, cuda and assembly as text; empty where it has no such
  /// stage.
  virtual std::string dump(const Program& program, const LinkedCode& code, Stage stage) const = 0;
};

}  // namespace anabranch
