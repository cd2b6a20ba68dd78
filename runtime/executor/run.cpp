#include "runtime/executor/run.h"

#include <fmt/format.h>

#include "ir/error.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/device/device_state.h"
#include "runtime/executor/execution.h"
#include "runtime/executor/run_inline.h"
#include "runtime/fork.h"
#include "runtime/null/run_null.h"

namespace anabranch {
namespace {

void check_inputs(const Executable& executable, std::span<const Buffer> inputs) {
  if (inputs.size() != executable.inputs.size()) {
    throw Error(fmt::format("run: {} takes {} inputs, and {} were given", executable.name,
                            executable.inputs.size(), inputs.size()));
  }
  for (const Slot& slot : executable.slots) {
    if (slot.kind != Slot::Kind::input) continue;
    const Buffer& input = inputs[slot.index];
    const Device& device = executable.device_at(slot.device);
    const bool failed{input.ready().error()};
    if (input.device() == device && (failed || input.bytes() == slot.type.bytes())) continue;
    throw Error(
        fmt::format("run: input {} of {} is to be {} on {}: {} bytes, and has {} bytes on {}",
                    slot.index, executable.name, to_string(slot.type), to_string(device),
                    slot.type.bytes(), input.bytes(), to_string(input.device())));
  }
}

// One deferred buffer per slot that is an output of its own.
std::vector<Buffer> deferred_outputs(const Executable& executable) {
  std::vector<Buffer> outputs(executable.outputs.size());
  for (SlotId id : executable.outputs) {
    const Slot& slot = executable.slots[id];
    if (slot.kind != Slot::Kind::output || outputs[slot.index]) continue;
    const Device& device = executable.device_at(slot.device);
    outputs[slot.index] = Buffer::deferred(device, slot.type.bytes(), Event::pending(device));
  }
  return outputs;
}

// In the order of the executable's outputs, some of which may be inputs, constants or repeated.
std::vector<Buffer> in_order(const Executable& executable, std::span<const Buffer> inputs,
                             std::vector<Buffer> outputs) {
  for (std::size_t i = 0; i < executable.outputs.size(); ++i) {
    const Slot& slot = executable.slots[executable.outputs[i]];
    switch (slot.kind) {
      case Slot::Kind::input:
        outputs[i] = inputs[slot.index];
        break;
      case Slot::Kind::constant:
        outputs[i] = executable.constants[slot.index];
        break;
      case Slot::Kind::output:
        if (slot.index != i) outputs[i] = outputs[slot.index];
        break;
      case Slot::Kind::temporary:
        throw InternalError("run", fmt::format("output {} is a temporary", i),
                            to_string(executable));
    }
  }
  return outputs;
}

}  // namespace

std::vector<Buffer> run(std::shared_ptr<const Executable> executable, std::vector<Buffer> inputs) {
  check_no_orphan("run");
  check_inputs(*executable, inputs);
  DeviceState& device = device_state(executable->device);
  for (const FurtherDevice& further : executable->further) device_state(further.device);
  if (executable->device.kind() == DeviceKind::null) {
    return in_order(*executable, inputs, null::run(*executable));
  }
  std::vector<Buffer> outputs(executable->outputs.size());
  if (executor::run_inline(device, *executable, inputs, outputs)) {
    return in_order(*executable, inputs, std::move(outputs));
  }
  outputs = deferred_outputs(*executable);
  std::vector<Buffer> results = in_order(*executable, inputs, outputs);
  executor::submit(device, std::move(executable), std::move(inputs), std::move(outputs));
  return results;
}

void wait_for_devices() {
  check_no_orphan("wait_all");
  if (cpu::ThreadPool::on_worker()) {
    throw Error(
        "wait_all: called inside a custom call, which is part of what it waits for; call it where "
        "programs are started");
  }
  for (DeviceState* device : used_device_states()) device->flights.wait_all();
}

}  // namespace anabranch
