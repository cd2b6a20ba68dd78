// Executable: a program with the code that its steps run. Nothing of it changes.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "ir/program/program.h"
#include "runtime/device/task.h"
#include "runtime/memory/buffer.h"

namespace anabranch {

struct LinkedCode;

/// What runs one step.
struct LinkedStep {
  /// All of it; none where it is a loop or a branch that goes step by step, and on the null device.
  std::variant<std::monostate, HostTask, DeviceTask> task;
  std::vector<LinkedCode> regions;  ///< of a loop's or a branch's inner programs
  /// For a loop or a branch that goes step by step on a device which could continue alone: sets a
  /// condition from what is in memory. Its buffers are the Condition, in place of a pointer, and
  /// the loop's flag or the branch's number. Its `enqueue` is null where the device needs the host.
  DeviceTask conditional;

  /// The task of the host's that does all of it, or null.
  const HostTask* host_task() const { return std::get_if<HostTask>(&task); }
  /// The task of a device's that does all of it, or null.
  const DeviceTask* device_task() const { return std::get_if<DeviceTask>(&task); }
};

/// The code of a program, made by `link`.
struct LinkedCode {
  std::vector<LinkedStep> steps;  ///< one per step of the program
  std::vector<Buffer> constants;  ///< where the steps that read them are
  std::size_t bytes = 0;          ///< of machine code
  std::size_t instructions = 0;   ///< of the LLVM IR that it is made from, on CPU devices
};

struct Executable {
  Program program;
  std::shared_ptr<const LinkedCode> code;  ///< the same for all schedules of one program
};

}  // namespace anabranch
